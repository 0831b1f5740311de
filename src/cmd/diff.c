// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff.h"
#include "analyze/select.h"
#include "analyze/stacks.h"
#include "base/alloc.h"
#include "base/log.h"
#include "cmd/annotate.h"
#include "cmd/cmd.h"
#include "cmd/columns.h"
#include "cmd/view.h"
#include "output/csv.h"
#include "output/folded.h"
#include "output/json.h"
#include "output/number.h"
#include "output/text.h"

#define SCHEMA "kprotperf-diff/1"

#define TOP_SYSCALLS  10
#define TOP_FUNCTIONS 20
#define TOP_RANGES    10
/* Kernel options that are no protections: two versions of a kernel differ in thousands. */
#define TOP_CONFIG 8

enum side {
	BASELINE,
	HARDENED,
	N_SIDES
};

static const char *const side_names[N_SIDES] = { "baseline", "hardened" };

enum section {
	SECTION_CALLS, /* the default: syscalls and functions */
	SECTION_SYSCALLS,
	SECTION_FUNCTIONS,
	SECTION_RANGES,
	SECTION_WORKLOAD,
	SECTION_ENVIRONMENT,
	SECTION_ATTRIBUTION,
};

/* In that order. */
static const char *const section_names[] = { "syscalls",    "functions",   "ranges", "workload",
					     "environment", "attribution", NULL };

struct options {
	struct view_options view;
	enum section section;
	bool fold, reverse, percentiles, strict;
	struct analyze_filter filter;
	char *filter_text; /* what it points into */
	const char *sort; /* NULL: as analyze_diff_init() does */
	char **maps; /* "OLD=NEW" */
	uint32_t n_maps, cap_maps;
	double fail_above; /* percent; NAN: not asked for */
	const char *fail_row; /* NULL: any syscall */
	const char *control; /* a file; NULL: none */
	const char *files[N_SIDES];
	struct annotated_options annotated;
	const char *annotate; /* a function; NULL: not asked for */
	const char *vmlinux[N_SIDES];
};

/* Everything there is to print. */
struct comparison {
	const struct options *o;
	const struct profile *p[N_SIDES];
	struct analyze_diff diff;
	struct analyze_attribution attribution; /* empty but for on-CPU times */
	char *conclusion;
};

enum {
	KEY_SECTION = 256,
	KEY_FOLD,
	KEY_FAIL_ABOVE,
	KEY_MARGIN,
	KEY_CONTROL,
	KEY_STRICT,
	KEY_FILTER,
	KEY_SORT,
	KEY_MAP,
	KEY_REVERSE,
	KEY_PERCENTILES,
	KEY_ANNOTATE,
	KEY_VMLINUX,
	KEY_VMLINUX_LAST = KEY_VMLINUX + N_SIDES - 1
};

static const struct argp_option argp_options[] = {
	{ "annotate", KEY_ANNOTATE, "FUNC[@FUNCTION]", 0,
	  "The function's source lines and inlined bodies, with what each costs on both sides, and nothing "
	  "else; these options go with it:" },
	{ "baseline-vmlinux", KEY_VMLINUX + BASELINE, "FILE", 0, "That kernel's vmlinux" },
	{ "hardened-vmlinux", KEY_VMLINUX + HARDENED, "FILE", 0, "Likewise" },
	{ "section", KEY_SECTION, "SECTION", 0,
	  "What CSV holds: syscalls, functions (default: both), ranges, workload, environment or "
	  "attribution" },
	{ "fold", KEY_FOLD, NULL, 0,
	  "Print folded stacks with the samples a run of both sides, for a differential flame graph" },
	{ "reverse", KEY_REVERSE, NULL, 0,
	  "With --fold: the hardened side first, so that stacks only the baseline has are seen" },
	{ "filter", KEY_FILTER, "WHAT=GLOB[,...]", 0,
	  "Show these rows only: syscall=GLOB, function=GLOB, or both" },
	{ "sort", KEY_SORT, "KEY", 0,
	  "Order syscalls and functions by delta_total (default), delta, delta_pct, p or name" },
	{ "map", KEY_MAP, "OLD=NEW", 0,
	  "The baseline's function or syscall OLD is the hardened side's NEW; may be repeated" },
	{ "strict", KEY_STRICT, NULL, 0,
	  "Fail where other things differ than the kernels: work, machine, probes" },
	{ "fail-above", KEY_FAIL_ABOVE, "PCT[@ROW]", 0,
	  "End with status 3 if a call of any syscall, or of the syscall or function ROW, became "
	  "slower by more than PCT percent, in the time that --time names" },
	{ "margin", KEY_MARGIN, "PCT", 0,
	  "Call a mean the same where it surely differs by less than PCT percent (default 1)" },
	{ "control", KEY_CONTROL, "FILE", 0,
	  "Another recording of the baseline's kernel: how far the two differ is printed as NOISE, and "
	  "rows that changed by less are marked" },
	{ "percentiles", KEY_PERCENTILES, NULL, 0,
	  "Print a table of p50, p90, p99 and p99.9 too (JSON and CSV always have them)" },
	{ 0 },
};

