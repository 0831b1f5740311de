// SPDX-License-Identifier: GPL-2.0-or-later
#include "catalogue/state.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/number.h"

#define NO_CONFIG "no /proc/config.gz, /boot/config-* or /lib/modules/*/config"

#define VULNERABILITIES "/sys/devices/system/cpu/vulnerabilities/"

/* A state, and a phrase that tells how the state is known. */
struct finding {
	enum catalogue_state state;
	char *how;
	bool found;
};

static struct finding found(enum catalogue_state state, char *how)
{
	return (struct finding){ state, how, true };
}

const char *catalogue_state_name(enum catalogue_state state)
{
	static const char *const names[] = {
		[CATALOGUE_UNKNOWN] = "unknown",
		[CATALOGUE_OFF] = "off",
		[CATALOGUE_BUILT_IN] = "built in",
		[CATALOGUE_ON] = "on",
	};

	return names[state];
}

uint32_t catalogue_linux(const struct profile *p)
{
	const char *release = profile_env_get(p, PROFILE_ENV_RELEASE);
	unsigned int version[3];

	if (!release || number_version(release, version) < 2)
		return 0;
	return CATALOGUE_LINUX(version[0], version[1]);
}

/* Return whether TEXT equals one of LIST's entries, which '|' separates. PREFIX: TEXT may also begin with an entry. */
static bool listed(const char *list, struct catalogue_text text, bool prefix)
{
	while (list) {
		size_t n = strcspn(list, "|");

		if (n <= text.n && !memcmp(text.s, list, n) && (prefix || n == text.n))
			return true;
		list = list[n] ? list + n + 1 : NULL;
	}
	return false;
}

static char *first_line(const char *path)
{
	char line[1024];

	return file_read_line(path, line, sizeof(line)) && *line ? alloc_strdup(line) : NULL;
}

/* Return the text of the file PATH from the recording P. If P has none, but P's kernel is running (LIVE), read the first line. */
static char *file_text(const char *path, const struct profile *p, bool live)
{
	const char *recorded;

	if (!strncmp(path, VULNERABILITIES, strlen(VULNERABILITIES))) {
		scoped_free char *key =
			alloc_printf(PROFILE_ENV_MITIGATION "%s", path + strlen(VULNERABILITIES));

		recorded = profile_env_get(p, key);
		if (recorded)
			return alloc_strdup(recorded);
	}
	return live ? first_line(path) : NULL;
}

static struct finding from_file(const struct catalogue_protection *protection,
				const struct profile *p, bool live)
{
	const struct catalogue_file *file = protection->file;
	struct finding none = { 0 };
	enum catalogue_state state = CATALOGUE_UNKNOWN;
	char *text = file ? file_text(file->path, p, live) : NULL, *how;
	struct catalogue_text says = { text, text ? strlen(text) : 0 };

	if (!text)
		return none;
	if (listed(file->on, says, true))
		state = CATALOGUE_ON;
	else if (listed(file->off, says, true))
		state = CATALOGUE_OFF;
	if (state == CATALOGUE_UNKNOWN) {
		free(text);
		return none;
	}
	/* The text after a semicolon is about other protections. */
	how = alloc_printf("%s: %.*s", strrchr(file->path, '/') + 1, (int)strcspn(text, ";"), text);
	free(text);
	return found(state, how);
}

/* Return the state set by the protection's first parameter that the command line has with a known value. */
static struct finding from_cmdline(const struct catalogue_protection *protection,
				   const char *cmdline)
{
	const struct catalogue_parameter *parameter = protection->parameters;

	for (; parameter && parameter->name; parameter++) {
		struct catalogue_text value = catalogue_parameter_value(cmdline, parameter->name);
		bool on = value.s && listed(parameter->on, value, false);

		if (on || (value.s && listed(parameter->off, value, false)))
			return found(on ? CATALOGUE_ON : CATALOGUE_OFF,
				     alloc_printf("%s%s%.*s on the command line", parameter->name,
						  value.n ? "=" : "", (int)value.n, value.s));
	}
	return (struct finding){ 0 };
}

/* Return the first option of ROLE that is set, else the last that Linux VERSION has, else the first of ROLE, or NULL. */
static const struct catalogue_option *option_of(const struct catalogue_protection *protection,
						enum catalogue_role role, const char *config,
						uint32_t version, bool *set)
{
	const struct catalogue_option *option = protection->options, *last = NULL;

	*set = false;
	for (; option && option->symbol; option++) {
		struct catalogue_text value;

		if (option->role != role)
			continue;
		value = catalogue_option_value(config, option->symbol);
		*set = value.s && !catalogue_text_is(value, option->off);
		if (*set)
			return option;
		if (!last || !version || catalogue_span_has(option->span, version))
			last = option;
	}
	return last;
}

static char *version_text(uint32_t version)
{
	return alloc_printf("%u.%u", version / 1000, version % 1000);
}

