// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/image/name.h"

#include <fnmatch.h>
#include <locale.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/image/kallsyms.h"

/* Suffixes that compilers append to a function's name, after a dot. A number may follow. */
static const char *const suffixes[] = {
	"isra", /* gcc: parameters removed or passed by value */
	"constprop", /* gcc: parameters that are always the same constant */
	"part", /* gcc: the rest of a function after another part was inlined */
	"cold", /* gcc and clang: the unlikely part, moved elsewhere */
	"localalias", "lto_priv", "llvm", /* llvm: clang's LTO made the function global */
	"__uniq", /* clang -funique-internal-linkage-names */
};

static bool is_suffix(const char *s, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (strlen(suffixes[i]) == len && !memcmp(suffixes[i], s, len))
			return true;
	return false;
}

/* Return the last dot in the LEN bytes of NAME after the first byte, or NULL. */
static const char *last_dot(const char *name, size_t len)
{
	return len ? memrchr(name + 1, '.', len - 1) : NULL;
}

size_t kernel_name_base_len(const char *name)
{
	size_t len = strlen(name);
	const char *dot;

	while ((dot = last_dot(name, len))) {
		const char *word_end = name + len;
		size_t digits = strspn(dot + 1, "0123456789");

		if (digits && dot + 1 + digits == word_end) {
			word_end = dot;
			dot = last_dot(name, (size_t)(dot - name));
		}
		if (!dot || !is_suffix(dot + 1, (size_t)(word_end - dot - 1)))
			break;
		len = (size_t)(dot - name);
	}
	return len;
}

int kernel_name_compare(const char *a, const char *b)
{
	size_t n = kernel_name_base_len(a), m = kernel_name_base_len(b);

	return strncmp(a, b, n < m ? n : m) ?: compare_values(n, m);
}

bool kernel_name_is_cold(const char *name)
{
	/* Also look in the middle of NAME: foo.cold.isra.0 is no function, either. */
	const char *p = name;

	while ((p = strstr(p, ".cold")) != NULL) {
		p += 5;
		if (*p == '\0' || *p == '.')
			return true;
	}
	return false;
}

bool kernel_name_is_pattern(const char *pattern)
{
	return strpbrk(pattern, "*?[\\(") != NULL;
}

/* Use the locale "C": in others, fnmatch() converts each name to wide characters, which takes 2,000 instructions. */
static bool matches_wildcards(const char *pattern, const char *name)
{
	static locale_t ascii;
	locale_t before;
	bool matches;

	if (!ascii)
		ascii = newlocale(LC_CTYPE_MASK, "C", (locale_t)0);
	before = uselocale(ascii);
	matches = !fnmatch(pattern, name, FNM_EXTMATCH);
	uselocale(before);
	return matches;
}

/* Compare the part before the first wildcard first, since most names differ there. */
bool kernel_name_matches(const char *pattern, const char *name)
{
	size_t literal = strcspn(pattern, "*?[\\@!+(");

	if (strncmp(pattern, name, literal) != 0)
		return false;
	return pattern[literal] ? matches_wildcards(pattern + literal, name + literal) :
				  !name[literal];
}

bool kernel_name_is_padding(const char *name)
{
	return !strncmp(name, "__pfx_", strlen("__pfx_")) ||
	       !strncmp(name, "__cfi_", strlen("__cfi_"));
}

/* Maximum length of a name, as in the kernel (KSYM_NAME_LEN is 512). */
#define MAX_NAME 512

unsigned int kernel_name_distance(const char *a, const char *b, unsigned int limit)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned short rows[3][MAX_NAME + 1];
	unsigned short *before = rows[0], *above = rows[1], *row = rows[2];

	if ((la > lb ? la - lb : lb - la) > limit || la > MAX_NAME || lb > MAX_NAME)
		return limit + 1;
	for (size_t j = 0; j <= lb; j++)
		above[j] = (unsigned short)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned short least, *free_row = before;

		row[0] = least = (unsigned short)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned int d = above[j - 1] + (a[i - 1] != b[j - 1]);

			if (above[j] + 1u < d)
				d = above[j] + 1u;
			if (row[j - 1] + 1u < d)
				d = row[j - 1] + 1u;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1u < d)
				d = before[j - 2] + 1u;
			row[j] = (unsigned short)d;
			if (row[j] < least)
				least = row[j];
		}
		/* Later rows stay above LIMIT: even a swap adds 1 to a value of ABOVE, and these are at least LEAST - 1. */
		if (least > limit)
			return limit + 1;
		before = above;
		above = row;
		row = free_row;
	}
	return above[lb] > limit ? limit + 1 : above[lb];
}

