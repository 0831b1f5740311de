/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the running kernel lets be probed: its ftrace locations and its kprobe blacklist.
 *
 * Both are files that only root sees and that some kernels lack, so "unknown" is an answer.
 */
#ifndef KPROTPERF_SYMBOL_TRACING_H
#define KPROTPERF_SYMBOL_TRACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/kallsyms.h"

#define SYMBOL_BLACKLIST_PATH "/sys/kernel/debug/kprobes/blacklist"

enum symbol_answer {
	SYMBOL_NO,
	SYMBOL_YES,
	SYMBOL_UNKNOWN,
};

/* Where tracefs is mounted: a static string, or NULL. */
const char *symbol_tracefs_find(void);

struct symbol_tracing;

/*
 * Reads available_filter_functions_addrs, else available_filter_functions, below TRACEFS, and the
 * file BLACKLIST; either path may be NULL. A file that is missing or may not be read is no error
 * but makes answers SYMBOL_UNKNOWN. KS must outlive the result. Returns 0, or -errno of a read that
 * broke off, which it has reported.
 */
int symbol_tracing_load(const struct symbol_kallsyms *ks, const char *tracefs,
			const char *blacklist, struct symbol_tracing **out);
void symbol_tracing_destroy(struct symbol_tracing *t); /* accepts NULL */

bool symbol_tracing_ftrace_known(const struct symbol_tracing *t);
bool symbol_tracing_blacklist_known(const struct symbol_tracing *t);

/*
 * Does SYM (of the KS given at load) begin with an ftrace location: is it a real function that
 * fentry, kprobe.multi and return probes are safe on? UNKNOWN also where several functions share
 * the name, some are ftrace locations, and the kernel (before 6.5) does not tell which.
 */
enum symbol_answer symbol_tracing_is_ftrace(const struct symbol_tracing *t,
					    const struct symbol_sym *sym);

/* Does the kernel refuse kprobes at this absolute address? */
enum symbol_answer symbol_tracing_is_blacklisted(const struct symbol_tracing *t, uint64_t addr);

#endif
