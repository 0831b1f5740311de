/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find out which code the running kernel allows to probe, from its ftrace locations and its kprobe blacklist.
 *
 * Only root can read these files, and some kernels lack them, so the answer may be "unknown".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/image/kallsyms.h"

struct btf;
struct kernel_kcore;

#define KERNEL_BLACKLIST_PATH "/sys/kernel/debug/kprobes/blacklist"

enum kernel_answer {
	KERNEL_NO,
	KERNEL_YES,
	KERNEL_UNKNOWN,
};

/* Return the mount point of tracefs, a static string, or NULL. */
const char *kernel_tracefs_find(void);

struct kernel_tracing;

/*
 * Use the N_LOCATIONS addresses LOCATIONS as the ftrace locations. If N_LOCATIONS is 0, read available_filter_functions_addrs, or
 * available_filter_functions, below TRACEFS. The file BLACKLIST is read when it is first needed. Both paths may be NULL. If a file
 * is missing or forbidden, answers are KERNEL_UNKNOWN; that is no error. KS must outlive the result. Return 0, or -errno of a
 * failed read, after reporting it.
 */
int kernel_tracing_load(const struct kernel_kallsyms *ks, const uint64_t *locations,
			size_t n_locations, const char *tracefs, const char *blacklist,
			struct kernel_tracing **out);
void kernel_tracing_destroy(struct kernel_tracing *t); /* accepts NULL */

bool kernel_tracing_ftrace_known(const struct kernel_tracing *t);
bool kernel_tracing_blacklist_known(struct kernel_tracing *t);

/*
 * Return whether SYM, a symbol of KS, begins with an ftrace location. If so, SYM is a real function, on which fentry, kprobe.multi
 * and return probes are safe. Return UNKNOWN, too, if only some of the functions called like SYM begin with ftrace locations, and
 * the kernel (before 6.5) does not tell which ones.
 */
enum kernel_answer kernel_tracing_is_ftrace(const struct kernel_tracing *t,
					    const struct kernel_sym *sym);

/*
 * Return whether the kernel refuses kprobes at the absolute address ADDR. Return UNKNOWN if the blacklist cannot be read or shows
 * no addresses. Report errors, except that the file is missing or forbidden.
 */
enum kernel_answer kernel_tracing_is_blacklisted(struct kernel_tracing *t, uint64_t addr);

/*
 * Read the kernel's ftrace locations from its memory. The file available_filter_functions lists them, too, but the kernel needs
 * more time to print it than all other preparations for recording one function take. Before 6.5 no file has the addresses.
 */

/*
 * Read the addresses of all ftrace locations from KCORE, including those of modules. Set *ADDRS to an array of *N addresses, which
 * the caller frees. Return -errno without a message if BTF or KS do not tell where the locations are, or if the locations cannot
 * be read, or are changed during the reading.
 */
int kernel_ftrace_read(const struct kernel_kcore *kcore, const struct btf *btf,
		       const struct kernel_kallsyms *ks, uint64_t **addrs, size_t *n);
