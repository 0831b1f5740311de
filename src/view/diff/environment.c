// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of differences between the two kernels and machines. */

#include <string.h>

#include "base/alloc.h"
#include "output/json.h"
#include "view/page/columns.h"
#include "view/diff.h"
#include "view/names.h"

/* Maximum number of kernel options (other than protections) on the page. If more differ, as between versions, show none. */
#define CONFIG_MOST 8
/* Maximum number of differences in the line at the top of the page. */
#define LINE_MOST 3

static const struct output_column columns[] = {
	COLUMN("kind", TEXT, analyze_env_row, kind, .names = view_env_kinds, .header = "DIFFERS"),
	COLUMN("name", TEXT, analyze_env_row, name, .header = "NAME"),
	COLUMN("baseline", TEXT, analyze_env_row, sides[0], .header = "BASELINE"),
	COLUMN("hardened", TEXT, analyze_env_row, sides[1], .header = "HARDENED"),
};

static uint32_t count_config(const struct analyze_env *env)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < env->n_rows; i++)
		n += env->rows[i].kind == ANALYZE_ENV_CONFIG;
	return n;
}

static void rows(struct view_rows *rows, const void *data)
{
	const struct analyze_env *env = &((const struct view_diff *)data)->diff.env;
	struct analyze_env_row *shown;
	uint32_t n = 0;

	if (!rows->for_people)
		return;
	shown = view_rows_new(rows, env->n_rows, sizeof(*shown));
	for (uint32_t i = 0; i < env->n_rows; i++) {
		if (env->rows[i].kind == ANALYZE_ENV_CONFIG && count_config(env) > CONFIG_MOST)
			continue;
		/* Two builds always differ in version and build-id. Show these only if nothing else differs. */
		if (env->rows[i].kind == ANALYZE_ENV_KERNEL && n &&
		    shown[0].kind != ANALYZE_ENV_KERNEL)
			continue;
		shown[n++] = env->rows[i];
	}
	rows->section.n_rows = n;
}

static void after(const struct view *v, const void *data)
{
	uint32_t n = count_config(&((const struct view_diff *)data)->diff.env);

	if (n > CONFIG_MOST)
		view_text(v,
			  "(%u kernel options other than protections differ: --format=json lists "
			  "them)",
			  n);
}

static json_t *kind_json(const struct analyze_env *env, enum analyze_env_kind kind)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < env->n_rows; i++) {
		json_t *row;

		if (env->rows[i].kind != kind)
			continue;
		row = json_object();
		output_json_set(row, "name", output_json_text(env->rows[i].name));
		output_json_set(row, "baseline", output_json_text(env->rows[i].sides[0]));
		output_json_set(row, "hardened", output_json_text(env->rows[i].sides[1]));
		json_array_append_new(list, row);
	}
	return list;
}

static json_t *json(const void *data)
{
	static const struct {
		const char *key;
		enum analyze_env_kind kind;
	} kinds[] = {
		{ "protections", ANALYZE_ENV_STATE },      { "protection", ANALYZE_ENV_PROTECTION },
		{ "config", ANALYZE_ENV_CONFIG },          { "cmdline", ANALYZE_ENV_CMDLINE },
		{ "environment", ANALYZE_ENV_OTHER },      { "kernel", ANALYZE_ENV_KERNEL },
		{ "static_keys", ANALYZE_ENV_STATIC_KEY },
	};
	const struct view_diff *c = data;
	json_t *env = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		output_json_set(env, kinds[i].key, kind_json(&c->diff.env, kinds[i].kind));
	return env;
}

/* Return whether an earlier row says enough about row I: it has I's name, or is a protection's state, and I is a kernel option. */
static bool is_said(const struct analyze_env_row *rows, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(rows[j].name, rows[i].name) ||
		    (rows[j].kind == ANALYZE_ENV_STATE && rows[i].kind == ANALYZE_ENV_PROTECTION))
			return true;
	return false;
}

void view_diff_write_environment(const struct view *v, const struct view_diff *c)
{
	scoped(view_rows_deinit) struct view_rows rows;
	const struct analyze_env_row *row;
	scoped_free char *list = NULL;
	size_t n = 0;

	view_rows_init(&rows, &diff_environment, c, true);
	row = rows.section.rows;
	for (size_t i = 0; i < rows.section.n_rows; i++, row++) {
		if (is_said(rows.section.rows, i) || n++ >= LINE_MOST)
			continue;
		alloc_append(&list, "%s%s (%s, %s)", list ? ", " : "", row->name,
			     row->sides[0] ?: "-", row->sides[1] ?: "-");
	}
	if (n > LINE_MOST)
		view_text(v, "differs: %s, and %zu more", list, n - LINE_MOST);
	else
		view_text(v, "differs: %s",
			  list ? list : "nothing that was recorded about kernel and machine");
}

const struct view_table diff_environment = {
	.name = "environment",
	.is_closed = true,
	.none = "Environments: no difference.",
	ONE_GROUP(columns),
	VIEW_LIST(view_diff, diff.env.rows, diff.env.n_rows),
	.rows = rows,
	.after = after,
	.json = json,
};
