// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <string.h>

#include "analyze/diff/diff.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sorted.h"
#include "cmd/annotated.h"
#include "cmd/cmd.h"
#include "cmd/why.h"
#include "cmd/view.h"
#include "output/export/export.h"
#include "output/folded.h"
#include "output/number.h"
#include "view/diff.h"
#include "view/names.h"
#include "view/words.h"

#define BASELINE VIEW_BASELINE
#define HARDENED VIEW_HARDENED
#define N_SIDES  VIEW_N_SIDES

struct diff_options {
	struct view_options view;
	bool fold, svg, reverse, strict, trace;
	struct analyze_filter filter;
	char *filter_text; /* copy of the argument; FILTER points into it */
	const char *filter_arg; /* argument of --filter; NULL: not given */
	const char *sort; /* key of --sort; NULL: order of analyze_diff_init() */
	vec_of(char *, maps); /* arguments of --map, "OLD=NEW" */
	double fail_above; /* limit in percent; NAN: not given */
	const char *fail_row; /* the syscall or function of --fail-above; NULL: any syscall */
	const char *control; /* file of --control; NULL: none */
	struct why_patches patches;
	char **files;
	struct annotated_options annotated;
	const char *annotate; /* the function of --annotate; NULL: not given */
	const char *vmlinux[N_SIDES];
};

static void parse_fail_above(void *input, const struct cmd_argument *argument)
{
	struct diff_options *o = input;
	const char *end = argument->text;

	if (!number_scan_double(&end, &o->fail_above) || (*end && *end != '@') ||
	    (*end == '@' && !end[1]))
		argp_error(argument->state,
			   "--fail-above is PCT or PCT@ROW, as in 5@clone; not '%s'",
			   argument->text);
	o->fail_row = *end ? end + 1 : NULL;
}

static void parse_filter(void *input, const struct cmd_argument *argument)
{
	struct diff_options *o = input;
	char *part, *rest;

	free(o->filter_text);
	o->filter_text = rest = alloc_strdup(argument->text);
	o->filter_arg = argument->text;
	while ((part = strsep(&rest, ","))) {
		if (!strncmp(part, "syscall=", 8) && part[8])
			o->filter.syscall = part + 8;
		else if (!strncmp(part, "function=", 9) && part[9])
			o->filter.function = part + 9;
		else
			argp_error(
				argument->state,
				"--filter is syscall=GLOB, function=GLOB, or both separated by a "
				"comma, not '%s'",
				argument->text);
	}
}

static void parse_map(void *input, const struct cmd_argument *argument)
{
	struct diff_options *o = input;
	const char *new = strchr(argument->text, '=');

	if (new == argument->text || !new || !new[1])
		argp_error(argument->state, "--map is OLD=NEW, not '%s'", argument->text);
	vec_push(o, maps, argument->text);
}

static void parse_percentiles(void *o, const struct cmd_argument *argument)
{
	vec_push(&((struct diff_options *)o)->view.request, sections, argument->option->name);
}

static void parse_trace(void *input, const struct cmd_argument *argument)
{
	struct diff_options *o = input;

	o->trace = true;
	vec_push(&o->view.request, sections, argument->option->name);
}

static void check_annotate(const struct diff_options *o, struct argp_state *state)
{
	const struct annotated_options *a = &o->annotated;

	if (!o->annotate && (a->context || a->source || a->color != OUTPUT_COLOR_AUTO ||
			     o->vmlinux[BASELINE] || o->vmlinux[HARDENED]))
		argp_error(state, "--color, --context, --source and --*-vmlinux need --annotate");
	if (o->annotate)
		view_check_format(o->view.request.format, NULL, state);
	if (o->annotate &&
	    (o->fold || o->svg || o->view.request.n_sections || o->control || o->strict ||
	     o->filter_arg || o->sort || o->n_maps || !isnan(o->fail_above)))
		argp_error(
			state,
			"--annotate cannot be combined with --fold, --svg, --section, --percentiles, "
			"--control, --strict, --filter, --sort, --map or --fail-above");
}

