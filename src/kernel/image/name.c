// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/image/name.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"

/* Suffixes that compilers append to a function's name after a dot, perhaps with a number. */
static const char *const suffixes[] = {
	"isra", /* gcc: parameters removed or passed by value */
	"constprop", /* gcc: parameters that are always the same constant */
	"part", /* gcc: what is left when the other part was inlined */
	"cold", /* gcc and clang: the unlikely part, moved elsewhere */
	"localalias", "lto_priv", "llvm", /* clang LTO: made global under a hash */
	"__uniq", /* clang -funique-internal-linkage-names */
};

static bool is_suffix(const char *s, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (strlen(suffixes[i]) == len && !memcmp(suffixes[i], s, len))
			return true;
	return false;
}

/* Return the place of the last dot in the first LEN bytes; LEN if there is none after the first byte. */
static size_t last_dot(const char *name, size_t len)
{
	for (size_t i = len; i-- > 1;)
		if (name[i] == '.')
			return i;
	return len;
}

static bool all_digits(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)s[i]))
			return false;
	return len > 0;
}

size_t kernel_name_base_len(const char *name)
{
	size_t len = strlen(name);

	if (!memchr(name, '.', len))
		return len;
	for (;;) {
		size_t dot = last_dot(name, len), word_end = len;

		if (dot == len)
			return len;
		if (all_digits(name + dot + 1, len - dot - 1)) {
			word_end = dot;
			dot = last_dot(name, dot);
			if (dot == word_end)
				return len;
		}
		if (!is_suffix(name + dot + 1, word_end - dot - 1))
			return len;
		len = dot;
	}
}

int kernel_name_compare(const char *a, const char *b)
{
	size_t n = kernel_name_base_len(a), m = kernel_name_base_len(b);

	return strncmp(a, b, n < m ? n : m) ?: compare_values(n, m);
}

bool kernel_name_is_cold(const char *name)
{
	/* Also in the middle: foo.cold.isra.0 is no more of a function. */
	const char *p = name;

	while ((p = strstr(p, ".cold")) != NULL) {
		p += 5;
		if (*p == '\0' || *p == '.')
			return true;
	}
	return false;
}

bool kernel_name_is_padding(const char *name)
{
	return !strncmp(name, "__pfx_", strlen("__pfx_")) ||
	       !strncmp(name, "__cfi_", strlen("__cfi_"));
}
