// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/environment.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/sort.h"
#include "base/alloc.h"
#include "catalogue/state.h"

/* A slice of a text that somebody else keeps. */
struct slice {
	const char *s;
	size_t n;
};

/* A name with its value; ORDER keeps sorting stable. */
struct setting {
	struct slice name, value;
	struct slice shown; /* the name as this side has it */
	size_t order;
};

struct settings {
	struct setting *settings;
	size_t n_settings, cap_settings;
};

static const char *const kind_names[] = {
	[ANALYZE_ENV_STATE] = "protection",  [ANALYZE_ENV_PROTECTION] = "protection",
	[ANALYZE_ENV_CONFIG] = "config",     [ANALYZE_ENV_CMDLINE] = "cmdline",
	[ANALYZE_ENV_OTHER] = "environment", [ANALYZE_ENV_KERNEL] = "kernel",
};

static int slice_compare(struct slice a, struct slice b)
{
	int diff = memcmp(a.s, b.s, a.n < b.n ? a.n : b.n);

	return diff ? diff : a.n < b.n ? -1 : a.n > b.n;
}

static int name_compare(const void *left, const void *right)
{
	const struct setting *a = left, *b = right;
	int diff = slice_compare(a->name, b->name);

	return diff ? diff : a->order < b->order ? -1 : a->order > b->order;
}

static char *slice_dup(struct slice slice)
{
	return slice.s ? alloc_strndup(slice.s, slice.n) : NULL;
}

static void setting_add(struct settings *list, struct slice name, struct slice value)
{
	struct setting setting = { name, value, name, list->n_settings };

	vec_push(list, settings, setting);
}

/* Options that Linux 6.9 gave other names (6.12, GDS): by the new one they are the same option. */
static struct slice option_name(struct slice name)
{
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
	size_t i;

	for (i = 0; i < sizeof(renamed) / sizeof(*renamed); i++)
		if (name.n == strlen(renamed[i][0]) && !memcmp(name.s, renamed[i][0], name.n))
			return (struct slice){ renamed[i][1], strlen(renamed[i][1]) };
	return name;
}

/* The text of /proc/config.gz: "CONFIG_X=value" and "# CONFIG_X is not set", which is no setting. */
static void config_parse(struct settings *list, const char *text)
{
	static const char prefix[] = "CONFIG_";

	while (text && *text) {
		size_t n = strcspn(text, "\n");
		const char *equals = memchr(text, '=', n);

		if (n > strlen(prefix) && equals && !strncmp(text, prefix, strlen(prefix))) {
			struct slice name = { text + strlen(prefix),
					      equals - text - strlen(prefix) };
			struct slice value = { equals + 1, text + n - equals - 1 };

			if (name.n && (value.n != 1 || *value.s != 'n')) {
				setting_add(list, option_name(name), value);
				list->settings[list->n_settings - 1].shown = name;
			}
		}
		text += n + (text[n] == '\n');
	}
}

/* The kernel's command line: NAME or NAME=VALUE, where double quotes keep blanks together. */
static void cmdline_parse(struct settings *list, const char *text)
{
	while (text && *text) {
		const char *start, *equals;
		bool quoted = false;

		text += strspn(text, " \t\n");
		for (start = text; *text && (quoted || !strchr(" \t\n", *text)); text++)
			if (*text == '"')
				quoted = !quoted;
		if (text == start)
			continue;
		equals = memchr(start, '=', text - start);
		if (equals)
			setting_add(list, (struct slice){ start, equals - start },
				    (struct slice){ equals + 1, text - equals - 1 });
		else
			setting_add(list, (struct slice){ start, text - start },
				    (struct slice){ "", 0 });
	}
}

/* The end of the run of equal names that starts at I. */
static size_t run_end(const struct settings *list, size_t i)
{
	size_t j = i;

	while (j < list->n_settings &&
	       !slice_compare(list->settings[i].name, list->settings[j].name))
		j++;
	return j;
}

static void row_add(struct analyze_env *env, enum analyze_env_kind kind, char *name, char *baseline,
		    char *hardened)
{
	vec_push(env, rows,
		 ((struct analyze_env_row){ .kind = kind,
					    .kind_name = kind_names[kind],
					    .name = name,
					    .baseline = baseline,
					    .hardened = hardened }));
}

/* The values of a run joined by a comma, as `console=ttyS0 console=tty0` gives "ttyS0,tty0". */
static char *values_join(const struct settings *list, size_t from, size_t to)
{
	size_t n = 0, i;
	char *text, *out;

	if (from == to)
		return NULL;
	for (i = from; i < to; i++)
		n += list->settings[i].value.n + 1;
	text = out = alloc_array(n, 1);
	for (i = from; i < to; i++) {
		struct slice value = list->settings[i].value;

		if (i > from)
			*out++ = ',';
		memcpy(out, value.s, value.n);
		out += value.n;
	}
	return text;
}

static void config_row(struct analyze_env *env, struct slice name, struct slice a, struct slice b)
{
	static const struct slice unset = { "n", 1 };
	enum analyze_env_kind kind =
		analyze_protection_is(name.s, name.n) ? ANALYZE_ENV_PROTECTION : ANALYZE_ENV_CONFIG;

	row_add(env, kind, slice_dup(name), slice_dup(a.s ? a : unset), slice_dup(b.s ? b : unset));
}

/*
 * Walks two sorted lists side by side. Of an option given twice the last counts; parameters given
 * twice all count.
 */
