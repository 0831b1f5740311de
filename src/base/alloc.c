// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/alloc.h"

#include <limits.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

static void *checked(void *mem)
{
	if (!mem) {
		log_error("out of memory");
		exit(EXIT_FAILURE);
	}
	return mem;
}

void alloc_reuse(void)
{
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

void *alloc_array(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size));
}

void *alloc_resize(void *mem, size_t n, size_t size)
{
	return checked(reallocarray(mem, n ? n : 1, size));
}

char *alloc_strdup(const char *s)
{
	return checked(strdup(s));
}

char *alloc_strndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

char *alloc_printf(const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	return checked(n < 0 ? NULL : text);
}

void alloc_append(char **text, const char *fmt, ...)
{
	size_t had = *text ? strlen(*text) : 0;
	va_list args, again;
	int n;

	va_start(args, fmt);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	checked(n < 0 ? NULL : text);
	/* Round the size up to a power of two: in most calls this is the present size, and realloc() moves nothing. */
	*text = alloc_resize(*text, 2ull << (63 - __builtin_clzll(had + (size_t)n + 1)), 1);
	vsnprintf(*text + had, (size_t)n + 1, fmt, again);
	va_end(again);
}

void alloc_append_item(char **list, char *item)
{
	alloc_append(list, "%s%s", *list && **list ? ", " : "", item);
	free(item);
}

const char *alloc_keep(struct alloc_texts *t, char *text)
{
	if (text)
		vec_push(t, texts, text);
	return text;
}

void alloc_texts_free(struct alloc_texts *t)
{
	while (t->n_texts)
		free(t->texts[--t->n_texts]);
	free(t->texts);
	*t = (struct alloc_texts){ 0 };
}