static void parse_fail_above(struct options *o, const char *arg, struct argp_state *state)
{
	char *end;

	o->fail_above = strtod(arg, &end);
	if (end == arg || !isfinite(o->fail_above) || (*end && *end != '@') ||
	    (*end == '@' && !end[1]))
		argp_error(state, "--fail-above is PCT or PCT@ROW, as in 5@clone; not '%s'", arg);
	o->fail_row = *end ? end + 1 : NULL;
}

static void parse_filter(struct options *o, const char *arg, struct argp_state *state)
{
	char *part, *rest;

	free(o->filter_text);
	o->filter_text = rest = alloc_strdup(arg);
	while ((part = strsep(&rest, ","))) {
		if (!strncmp(part, "syscall=", 8) && part[8])
			o->filter.syscall = part + 8;
		else if (!strncmp(part, "function=", 9) && part[9])
			o->filter.function = part + 9;
		else
			argp_error(state,
				   "--filter is syscall=GLOB, function=GLOB, or both with a comma "
				   "between, not '%s'",
				   arg);
	}
}

static void parse_sort(struct options *o, const char *arg, struct argp_state *state)
{
	int i;

	for (i = 0; analyze_sort_keys[i]; i++)
		if (!strcmp(analyze_sort_keys[i], arg))
			o->sort = arg;
	if (!o->sort)
		argp_error(state, "--sort is delta_total, delta, delta_pct, p or name, not '%s'",
			   arg);
}

static double parse_margin(const char *arg, struct argp_state *state)
{
	char *end;
	double pct = strtod(arg, &end);

	if (end == arg || *end || !(pct > 0) || !isfinite(pct))
		argp_error(state, "--margin is a number of percent above 0, not '%s'", arg);
	return pct;
}

static void parse_annotate_end(const struct options *o, struct argp_state *state)
{
	const struct annotated_options *a = &o->annotated;

	if (!o->annotate && (a->all || a->context || a->source || a->color != OUTPUT_COLOR_AUTO ||
			     o->vmlinux[BASELINE] || o->vmlinux[HARDENED]))
		argp_error(state, "--all, --color, --context, --source and --*-vmlinux go with "
				  "--annotate");
	if (o->annotate &&
	    (o->fold || o->section || o->percentiles || o->control || !isnan(o->fail_above)))
		argp_error(state, "--annotate is alone: no --fold, --section, --percentiles, "
				  "--control or --fail-above with it");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->view;
		state->child_inputs[1] = &o->annotated;
		break;
	case KEY_ANNOTATE:
		o->annotate = arg;
		break;
	case KEY_VMLINUX ... KEY_VMLINUX_LAST:
		o->vmlinux[key - KEY_VMLINUX] = arg;
		break;
	case KEY_SECTION:
		o->section = view_section_parse(state, arg, section_names);
		break;
	case KEY_FOLD:
		o->fold = true;
		break;
	case KEY_FAIL_ABOVE:
		parse_fail_above(o, arg, state);
		break;
	case KEY_MARGIN:
		o->view.figures.margin_pct = parse_margin(arg, state);
		break;
	case KEY_REVERSE:
		o->reverse = true;
		break;
	case KEY_STRICT:
		o->strict = true;
		break;
	case KEY_FILTER:
		parse_filter(o, arg, state);
		break;
	case KEY_SORT:
		parse_sort(o, arg, state);
		break;
	case KEY_MAP:
		if (*arg == '=' || !strchr(arg, '=') || !strchr(arg, '=')[1])
			argp_error(state, "--map is OLD=NEW, not '%s'", arg);
		vec_push(o, maps, arg);
		break;
	case KEY_CONTROL:
		o->control = arg;
		break;
	case KEY_PERCENTILES:
		o->percentiles = true;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num >= N_SIDES)
			argp_error(state, "two files, BASELINE and HARDENED, and no more");
		o->files[state->arg_num] = arg;
		break;
	case ARGP_KEY_END:
		if (state->arg_num < N_SIDES)
			argp_error(state, "two files are needed: BASELINE and HARDENED");
		if (o->section && o->view.format != VIEW_CSV)
			argp_error(state, "--section goes with --format=csv");
		if (o->reverse && !o->fold)
			argp_error(state, "--reverse goes with --fold");
		if (o->fold && o->view.format != VIEW_TABLE)
			argp_error(state, "--fold has a format of its own");
		parse_annotate_end(o, state);
		if (o->percentiles && (o->view.format != VIEW_TABLE || o->fold))
			argp_error(state, "--percentiles goes with tables");
		if (o->fold && o->view.figures.time != ANALYZE_TIME_ONCPU)
			argp_error(state, "--fold counts samples, which are of on-CPU time");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = { { &view_argp, 0, NULL, 0 },
					      { &annotated_argp, 0, "With --annotate:", 1 },
					      { 0 } };

