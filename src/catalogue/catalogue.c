// SPDX-License-Identifier: GPL-2.0-or-later
#include "catalogue/catalogue.h"

#include <string.h>

#include "base/alloc.h"
#include "kernel/image/name.h"

const struct catalogue_protection *catalogue_find(const char *name)
{
	for (size_t i = 0; i < catalogue_size; i++)
		if (!strcmp(catalogue[i].name, name))
			return &catalogue[i];
	return NULL;
}

static char *name_of(size_t i)
{
	return i < catalogue_size ? alloc_strdup(catalogue[i].name) : NULL;
}

char *catalogue_unknown(const char *name)
{
	scoped_free char *guess = kernel_name_guess(name, name_of);

	return alloc_printf("unknown protection '%s'; see kprotperf list --protections%s", name,
			    guess);
}

static bool option_is(const struct catalogue_option *option, const char *symbol, size_t n)
{
	if (option->role == CATALOGUE_TOOL)
		return false;
	/* An option of the role ALONG switches on a protection only if it is "y" with the protection, and not "y" without it. */
	if (option->role == CATALOGUE_ALONG &&
	    (!strcmp(option->off, option->on) || strcmp(option->on, "y")))
		return false;
	return !strncmp(option->symbol, symbol, n) && !option->symbol[n];
}

bool catalogue_has_option(const char *symbol, size_t n)
{
	const struct catalogue_option *option;

	for (size_t i = 0; i < catalogue_size; i++)
		for (option = catalogue[i].options; option && option->symbol; option++)
			if (option_is(option, symbol, n))
				return true;
	return false;
}

/* Define functions that return the names of enum values, for tables and JSON. */
#define NAMES(what, ...)                                                 \
	const char *catalogue_##what##_name(enum catalogue_##what what_) \
	{                                                                \
		static const char *const names[] = { __VA_ARGS__ };      \
                                                                         \
		return names[what_];                                     \
	}

NAMES(origin, [CATALOGUE_SOURCE] = "source code", [CATALOGUE_COMPILER] = "compiler-inserted",
      [CATALOGUE_LAYOUT] = "data layout")

NAMES(position, [CATALOGUE_CODE] = "code", [CATALOGUE_DATA] = "data",
      [CATALOGUE_STRUCTURE] = "structure")

NAMES(runs, [CATALOGUE_BUILD] = "build", [CATALOGUE_BOOT] = "boot only",
      [CATALOGUE_SELDOM] = "run time, seldom", [CATALOGUE_OFTEN] = "run time, often")

NAMES(extent, [CATALOGUE_NO] = "no", [CATALOGUE_PARTLY] = "partly", [CATALOGUE_YES] = "yes")

NAMES(switch, [CATALOGUE_BY_BOOT] = "boot", [CATALOGUE_BY_FEW] = "rebuild",
      [CATALOGUE_BY_ALL] = "full rebuild", [CATALOGUE_BY_USE] = "programs",
      [CATALOGUE_BY_NOTHING] = "nothing")

NAMES(code, [CATALOGUE_FUNCTION] = "function", [CATALOGUE_HOST] = "host",
      [CATALOGUE_INLINE] = "inline", [CATALOGUE_MACRO] = "macro", [CATALOGUE_ASSEMBLY] = "assembly",
      [CATALOGUE_UNPROBEABLE] = "unprobeable")

NAMES(role, [CATALOGUE_BUILDS] = "builds", [CATALOGUE_DEFAULT] = "default",
      [CATALOGUE_ALONG] = "along", [CATALOGUE_TOOL] = "tool")

bool catalogue_span_has(struct catalogue_span span, uint32_t version)
{
	return (!span.from || version >= span.from) && (!span.until || version < span.until);
}