static void check_usage(void *input, struct argp_state *state)
{
	const struct diff_options *o = input;
	bool is_page = view_writers[o->view.request.format].place == VIEW_IN_PAGE;
	const char *stacks = o->svg ? "--svg" : o->fold ? "--fold" : NULL;

	if (o->reverse && !o->fold)
		argp_error(state, "--reverse needs --fold");
	if (stacks && (!is_page || (o->fold && o->svg)))
		argp_error(state, "%s cannot be combined with %s", stacks,
			   is_page ? "--fold" : "--format");
	if (stacks && (o->filter_arg || o->sort || o->control || o->view.request.n_sections))
		argp_error(state,
			   "%s prints all stacks: it cannot be combined with --filter, --sort, "
			   "--control or --section",
			   stacks);
	if (stacks && o->view.figures.time != ANALYZE_TIME_ONCPU)
		argp_error(state,
			   "%s counts samples, which are on-CPU: it cannot be combined with --time",
			   stacks);
	check_annotate(o, state);
}

static const struct cmd_option options[] = {
	{ "annotate", "FUNC[@FUNCTION]",
	  "Print only this function's source lines and inlined bodies, with their cost on both "
	  "sides; more options are listed below",
	  CMD_SET(diff_options, annotate) },
	{ "baseline-vmlinux", "FILE", "With --annotate: vmlinux of the baseline kernel",
	  CMD_SET(diff_options, vmlinux[BASELINE]) },
	{ "hardened-vmlinux", "FILE", "With --annotate: vmlinux of the hardened kernel",
	  CMD_SET(diff_options, vmlinux[HARDENED]) },
	{ "fold", NULL,
	  "Print folded stacks with the samples per run of both sides, for a differential flame "
	  "graph",
	  CMD_SET(diff_options, fold) },
	{ "svg", NULL,
	  "Draw the differential flame graph as SVG, for a browser: click to zoom, Ctrl-F to search",
	  CMD_SET(diff_options, svg) },
	{ "reverse", NULL,
	  "With --fold: put the hardened side first, to show stacks that only the baseline has",
	  CMD_SET(diff_options, reverse) },
	{ "filter", "WHAT=GLOB[,...]",
	  "Show matching rows only: syscall=GLOB, function=GLOB, or both; attribution is not "
	  "filtered",
	  .parse = parse_filter },
	{ "sort", "KEY",
	  "Sort syscalls and functions by delta_total (default), delta, delta_pct, p or name",
	  CMD_SET(diff_options, sort), .choices = analyze_sort_keys },
	{ "map", "OLD=NEW",
	  "Compare the baseline's function or syscall OLD with the hardened side's NEW; may be "
	  "repeated",
	  .parse = parse_map },
	{ "strict", NULL, "Fail if anything but the kernels differs: work, machine or probes",
	  CMD_SET(diff_options, strict) },
	{ "fail-above", "PCT[@ROW]",
	  "Exit with status 3 if the mean time per call of any syscall, or of the syscall or "
	  "function ROW, grew by more than PCT percent, significant or not and regardless of "
	  "--filter",
	  .parse = parse_fail_above },
	{ "margin", "PCT",
	  "Threshold for equivalence: means are \"same\" if they differ by significantly less than "
	  "PCT percent (default 1)",
	  CMD_SET(diff_options, view.figures.margin_pct) },
	{ "control", "FILE",
	  "Another recording of the baseline kernel: show as NOISE how much the two differ, and "
	  "mark rows that did not change by more",
	  CMD_SET(diff_options, control) },
	{ "percentiles", NULL,
	  "Same as --section=percentiles: p50, p90, p99 and p99.9 of both sides",
	  .parse = parse_percentiles },
	{ "trace", NULL,
	  "Align the complete calls kept by lab ab --exact --trace, and mark where they first "
	  "diverge",
	  .parse = parse_trace },
	{ 0 },
};

