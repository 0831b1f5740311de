// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/accounting.h"
#include "analyze/blocks.h"
#include "analyze/cost.h"
#include "analyze/diff.h"
#include "analyze/environment.h"
#include "analyze/losses.h"
#include "analyze/paths.h"
#include "analyze/ranges.h"
#include "analyze/stacks.h"
#include "analyze/table.h"
#include "analyze/workload.h"
#include "base/alloc.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/columns.h"
#include "cmd/view.h"
#include "output/csv.h"
#include "output/json.h"
#include "output/number.h"
#include "output/text.h"
#include "profile/resolve.h"

#define SCHEMA "kprotperf-report/1"

/* Rows that tables show unless --top says otherwise: the answer belongs on the first screen. */
#define TOP_SYSCALLS  10
#define TOP_FUNCTIONS 20
#define TOP_RANGES    10
#define TOP_LEAVES    10
#define TOP_BLOCKS    10
#define TOP_PATHS     8

/* Everything said about one profile. */
struct report {
	const struct profile *p;
	struct analyze_table table;
	struct analyze_ranges ranges;
	struct analyze_workload workload;
	struct analyze_losses losses;
	struct analyze_accounting accounting;
	struct analyze_costs costs;
	struct analyze_leaves leaves;
	struct analyze_blocks blocks;
	struct analyze_paths paths;
	struct analyze_env protections;
	struct analyze_warnings warnings;
};

enum section {
	SECTION_CALLS, /* the default: syscalls and functions */
	SECTION_SYSCALLS,
	SECTION_FUNCTIONS,
	SECTION_RANGES,
	SECTION_SAMPLES,
	SECTION_LOSSES,
	SECTION_COSTS,
	SECTION_BLOCKS,
	SECTION_PATHS,
	SECTION_LOOPS,
};

/* In that order. */
static const char *const section_names[] = { "syscalls", "functions", "ranges", "samples", "losses",
					     "costs",    "blocks",    "paths",  "loops",   NULL };

struct options {
	struct view_options view;
	enum section section;
	const char *file, *vmlinux;
};

enum {
	KEY_SECTION = 256,
	KEY_VMLINUX
};