static void settings_diff(struct analyze_env *env, struct settings *a, struct settings *b,
			  bool is_config)
{
	size_t i = 0, j = 0;

	analyze_sort(a->settings, a->n_settings, sizeof(*a->settings), name_compare);
	analyze_sort(b->settings, b->n_settings, sizeof(*b->settings), name_compare);
	while (i < a->n_settings || j < b->n_settings) {
		size_t i_end = i, j_end = j;
		struct slice name;
		int order = i == a->n_settings ?
				    1 :
			    j == b->n_settings ?
				    -1 :
				    slice_compare(a->settings[i].name, b->settings[j].name);

		if (order <= 0)
			i_end = run_end(a, i);
		if (order >= 0)
			j_end = run_end(b, j);
		name = order <= 0 ? a->settings[i].name : b->settings[j].name;
		if (is_config) {
			struct slice none = { NULL, 0 };
			struct slice va = i < i_end ? a->settings[i_end - 1].value : none;
			struct slice vb = j < j_end ? b->settings[j_end - 1].value : none;

			if (!va.s || !vb.s || slice_compare(va, vb))
				config_row(env,
					   j < j_end ? b->settings[j].shown : a->settings[i].shown,
					   va, vb);
		} else {
			char *va = values_join(a, i, i_end), *vb = values_join(b, j, j_end);

			if (va && vb && !strcmp(va, vb)) {
				free(va);
				free(vb);
			} else {
				row_add(env, ANALYZE_ENV_CMDLINE, slice_dup(name), va, vb);
			}
		}
		i = i_end;
		j = j_end;
	}
	free(a->settings);
	free(b->settings);
}

static enum analyze_env_kind key_kind(const char *key)
{
	return strncmp(key, "kernel.", strlen("kernel.")) ? ANALYZE_ENV_OTHER : ANALYZE_ENV_KERNEL;
}

/* Keys that are compared as they are: not what is parsed, nor when and with what was recorded. */
static bool key_is_plain(const char *key)
{
	return strcmp(key, PROFILE_ENV_CONFIG) && strcmp(key, PROFILE_ENV_CMDLINE) &&
	       strncmp(key, "record.", strlen("record."));
}

static void keys_collect(struct settings *list, const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->n_envs; i++) {
		const struct profile_env *env = &p->envs[i];

		if (key_is_plain(env->key))
			setting_add(list, (struct slice){ env->key, strlen(env->key) },
				    (struct slice){ env->value, strlen(env->value) });
	}
}

static void keys_diff(struct analyze_env *env, const struct profile *baseline,
		      const struct profile *hardened)
{
	struct settings a = { 0 }, b = { 0 };
	uint32_t i = env->n_rows;

	keys_collect(&a, baseline);
	keys_collect(&b, hardened);
	settings_diff(env, &a, &b, false);
	for (; i < env->n_rows; i++) {
		env->rows[i].kind = key_kind(env->rows[i].name);
		env->rows[i].kind_name = kind_names[env->rows[i].kind];
	}
}

/* A side of which a protection's state is not known tells no difference. */
static void states_diff(struct analyze_env *env, const struct profile *baseline,
			const struct profile *hardened)
{
	size_t i;

	for (i = 0; i < catalogue_size; i++) {
		enum catalogue_state a = catalogue_state(&catalogue[i], baseline, false, NULL);
		enum catalogue_state b = catalogue_state(&catalogue[i], hardened, false, NULL);

		if (a != b && a != CATALOGUE_UNKNOWN && b != CATALOGUE_UNKNOWN)
			row_add(env, ANALYZE_ENV_STATE, alloc_strdup(catalogue[i].name),
				alloc_strdup(catalogue_state_name(a)),
				alloc_strdup(catalogue_state_name(b)));
	}
}

static int row_compare(const void *left, const void *right)
{
	const struct analyze_env_row *a = left, *b = right;

	return a->kind != b->kind ? (int)a->kind - (int)b->kind : strcmp(a->name, b->name);
}

void analyze_env_diff(struct analyze_env *env, const struct profile *baseline,
		      const struct profile *hardened)
{
	const char *config[2] = { profile_env_get(baseline, PROFILE_ENV_CONFIG),
				  profile_env_get(hardened, PROFILE_ENV_CONFIG) };
	struct settings a = { 0 }, b = { 0 };

	memset(env, 0, sizeof(*env));
	states_diff(env, baseline, hardened);
	/* With one config unknown, nothing can be said about single options. */
	if (config[0] && config[1]) {
		config_parse(&a, config[0]);
		config_parse(&b, config[1]);
		settings_diff(env, &a, &b, true);
	}
	a = b = (struct settings){ 0 };
	cmdline_parse(&a, profile_env_get(baseline, PROFILE_ENV_CMDLINE));
	cmdline_parse(&b, profile_env_get(hardened, PROFILE_ENV_CMDLINE));
	settings_diff(env, &a, &b, false);
	keys_diff(env, baseline, hardened);
	analyze_sort(env->rows, env->n_rows, sizeof(*env->rows), row_compare);
}

void analyze_env_protections(struct analyze_env *env, const struct profile *p)
{
	struct settings list = { 0 };
	size_t i;

	memset(env, 0, sizeof(*env));
	config_parse(&list, profile_env_get(p, PROFILE_ENV_CONFIG));
	for (i = 0; i < list.n_settings; i++) {
		struct slice name = list.settings[i].shown;

		if (analyze_protection_is(name.s, name.n))
			row_add(env, ANALYZE_ENV_PROTECTION, slice_dup(name),
				slice_dup(list.settings[i].value), NULL);
	}
	free(list.settings);
	analyze_sort(env->rows, env->n_rows, sizeof(*env->rows), row_compare);
}

void analyze_env_deinit(struct analyze_env *env)
{
	uint32_t i;

	for (i = 0; i < env->n_rows; i++) {
		free(env->rows[i].name);
		free(env->rows[i].baseline);
		free(env->rows[i].hardened);
	}
	free(env->rows);
	memset(env, 0, sizeof(*env));
}
