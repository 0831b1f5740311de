// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/figures/environment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "catalogue/catalogue.h"
#include "catalogue/state.h"

/* A setting's name and value. ORDER is the index before sorting, so that settings of one name keep their order. */
struct setting {
	struct catalogue_text name, value;
	struct catalogue_text shown; /* the name as this profile spells it */
	size_t order;
};

struct settings {
	vec_of(struct setting, settings);
};

static int text_compare(struct catalogue_text a, struct catalogue_text b)
{
	int diff = memcmp(a.s, b.s, a.n < b.n ? a.n : b.n);

	return diff ? diff : a.n < b.n ? -1 : a.n > b.n;
}

define_compare(name_compare, struct setting, text_compare(a->name, b->name));

define_compare(setting_compare, struct setting,
	       name_compare(a, b) ?: compare_values(a->order, b->order));

static void setting_add(struct settings *list, struct catalogue_text name,
			struct catalogue_text value)
{
	struct setting setting = { name, value, name, list->n_settings };

	vec_push(list, settings, setting);
}

static void config_collect(struct settings *list, const char *config)
{
	struct catalogue_setting option;

	while (catalogue_next_option(&config, &option)) {
		if (catalogue_text_is(option.value, "n"))
			continue;
		setting_add(list, catalogue_option_name(option.name), option.value);
		list->settings[list->n_settings - 1].shown = option.name;
	}
}

/* Add the words of WORDS to LIST: command-line parameters, or names of static keys. */
static void words_collect(struct settings *list, const char *words)
{
	struct catalogue_setting parameter;

	while (catalogue_next_parameter(&words, &parameter))
		setting_add(list, parameter.name, parameter.value);
}

static const char *keep(struct analyze_env *env, struct catalogue_text text)
{
	return alloc_keep(&env->texts, catalogue_text_dup(text));
}

static void row_add(struct analyze_env *env, enum analyze_env_kind kind, const char *name,
		    const char *baseline, const char *hardened)
{
	vec_push(env, rows,
		 ((struct analyze_env_row){
			 .kind = kind, .name = name, .sides = { baseline, hardened } }));
}

/* Join the values of N settings by commas, such as "ttyS0,tty0" for `console=ttyS0 console=tty0`. Return NULL if N is 0. */
static char *values_join(const struct setting *settings, size_t n)
{
	size_t size = 0;
	char *text, *end;

	if (!n || (n == 1 && !settings->value.s))
		return NULL;
	for (size_t i = 0; i < n; i++)
		size += settings[i].value.n + 1;
	text = end = alloc_array(size, 1);
	for (size_t i = 0; i < n; i++)
		end += sprintf(end, "%s%.*s", i ? "," : "", (int)settings[i].value.n,
			       settings[i].value.s);
	return text;
}

/* Add a row if the values of an option differ. Use the last of several values. The value of a missing option is "n". */
static void option_row(struct analyze_env *env, const struct setting *a, size_t n_a,
		       const struct setting *b, size_t n_b)
{
	static const struct catalogue_text unset = { "n", 1 };
	struct catalogue_text was = n_a ? a[n_a - 1].value : unset;
	struct catalogue_text is = n_b ? b[n_b - 1].value : unset;
	struct catalogue_text name = n_b ? b->shown : a->shown;

	if (text_compare(was, is))
		row_add(env,
			catalogue_has_option(name.s, name.n) ? ANALYZE_ENV_PROTECTION :
							       ANALYZE_ENV_CONFIG,
			keep(env, name), keep(env, was), keep(env, is));
}

/* Add a row if the values of a parameter differ. If the parameter is repeated, compare all of its values. */
static void parameter_row(struct analyze_env *env, const struct setting *a, size_t n_a,
			  const struct setting *b, size_t n_b)
{
	const char *was = alloc_keep(&env->texts, values_join(a, n_a));
	const char *is = alloc_keep(&env->texts, values_join(b, n_b));

	if (!was || !is || strcmp(was, is))
		row_add(env, ANALYZE_ENV_CMDLINE, keep(env, n_a ? a->name : b->name), was, is);
}

static void static_key_row(struct analyze_env *env, const struct setting *a, size_t n_a,
			   const struct setting *b, size_t n_b)
{
	if (!n_a != !n_b)
		row_add(env, ANALYZE_ENV_STATIC_KEY, keep(env, n_a ? a->name : b->name),
			n_a ? "on" : "off", n_b ? "on" : "off");
}

