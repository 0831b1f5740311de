// SPDX-License-Identifier: GPL-2.0-or-later
/* diff for people. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cmd/columns.h"
#include "cmd/diff_impl.h"
#include "output/number.h"
#include "output/text.h"

#define TOP_SYSCALLS  10
#define TOP_FUNCTIONS 20
#define TOP_RANGES    10
/*
 * Kernel options that are no protections: two versions of a kernel differ in hundreds, of which the first few
 * say nothing.
 */
#define TOP_CONFIG  8
#define TOP_RENAMES 6
#define TOP_ALONE   6

static const char *const side_names[N_SIDES] = { "baseline", "hardened" };

static void write_sides(const struct view *v, const struct diff_comparison *c)
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

static void write_environment(const struct view *v, const struct diff_comparison *c)
{
	const struct analyze_env *env = &c->diff.env;
	struct analyze_env_row *rows = alloc_array(env->n_rows, sizeof(*rows));
	uint32_t i, n = 0, config = 0;
	struct output_section section;
	struct view all = *v;

	for (i = 0; i < env->n_rows; i++)
		config += env->rows[i].kind == ANALYZE_ENV_CONFIG;
	for (i = 0; i < env->n_rows; i++) {
		if (env->rows[i].kind == ANALYZE_ENV_CONFIG && config > TOP_CONFIG)
			continue;
		/* Two builds always differ in those: worth a word only where nothing else differs. */
		if (env->rows[i].kind == ANALYZE_ENV_KERNEL && n)
			continue;
		rows[n++] = env->rows[i];
	}
	if (n) {
		section = columns_diff_environment(rows, n);
		all.top = -1;
		view_section(&all, &section, 0);
	}
	if (config > TOP_CONFIG)
		view_text(
			v,
			"(%u kernel options differ that are no protections; --format=json lists them)",
			config);
	else if (!n)
		view_text(v, "The two environments do not differ.");
	free(rows);
}

/* A line that names things, the first MOST of them. */
struct naming {
	uint32_t n, most;
	char *text; /* NULL: nothing yet */
};

/* Takes ITEM, which is on the heap. */
static void naming_add(struct naming *l, char *item)
{
	char *longer;

	if (l->n++ >= l->most) {
		free(item);
		return;
	}
	longer = l->text ? alloc_printf("%s, %s", l->text, item) : alloc_strdup(item);
	free(item);
	free(l->text);
	l->text = longer;
}

/* Prints "WHAT: ...", if there is anything to name, and ends L. */
static void naming_write(struct naming *l, const struct view *v, const char *what)
{
	if (l->n > l->most)
		view_text(v, "%s: %s (%u more; --format=json lists them).", what, l->text,
			  l->n - l->most);
	else if (l->n)
		view_text(v, "%s: %s.", what, l->text);
	free(l->text);
}

/* Those of which something was measured and that are INFERRED, or those that are not; WHAT says so. */
static void write_renamed(const struct view *v, const struct analyze_renames *renames,
			  bool inferred, const char *what)
{
	struct naming list = { .most = TOP_RENAMES };

	for (uint32_t i = 0; i < renames->n_rows; i++) {
		const struct analyze_renaming *row = &renames->rows[i];
		char *old, *new;

		if (!row->seen || (row->how == ANALYZE_RENAMING_INFERRED) != inferred)
			continue;
		old = output_text_escape(row->old);
		new = output_text_escape(row->new);
		naming_add(&list, alloc_printf("%s is %s", row->side == BASELINE ? old : new,
					       row->side == BASELINE ? new : old));
		free(new);
		free(old);
	}
	naming_write(&list, v, what);
}