/* Return OFF if the kernel was built without the protection or Linux VERSION does not have it. Without CONFIG, return UNKNOWN. */
static struct finding from_build(const struct catalogue_protection *protection, const char *config,
				 uint32_t version)
{
	const struct catalogue_option *option;
	struct finding none = { 0 };
	char *from, *how;
	bool set;

	option = option_of(protection, CATALOGUE_BUILDS, config, version, &set);
	if (set)
		return none;
	if (version && !catalogue_span_has(protection->span, version)) {
		from = version_text(protection->span.from);
		how = alloc_printf("added in Linux %s", from);
		free(from);
		return found(CATALOGUE_OFF, how);
	}
	if (!option || (version && !catalogue_span_has(option->span, version)))
		return none;
	if (!config)
		return found(CATALOGUE_UNKNOWN, alloc_strdup(NO_CONFIG));
	return found(CATALOGUE_OFF, alloc_printf("CONFIG_%s is not set", option->symbol));
}

/* Return "CONFIG_X=y" or "CONFIG_X is not set". The caller frees the text. */
static char *option_text(const struct catalogue_option *option, const char *config)
{
	struct catalogue_text value = catalogue_option_value(config, option->symbol);

	if (catalogue_text_is(value, "n"))
		return alloc_printf("CONFIG_%s is not set", option->symbol);
	return alloc_printf("CONFIG_%s=%.*s", option->symbol, (int)value.n, value.s);
}

static struct finding from_default(const struct catalogue_protection *protection,
				   const char *config, uint32_t version)
{
	const struct catalogue_option *option, *builds;
	bool set, built;

	option = option_of(protection, CATALOGUE_DEFAULT, config, version, &set);
	if (option && !config)
		return found(CATALOGUE_UNKNOWN, alloc_strdup(NO_CONFIG));
	if (option)
		return found(set ? CATALOGUE_ON : CATALOGUE_OFF, option_text(option, config));
	builds = option_of(protection, CATALOGUE_BUILDS, config, version, &built);
	if (!built)
		return found(protection->assumed > 0 ? CATALOGUE_ON : CATALOGUE_BUILT_IN,
			     alloc_strdup(protection->by == CATALOGUE_BY_NOTHING ?
						  "always there" :
						  "in every kernel of this version"));
	if (protection->assumed < 0)
		return found(CATALOGUE_BUILT_IN,
			     alloc_printf("CONFIG_%s=y; decided by the %s", builds->symbol,
					  protection->by == CATALOGUE_BY_USE ? "program" : "CPU"));
	return found(protection->assumed ? CATALOGUE_ON : CATALOGUE_OFF,
		     alloc_printf("CONFIG_%s=y%s", builds->symbol,
				  protection->assumed ? "" : ", no parameter"));
}

/* Return the state in the kernel's file. If it is "off", but a parameter switches the protection on by force, return "on". */
static struct finding reported_by_kernel(const struct catalogue_protection *protection,
					 const struct profile *p, bool live)
{
	struct finding says = from_file(protection, p, live);
	struct finding asked = { 0 };

	if (says.found && says.state == CATALOGUE_OFF && protection->forced)
		asked = from_cmdline(protection, profile_env_get(p, PROFILE_ENV_CMDLINE));
	if (asked.found && asked.state == CATALOGUE_ON) {
		free(says.how);
		return asked;
	}
	free(asked.how);
	return says;
}

/* The kernel's report takes precedence over parameters, and parameters over the default. */
static struct finding find_state(const struct catalogue_protection *protection,
				 const struct profile *p, bool live)
{
	const char *config = profile_env_get(p, PROFILE_ENV_CONFIG);
	uint32_t version = catalogue_linux(p);
	struct finding built = from_build(protection, config, version), reported;

	if (built.found && built.state == CATALOGUE_OFF)
		return built;
	reported = reported_by_kernel(protection, p, live);
	if (!reported.found && !built.found)
		reported = from_cmdline(protection, profile_env_get(p, PROFILE_ENV_CMDLINE));
	if (!reported.found && !built.found)
		reported = from_default(protection, config, version);
	if (!reported.found)
		return built;
	free(built.how);
	return reported;
}

enum catalogue_state catalogue_state(const struct catalogue_protection *protection,
				     const struct profile *p, bool live, char **how)
{
	struct finding finding = find_state(protection, p, live);

	if (how)
		*how = finding.how;
	else
		free(finding.how);
	return finding.state;
}

bool catalogue_differs(const struct catalogue_protection *protection, const struct profile *a,
		       const struct profile *b)
{
	enum catalogue_state is_a = catalogue_state(protection, a, false, NULL);
	enum catalogue_state is_b = catalogue_state(protection, b, false, NULL);

	return is_a != is_b && is_a != CATALOGUE_UNKNOWN && is_b != CATALOGUE_UNKNOWN;
}

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

/* Compare names of parameters as the kernel does: - and _ are equal. */
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
		/* Parameters after "--" are for init. */
		if (catalogue_text_is(setting.name, "--"))
			break;
		if (parameter_is(setting.name, parameter))
			value = setting.value;
	}
	return value;
}

struct catalogue_text catalogue_option_name(struct catalogue_text name)
{
	/* Linux 6.9 renamed these options. Linux 6.12 renamed the option for GDS (Gather Data Sampling) again. */
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
