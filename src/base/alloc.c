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
