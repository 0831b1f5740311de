// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of tables of `kprotperf why`, and the text above the tables. */

#include "base/alloc.h"
#include "output/json.h"
#include "view/misses.h"
#include "view/names.h"
#include "view/words.h"
#include "view/why.h"

static const struct view_table *const tables[] = { &why_contexts, &why_causes, &why_lines };

/* Two sentences, for free(): whether recordings with probes show the same change, and how captured values changed. NULL: none. */
struct checked {
	char *probes, *values;
};

static struct checked check(const struct view_why *w)
{
	return (struct checked){ view_why_check(&w->why, &w->check, w->main->name),
				 w->check.function ?
					 view_values_change(&w->shifts, w->check.function,
							    PROFILE_CLOCK_INSN) :
					 NULL };
}

static char *answer_of(const struct view_why *w)
{
	return view_why(&w->why, w->of) ?:
		       alloc_strdup("No change beyond what these recordings can tell.");
}

static void page(const struct view *v, const void *data)
{
	const struct view_why *w = data;
	scoped_free char *answer = answer_of(w), *misses = view_misses_change(&w->misses);
	scoped_free char *command = view_command(w->common.p[1]), *boots = NULL;

	view_paragraphs(v, answer);
	if (misses)
		view_text(v, "%s", misses);
	if (w->checked && w->main) {
		struct checked checked = check(w);

		view_text(v, "%s", checked.probes);
		if (checked.values)
			view_text(v, "%s", checked.values);
		free(checked.probes);
		free(checked.values);
	}
	view_warnings(v, &w->warnings);
	fputc('\n', v->out);
	view_text(v, "%s", command);
	view_append_sides(&boots, w->why.repetitions, view_units[w->why.tree.unit[1]]);
	view_text(v, "baseline: %s; hardened: %s; %s per run, over %s", w->files[0], w->files[1],
		  profile_clock_words(w->common.clock), boots);
}

static void json(json_t *root, const void *data)
{
	const struct view_why *w = data;
	const struct why_context *of = w->of && w->of->is_command ? w->why.contexts : w->of;
	scoped_free char *answer = answer_of(w), *misses = view_misses_change(&w->misses);

	output_json_set(root, "unit", json_string(profile_clock_unit(w->common.clock)));
	output_json_set(root, "answer", output_json_text(answer));
	output_json_set(root, "misses", output_json_text(misses));
	output_json_set(root, "of", of ? output_json_text(of->name) : json_null());
	if (w->checked && w->main) {
		struct checked checked = check(w);

		output_json_set(root, "check", output_json_text(checked.probes));
		output_json_set(root, "check_values", output_json_text(checked.values));
		free(checked.probes);
		free(checked.values);
	}
}

const struct view_list view_why_list = {
	.tables = tables,
	.n_tables = ARRAY_SIZE(tables),
	.schema = "kprotperf-why/1",
	.csv = "causes",
	.page = page,
	.json = json,
	.is_of_recordings = true,
};