/* Return whether NAME is WORD with exactly one word more, at the beginning or the end, joined by an underscore. */
static bool is_word_less(const char *word, const char *name)
{
	size_t len = strlen(word), longer = strlen(name);

	if (!len || len >= longer)
		return false;
	if (!strncmp(name, word, len) && name[len] == '_')
		return name[len + 1] && !strchr(name + len + 1, '_');
	if (name[longer - len - 1] != '_' || strcmp(name + longer - len, word))
		return false;
	return memchr(name, '_', longer) == name + longer - len - 1;
}

/*
 * Return whether A and B may be names of the same function in two kernels, such as "kmem_cache_alloc" and
 * "kmem_cache_alloc_noprof", "do_mmap_pgoff" and "do_mmap", "lru_add_drain" and "__lru_add_drain".
 */
static bool is_rename(const char *a, const char *b)
{
	a += strspn(a, "_");
	b += strspn(b, "_");
	return *a && (!strcmp(a, b) || is_word_less(a, b) || is_word_less(b, a));
}

struct candidate {
	const char *name;
	/* 0: rename that begins with the user's name; 1: other rename; else 1 + kernel_name_distance(). The lowest is first. */
	unsigned int rank;
	size_t len;
};

struct candidates {
	vec_of(struct candidate, items);
};

define_compare(compare_candidate, struct candidate,
	       compare_values(a->rank, b->rank)       ?:
		       compare_values(a->len, b->len) ?:
							strcmp(a->name, b->name));

/* Return the number of typing errors to accept in LEN characters: about one in five. More would match unrelated names. */
static unsigned int distance_limit(size_t len)
{
	return len < 4 ? 1 : len < 9 ? 2 : len < 16 ? 3 : 4;
}

char *kernel_name_guess(const char *name, char *(*name_of)(size_t i))
{
	unsigned int nearest = distance_limit(strlen(name)) + 1;
	char *guess = NULL, *text;

	for (size_t i = 0; nearest; i++) {
		char *known = name_of(i);
		unsigned int distance;

		if (!known)
			break;
		distance = kernel_name_distance(name, known, nearest - 1);
		if (distance < nearest) {
			nearest = distance;
			free(guess);
			guess = known;
		} else {
			free(known);
		}
	}
	text = guess ? alloc_printf("; did you mean '%s'?", guess) : alloc_strdup("");
	free(guess);
	return text;
}

size_t kernel_kallsyms_suggest(const struct kernel_kallsyms *ks, const char *name,
			       const char **names, size_t max)
{
	size_t n = 0, len = strlen(name);
	unsigned int limit = distance_limit(len);
	struct candidates found = { 0 };

	vec_each(const struct kernel_sym, sym, ks, syms) {
		struct candidate c = { .name = sym->name };

		c.rank = is_rename(name, c.name) ? strncmp(c.name, name, len) != 0 :
						   1 + kernel_name_distance(name, c.name, limit);
		if (c.rank > 1 + limit && (len < 3 || !strstr(c.name, name)))
			continue;
		if (kernel_name_safety(c.name, NULL) == KERNEL_REFUSE)
			continue;
		c.len = strlen(c.name);
		vec_push(&found, items, c);
	}
	sort_array(found.items, found.n_items, sizeof(*found.items), compare_candidate);
	for (uint32_t i = 0; i < found.n_items && n < max; i++)
		if (!n || strcmp(names[n - 1], found.items[i].name))
			names[n++] = found.items[i].name;
	free(found.items);
	return n;
}
