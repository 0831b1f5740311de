// SPDX-License-Identifier: GPL-2.0-or-later
#include "catalogue/setting.h"

#include <string.h>

#include "base/alloc.h"

#define BLANKS " \t\n"

bool catalogue_text_is(struct catalogue_text text, const char *s)
{
	return text.s && !strncmp(text.s, s, text.n) && !s[text.n];
}

char *catalogue_text_dup(struct catalogue_text text)
{
	return text.s ? alloc_strndup(text.s, text.n) : NULL;
}

/* Parse "CONFIG_X=value" or "# CONFIG_X is not set". */
static bool option_parse(const char *line, size_t n, struct catalogue_setting *setting)
{
	static const char prefix[] = "CONFIG_", unset[] = " is not set";
	bool comment = n > 2 && !strncmp(line, "# ", 2);
	const char *name = line + (comment ? 2 : 0), *end = line + n, *name_end;

	if ((size_t)(end - name) < strlen(prefix) || strncmp(name, prefix, strlen(prefix)))
		return false;
	name += strlen(prefix);
	name_end = memchr(name, comment ? ' ' : '=', end - name);
	if (!name_end || name_end == name)
		return false;
	setting->name = (struct catalogue_text){ name, name_end - name };
	setting->value = (struct catalogue_text){ name_end + 1, end - name_end - 1 };
	if (!comment)
		return true;
	setting->value = (struct catalogue_text){ "n", 1 };
	return (size_t)(end - name_end) == strlen(unset) && !memcmp(name_end, unset, strlen(unset));
}

bool catalogue_next_option(const char **at, struct catalogue_setting *setting)
{
	while (*at && **at) {
		const char *line = *at;
		size_t n = strcspn(line, "\n");

		*at = line + n + (line[n] == '\n');
		if (option_parse(line, n, setting))
			return true;
	}
	return false;
}

bool catalogue_next_parameter(const char **at, struct catalogue_setting *setting)
{
	const char *start, *equals, *end;
	bool quoted = false;

	if (!*at)
		return false;
	start = end = *at + strspn(*at, BLANKS);
	for (; *end && (quoted || !strchr(BLANKS, *end)); end++)
		if (*end == '"')
			quoted = !quoted;
	*at = end;
	equals = memchr(start, '=', end - start);
	setting->name = (struct catalogue_text){ start, (equals ? equals : end) - start };
	setting->value = equals ? (struct catalogue_text){ equals + 1, end - equals - 1 } :
				  (struct catalogue_text){ "", 0 };
	return end > start;
}

struct catalogue_text catalogue_option_value(const char *config, const char *symbol)
{
	struct catalogue_text value = { config ? "n" : NULL, 1 };
	struct catalogue_setting setting;

	while (catalogue_next_option(&config, &setting))
		if (catalogue_text_is(setting.name, symbol))
			value = setting.value;
	return value;
}

/* The kernel takes - and _ in a parameter's name for the same. */
static bool parameter_is(struct catalogue_text name, const char *parameter)
{
	for (; name.n && *parameter; name.s++, name.n--, parameter++)
		if (*name.s != *parameter && !(strchr("-_", *name.s) && strchr("-_", *parameter)))
			return false;
	return !name.n && !*parameter;
}

struct catalogue_text catalogue_parameter_value(const char *cmdline, const char *parameter)
{
	struct catalogue_text value = { NULL, 0 };
	struct catalogue_setting setting;

	while (catalogue_next_parameter(&cmdline, &setting)) {
		/* Parameters after it are for init. */
		if (catalogue_text_is(setting.name, "--"))
			break;
		if (parameter_is(setting.name, parameter))
			value = setting.value;
	}
	return value;
}

struct catalogue_text catalogue_option_name(struct catalogue_text name)
{
	/* GDS: 6.12 */
	static const char *const renamed[][2] = {
		{ "CALL_DEPTH_TRACKING", "MITIGATION_CALL_DEPTH_TRACKING" },
		{ "CPU_IBPB_ENTRY", "MITIGATION_IBPB_ENTRY" },
		{ "CPU_IBRS_ENTRY", "MITIGATION_IBRS_ENTRY" },
		{ "CPU_SRSO", "MITIGATION_SRSO" },
		{ "CPU_UNRET_ENTRY", "MITIGATION_UNRET_ENTRY" },
		{ "GDS_FORCE_MITIGATION", "MITIGATION_GDS" },
		{ "PAGE_TABLE_ISOLATION", "MITIGATION_PAGE_TABLE_ISOLATION" },
		{ "RETHUNK", "MITIGATION_RETHUNK" },
		{ "RETPOLINE", "MITIGATION_RETPOLINE" },
		{ "SLS", "MITIGATION_SLS" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(renamed); i++)
		if (catalogue_text_is(name, renamed[i][0]))
			return (struct catalogue_text){ renamed[i][1], strlen(renamed[i][1]) };
	return name;
}
