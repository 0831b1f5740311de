/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places that the running kernel allows to probe: its ftrace locations and its kprobe blacklist.
 *
 * Both are files that only root sees and that some kernels lack, so "unknown" is an answer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/image/kallsyms.h"

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
 * Takes the N_LOCATIONS addresses LOCATIONS for the ftrace locations. Where there are none,
 * reads available_filter_functions_addrs, else available_filter_functions, below TRACEFS. BLACKLIST is read when
 * it is first asked about; either path may be NULL. A file that is missing or may not be read is no error
 * but makes answers KERNEL_UNKNOWN. KS must outlive the result. Returns 0, or -errno of a read that
 * broke off, which it has reported.
 */
int kernel_tracing_load(const struct kernel_kallsyms *ks, const uint64_t *locations,
			size_t n_locations, const char *tracefs, const char *blacklist,
			struct kernel_tracing **out);
void kernel_tracing_destroy(struct kernel_tracing *t); /* accepts NULL */

bool kernel_tracing_ftrace_known(const struct kernel_tracing *t);
bool kernel_tracing_blacklist_known(struct kernel_tracing *t);

/*
 * Does SYM (of the KS given at load) begin with an ftrace location: is it a real function that
 * fentry, kprobe.multi and return probes are safe on? UNKNOWN also where several functions share
 * the name, some are ftrace locations, and the kernel (before 6.5) does not tell which.
 */
enum kernel_answer kernel_tracing_is_ftrace(const struct kernel_tracing *t,
					    const struct kernel_sym *sym);

/*
 * Answer whether the kernel refuses kprobes at this absolute address. A list that cannot be read is reported, and the answer
 * is unknown.
 */
enum kernel_answer kernel_tracing_is_blacklisted(struct kernel_tracing *t, uint64_t addr);

/*
 * The kernel's ftrace locations, from its memory. Its own list of them, available_filter_functions, is text that
 * takes it longer to print than all else that a recording of one function begins with, and tells no addresses
 * before 6.5.
 */

struct btf;
struct kernel_kallsyms;
struct kernel_kcore;

/*
 * Reads them from KCORE, modules' among them: *N addresses in *ADDRS, for free(). -errno, not reported: where BTF
 * or KS do not tell where they are, or it was changed meanwhile.
 */
int kernel_ftrace_read(const struct kernel_kcore *kcore, const struct btf *btf,
		       const struct kernel_kallsyms *ks, uint64_t **addrs, size_t *n);