static const struct cmd_syntax syntax = {
	.options = options,
	.args_doc = "BASELINE HARDENED",
	.doc = "Compare the same work on two kernels, side by side.\vCounts and totals are per "
	       "run. Times are on-CPU times unless --time says otherwise, less the cost of the "
	       "probes. SHARE is a function's part of the change of its syscall; it is below 0 or "
	       "above 1 where other functions compensate. +- is half the 95 % confidence interval "
	       "of DELTA over boots, or, with one boot, over runs (on a real clock: over recordings); P is adjusted for the "
	       "number of rows; BOOTS is the number of boots per side that would probably settle "
	       "an unclear row. Times are defined in docs/accounting.md, statistics in "
	       "docs/statistics.md, --format=json in docs/json.md.",
	.operands = offsetof(struct diff_options, files),
	.least = N_SIDES,
	.most = N_SIDES,
	.too_few = "two files are required: BASELINE and HARDENED",
	.too_many = "too many arguments: expected two files, BASELINE and HARDENED",
	.end = check_usage,
	.parts =
		(const struct cmd_part[]){
			{ &view_recordings_syntax, offsetof(struct diff_options, view) },
			{ &cmd_patches_syntax, offsetof(struct diff_options, patches) },
			{ &annotated_syntax, offsetof(struct diff_options, annotated),
			  "With --annotate:", 1 },
			{ 0 },
		},
};

/* ---- stacks ---- */

/* Write samples per run, so that recordings with different numbers of runs can be compared. */
static int write_stacks(const struct diff_options *o, const struct view_diff *c)
{
	const struct profile *const *p = c->common.p;
	const struct profile *sides[N_SIDES] = { p[o->reverse], p[!o->reverse] };
	scoped(analyze_stacks_deinit) struct analyze_stacks stacks = { 0 };
	scoped(export_deinit) struct export e = { 0 };

	for (int i = 0; i < N_SIDES; i++) {
		if (!p[i]->n_samples) {
			log_error(VIEW_NO_SAMPLES, o->files[i]);
			return CMD_FAILED;
		}
	}
	if (export_init_sides(&e, sides, &stacks))
		return CMD_FAILED;
	view_warnings_log(&c->diff.warnings, true);
	if (o->svg)
		export_write_svg(stdout, &e);
	else
		output_folded_write(stdout, &stacks, N_SIDES);
	return CMD_DONE;
}

/* ---- --fail-above ---- */

/* Return the row of the syscall NAME, else the row of the function NAME summed over all contexts; NULL: not found. */
static const struct analyze_diff_row *find_row(const struct analyze_diff *diff, const char *name)
{
	for (uint32_t i = 0; i < diff->syscalls.n_rows; i++)
		if (!strcmp(diff->syscalls.rows[i].name, name))
			return &diff->syscalls.rows[i];
	for (uint32_t i = 0; i < diff->functions.n_rows; i++)
		if (!strcmp(diff->functions.rows[i].name, name) &&
		    analyze_is_sum(diff->functions.rows[i].context))
			return &diff->functions.rows[i];
	return NULL;
}

/* Return the syscall with the largest relative slowdown; NULL: no syscall occurs in both recordings. */
static const struct analyze_diff_row *worst_row(const struct analyze_diff *diff)
{
	const struct analyze_diff_row *worst = NULL;

	for (uint32_t i = 0; i < diff->syscalls.n_rows; i++)
		if (!worst ? !isnan(diff->syscalls.rows[i].delta_pct) :
			     diff->syscalls.rows[i].delta_pct > worst->delta_pct)
			worst = &diff->syscalls.rows[i];
	return worst;
}

/* Return the message that ROW exceeds LIMIT; for free(). */
static char *above_text(const struct analyze_diff_row *row, double limit)
{
	scoped_free char *sure = isnan(row->change.plus_minus_pct) ?
					 alloc_strdup("") :
					 alloc_printf(" (±%.2g, %s)", row->change.plus_minus_pct,
						      view_verdicts[row->change.verdict]);

	return alloc_printf("%s is %.2f %% slower%s: above the --fail-above limit of %g %%",
			    row->name, row->delta_pct, sure, limit);
}

