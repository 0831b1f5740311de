/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of sizes that this program itself determines. Check a size from a file or the kernel against a bound first. So running
 * out of memory here is not an input error: the process reports it and exits with status 1, and callers need no error path.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Keep freed memory for later allocations of this process. The kernel would clear large arrays anew each time: diff of 600,000
 * cells takes 7.2 s of CPU time instead of 12.0 s.
 */
void alloc_reuse(void);

/* Return zeroed memory for N objects of SIZE bytes; never NULL, not even if N is 0. */
void *alloc_array(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *alloc_resize(void *mem, size_t n, size_t size) __attribute__((returns_nonnull));
char *alloc_strdup(const char *s) __attribute__((malloc, returns_nonnull, nonnull));
char *alloc_strndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull, nonnull));
char *alloc_printf(const char *fmt, ...)
	__attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

/* Texts that are freed together, after everything that points to them. All zero is empty. */
struct alloc_texts {
	char **texts;
	size_t n_texts, cap_texts;
};

/* Return TEXT, which T frees from now on; NULL stays NULL. */
const char *alloc_keep(struct alloc_texts *t, char *text);
void alloc_texts_free(struct alloc_texts *t);

/* Append to *TEXT, which is on the heap or NULL, and may move. */
void alloc_append(char **text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append ITEM to *LIST, after ", " unless *LIST is empty or NULL, and free ITEM. */
void alloc_append_item(char **list, char *item);

/*
 * Call FN with the address of the variable when the variable's block ends, on every way out; scoped_free calls free(). If FN takes
 * the object itself and accepts NULL, define_scoped() makes FN_at(), which takes the variable's address.
 */
#define scoped(fn)  __attribute__((cleanup(fn)))
#define scoped_free scoped(alloc_free_at)

#define define_scoped(fn, type)                 \
	static inline void fn##_at(type **item) \
	{                                       \
		fn(*item);                      \
	}

static inline void alloc_free_at(void *text)
{
	free(*(void **)text);
}

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define alloc_new(type) ((type *)alloc_array(1, sizeof(type)))

/* Three members of a struct: a growing array ITEMS, with n_ITEMS items and room for cap_ITEMS. All zero is empty. */
#define vec_of(type, items) \
	type *items;        \
	uint32_t n_##items, cap_##items

/* Append VALUE to the growing array ITEMS of S. */
#define vec_push(s, items, value)                                                                \
	do {                                                                                     \
		if (!(s)->items || (s)->n_##items == (s)->cap_##items) {                         \
			(s)->cap_##items = (s)->cap_##items ? (s)->cap_##items * 2 : 8;          \
			(s)->items =                                                             \
				alloc_resize((s)->items, (s)->cap_##items, sizeof(*(s)->items)); \
		}                                                                                \
		(s)->items[(s)->n_##items++] = (value);                                          \
	} while (0)

/* Loop over the array ITEMS of S, which need not be a growing one. ITEM is a pointer to TYPE. Do not append in the loop. */
#define vec_each(type, item, s, items)                                                   \
	for (type *item = (s)->items, *item##_end = item ? item + (s)->n_##items : item; \
	     item < item##_end; item++)
