// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/stacks.h"
#include "base/alloc.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/diff_impl.h"
#include "output/folded.h"
#include "output/number.h"
#include "output/text.h"

/* In that order. */
static const char *const section_names[] = { "syscalls",    "functions",   "ranges", "workload",
					     "environment", "attribution", "paths",  NULL };

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
	  "What CSV holds: syscalls, functions (default: both), ranges, workload, environment, "
	  "attribution or paths" },
	{ "fold", KEY_FOLD, NULL, 0,
	  "Print folded stacks with the samples a run of both sides, for a differential flame graph" },
	{ "reverse", KEY_REVERSE, NULL, 0,
	  "With --fold: the hardened side first, so that stacks only the baseline has are seen" },
	{ "filter", KEY_FILTER, "WHAT=GLOB[,...]", 0,
	  "Show these rows only: syscall=GLOB, function=GLOB, or both; where the change comes from "
	  "stays whole" },
	{ "sort", KEY_SORT, "KEY", 0,
	  "Order syscalls and functions by delta_total (default), delta, delta_pct, p or name" },
	{ "map", KEY_MAP, "OLD=NEW", 0,
	  "The baseline's function or syscall OLD is the hardened side's NEW; may be repeated" },
	{ "strict", KEY_STRICT, NULL, 0,
	  "Fail where other things differ than the kernels: work, machine, probes" },
	{ "fail-above", KEY_FAIL_ABOVE, "PCT[@ROW]", 0,
	  "End with status 3 if a call of any syscall, or of the syscall or function ROW, became "
	  "slower by more than PCT percent, in the time that --time names, however sure that is and "
	  "whatever --filter shows" },
	{ "margin", KEY_MARGIN, "PCT", 0,
	  "Call a mean the same where it surely differs by less than PCT percent (default 1)" },
	{ "control", KEY_CONTROL, "FILE", 0,
	  "Another recording of the baseline's kernel: how far the two differ is printed as NOISE, and "
	  "rows that changed by less are marked" },
	{ "percentiles", KEY_PERCENTILES, NULL, 0,
	  "Print a table of p50, p90, p99 and p99.9 too (JSON and CSV always have them)" },
	{ 0 },
};

static void parse_fail_above(struct diff_options *o, const char *arg, struct argp_state *state)
{
	char *end;

	o->fail_above = strtod(arg, &end);
	if (end == arg || !isfinite(o->fail_above) || (*end && *end != '@') ||
	    (*end == '@' && !end[1]))
		argp_error(state, "--fail-above is PCT or PCT@ROW, as in 5@clone; not '%s'", arg);
	o->fail_row = *end ? end + 1 : NULL;
}

