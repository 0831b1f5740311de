// SPDX-License-Identifier: GPL-2.0-or-later
/* diff for programs: docs/json.md. */
#include <stdlib.h>

#include "base/alloc.h"
#include "cmd/columns.h"
#include "cmd/diff_impl.h"
#include "output/csv.h"
#include "output/json.h"

#define SCHEMA "kprotperf-diff/1"

static const char *const side_names[N_SIDES] = { "baseline", "hardened" };

/* The differences of the environment that are of KIND. */
static json_t *environment_json(const struct analyze_env *env, enum analyze_env_kind kind)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < env->n_rows; i++) {
		json_t *row;

		if (env->rows[i].kind != kind)
			continue;
		row = json_object();
		output_json_set(row, "name", output_json_text(env->rows[i].name));
		output_json_set(row, "baseline", output_json_text(env->rows[i].baseline));
		output_json_set(row, "hardened", output_json_text(env->rows[i].hardened));
		json_array_append_new(list, row);
	}
	return list;
}

static json_t *statistics_json(const struct analyze_diff_repetitions *r, const char *control)
{
	json_t *json = json_object();

	output_json_set(json, "unit", json_string(analyze_unit_key(r->unit)));
	output_json_set(json, "baseline", json_integer(r->n[BASELINE]));
	output_json_set(json, "hardened", json_integer(r->n[HARDENED]));
	output_json_set(json, "confidence", output_json_number(ANALYZE_CONFIDENCE));
	output_json_set(json, "margin_pct", output_json_number(r->margin_pct));
	output_json_set(json, "rows", json_integer(r->rows));
	output_json_set(json, "note", output_json_text(r->note));
	output_json_set(json, "control", output_json_text(control));
	return json;
}

/* Without the lines that only tables need; N becomes how many there are. */
static struct analyze_attribution_row *attribution_rows(const struct analyze_attribution *a,
							size_t *n)
{
	struct analyze_attribution_row *rows = alloc_array(a->n_rows, sizeof(*rows));
	uint32_t i;

	*n = 0;
	for (i = 0; i < a->n_rows; i++)
		if (a->rows[i].part != ANALYZE_PART_OTHERS)
			rows[(*n)++] = a->rows[i];
	return rows;
}

static json_t *attribution_json(const struct analyze_attribution *a)
{
	size_t n;
	struct analyze_attribution_row *rows = attribution_rows(a, &n);
	struct output_section section = columns_diff_attribution(rows, n, a->clock);
	json_t *json = output_json_rows(&section);

	free(rows);
	return json;
}

static json_t *renames_json(const struct analyze_renames *renames)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < renames->n_rows; i++) {
		const struct analyze_renaming *row = &renames->rows[i];
		bool is_baseline = row->side == BASELINE;
		json_t *one = json_object();

		output_json_set(one, "baseline",
				output_json_text(is_baseline ? row->old : row->new));
		output_json_set(one, "hardened",
				output_json_text(is_baseline ? row->new : row->old));
		output_json_set(one, "name", output_json_text(row->new));
		output_json_set(one, "how", output_json_text(analyze_renaming_key(row->how)));
		json_array_append_new(list, one);
	}
	return list;
}