/* What is compared as one although the two kernels call it by different names. */
static void write_renames(const struct view *v, const struct analyze_renames *renames)
{
	uint32_t i = 0;

	while (i < renames->n_rows && !renames->rows[i].seen)
		i++;
	if (i == renames->n_rows)
		return;
	fputc('\n', v->out);
	write_renamed(v, renames, false, "Renamed, compared as one");
	write_renamed(v, renames, true, "Compared as one too, as their names suggest");
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
			"differ; \"under\" marks changes that are no larger.",
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
static void write_ranges(const struct view *v, const struct diff_comparison *c)
{
	const struct analyze_diff_ranges *ranges = &c->diff.ranges;
	struct output_section section = columns_diff_ranges(&c->diff);
	uint32_t i, shown = 0;

	for (i = 0; i < ranges->n_rows; i++)
		shown += !ranges->rows[i].redundant;
	fputc('\n', v->out);
	if (!shown && c->o->filter_arg) {
		view_text(v, "Inlined bodies: none that --filter shows.");
		return;
	}
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

/* Where blocks were counted on both sides. */
static void write_paths(const struct view *v, const struct diff_comparison *c)
{
	uint32_t i;

	if (!c->paths.n_functions)
		return;
	fputc('\n', v->out);
	view_text(v,
		  c->paths.n_rows ?
			  "Loops, calls and paths of the functions whose blocks were counted:" :
			  "Loops, calls and paths of the functions whose blocks were counted: the "
			  "same.");
	for (i = 0; i < c->paths.n_rows; i++) {
		char *text = output_text_escape(c->paths.rows[i].text);

		view_text(v, "- %s", text);
		free(text);
	}
}

static bool is_alone_for(const struct analyze_diff_row *row, const char *why)
{
	return row->alone && !strcmp(row->alone, why) &&
	       !strcmp(row->context, ANALYZE_ALL_CONTEXTS) &&
	       (row->baseline.calls > 0 || row->hardened.calls > 0);
}

/*
 * The functions that were timed on one side alone, for one reason, WHY, with what they took there, and the name that
 * they may be recorded by on the other.
 */
static void write_alone_for(const struct view *v, const struct analyze_diff *diff, const char *why)
{
	const char *unit = diff->clock == PROFILE_CLOCK_INSN ? " insn a run" : " a run";
	struct naming list = { .most = TOP_ALONE };
	char *what = alloc_printf("Functions %s", why);

	for (uint32_t i = 0; i < diff->functions.n_rows; i++) {
		const struct analyze_diff_row *row = &diff->functions.rows[i];
		char total[OUTPUT_NUMBER_MAX], *name;
		const char *other;

		if (!is_alone_for(row, why))
			continue;
		output_number(total, OUTPUT_TIME,
			      isnan(row->hardened.calls) ? row->baseline.total :
							   row->hardened.total,
			      diff->clock);
		name = output_text_escape(row->name);
		other = analyze_renames_known(row->name);
		naming_add(&list,
			   alloc_printf("%s (%s%s%s%s)", name, total, list.n ? "" : unit,
					other ? "; also known as " : "", other ? other : ""));
		free(name);
	}
	naming_write(&list, v, what);
	free(what);
}

/* What has no partner. */
static void write_alone(const struct view *v, const struct analyze_diff *diff)
{
	const char *said[4];
	uint32_t i, j, n = 0;

	for (i = 0; i < diff->functions.n_rows; i++) {
		const char *why = diff->functions.rows[i].alone;

		if (!why)
			continue;
		for (j = 0; j < n; j++)
			if (said[j] == why)
				break;
		if (j < n || n == 4)
			continue;
		said[n++] = why;
		write_alone_for(v, diff, why);
	}
}

static void write_calls(const struct view *v, const struct diff_comparison *c)
{
	const struct analyze_diff *diff = &c->diff;
	const char *what = analyze_time_text(diff->time);
	struct output_section section;

	fputc('\n', v->out);
	if (!diff->syscalls.n_rows) {
		view_text(v, c->o->filter_arg ? "Syscalls: none that --filter shows." :
						"Syscalls: none were recorded.");
	} else {
		view_text(v, "Syscalls, by the change of their total %s a run:", what);
		section = columns_diff_syscalls(diff);
		view_section(v, &section, TOP_SYSCALLS);
	}
	fputc('\n', v->out);
	if (!diff->functions.n_rows) {
		view_text(v, c->o->filter_arg ?
				     "Functions: none that --filter shows." :
				     "Functions: none were recorded (record --func NAME).");
	} else {
		view_text(
			v,
			diff->time == ANALYZE_TIME_SELF ?
				"Functions, by the change of a run, timed functions they call left out; "
				"SHARE is of the context's change of on-CPU time:" :
				"Functions, by the change of a run, what they call included; SHARE is of "
				"the context's change:");
		section = columns_diff_functions(diff);
		view_section(v, &section, TOP_FUNCTIONS);
		write_alone(v, diff);
	}
	write_ranges(v, c);
	write_paths(v, c);
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

void diff_write_table(const struct diff_comparison *c)
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
	write_renames(&v, c->renames);
	if (c->diff.n_workload) {
		fputc('\n', v.out);
		section = columns_diff_workload(&c->diff);
		view_section(&v, &section, 0);
	}
	write_calls(&v, c);
	if (c->o->percentiles)
		write_percentiles(&v, &c->diff);
}
