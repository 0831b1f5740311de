/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts that follow from a symbol's name: the name of the function in the source, the distance from another name, and whether a
 * probe of the symbol can harm the machine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Return the length of NAME without the suffixes that compilers give to copies and parts of a function: .isra.N,
 * .constprop.N, .part.N, .cold, .cold.N, .llvm.N, .lto_priv.N, .localalias, .__uniq.N, in any combination.
 */
size_t kernel_name_base_len(const char *name);

/* Compare names like strcmp(), but without the suffixes of kernel_name_base_len(). */
int kernel_name_compare(const char *a, const char *b);

/* Return whether PATTERN has wildcards. */
bool kernel_name_is_pattern(const char *pattern);

/* Return whether NAME matches PATTERN, as fnmatch() does with FNM_EXTMATCH ("@(a|b)"), but faster. */
bool kernel_name_matches(const char *pattern, const char *name);

/* Return whether NAME is a part split off a function (.cold). The function jumps into it, so it has no entry and no return. */
bool kernel_name_is_cold(const char *name);

/* Return whether NAME is the padding before a function. kallsyms lists such padding, but nothing calls it. */
bool kernel_name_is_padding(const char *name);

/*
 * Return the Damerau-Levenshtein distance of A and B (insertions, deletions, substitutions and swaps of neighbours; optimal string
 * alignment), or LIMIT + 1 if the distance is larger than LIMIT.
 */
unsigned int kernel_name_distance(const char *a, const char *b, unsigned int limit);
/*
 * Return a text such as "; did you mean 'fold'?" with the known name nearest to NAME, or "" if none is near. NAME_OF(I) returns
 * known name number I, or NULL after the last one. This function frees the known names; the caller frees the result.
 */
char *kernel_name_guess(const char *name, char *(*name_of)(size_t i));

/* Return whether the compiler knows that the function NAME never returns: then no code follows a call of NAME. */
bool kernel_name_is_noreturn(const char *name);

enum kernel_safety {
	KERNEL_SAFE,
	KERNEL_SKIP_IN_GLOB, /* probed if named without a glob: too hot, or of little interest */
	KERNEL_REFUSE, /* never probed: it would harm the kernel or the measurement itself */
};

/*
 * Return how safe it is to probe the function NAME at its entry and return. Set *REASON (may be NULL) to a static phrase for
 * messages ("…: REASON"), or to NULL. Only the name is examined: call kernel_tracing_*() too.
 */
enum kernel_safety kernel_name_safety(const char *name, const char **reason);