static const struct argp_option argp_options[] = {
	{ "section", KEY_SECTION, "SECTION", 0,
	  "What CSV holds: syscalls, functions (default: both), ranges, samples, losses, costs, blocks, paths or loops" },
	{ "vmlinux", KEY_VMLINUX, "FILE", 0, "The recorded kernel's vmlinux, for names" },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->view;
		break;
	case KEY_SECTION:
		o->section = view_section_parse(state, arg, section_names);
		break;
	case KEY_VMLINUX:
		o->vmlinux = arg;
		break;
	case ARGP_KEY_ARG:
		if (o->file)
			argp_error(state, "one file at a time; diff compares two");
		o->file = arg;
		break;
	case ARGP_KEY_END:
		if (o->section && o->view.format != VIEW_CSV)
			argp_error(state, "--section goes with --format=csv");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = { { &view_argp, 0, NULL, 0 }, { 0 } };

static const struct argp argp = {
	.options = argp_options,
	.parser = parse,
	.args_doc = "[FILE]",
	.doc = "What a recording holds: workload, syscalls, functions, samples, losses.\v"
	       "FILE is " CMD_DEFAULT_FILE
	       " by default. Times are on-CPU unless --time says otherwise, "
	       "less what the probes themselves cost; percentiles, MIN and MAX are known of on-CPU "
	       "times only. docs/accounting.md defines the times, docs/json.md --format=json.",
	.children = children,
};

static void report_init(struct report *r, const struct profile *p,
			const struct analyze_options *figures)
{
	memset(r, 0, sizeof(*r));
	r->p = p;
	analyze_table_init(&r->table, p, figures);
	analyze_rows_sort_by_total(&r->table.syscalls);
	analyze_rows_sort_by_total(&r->table.functions);
	analyze_ranges_init(&r->ranges, p, figures);
	analyze_ranges_sort_by_total(&r->ranges);
	analyze_workload_init(&r->workload, p, figures->raw);
	analyze_workload_sort_by_order(&r->workload);
	analyze_losses_sum(&r->losses, p);
	analyze_accounting_init(&r->accounting, p);
	analyze_costs_init(&r->costs, p);
	analyze_leaves_init(&r->leaves, p);
	analyze_blocks_init(&r->blocks, p);
	analyze_paths_init(&r->paths, p);
	analyze_env_protections(&r->protections, p);
	analyze_warnings_of_profile(&r->warnings, p, "", figures->raw);
}

static void report_deinit(struct report *r)
{
	analyze_table_deinit(&r->table);
	analyze_ranges_deinit(&r->ranges);
	analyze_workload_deinit(&r->workload);
	analyze_costs_deinit(&r->costs);
	analyze_leaves_deinit(&r->leaves);
	analyze_blocks_deinit(&r->blocks);
	analyze_paths_deinit(&r->paths);
	analyze_env_deinit(&r->protections);
	analyze_warnings_deinit(&r->warnings);
}

/* The losses as rows, whose texts for tables stay in TEXTS. */
static void losses_form(struct columns_loss rows[PROFILE_N_LOSSES],
			char texts[PROFILE_N_LOSSES][OUTPUT_NUMBER_MAX], const struct report *r)
{
	uint32_t i;

	for (i = 0; i < PROFILE_N_LOSSES; i++) {
		uint64_t count = r->losses.counts[i];

		rows[i].key = profile_loss_key(i);
		rows[i].text = profile_loss_text(i);
		rows[i].kind = profile_loss_is_info(i) ? "accounting" : "loss";
		rows[i].count = count == PROFILE_NOT_COUNTED ? NAN : (double)count;
		rows[i].count_text =
			count == PROFILE_NOT_COUNTED ?
				"not counted" :
				output_number(texts[i], OUTPUT_COUNT, rows[i].count, r->p->clock);
	}
}

/* ---- table ---- */

/* TEXT, which is freed, with WORD behind it. */
static char *append_word(char *text, const char *separator, const char *word)
{
	char *longer = alloc_printf("%s%s%s", text, *text ? separator : "", word);

	free(text);
	return longer;
}

static void write_title(const struct view *v, const struct report *r)
{
	const char *release = profile_env_get(r->p, PROFILE_ENV_RELEASE);
	char *command = view_command(r->p), *runs = view_runs(r->table.runs, r->table.boots);
	char *kernel = output_text_escape(release ? release : "of unknown release");

	view_text(v, "%s", command);
	view_text(v, "%s, kernel %s, times in %s", runs, kernel, profile_clock_unit(r->p->clock));
	view_unit_note(v, r->p->clock);
	free(kernel);
	free(runs);
	free(command);
}

static void write_losses_line(const struct view *v, const struct report *r)
{
	char *unknown = alloc_strdup("");
	bool any_counted = false;
	uint32_t i;

	for (i = 0; i < PROFILE_N_LOSSES; i++) {
		if (profile_loss_is_info(i))
			continue;
		if (r->losses.counts[i] == PROFILE_NOT_COUNTED)
			unknown = append_word(unknown, ", ", profile_loss_key(i));
		else
			any_counted = true;
	}
	if (!any_counted)
		view_text(v, "losses: not counted");
	else
		view_text(v, "losses: %s%s%s%s",
			  analyze_losses_any(&r->losses) ? "see the warnings above" : "none",
			  *unknown ? " (not counted: " : "", unknown, *unknown ? ")" : "");
	free(unknown);
}

static void write_calls(const struct view *v, const struct report *r,
			const struct analyze_options *figures)
{
	struct output_section section;
	char *what = view_times(figures);

	fputc('\n', v->out);
	if (!r->table.syscalls.n_rows) {
		view_text(v, "Syscalls: none were recorded.");
	} else {
		view_text(v, "Syscalls, by total %s:", what);
		section = columns_report_syscalls(&r->table);
		view_section(v, &section, TOP_SYSCALLS);
	}
	fputc('\n', v->out);
	if (!r->table.functions.n_rows) {
		view_text(v, "Functions: none were recorded (record --func NAME).");
	} else {
		view_text(v, "Functions, by total %s, that of %s:", what,
			  figures->time == ANALYZE_TIME_SELF ?
				  "timed functions they call left out" :
				  "what they call included");
		section = columns_report_functions(&r->table);
		view_section(v, &section, TOP_FUNCTIONS);
	}
	free(what);
}

static void write_ranges(const struct view *v, const struct report *r)
{
	struct output_section section;
	uint32_t i, shown = 0;

	fputc('\n', v->out);
	for (i = 0; i < r->ranges.n_rows; i++)
		shown += !r->ranges.rows[i].redundant;
	if (!shown) {
		view_text(v, "Inlined bodies: none were timed (record --range NAME)%s.",
			  !r->leaves.n_leaves ? "" :
			  profile_is_resolved(r->p) ?
						", and samples show none" :
						", and where samples lie is not known without "
						"the kernel's vmlinux (--vmlinux)");
		return;
	}
	view_text(v,
		  "Inlined bodies, what they called included; SHARE is of the context's time. "
		  "~: estimated from samples, between LOW and HIGH with 95 %% confidence (record "
		  "--range NAME times them). ?: its samples came late, with interrupts off:");
	section = columns_report_ranges(&r->ranges, &r->table);
	view_section(v, &section, TOP_RANGES);
}

/* The paths of each function over all contexts, and its loops. */
static void write_paths(const struct view *v, const struct report *r)
{
	struct output_section section;
	uint32_t i, n;

	for (i = 0; i < r->paths.n_rows; i += n) {
		const struct analyze_path *first = &r->paths.rows[i];
		char *name;

		for (n = 1; i + n < r->paths.n_rows && first[n].function == first->function &&
			    first[n].context == first->context;)
			n++;
		if (strcmp(first->context, "*"))
			continue;
		name = output_text_escape(first->function);
		section = columns_report_paths(first, n, r->p->clock);
		fputc('\n', v->out);
		view_text(v, "Paths of %s, by calls; DOES: what most calls on other paths do not:",
			  name);
		view_section(v, &section, TOP_PATHS);
		free(name);
	}
	if (!r->paths.n_loops)
		return;
	section = columns_report_loops(r->paths.loops, r->paths.n_loops);
	fputc('\n', v->out);
	view_text(v, "Loops, those in them included:");
	view_section(v, &section, TOP_BLOCKS);
}

/* Where blocks were counted; nothing is said where they were not asked for. */
static void write_blocks(const struct view *v, const struct report *r)
{
	struct output_section section = columns_report_block_functions(&r->blocks);
	uint32_t i;

	if (!r->blocks.n_functions)
		return;
	fputc('\n', v->out);
	view_text(v, "Blocks: instructions a call, by counting; SELF TIME is that of a call, with "
		     "what it called unless that was timed too (record --callees):");
	view_section(v, &section, 0);
	for (i = 0; i < r->blocks.n_functions; i++) {
		const struct analyze_block_function *f = &r->blocks.functions[i];
		struct analyze_block *rows;
		char *name;

		if (strcmp(f->context, "*"))
			continue;
		name = output_text_escape(f->function);
		rows = analyze_blocks_hottest(&r->blocks, f);
		section = columns_report_blocks(rows, f->n);
		fputc('\n', v->out);
		view_text(v, "Blocks of %s, by instructions a call:", name);
		view_section(v, &section, TOP_BLOCKS);
		free(rows);
		free(name);
	}
}

static void write_samples(const struct view *v, const struct report *r)
{
	char received[OUTPUT_NUMBER_MAX], expected[OUTPUT_NUMBER_MAX], used[OUTPUT_NUMBER_MAX];
	struct output_section section;

	fputc('\n', v->out);
	if (!r->p->freq && !r->leaves.n_leaves) {
		view_text(v, "Samples: none were asked for (record --freq HZ).");
		return;
	}
	output_number(used, OUTPUT_COUNT, r->leaves.samples, r->p->clock);
	strcpy(received, "not counted");
	strcpy(expected, "not counted");
	if (r->losses.samples_received != PROFILE_NOT_COUNTED)
		output_number(received, OUTPUT_COUNT, (double)r->losses.samples_received,
			      r->p->clock);
	if (r->losses.samples_expected != PROFILE_NOT_COUNTED)
		output_number(expected, OUTPUT_COUNT, (double)r->losses.samples_expected,
			      r->p->clock);
	view_text(v,
		  "Samples at %u Hz: %s of the workload; on all CPUs %s received, %s expected. "
		  "kprotperf fold gives the stacks.",
		  r->p->freq, used, received, expected);
	if (!r->leaves.n_leaves)
		return;
	section = columns_report_leaves(&r->leaves);
	view_section(v, &section, TOP_LEAVES);
}

/* What a table of inner and full costs does not say: of the sampler, for one. */
static void write_other_calibrations(const struct view *v, const struct analyze_costs *costs)
{
	uint32_t i;

	for (i = 0; i < costs->n_rows; i++) {
		const struct analyze_cost *row = &costs->rows[i];

		if (row->calibration && isnan(row->inner))
			view_fact(v, row->name, row->calibration);
		else if (!row->calibration)
			view_fact(v, row->name, "cost not known: nothing subtracted");
	}
}

/* "big-fork +40.4 %, [command] +16.5 %": what took part in both kinds of runs. To be freed. */
static char *measured_slowdown(const struct analyze_workload *w, enum profile_clock clock)
{
	char *text = alloc_strdup(""), percent[OUTPUT_NUMBER_MAX];
	uint32_t i;

	for (i = 1; i < w->n_rows; i++) {
		const struct analyze_workload_row *with = &w->rows[i], *without = with - 1;
		char *name, *word;

		if (!with->probed || without->probed || strcmp(with->name, without->name))
			continue;
		output_number(percent, OUTPUT_PERCENT,
			      analyze_percent(with->figures.mean - without->figures.mean,
					      without->figures.mean),
			      clock);
		name = output_text_escape(with->name);
		word = alloc_printf("%s %s", name, percent);
		text = append_word(text, ", ", word);
		free(word);
		free(name);
	}
	return text;
}

static void write_slowdown(const struct view *v, const struct report *r)
{
	const struct analyze_costs *costs = &r->costs;
	char kernel[OUTPUT_NUMBER_MAX], all[OUTPUT_NUMBER_MAX];
	char *measured = measured_slowdown(&r->workload, costs->clock);

	output_number(kernel, OUTPUT_PERCENT, costs->estimated_kernel_pct, costs->clock);
	output_number(all, OUTPUT_PERCENT, costs->estimated_pct, costs->clock);
	view_text(
		v,
		"Slowdown by the probes, estimated (calibration x calls): %s in syscalls and page "
		"faults, %s of [command] if one CPU did all. Measured, by the means above: %s.",
		kernel, all, *measured ? measured : "not asked for (record --control-run)");
	free(measured);
}

static void write_costs(const struct view *v, const struct report *r, bool raw)
{
	const struct analyze_costs *costs = &r->costs;
	struct output_section section = columns_report_costs(costs);
	char subtracted[OUTPUT_NUMBER_MAX], percent[OUTPUT_NUMBER_MAX];
	struct view all = *v;

	fputc('\n', v->out);
	if (!costs->n_rows) {
		view_text(v, "Probe cost: nothing was timed.");
		return;
	}
	view_text(
		v,
		"Probe cost, calibrated %s; SHARE is of the syscalls' and page faults' on-CPU time:",
		costs->boots > 1 ? "in the first of the boots" : "before the first run");
	all.top = -1;
	view_section(&all, &section, 0);
	write_other_calibrations(v, costs);
	output_number(subtracted, OUTPUT_TIME, costs->subtracted, costs->clock);
	output_number(percent, OUTPUT_FRACTION, costs->subtracted / costs->oncpu, costs->clock);
	if (costs->subtracted > 0)
		view_text(v,
			  "%s syscalls and page faults, samples included: %s%s, %s of what was "
			  "measured.",
			  raw ? "Left in the times (--raw) of" : "Subtracted from", subtracted,
			  costs->clock == PROFILE_CLOCK_INSN ? " insn" : "", percent);
	else
		view_text(v, "Nothing was known to subtract.");
	write_slowdown(v, r);
}

static void write_losses(const struct view *v, const struct report *r)
{
	char texts[PROFILE_N_LOSSES][OUTPUT_NUMBER_MAX], *balance;
	struct columns_loss rows[PROFILE_N_LOSSES];
	struct output_section section;
	struct view all = *v;

	losses_form(rows, texts, r);
	section = columns_report_losses(rows, PROFILE_N_LOSSES);
	all.top = -1;
	fputc('\n', v->out);
	view_text(v, "Losses and accounting:");
	view_section(&all, &section, 0);
	balance = analyze_accounting_text(&r->accounting);
	view_text(v, "Calls: %s.", balance);
	free(balance);
}

static int env_compare(const void *left, const void *right)
{
	const struct profile_env *a = left, *b = right;

	return strcmp(a->key, b->key);
}

/* What a CPU is not affected by fills a screen and says nothing: one line for all of it. */
static void write_environment(const struct view *v, const struct report *r)
{
	struct profile_env *envs = alloc_array(r->p->n_envs, sizeof(*envs));
	char *unaffected = alloc_strdup(""), *protections = alloc_strdup("");
	size_t prefix = strlen(PROFILE_ENV_MITIGATION);
	uint32_t i;

	if (r->p->n_envs) {
		fputc('\n', v->out);
		view_text(v, "Environment:");
		memcpy(envs, r->p->envs, r->p->n_envs * sizeof(*envs));
		qsort(envs, r->p->n_envs, sizeof(*envs), env_compare);
	}
	for (i = 0; i < r->p->n_envs; i++) {
		if (!strncmp(envs[i].key, PROFILE_ENV_MITIGATION, prefix) &&
		    !strcmp(envs[i].value, "Not affected"))
			unaffected = append_word(unaffected, " ", envs[i].key + prefix);
		else if (strcmp(envs[i].key, PROFILE_ENV_CONFIG))
			view_fact(v, envs[i].key, envs[i].value);
	}
	if (*unaffected)
		view_fact(v, "not affected by", unaffected);
	for (i = 0; i < r->protections.n_rows; i++)
		protections = append_word(protections, " ", r->protections.rows[i].name);
	if (profile_env_get(r->p, PROFILE_ENV_CONFIG))
		view_fact(v, "protections built in",
			  *protections ? protections : "none known to this tool");
	free(protections);
	free(unaffected);
	free(envs);
}

static void write_table(const struct report *r, const struct options *o)
{
	struct output_section section;
	struct view v;

	view_init(&v, stdout, &o->view);
	view_warnings(&v, &r->warnings);
	write_title(&v, r);
	if (r->workload.n_rows) {
		fputc('\n', v.out);
		section = columns_report_workload(&r->workload, r->p->clock);
		view_section(&v, &section, 0);
	}
	fputc('\n', v.out);
	write_losses_line(&v, r);
	write_calls(&v, r, &o->view.figures);
	write_ranges(&v, r);
	write_blocks(&v, r);
	write_paths(&v, r);
	write_samples(&v, r);
	write_losses(&v, r);
	write_costs(&v, r, o->view.figures.raw);
	write_environment(&v, r);
}

/* ---- json ---- */

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

static void write_json(const struct report *r, const struct options *o)
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
	output_json_set(root, "samples", samples_json(r));
	output_json_set(root, "losses", losses_json(r, false));
	output_json_set(root, "accounting", accounting_json(r));
	output_json_set(root, "costs", costs_json(&r->costs));
	output_json_write(stdout, root);
}

/* ---- csv ---- */

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

static void write_csv(const struct report *r, const struct options *o)
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
		losses_form(rows, texts, r);
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
	case SECTION_BLOCKS:
		section = columns_report_blocks(r->blocks.rows, r->blocks.n_rows);
		break;
	}
	output_csv_write(stdout, &section);
}

int cmd_report(int argc, char **argv)
{
	struct options o = { .file = NULL };
	struct profile *p;
	struct report r;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	p = view_open(o.file, o.vmlinux);
	if (!p)
		return CMD_FAILED;
	report_init(&r, p, &o.view.figures);
	switch (o.view.format) {
	case VIEW_TABLE:
		write_table(&r, &o);
		break;
	case VIEW_JSON:
		write_json(&r, &o);
		break;
	case VIEW_CSV:
		write_csv(&r, &o);
		break;
	}
	report_deinit(&r);
	profile_destroy(p);
	return view_finish();
}