/* If NAME (NULL: any syscall) exceeds LIMIT percent, set *ABOVE to a message, for free(). Return 0; -1, reported: not checked. */
static int check_fail_above(const struct analyze_diff *diff, double limit, const char *name,
			    char **above)
{
	const struct analyze_diff_row *worst = name ? find_row(diff, name) : worst_row(diff);

	if (name && !worst)
		log_error("--fail-above: no syscall or recorded function is named '%s'", name);
	else if (name && isnan(worst->delta_pct))
		log_error("--fail-above: '%s' was called on one side only", name);
	else if (!worst)
		log_error("--fail-above: no syscall was called on both sides");
	else if (worst->delta_pct > limit)
		*above = above_text(worst, limit);
	return worst && !isnan(worst->delta_pct) ? 0 : -1;
}

/* Return a property of the kernel, its configuration or its parameters that differs between A and B; NULL: none. */
static const char *other_kernel(const struct profile *a, const struct profile *b)
{
	static const char *const keys[] = { PROFILE_ENV_RELEASE, PROFILE_ENV_VERSION,
					    PROFILE_ENV_BUILD_ID, PROFILE_ENV_CONFIG,
					    PROFILE_ENV_CMDLINE };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!same_text(profile_env_get(a, keys[i]), profile_env_get(b, keys[i])))
			return keys[i];
	return NULL;
}

static int add_control(struct view_diff *c)
{
	scoped(profile_destroy_at) struct profile *control = view_open(c->control, NULL);
	const char *other = control ? other_kernel(c->common.p[BASELINE], control) : NULL;

	if (other)
		log_error("--control: %s is not a recording of the baseline kernel: its %s "
			  "differs",
			  c->control, other);
	return control && !other ?
		       analyze_diff_control(&c->diff, c->common.p[BASELINE], control, &c->figures) :
		       -1;
}

/* Return whether the recordings differ in more than their kernels. If so, report all these differences in one line. */
static bool refuse_invalid(const struct analyze_warnings *w)
{
	scoped_free char *all = NULL;
	uint32_t i;

	for (i = 0; i < w->n_invalid; i++) {
		scoped_free char *text = view_warning(&w->rows[i]);

		alloc_append(&all, "%s%s", i ? "; " : "", text);
	}
	if (i)
		log_error("not comparable, since more than the kernels differs: %s", all);
	return i;
}

/* Rename functions and syscalls as --map says. Return 0, or -1 (reported) if a recording lacks a name. */
static int map_names(const struct diff_options *o, struct profile *const p[N_SIDES],
		     struct analyze_renames *renames)
{
	for (uint32_t i = 0; i < o->n_maps; i++) {
		char *old = alloc_strdup(o->maps[i]), *new = strchr(old, '=');
		bool has_old, has_new;

		*new ++ = '\0';
		/* Renaming NEW to itself only checks that NEW exists. */
		has_new = analyze_rename(p[HARDENED], new, new);
		has_old = analyze_rename(p[BASELINE], old, new);
		if (!has_old || !has_new)
			log_error("--map: the %s side has no function or syscall '%s'",
				  has_old ? "hardened" : "baseline", has_old ? new : old);
		else
			analyze_renames_add(renames, old, new, BASELINE, ANALYZE_RENAMING_TOLD);
		free(old);
		if (!has_old || !has_new)
			return -1;
	}
	return 0;
}

/* Apply --filter and --sort, then write the output in the selected format. */
static int write_all(const struct diff_options *o, struct view_diff *c)
{
	if (o->filter_arg && !analyze_diff_filter(&c->diff, &o->filter)) {
		log_error("--filter: no syscall or function matches '%s'", o->filter_arg);
		return CMD_FAILED;
	}
	if (o->sort)
		analyze_diff_sort(&c->diff, o->sort);
	if (o->fold || o->svg)
		return write_stacks(o, c);
	view_write(&o->view.request, c);
	return CMD_DONE;
}

