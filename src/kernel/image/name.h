/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts from a symbol's name: the function of the source of which it is a copy or a piece, its distance
 * from another name, and whether a probe there can harm the machine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The length of NAME less the suffixes compilers give to copies and pieces of a function: .isra.N,
 * .constprop.N, .part.N, .cold, .cold.N, .llvm.N, .lto_priv.N, .localalias, in any combination.
 */
size_t kernel_name_base_len(const char *name);

/* Compare names without these suffixes, like strcmp(). */
int kernel_name_compare(const char *a, const char *b);

/* Return whether this is a piece split off a function, into which the function jumps: it has no entry and no return. */
bool kernel_name_is_cold(const char *name);

/* Return whether this is the padding in front of a function, which kallsyms lists and nobody calls. */
bool kernel_name_is_padding(const char *name);

/*
 * The Damerau-Levenshtein distance (insertions, deletions, substitutions and swaps of neighbours;
 * optimal string alignment), or LIMIT + 1 where it is more than LIMIT.
 */
unsigned int kernel_name_distance(const char *a, const char *b, unsigned int limit);
/*
 * Return "; did you mean 'fold'?" with the name nearest to NAME, or "" if none is near. NAME_OF returns the Ith name, NULL after the
 * last one. The caller frees the result, and this function the names.
 */
char *kernel_name_guess(const char *name, char *(*name_of)(size_t i));

/* Return whether the compiler knows that the function NAME never returns. No code belongs behind a call of it. */
bool kernel_name_is_noreturn(const char *name);

enum kernel_safety {
	KERNEL_SAFE,
	KERNEL_SKIP_IN_GLOB, /* probed only if named without a glob: it is too hot, or of little interest */
	KERNEL_REFUSE, /* never probed: it would harm the kernel or the measurement itself */
};

/*
 * Return whether the function NAME may be probed at its entry and return; *REASON (may be NULL) becomes a
 * static phrase ("…: REASON") or NULL. It knows names only: ask kernel_tracing_*() as well.
 */
enum kernel_safety kernel_name_safety(const char *name, const char **reason);