static const struct argp argp = {
	.options = argp_options,
	.parser = parse,
	.args_doc = "BASELINE HARDENED",
	.doc = "The same work on two kernels, side by side.\v"
	       "Counts and totals are a run, times on-CPU unless --time says otherwise, less what the "
	       "probes themselves cost. SHARE is a function's part in the change of its syscall: below "
	       "0 or above 1 where other functions make up for it. +- is half a 95 % interval of DELTA "
	       "over boots, or runs of one boot; P, adjusted for the number of rows, is how likely "
	       "such a difference comes out where there is none; BOOTS is how many a side would "
	       "settle what is unclear. docs/accounting.md defines the times, docs/statistics.md the "
	       "rest, docs/json.md --format=json.",
	.children = children,
};

/* ---- table ---- */

static void write_sides(const struct view *v, const struct comparison *c)
{
	char *commands[N_SIDES] = { view_command(c->p[BASELINE]), view_command(c->p[HARDENED]) };
	bool same = !strcmp(commands[BASELINE], commands[HARDENED]);
	char *what;
	int i;

	if (same)
		view_text(v, "%s", commands[BASELINE]);
	for (i = 0; i < N_SIDES; i++) {
		const char *release = profile_env_get(c->p[i], PROFILE_ENV_RELEASE);
		char *kernel = output_text_escape(release ? release : "of unknown release");
		char *runs = view_runs(c->diff.runs[i], c->diff.boots[i]);
		char *file = output_text_escape(c->o->files[i]);

		view_text(v, "%s: %s, kernel %s, %s%s%s", side_names[i], file, kernel, runs,
			  same ? "" : " of ", same ? "" : commands[i]);
		free(file);
		free(runs);
		free(kernel);
	}
	what = view_times(&c->o->view.figures);
	view_text(v, "Times in %s, counts and totals a run; of calls the %s.",
		  profile_clock_unit(c->diff.clock), what);
	free(what);
	view_unit_note(v, c->diff.clock);
	free(commands[BASELINE]);
	free(commands[HARDENED]);
}

static void write_environment(const struct view *v, const struct comparison *c)
{
	const struct analyze_env *env = &c->diff.env;
	struct analyze_env_row *rows = alloc_array(env->n_rows, sizeof(*rows));
	uint32_t i, n = 0, config = 0;
	struct output_section section;
	struct view all = *v;

	for (i = 0; i < env->n_rows; i++) {
		if (env->rows[i].kind == ANALYZE_ENV_CONFIG && ++config > TOP_CONFIG)
			continue;
		/* Two builds always differ in those: worth a word only where nothing else differs. */
		if (env->rows[i].kind == ANALYZE_ENV_KERNEL && n)
			continue;
		rows[n++] = env->rows[i];
	}
	if (!n) {
		view_text(v, "The two environments do not differ.");
	} else {
		section = columns_diff_environment(rows, n);
		all.top = -1;
		view_section(&all, &section, 0);
	}
	if (config > TOP_CONFIG)
		view_text(v, "(%u more kernel options differ; --format=json lists them)",
			  config - TOP_CONFIG);
	free(rows);
}