typedef void (*row_fn)(struct analyze_env *env, const struct setting *a, size_t n_a,
		       const struct setting *b, size_t n_b);

/* Add a row for each setting that differs. Free the lists. */
static void settings_diff(struct analyze_env *env, struct settings *a, struct settings *b,
			  row_fn row)
{
	struct join join;

	sort_array(a->settings, a->n_settings, sizeof(*a->settings), setting_compare);
	sort_array(b->settings, b->n_settings, sizeof(*b->settings), setting_compare);
	join = join_sorted(a->settings, a->n_settings, b->settings, b->n_settings,
			   sizeof(struct setting), name_compare);
	while (join_next(&join))
		row(env, join.a, join.n_a, join.b, join.n_b);
	free(a->settings);
	free(b->settings);
}

static enum analyze_env_kind key_kind(const char *key)
{
	return profile_env_group(key) == PROFILE_ENV_OF_KERNEL ? ANALYZE_ENV_KERNEL :
								 ANALYZE_ENV_OTHER;
}

/* Return whether KEY describes the machine or kernel, and two values of KEY can be compared as plain texts. */
static bool key_is_plain(const char *key)
{
	return strcmp(key, PROFILE_ENV_CONFIG) && strcmp(key, PROFILE_ENV_CMDLINE) &&
	       profile_env_group(key) != PROFILE_ENV_OF_RECORDING;
}

static void keys_collect(struct settings *list, const struct profile *p)
{
	vec_each(const struct profile_env, env, p, envs)
		if (key_is_plain(env->key))
			setting_add(list, (struct catalogue_text){ env->key, strlen(env->key) },
				    (struct catalogue_text){ env->value, strlen(env->value) });
}

static void keys_diff(struct analyze_env *env, const struct profile *baseline,
		      const struct profile *hardened)
{
	struct settings a = { 0 }, b = { 0 };
	uint32_t i = env->n_rows;

	keys_collect(&a, baseline);
	keys_collect(&b, hardened);
	settings_diff(env, &a, &b, parameter_row);
	for (; i < env->n_rows; i++)
		env->rows[i].kind = key_kind(env->rows[i].name);
}

static const char *state_name(const struct catalogue_protection *protection,
			      const struct profile *p)
{
	return catalogue_state_name(catalogue_state(protection, p, false, NULL));
}

/* Add the protections whose states differ. Skip a protection if its state is unknown in one profile. */
static void states_diff(struct analyze_env *env, const struct profile *baseline,
			const struct profile *hardened)
{
	for (size_t i = 0; i < catalogue_size; i++) {
		const struct catalogue_protection *p = &catalogue[i];

		if (catalogue_differs(p, baseline, hardened))
			row_add(env, ANALYZE_ENV_STATE, p->name, state_name(p, baseline),
				state_name(p, hardened));
	}
}

static void loads_diff(struct analyze_env *env, const struct profile *baseline,
		       const struct profile *hardened)
{
	for (int load = 0; load < ANALYZE_N_LOADS; load++) {
		double was = analyze_load_of(baseline, load), is = analyze_load_of(hardened, load);

		if (analyze_load_unlike(load, was, is))
			row_add(env, ANALYZE_ENV_OTHER, analyze_load_name(load),
				alloc_keep(&env->texts, analyze_load_text(load, was)),
				alloc_keep(&env->texts, analyze_load_text(load, is)));
	}
}

define_compare(row_compare, struct analyze_env_row,
	       a->kind != b->kind ? (int)a->kind - (int)b->kind : strcmp(a->name, b->name));

