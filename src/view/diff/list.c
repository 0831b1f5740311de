// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of tables of `kprotperf diff`, and the text above the tables. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "output/json.h"
#include "output/number.h"
#include "view/words.h"
#include "view/why.h"
#include "view/diff.h"
#include "view/misses.h"
#include "view/names.h"

#define ENTRY(name) &diff_##name,
static const struct view_table *const tables[] = { VIEW_DIFF_TABLES(ENTRY) };

const char *const view_side_names[] = { "baseline", "hardened" };

/* Write the command, the two recordings, and the differences between their kernels. */
static void write_sides(const struct view *v, const struct view_diff *c)
{
	char *commands[] = { view_command(c->common.p[VIEW_BASELINE]),
			     view_command(c->common.p[VIEW_HARDENED]) };
	bool same = !strcmp(commands[VIEW_BASELINE], commands[VIEW_HARDENED]);

	if (same)
		view_text(v, "%s", commands[VIEW_BASELINE]);
	for (int i = 0; i < VIEW_N_SIDES; i++) {
		scoped_free char *runs = view_runs(c->diff.runs[i], c->diff.boots[i]);

		view_text(v, "%s: %s, kernel %s, %s%s%s", view_side_names[i], c->files[i],
			  view_release(c->common.p[i]), runs, same ? "" : " of ",
			  same ? "" : commands[i]);
	}
	view_diff_write_environment(v, c);
	free(commands[VIEW_BASELINE]);
	free(commands[VIEW_HARDENED]);
}

static void write_units(const struct view *v, const struct view_diff *c)
{
	const struct analyze_kernel_share *kernel = c->diff.kernel;
	const char *note = view_unit_note(c->diff.clock);
	bool exact = profile_is_exact(c->common.p[VIEW_BASELINE]) &&
		     profile_is_exact(c->common.p[VIEW_HARDENED]);
	scoped_free char *times = view_times(&c->figures, exact), *repetitions;

	view_text(v, "Times in %s (calls: %s); counts and totals are per run.%s%s",
		  profile_clock_words(c->diff.clock), times, note && v->everything ? " " : "",
		  note && v->everything ? note : "");
	if (!isnan(kernel[VIEW_BASELINE].share) && !isnan(kernel[VIEW_HARDENED].share))
		view_text(
			v,
			"Syscalls and page faults take %.1f %% (baseline) and %.1f %% (hardened) of the "
			"command's CPU time.",
			kernel[VIEW_BASELINE].share * 100, kernel[VIEW_HARDENED].share * 100);
	repetitions = view_repetitions_note(c);
	if (repetitions)
		view_text(v, "note: %s", repetitions);
}

/* Return the explanation of the change, with a line for each paragraph; for free(). NULL: there is no change to explain. */
static char *conclude(const struct view_diff *c)
{
	char *answer = c->why.n_contexts ? view_why(&c->why, &c->why.command) : NULL;
	scoped_free char *largest = NULL;

	if (c->why.tree.has_callers || c->why.command.sureness)
		return answer;
	largest = view_diff_largest(c, answer);
	if (largest)
		alloc_append(&answer, "%s%s", answer ? "\n" : "", largest);
	return answer;
}

/* Return the function that causes most of the change, if its calls were timed; otherwise NULL. */
static const char *main_function(const struct view_diff *c)
{
	const struct why_causes *causes = &c->why.command.causes;

	if (!causes->n_items || why_is_untimed(&c->why, causes, &causes->items[0]))
		return NULL;
	return causes->items[0].function ?: causes->items[0].name;
}

static char *values_change(const struct view_diff *c)
{
	return view_values_change(&c->shifts, main_function(c), c->diff.clock);
}

/* Return the change of why_main_context() in percent of the baseline command's CPU time; NAN: unknown. */
static double cpu_pct(const struct view_diff *c)
{
	const struct why_context *main = why_main_context(&c->why);

	return main ? analyze_percent(main->delta, c->diff.kernel[VIEW_BASELINE].command) : NAN;
}

static void page(const struct view *v, const void *data)
{
	const struct view_diff *c = data;
	char *sentences[] = { conclude(c), values_change(c), view_misses_change(&c->misses) };

	for (size_t i = 0; i < ARRAY_SIZE(sentences); i++) {
		if (sentences[i])
			view_paragraphs(v, sentences[i]);
		free(sentences[i]);
	}
	view_warnings(v, &c->diff.warnings);
	fputc('\n', v->out);
	write_sides(v, c);
	write_units(v, c);
}

static void json(json_t *root, const void *data)
{
	const struct view_diff *c = data;
	scoped_free char *conclusion = conclude(c), *misses = view_misses_change(&c->misses);
	scoped_free char *values = values_change(c);
	json_t *kernel = json_object();

	output_json_set(root, "unit", json_string(profile_clock_unit(c->diff.clock)));
	output_json_set(root, "raw", json_boolean(c->figures.raw));
	output_json_set(root, "time", json_string(view_time_keys[c->figures.time]));
	output_json_set(root, "warnings", view_warnings_json(&c->diff.warnings));
	output_json_set(root, "valid", json_boolean(!c->diff.warnings.n_invalid));
	output_json_set(root, "conclusion", output_json_text(conclusion));
	output_json_set(root, "conclusion_values", output_json_text(values));
	output_json_set(root, "conclusion_misses", output_json_text(misses));
	output_json_set(root, "conclusion_cpu_pct", output_json_number(cpu_pct(c)));
	for (int i = 0; i < VIEW_N_SIDES; i++)
		output_json_set(kernel, view_side_names[i],
				view_kernel_share_json(&c->diff.kernel[i]));
	output_json_set(root, "kernel_share", kernel);
}

const struct view_list view_diff_list = {
	.tables = tables,
	.n_tables = ARRAY_SIZE(tables),
	.schema = "kprotperf-diff/1",
	.csv = "calls",
	.page = page,
	.json = json,
	.is_of_recordings = true,
};