static void write_repetitions(const struct view *v, const struct analyze_diff_repetitions *r,
			      const char *control)
{
	if (r->rows)
		view_text(
			v,
			"Over %u and %u %ss: +- is half a 95 %% interval, P adjusted for %u rows; "
			"\"same\" is surely within %g %%.",
			r->n[0], r->n[1], analyze_unit_key(r->unit), r->rows, r->margin_pct);
	if (control)
		view_text(
			v,
			"NOISE: how far the baseline and %s, the same kernel again, differ or may "
			"differ; \"under\" it are changes that are not larger.",
			control);
	if (r->note)
		view_text(v, "Note: %s.", r->note);
}

static void write_percentiles(const struct view *v, const struct analyze_diff *diff)
{
	const struct analyze_diff_rows *lists[] = { &diff->syscalls, &diff->functions };
	static const unsigned int tops[] = { TOP_SYSCALLS, TOP_FUNCTIONS };
	struct output_section section;
	int i;

	for (i = 0; i < 2; i++) {
		if (!lists[i]->n_rows)
			continue;
		fputc('\n', v->out);
		view_text(v, i ? "Percentiles of functions:" : "Percentiles of syscalls:");
		section = columns_diff_percentiles(lists[i], diff->clock);
		view_section(v, &section, tops[i]);
	}
}

/* Those that changed: what was timed, and of estimates those that differ for sure. */
static void write_ranges(const struct view *v, const struct comparison *c)
{
	const struct analyze_diff_ranges *ranges = &c->diff.ranges;
	struct output_section section = columns_diff_ranges(&c->diff);
	uint32_t i, shown = 0;

	for (i = 0; i < ranges->n_rows; i++)
		shown += !ranges->rows[i].redundant;
	fputc('\n', v->out);
	if (!shown) {
		view_text(v, "Inlined bodies: none were timed (record --range NAME)%s.",
			  ranges->n_rows ? ", and samples show no change in any" : "");
		return;
	}
	view_text(v, "Inlined bodies, what they called included; SHARE is of the change of the "
		     "function around, where that was timed. ~: estimated from samples, and surely "
		     "changed (record --range NAME times them). ?: its samples came late, with "
		     "interrupts off:");
	view_section(v, &section, TOP_RANGES);
}

static void write_calls(const struct view *v, const struct comparison *c)
{
	const struct analyze_diff *diff = &c->diff;
	const char *what = analyze_time_text(diff->time);
	struct output_section section;

	fputc('\n', v->out);
	if (!diff->syscalls.n_rows) {
		view_text(v, "Syscalls: none were recorded.");
	} else {
		view_text(v, "Syscalls, by the change of their total %s a run:", what);
		section = columns_diff_syscalls(diff);
		view_section(v, &section, TOP_SYSCALLS);
	}
	fputc('\n', v->out);
	if (!diff->functions.n_rows) {
		view_text(v, "Functions: none were recorded (record --func NAME).");
	} else {
		view_text(
			v,
			diff->time == ANALYZE_TIME_SELF ?
				"Functions, timed functions they call left out; SHARE is of the "
				"context's change of on-CPU time:" :
				"Functions, what they call included; SHARE is of the context's change:");
		section = columns_diff_functions(diff);
		view_section(v, &section, TOP_FUNCTIONS);
	}
	write_ranges(v, c);
	if (diff->syscalls.n_rows) {
		fputc('\n', v->out);
		view_text(v, diff->time == ANALYZE_TIME_ONCPU ?
				     "Medians, tails and totals:" :
				     "Totals (medians and tails are known of on-CPU times only):");
		section = columns_diff_syscalls_detail(diff);
		view_section(v, &section, TOP_SYSCALLS);
	}
	if (diff->functions.n_rows) {
		fputc('\n', v->out);
		section = columns_diff_functions_detail(diff);
		view_section(v, &section, TOP_FUNCTIONS);
	}
}

static void write_attribution(const struct view *v, const struct analyze_attribution *a)
{
	struct analyze_attribution_row *rows = alloc_array(a->n_rows, sizeof(*rows));
	struct output_section section;
	struct view all = *v;
	uint32_t i, n = 0;

	for (i = 0; i < a->n_rows; i++)
		if (!a->rows[i].hidden)
			rows[n++] = a->rows[i];
	if (n) {
		fputc('\n', v->out);
		view_text(
			v,
			"Where a run's change comes from: on-CPU time, of functions without that of "
			"timed functions they call; parts add up, SHARE is of the line above:");
		section = columns_diff_attribution(rows, n, a->clock);
		all.top = -1;
		view_section(&all, &section, 0);
	}
	free(rows);
}