void analyze_env_diff(struct analyze_env *env, const struct profile *baseline,
		      const struct profile *hardened)
{
	const char *config[2] = { profile_env_get(baseline, PROFILE_ENV_CONFIG),
				  profile_env_get(hardened, PROFILE_ENV_CONFIG) };
	const char *keys[2] = { profile_env_get(baseline, PROFILE_ENV_STATIC_KEYS),
				profile_env_get(hardened, PROFILE_ENV_STATIC_KEYS) };
	struct settings a = { 0 }, b = { 0 };

	memset(env, 0, sizeof(*env));
	states_diff(env, baseline, hardened);
	if (config[0] && config[1]) {
		config_collect(&a, config[0]);
		config_collect(&b, config[1]);
		settings_diff(env, &a, &b, option_row);
	}
	a = b = (struct settings){ 0 };
	words_collect(&a, profile_env_get(baseline, PROFILE_ENV_CMDLINE));
	words_collect(&b, profile_env_get(hardened, PROFILE_ENV_CMDLINE));
	settings_diff(env, &a, &b, parameter_row);
	if (keys[0] && keys[1]) {
		a = b = (struct settings){ 0 };
		words_collect(&a, keys[0]);
		words_collect(&b, keys[1]);
		settings_diff(env, &a, &b, static_key_row);
	}
	keys_diff(env, baseline, hardened);
	loads_diff(env, baseline, hardened);
	sort_array(env->rows, env->n_rows, sizeof(*env->rows), row_compare);
}

void analyze_env_protections(struct analyze_env *env, const struct profile *p)
{
	struct settings list = { 0 };

	memset(env, 0, sizeof(*env));
	config_collect(&list, profile_env_get(p, PROFILE_ENV_CONFIG));
	for (size_t i = 0; i < list.n_settings; i++) {
		struct catalogue_text name = list.settings[i].shown;

		if (catalogue_has_option(name.s, name.n))
			row_add(env, ANALYZE_ENV_PROTECTION, keep(env, name),
				keep(env, list.settings[i].value), NULL);
	}
	free(list.settings);
	sort_array(env->rows, env->n_rows, sizeof(*env->rows), row_compare);
}

void analyze_env_deinit(struct analyze_env *env)
{
	alloc_texts_free(&env->texts);
	free(env->rows);
	memset(env, 0, sizeof(*env));
}

static const struct {
	const char *name, *unit;
	double unlike; /* warn if the loads of two recordings differ by more than this */
} loads[ANALYZE_N_LOADS] = {
	[ANALYZE_LOAD_WAITING] = { "tasks waiting for a CPU", " % of the time", 10 },
	[ANALYZE_LOAD_STOLEN] = { "stolen by the hypervisor", " % of the CPUs' time", 2 },
	[ANALYZE_LOAD_FREQUENCY] = { "CPU frequency", " % of nominal", 2 },
	[ANALYZE_LOAD_THROTTLING] = { "thermal throttling", " times per run", 0 },
};

const char *analyze_load_name(enum analyze_load load)
{
	return loads[load].name;
}

char *analyze_load_text(enum analyze_load load, double value)
{
	return isnan(value) ? NULL : alloc_printf("%.3g%s", value, loads[load].unit);
}

/* Return the sum of the runs' counts of KIND, or NAN if a run did not count KIND. */
static double sum(const struct profile *p, enum profile_loss kind)
{
	double n = 0;

	vec_each(const struct profile_run, run, p, runs) {
		if (run->losses[kind] == PROFILE_NOT_COUNTED)
			return NAN;
		n += (double)run->losses[kind];
	}
	return p->n_runs ? n : NAN;
}

static double wall(const struct profile *p)
{
	double n = 0;

	vec_each(const struct profile_run, run, p, runs)
		n += (double)run->wall;
	return n > 0 ? n : NAN;
}

static double cpus(const struct profile *p)
{
	const char *text = profile_env_get(p, PROFILE_ENV_CPUS);
	double n = text ? strtod(text, NULL) : NAN;

	return n >= 1 ? n : NAN;
}

double analyze_load_of(const struct profile *p, enum analyze_load load)
{
	double cycles;

	switch (load) {
	case ANALYZE_LOAD_WAITING:
		return 100 * sum(p, PROFILE_INFO_WAITED) / wall(p);
	case ANALYZE_LOAD_STOLEN:
		return 100 * sum(p, PROFILE_INFO_STOLEN) / (wall(p) * cpus(p));
	case ANALYZE_LOAD_FREQUENCY:
		cycles = sum(p, PROFILE_INFO_MPERF);
		return cycles > 0 ? 100 * sum(p, PROFILE_INFO_APERF) / cycles : NAN;
	default:
		return sum(p, PROFILE_INFO_THROTTLED) / p->n_runs;
	}
}

bool analyze_load_unlike(enum analyze_load load, double a, double b)
{
	return fabs(a - b) > loads[load].unlike;
}
