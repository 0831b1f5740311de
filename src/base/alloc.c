// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/alloc.h"

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
	va_list args;
	char *longer, *more;

	va_start(args, fmt);
	checked(vasprintf(&more, fmt, args) < 0 ? NULL : more);
	va_end(args);
	if (*text) {
		longer = alloc_printf("%s%s", *text, more);
		free(*text);
		free(more);
		more = longer;
	}
	*text = more;
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
