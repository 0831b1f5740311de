// SPDX-License-Identifier: GPL-2.0-or-later
/* report for programs: docs/json.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cmd/report_impl.h"
#include "output/csv.h"
#include "output/json.h"

#define SCHEMA "kprotperf-report/1"

static json_t *environment_json(const struct report *r)
{
	json_t *env = json_object(), *protections = json_object(), *args = json_array();
	uint32_t i;

	for (i = 0; i < r->p->n_envs; i++)
		/* 5,000 lines that say little; what protects is taken out of them below. */
		if (strcmp(r->p->envs[i].key, PROFILE_ENV_CONFIG))
			output_json_set(env, r->p->envs[i].key,
					output_json_text(r->p->envs[i].value));
	for (i = 0; i < r->protections.n_rows; i++)
		output_json_set(protections, r->protections.rows[i].name,
				output_json_text(r->protections.rows[i].baseline));
	if (!profile_env_get(r->p, PROFILE_ENV_CONFIG)) {
		json_decref(protections);
		protections = json_null();
	}
	output_json_set(env, "protections", protections);
	for (i = 0; i < r->p->n_args; i++)
		json_array_append_new(args, output_json_text(r->p->args[i]));
	output_json_set(env, "args", args);
	return env;
}

static json_t *runs_json(const struct profile *p)
{
	json_t *runs = json_array();
	uint32_t i;

	for (i = 0; i < p->n_runs; i++) {
		json_t *run = json_object();

		output_json_set(run, "wall", output_json_count(p->runs[i].wall));
		output_json_set(run, "cpu", output_json_count(p->runs[i].cpu));
		output_json_set(run, "status", json_integer(p->runs[i].status));
		output_json_set(run, "boot", json_integer(p->runs[i].boot));
		output_json_set(run, "probed",
				json_boolean(p->runs[i].kind != PROFILE_RUN_CONTROL));
		json_array_append_new(runs, run);
	}
	return runs;
}

static json_t *samples_json(const struct report *r)
{
	struct output_section leaves = columns_report_leaves(&r->leaves);
	json_t *samples = json_object();

	output_json_set(samples, "freq", json_integer(r->p->freq));
	output_json_set(samples, "period", output_json_count(r->p->sample_period));
	output_json_set(samples, "expected", output_json_count(r->losses.samples_expected));
	output_json_set(samples, "received", output_json_count(r->losses.samples_received));
	output_json_set(samples, "workload", output_json_number(r->leaves.samples));
	output_json_set(samples, "leaves", output_json_rows(&leaves));
	return samples;
}

/* The LOSS kinds or the INFO kinds. */
static json_t *losses_json(const struct report *r, bool info)
{
	json_t *losses = json_object();
	uint32_t i;

	for (i = 0; i < PROFILE_N_LOSSES; i++)
		if (profile_loss_is_info(i) == info)
			output_json_set(losses, profile_loss_key(i),
					output_json_count(r->losses.counts[i]));
	return losses;
}

static json_t *accounting_json(const struct report *r)
{
	const struct analyze_accounting *a = &r->accounting;
	json_t *accounting = losses_json(r, true);

	/* Of all runs or of none: a sum over some would balance with nothing. */
	output_json_set(accounting, "entries",
			output_json_number(a->known ? (double)a->entries : NAN));
	output_json_set(accounting, "calls", output_json_number((double)a->calls));
	output_json_set(accounting, "returned", output_json_number((double)a->returned));
	output_json_set(accounting, "unaccounted",
			output_json_number(a->known ? (double)a->unaccounted : NAN));
	output_json_set(accounting, "probe_cost", output_json_number(r->table.cost));
	return accounting;
}

static json_t *costs_json(const struct analyze_costs *costs)
{
	struct output_section mechanisms = columns_report_costs(costs);
	json_t *object = json_object(), *slowdown = json_object();

	output_json_set(object, "mechanisms", output_json_rows(&mechanisms));
	output_json_set(object, "oncpu", output_json_number(costs->oncpu));
	output_json_set(object, "subtracted", output_json_number(costs->subtracted));
	output_json_set(slowdown, "estimated_kernel_pct",
			output_json_number(costs->estimated_kernel_pct));
	output_json_set(slowdown, "estimated_pct", output_json_number(costs->estimated_pct));
	output_json_set(slowdown, "measured_pct", output_json_number(costs->measured_pct));
	output_json_set(object, "slowdown", slowdown);
	return object;
}

static json_t *warnings_json(const struct report *r)
{
	json_t *warnings = json_array();
	uint32_t i;

	for (i = 0; i < r->warnings.n_texts; i++)
		json_array_append_new(warnings, output_json_text(r->warnings.texts[i]));
	return warnings;
}