static void comparison_deinit(struct view_diff *c)
{
	varies_shifts_deinit(&c->shifts);
	analyze_events_deinit(&c->events);
	analyze_trace_diff_deinit(&c->trace);
	analyze_misses_deinit(&c->misses);
	analyze_misses_deinit(&c->miss_objects);
	why_deinit(&c->why);
	why_attribution_deinit(&c->attribution);
	analyze_diff_deinit(&c->diff);
}

static int compare(const struct diff_options *o, const struct profile *const p[N_SIDES],
		   const struct analyze_renames *renames, struct why_patches *patches)
{
	scoped(comparison_deinit) struct view_diff c = {
		.common = { p[BASELINE]->clock,
			    view_time_headers[o->view.figures.time],
			    { p[BASELINE], p[HARDENED] },
			    &c.diff.warnings },
		.files = { o->files[BASELINE], o->files[HARDENED] },
		.figures = o->view.figures,
		.control = o->control,
		.renames = renames,
	};
	scoped_free char *above = NULL;
	int status = CMD_DONE;

	if (analyze_diff_init(&c.diff, p[BASELINE], p[HARDENED], &o->view.figures))
		return CMD_FAILED;
	if (o->control && add_control(&c))
		status = CMD_FAILED;
	if (why_can_tell(p[BASELINE], p[HARDENED]) && !c.figures.raw &&
	    c.figures.time == ANALYZE_TIME_ONCPU)
		cmd_explain(&c.why, p, &c.diff, patches);
	why_attribution_init(&c.attribution, &c.why, &c.diff);
	varies_shifts_init(&c.shifts, p[BASELINE], p[HARDENED]);
	analyze_events_init(&c.events, p[BASELINE], p[HARDENED], c.diff.repetitions.margin_pct,
			    analyze_repetitions_undecided(c.diff.repetitions.note));
	analyze_trace_diff_init(&c.trace, p[BASELINE], p[HARDENED]);
	analyze_misses_init(&c.misses, p[BASELINE], p[HARDENED], ANALYZE_MISSES_BY_FUNCTION);
	analyze_misses_init(&c.miss_objects, p[BASELINE], p[HARDENED], ANALYZE_MISSES_BY_OBJECT);
	if (o->trace && !c.trace.n_pairs) {
		log_error(VIEW_NO_TRACE,
			  p[BASELINE]->n_traces ? o->files[HARDENED] : o->files[BASELINE]);
		status = CMD_FAILED;
	}
	if (status != CMD_DONE || (o->strict && refuse_invalid(&c.diff.warnings)))
		return CMD_FAILED;
	if (!isnan(o->fail_above) && check_fail_above(&c.diff, o->fail_above, o->fail_row, &above))
		return CMD_FAILED;
	status = write_all(o, &c);
	if (status != CMD_DONE || !above)
		return status;
	log_error("%s", above);
	return CMD_ABOVE;
}

int cmd_diff(int argc, char **argv)
{
	struct diff_options o = { .view.request.list = &view_diff_list, .fail_above = NAN };
	scoped(profile_destroy_at) struct profile *baseline = NULL, *hardened = NULL;
	scoped(analyze_renames_deinit) struct analyze_renames renames = { 0 };
	struct profile *p[N_SIDES];
	int status = CMD_FAILED;

	cmd_parse(&syntax, argc, argv, &o);
	o.annotated.all = o.view.request.all;
	if (o.annotate)
		return annotate_diff(o.annotate, o.files, o.vmlinux, &o.annotated, &o.view.request);
	p[BASELINE] = baseline = view_open(o.files[BASELINE], NULL);
	p[HARDENED] = hardened = baseline ? view_open(o.files[HARDENED], NULL) : NULL;
	if (hardened && !map_names(&o, p, &renames)) {
		analyze_renames_apply(&renames, baseline, hardened);
		status = compare(&o, (const struct profile *const *)p, &renames, &o.patches);
	}
	free(o.filter_text);
	free(o.maps);
	why_patches_deinit(&o.patches);
	free(o.view.request.sections);
	return status;
}