void diff_write_json(const struct diff_comparison *c)
{
	struct output_section workload = columns_diff_workload(&c->diff);
	struct output_section syscalls = columns_diff_syscalls(&c->diff);
	struct output_section functions = columns_diff_functions(&c->diff);
	struct output_section ranges = columns_diff_ranges(&c->diff);
	json_t *root = json_object(), *env = json_object(), *runs = json_object();
	struct output_section changes = columns_diff_paths(&c->paths);
	json_t *warnings = json_array(), *paths = json_array();
	uint32_t i;

	output_json_set(env, "protections", environment_json(&c->diff.env, ANALYZE_ENV_STATE));
	output_json_set(env, "protection", environment_json(&c->diff.env, ANALYZE_ENV_PROTECTION));
	output_json_set(env, "config", environment_json(&c->diff.env, ANALYZE_ENV_CONFIG));
	output_json_set(env, "cmdline", environment_json(&c->diff.env, ANALYZE_ENV_CMDLINE));
	output_json_set(env, "environment", environment_json(&c->diff.env, ANALYZE_ENV_OTHER));
	output_json_set(env, "kernel", environment_json(&c->diff.env, ANALYZE_ENV_KERNEL));
	for (i = 0; i < c->diff.warnings.n_texts; i++)
		json_array_append_new(warnings, output_json_text(c->diff.warnings.texts[i]));
	for (i = 0; i < N_SIDES; i++) {
		json_t *side = json_object();

		output_json_set(side, "runs", json_integer(c->diff.runs[i]));
		output_json_set(side, "boots", json_integer(c->diff.boots[i]));
		output_json_set(runs, side_names[i], side);
	}
	output_json_set(root, "schema", json_string(SCHEMA));
	output_json_set(root, "unit", json_string(profile_clock_unit(c->diff.clock)));
	output_json_set(root, "raw", json_boolean(c->o->view.figures.raw));
	output_json_set(root, "time", json_string(analyze_time_key(c->o->view.figures.time)));
	output_json_set(root, "warnings", warnings);
	output_json_set(root, "valid", json_boolean(!c->diff.warnings.n_invalidating));
	output_json_set(root, "conclusion", output_json_text(c->conclusion));
	output_json_set(root, "environment", env);
	output_json_set(root, "renamed", renames_json(c->renames));
	output_json_set(root, "runs", runs);
	output_json_set(root, "statistics", statistics_json(&c->diff.repetitions, c->o->control));
	output_json_set(root, "workload", output_json_rows(&workload));
	output_json_set(root, "attribution", attribution_json(&c->attribution));
	output_json_set(root, "syscalls", output_json_rows(&syscalls));
	output_json_set(root, "functions", output_json_rows(&functions));
	output_json_set(root, "ranges", output_json_rows(&ranges));
	for (i = 0; i < c->paths.n_rows; i++)
		json_array_append_new(paths, output_json_text(c->paths.rows[i].text));
	output_json_set(root, "paths", paths);
	output_json_set(root, "path_changes", output_json_rows(&changes));
	output_json_write(stdout, root);
}

static void write_csv_calls(const struct analyze_diff *diff)
{
	const struct analyze_diff_rows *lists[] = { &diff->syscalls, &diff->functions };
	struct columns_diff_call *calls;
	struct output_section section;
	size_t i, n = 0;

	calls = alloc_array((size_t)lists[0]->n_rows + lists[1]->n_rows, sizeof(*calls));
	for (i = 0; i < lists[0]->n_rows; i++)
		calls[n++] = (struct columns_diff_call){ "syscall", lists[0]->rows[i] };
	for (i = 0; i < lists[1]->n_rows; i++)
		calls[n++] = (struct columns_diff_call){ "function", lists[1]->rows[i] };
	section = columns_diff_calls(calls, n, diff->clock);
	output_csv_write(stdout, &section);
	free(calls);
}

static void write_csv_attribution(const struct analyze_attribution *a)
{
	size_t n;
	struct analyze_attribution_row *rows = attribution_rows(a, &n);
	struct output_section section = columns_diff_attribution(rows, n, a->clock);

	output_csv_write(stdout, &section);
	free(rows);
}

void diff_write_csv(const struct diff_comparison *c)
{
	struct output_section section;

	view_warnings_log(&c->diff.warnings);
	switch (c->o->section) {
	case SECTION_CALLS:
		write_csv_calls(&c->diff);
		return;
	case SECTION_SYSCALLS:
		section = columns_diff_syscalls(&c->diff);
		break;
	case SECTION_FUNCTIONS:
		section = columns_diff_functions(&c->diff);
		break;
	case SECTION_RANGES:
		section = columns_diff_ranges(&c->diff);
		break;
	case SECTION_WORKLOAD:
		section = columns_diff_workload(&c->diff);
		break;
	case SECTION_ATTRIBUTION:
		write_csv_attribution(&c->attribution);
		return;
	case SECTION_PATHS:
		section = columns_diff_paths(&c->paths);
		break;
	case SECTION_ENVIRONMENT:
		section = columns_diff_environment(c->diff.env.rows, c->diff.env.n_rows);
		break;
	}
	output_csv_write(stdout, &section);
}