void report_write_json(const struct report *r, const struct report_options *o)
{
	struct output_section workload = columns_report_workload(&r->workload, r->p->clock);
	struct output_section syscalls = columns_report_syscalls(&r->table);
	struct output_section functions = columns_report_functions(&r->table);
	struct output_section ranges = columns_report_ranges(&r->ranges, &r->table);
	struct output_section blocks = columns_report_blocks(r->blocks.rows, r->blocks.n_rows);
	struct output_section counted = columns_report_block_functions(&r->blocks);
	struct output_section paths =
		columns_report_paths(r->paths.rows, r->paths.n_rows, r->p->clock);
	struct output_section loops = columns_report_loops(r->paths.loops, r->paths.n_loops);
	struct output_section turns = columns_report_turns(r->paths.turns, r->paths.n_turns);
	struct output_section path_turns =
		columns_report_path_turns(r->paths.path_turns, r->paths.n_path_turns);
	json_t *root = json_object();

	output_json_set(root, "schema", json_string(SCHEMA));
	output_json_set(root, "unit", json_string(profile_clock_unit(r->p->clock)));
	output_json_set(root, "raw", json_boolean(o->view.figures.raw));
	output_json_set(root, "time", json_string(analyze_time_key(o->view.figures.time)));
	output_json_set(root, "warnings", warnings_json(r));
	output_json_set(root, "environment", environment_json(r));
	output_json_set(root, "workload", output_json_rows(&workload));
	output_json_set(root, "runs", runs_json(r->p));
	output_json_set(root, "syscalls", output_json_rows(&syscalls));
	output_json_set(root, "functions", output_json_rows(&functions));
	output_json_set(root, "ranges", output_json_rows(&ranges));
	output_json_set(root, "block_functions", output_json_rows(&counted));
	output_json_set(root, "blocks", output_json_rows(&blocks));
	output_json_set(root, "paths", output_json_rows(&paths));
	output_json_set(root, "loops", output_json_rows(&loops));
	output_json_set(root, "turns", output_json_rows(&turns));
	output_json_set(root, "path_turns", output_json_rows(&path_turns));
	output_json_set(root, "samples", samples_json(r));
	output_json_set(root, "losses", losses_json(r, false));
	output_json_set(root, "accounting", accounting_json(r));
	output_json_set(root, "costs", costs_json(&r->costs));
	output_json_write(stdout, root);
}

static void write_csv_calls(const struct report *r)
{
	const struct analyze_rows *lists[] = { &r->table.syscalls, &r->table.functions };
	struct columns_call *calls;
	struct output_section section;
	size_t i, n = 0;

	calls = alloc_array((size_t)lists[0]->n_rows + lists[1]->n_rows, sizeof(*calls));
	for (i = 0; i < lists[0]->n_rows; i++)
		calls[n++] = (struct columns_call){ "syscall", lists[0]->rows[i] };
	for (i = 0; i < lists[1]->n_rows; i++)
		calls[n++] = (struct columns_call){ "function", lists[1]->rows[i] };
	section = columns_report_calls(calls, n, r->p->clock);
	output_csv_write(stdout, &section);
	free(calls);
}

void report_write_csv(const struct report *r, const struct report_options *o)
{
	char texts[PROFILE_N_LOSSES][OUTPUT_NUMBER_MAX];
	struct columns_loss rows[PROFILE_N_LOSSES];
	struct output_section section;

	view_warnings_log(&r->warnings);
	switch (o->section) {
	case SECTION_CALLS:
		write_csv_calls(r);
		return;
	case SECTION_SYSCALLS:
		section = columns_report_syscalls(&r->table);
		break;
	case SECTION_FUNCTIONS:
		section = columns_report_functions(&r->table);
		break;
	case SECTION_RANGES:
		section = columns_report_ranges(&r->ranges, &r->table);
		break;
	case SECTION_SAMPLES:
		section = columns_report_leaves(&r->leaves);
		break;
	case SECTION_LOSSES:
		report_losses_form(rows, texts, r);
		section = columns_report_losses(rows, PROFILE_N_LOSSES);
		break;
	case SECTION_COSTS:
		section = columns_report_costs(&r->costs);
		break;
	case SECTION_PATHS:
		section = columns_report_paths(r->paths.rows, r->paths.n_rows, r->p->clock);
		break;
	case SECTION_LOOPS:
		section = columns_report_loops(r->paths.loops, r->paths.n_loops);
		break;
	case SECTION_TURNS:
		section = columns_report_turns(r->paths.turns, r->paths.n_turns);
		break;
	case SECTION_PATH_TURNS:
		section = columns_report_path_turns(r->paths.path_turns, r->paths.n_path_turns);
		break;
	case SECTION_BLOCK_FUNCTIONS:
		section = columns_report_block_functions(&r->blocks);
		break;
	case SECTION_BLOCKS:
		section = columns_report_blocks(r->blocks.rows, r->blocks.n_rows);
		break;
	}
	output_csv_write(stdout, &section);
}