static void parse_filter(struct diff_options *o, const char *arg, struct argp_state *state)
{
	char *part, *rest;

	free(o->filter_text);
	o->filter_text = rest = alloc_strdup(arg);
	o->filter_arg = arg;
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

static void parse_sort(struct diff_options *o, const char *arg, struct argp_state *state)
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

static void parse_annotate_end(const struct diff_options *o, struct argp_state *state)
{
	const struct annotated_options *a = &o->annotated;

	if (!o->annotate && (a->all || a->context || a->source || a->color != OUTPUT_COLOR_AUTO ||
			     o->vmlinux[BASELINE] || o->vmlinux[HARDENED]))
		argp_error(state, "--all, --color, --context, --source and --*-vmlinux go with "
				  "--annotate");
	if (o->annotate && (o->fold || o->section || o->percentiles || o->control || o->strict ||
			    o->filter_arg || o->sort || o->n_maps || !isnan(o->fail_above)))
		argp_error(state,
			   "--annotate is alone: no --fold, --section, --percentiles, --control, "
			   "--strict, --filter, --sort, --map or --fail-above with it");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct diff_options *o = state->input;

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
		if (o->fold && (o->filter_arg || o->sort || o->control))
			argp_error(
				state,
				"--fold has all stacks: no --filter, --sort or --control with it");
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

/* ---- folded ---- */

static int write_folded(const struct diff_comparison *c)
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

/* The syscall that became slower by the largest part; NULL: none was called on both sides. */
static const struct analyze_diff_row *worst_row(const struct analyze_diff *diff)
{
	const struct analyze_diff_row *worst = NULL;
	uint32_t i;

	for (i = 0; i < diff->syscalls.n_rows; i++)
		if (!worst ? !isnan(diff->syscalls.rows[i].delta_pct) :
			     diff->syscalls.rows[i].delta_pct > worst->delta_pct)
			worst = &diff->syscalls.rows[i];
	return worst;
}

/* What there is to say of ROW, which is above LIMIT: for free(). */
static char *above_text(const struct analyze_diff_row *row, double limit)
{
	char *name = output_text_escape(row->name), *sure, *text;

	sure = isnan(row->change.plus_minus_pct) ?
		       alloc_strdup("") :
		       alloc_printf(" (±%.2g, %s)", row->change.plus_minus_pct,
				    row->change.verdict_key);
	text = alloc_printf("%s is %.2f %% slower%s: above the %g %% of --fail-above", name,
			    row->delta_pct, sure, limit);
	free(sure);
	free(name);
	return text;
}

/* *ABOVE becomes the text for a row above the limit, for free(); 0, or -1, having said why nothing can be told. */
static int check_fail_above(const struct analyze_diff *diff, double limit, const char *name,
			    char **above)
{
	const struct analyze_diff_row *worst = name ? find_row(diff, name) : worst_row(diff);

	if (name && !worst)
		log_error("--fail-above: neither a syscall nor a recorded function is called '%s'",
			  name);
	else if (name && isnan(worst->delta_pct))
		log_error("--fail-above: not both sides have calls of '%s'", name);
	else if (!worst)
		log_error("--fail-above: no syscall was called on both sides");
	else if (worst->delta_pct > limit)
		*above = above_text(worst, limit);
	return worst && !isnan(worst->delta_pct) ? 0 : -1;
}

/* What of A's kernel, its configuration and its parameters is otherwise in B's: a key; NULL: nothing. */
static const char *other_kernel(const struct profile *a, const struct profile *b)
{
	static const char *const keys[] = { PROFILE_ENV_RELEASE, PROFILE_ENV_VERSION,
					    PROFILE_ENV_BUILD_ID, PROFILE_ENV_CONFIG,
					    PROFILE_ENV_CMDLINE };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *va = profile_env_get(a, keys[i]), *vb = profile_env_get(b, keys[i]);

		if (!va != !vb || (va && strcmp(va, vb)))
			return keys[i];
	}
	return NULL;
}

static int add_control(struct diff_comparison *c)
{
	struct profile *control = view_open(c->o->control, NULL);
	const char *other;
	int err = -1;

	if (!control)
		return err;
	other = other_kernel(c->p[BASELINE], control);
	if (other)
		log_error("--control: %s is not the baseline's kernel again: its %s is another",
			  c->o->control, other);
	else
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

/* Renames as --map has it; 0, or -1, having said so, where there is nothing of those names. */
static int map_names(const struct diff_options *o, struct profile *const p[N_SIDES],
		     struct analyze_renames *renames)
{
	uint32_t i;

	for (i = 0; i < o->n_maps; i++) {
		char *old = alloc_strdup(o->maps[i]), *new = strchr(old, '=');
		bool has_old, has_new;

		*new ++ = '\0';
		/* By its own name, which only counts how often it is there. */
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

/* In the format asked for, what was selected. */
static int write_all(struct diff_comparison *c)
{
	const struct diff_options *o = c->o;

	if (o->filter_arg && !analyze_diff_filter(&c->diff, &o->filter)) {
		log_error("--filter: no syscall, function or inlined body matches '%s'",
			  o->filter_arg);
		return CMD_FAILED;
	}
	if (o->sort)
		analyze_diff_sort(&c->diff, o->sort);
	if (o->fold)
		return write_folded(c);
	if (o->view.format == VIEW_TABLE)
		diff_write_table(c);
	else if (o->view.format == VIEW_JSON)
		diff_write_json(c);
	else
		diff_write_csv(c);
	return CMD_DONE;
}

static int compare(const struct diff_options *o, const struct profile *const p[N_SIDES],
		   const struct analyze_renames *renames)
{
	struct diff_comparison c = { .o = o,
				     .p = { p[BASELINE], p[HARDENED] },
				     .renames = renames };
	int status = CMD_DONE;
	char *above = NULL;

	if (analyze_diff_init(&c.diff, p[BASELINE], p[HARDENED], &o->view.figures))
		return CMD_FAILED;
	if (o->view.figures.time == ANALYZE_TIME_ONCPU)
		analyze_attribution_init(&c.attribution, &c.diff);
	analyze_diff_paths_init(&c.paths, p[BASELINE], p[HARDENED]);
	c.conclusion = analyze_diff_conclusion(&c.diff);
	if ((o->control && add_control(&c)) || (o->strict && refuse_invalid(&c.diff.warnings)) ||
	    (!isnan(o->fail_above) &&
	     check_fail_above(&c.diff, o->fail_above, o->fail_row, &above)))
		status = CMD_FAILED;
	if (status == CMD_DONE)
		status = write_all(&c);
	if (status == CMD_DONE)
		status = view_finish();
	if (status == CMD_DONE && above) {
		log_error("%s", above);
		status = CMD_ABOVE;
	}
	free(above);
	free(c.conclusion);
	analyze_diff_paths_deinit(&c.paths);
	analyze_attribution_deinit(&c.attribution);
	analyze_diff_deinit(&c.diff);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	struct diff_options o = { .fail_above = NAN };
	struct profile *p[N_SIDES] = { NULL, NULL };
	struct analyze_renames renames = { 0 };
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
	if (!map_names(&o, p, &renames)) {
		analyze_renames_apply(&renames, p[BASELINE], p[HARDENED]);
		status = compare(&o, (const struct profile *const *)p, &renames);
	}
out:
	analyze_renames_deinit(&renames);
	profile_destroy(p[BASELINE]);
	profile_destroy(p[HARDENED]);
	free(o.filter_text);
	free(o.maps);
	return status;
}