static void write_table(const struct comparison *c)
{
	struct output_section section;
	struct view v;

	view_init(&v, stdout, &c->o->view);
	view_text(&v, "%s", c->conclusion);
	fputc('\n', v.out);
	view_warnings(&v, &c->diff.warnings);
	write_sides(&v, c);
	write_repetitions(&v, &c->diff.repetitions, c->o->control);
	fputc('\n', v.out);
	write_environment(&v, c);
	write_attribution(&v, &c->attribution);
	if (c->diff.n_workload) {
		fputc('\n', v.out);
		section = columns_diff_workload(&c->diff);
		view_section(&v, &section, 0);
	}
	write_calls(&v, c);
	if (c->o->percentiles)
		write_percentiles(&v, &c->diff);
}

/* ---- json and csv ---- */

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

static void write_json(const struct comparison *c)
{
	struct output_section workload = columns_diff_workload(&c->diff);
	struct output_section syscalls = columns_diff_syscalls(&c->diff);
	struct output_section functions = columns_diff_functions(&c->diff);
	struct output_section ranges = columns_diff_ranges(&c->diff);
	json_t *root = json_object(), *env = json_object(), *runs = json_object();
	json_t *warnings = json_array();
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
	output_json_set(root, "runs", runs);
	output_json_set(root, "statistics", statistics_json(&c->diff.repetitions, c->o->control));
	output_json_set(root, "workload", output_json_rows(&workload));
	output_json_set(root, "attribution", attribution_json(&c->attribution));
	output_json_set(root, "syscalls", output_json_rows(&syscalls));
	output_json_set(root, "functions", output_json_rows(&functions));
	output_json_set(root, "ranges", output_json_rows(&ranges));
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

static void write_csv(const struct comparison *c)
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
	case SECTION_ENVIRONMENT:
		section = columns_diff_environment(c->diff.env.rows, c->diff.env.n_rows);
		break;
	}
	output_csv_write(stdout, &section);
}

/* ---- folded ---- */

static int write_folded(const struct comparison *c)
{
	struct analyze_stacks stacks = { 0 };
	int status = CMD_FAILED, i;

	for (i = 0; i < N_SIDES; i++) {
		if (!c->p[i]->n_samples) {
			log_error(VIEW_NO_SAMPLES, c->o->files[i]);
			goto out;
		}
		/* Samples a run, so that sides with unlike numbers of runs compare. */
		if (analyze_stacks_add(&stacks, c->p[i], i ^ c->o->reverse, 1.0 / c->diff.runs[i]))
			goto out;
	}
	view_warnings_log(&c->diff.warnings);
	output_folded_write(stdout, stacks.lines, stacks.n_lines, N_SIDES);
	status = CMD_DONE;
out:
	analyze_stacks_deinit(&stacks);
	return status;
}

/* ---- --fail-above ---- */

/* The row that --fail-above names: a syscall, else a function over all contexts; NULL: no such. */
static const struct analyze_diff_row *find_row(const struct analyze_diff *diff, const char *name)
{
	uint32_t i;

	for (i = 0; i < diff->syscalls.n_rows; i++)
		if (!strcmp(diff->syscalls.rows[i].name, name))
			return &diff->syscalls.rows[i];
	for (i = 0; i < diff->functions.n_rows; i++)
		if (!strcmp(diff->functions.rows[i].name, name) &&
		    !strcmp(diff->functions.rows[i].context, ANALYZE_ALL_CONTEXTS))
			return &diff->functions.rows[i];
	return NULL;
}

static int check_fail_above(const struct analyze_diff *diff, double limit, const char *name)
{
	const struct analyze_diff_row *worst = NULL;
	char *escaped;
	uint32_t i;

	if (name) {
		worst = find_row(diff, name);
		if (!worst || isnan(worst->delta_pct)) {
			log_error("--fail-above: %s '%s'",
				  worst ? "not both sides have calls of" :
					  "neither a syscall nor a recorded function is called",
				  name);
			return CMD_FAILED;
		}
	}
	for (i = 0; !name && i < diff->syscalls.n_rows; i++)
		if (!worst ? !isnan(diff->syscalls.rows[i].delta_pct) :
			     diff->syscalls.rows[i].delta_pct > worst->delta_pct)
			worst = &diff->syscalls.rows[i];
	if (!worst || !(worst->delta_pct > limit))
		return CMD_DONE;
	escaped = output_text_escape(worst->name);
	log_error("%s is %.2f %% slower: above the %g %% of --fail-above", escaped,
		  worst->delta_pct, limit);
	free(escaped);
	return CMD_ABOVE;
}

static int add_control(struct comparison *c)
{
	struct profile *control = view_open(c->o->control, NULL);
	int err = -1;

	if (control)
		err = analyze_diff_control(&c->diff, c->p[BASELINE], control, &c->o->view.figures);
	profile_destroy(control);
	return err;
}

/* Whether other things differ than the kernels; says so, all in one line. */
static bool refuse_invalid(const struct analyze_warnings *w)
{
	char *all = alloc_strdup("");
	uint32_t i;

	for (i = 0; i < w->n_invalidating; i++) {
		char *longer = alloc_printf("%s%s%s", all, i ? "; " : "", w->texts[i]);

		free(all);
		all = longer;
	}
	if (i)
		log_error("not to be compared, as other things differ than the kernels: %s", all);
	free(all);
	return i;
}

/* Renames as --map has it; 0, or -1, having said so, where there is nothing of that name. */
static int map_names(const struct options *o, struct profile *p)
{
	uint32_t i;

	for (i = 0; i < o->n_maps; i++) {
		char *old = alloc_strdup(o->maps[i]), *new = strchr(old, '=');
		uint32_t n;

		*new ++ = '\0';
		n = analyze_rename(p, old, new);
		if (!n)
			log_error("--map: the baseline has no function or syscall '%s'", old);
		free(old);
		if (!n)
			return -1;
	}
	return 0;
}

/* In the format asked for, what was selected. */
static int write_all(struct comparison *c)
{
	const struct options *o = c->o;

	if (o->filter.syscall || o->filter.function)
		analyze_diff_filter(&c->diff, &o->filter);
	if (o->sort)
		analyze_diff_sort(&c->diff, o->sort);
	if (o->fold)
		return write_folded(c);
	if (o->view.format == VIEW_TABLE)
		write_table(c);
	else if (o->view.format == VIEW_JSON)
		write_json(c);
	else
		write_csv(c);
	return CMD_DONE;
}

static int compare(const struct options *o, const struct profile *const p[N_SIDES])
{
	struct comparison c = { .o = o, .p = { p[BASELINE], p[HARDENED] } };
	int status = CMD_DONE;

	if (analyze_diff_init(&c.diff, p[BASELINE], p[HARDENED], &o->view.figures))
		return CMD_FAILED;
	if (o->view.figures.time == ANALYZE_TIME_ONCPU)
		analyze_attribution_init(&c.attribution, &c.diff);
	c.conclusion = analyze_diff_conclusion(&c.diff);
	if (o->control && add_control(&c))
		status = CMD_FAILED;
	if (o->strict && refuse_invalid(&c.diff.warnings))
		status = CMD_FAILED;
	if (status == CMD_DONE)
		status = write_all(&c);
	if (status == CMD_DONE)
		status = view_finish();
	if (status == CMD_DONE && !isnan(o->fail_above))
		status = check_fail_above(&c.diff, o->fail_above, o->fail_row);
	free(c.conclusion);
	analyze_attribution_deinit(&c.attribution);
	analyze_diff_deinit(&c.diff);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	struct options o = { .fail_above = NAN };
	struct profile *p[N_SIDES] = { NULL, NULL };
	int status = CMD_FAILED, i;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (o.annotate)
		return annotate_diff(&(struct annotate_diff_options){
			.view = &o.view,
			.annotated = &o.annotated,
			.func = o.annotate,
			.files = { o.files[BASELINE], o.files[HARDENED] },
			.vmlinux = { o.vmlinux[BASELINE], o.vmlinux[HARDENED] },
		});
	for (i = 0; i < N_SIDES; i++) {
		p[i] = view_open(o.files[i], NULL);
		if (!p[i])
			goto out;
	}
	if (!map_names(&o, p[BASELINE]))
		status = compare(&o, (const struct profile *const *)p);
out:
	profile_destroy(p[BASELINE]);
	profile_destroy(p[HARDENED]);
	free(o.filter_text);
	free(o.maps);
	return status;
}
