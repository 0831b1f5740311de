// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * OpenMetrics 1.0 text: calls and on-CPU time of syscalls and functions, in each context, and samples by the function that was
 * being executed. Each sample has the time of the recording, so that recordings make a series in Prometheus.
 */
#include <math.h>

#include "analyze/figures/table.h"
#include "output/export/export.h"
#include "output/text.h"

struct label {
	const char *name, *value; /* VALUE NULL: left out */
};

static void write_escaped(FILE *out, const char *text)
{
	scoped_free char *safe = output_text_escape(text);

	for (const char *c = safe; *c; c++)
		fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
}

static void write_family(FILE *out, const char *name, const char *unit, const char *help)
{
	fprintf(out, "# TYPE kprotperf_%s counter\n", name);
	if (unit)
		fprintf(out, "# UNIT kprotperf_%s %s\n", name, unit);
	fprintf(out, "# HELP kprotperf_%s %s\n", name, help);
}

static void write_value(FILE *out, const struct export *e, const char *family,
			const struct label labels[3], double value)
{
	fprintf(out, "kprotperf_%s_total{kernel=\"", family);
	write_escaped(out, profile_env_get(e->p, PROFILE_ENV_RELEASE) ?: "");
	fprintf(out, "\",command=\"");
	write_escaped(out, e->title);
	for (int i = 0; i < 3; i++) {
		if (!labels[i].value)
			continue;
		fprintf(out, "\",%s=\"", labels[i].name);
		write_escaped(out, labels[i].value);
	}
	fprintf(out, "\"} %.17g", value);
	if (!isnan(e->time))
		fprintf(out, " %.0f", e->time);
	fputc('\n', out);
}

/* SCALE: the unit that the figure is shown in, in its own. */
static void write_rows(FILE *out, const struct export *e, const char *family,
		       const struct analyze_table *table, size_t figure, double scale)
{
	const struct analyze_rows *const lists[] = { &table->syscalls, &table->functions };

	for (int l = 0; l < 2; l++)
		vec_each(const struct analyze_row, row, lists[l], rows) {
			const void *at = (const char *)&row->figures + figure;
			double value = *(const double *)at * scale;
			const struct label labels[] = {
				{ "kind", l ? "function" : "syscall" },
				{ "name", row->name },
				{ "context", row->context },
			};

			/* A sum of others would be counted twice; a counter is not below 0. */
			if (!analyze_is_sum(row->context) && value >= 0)
				write_value(out, e, family, labels, value);
		}
}

static const char *context_of(const struct export *e, uint32_t node)
{
	while (e->nodes[node].parent != EXPORT_NO_NODE)
		node = e->nodes[node].parent;
	return e->frames[e->nodes[node].frame].label;
}

static uint32_t frame_of(const struct export *e, uint32_t leaf)
{
	return e->nodes[e->leaves[leaf].node].frame;
}

/* By context and the last frame: SELF has those of one context. */
static void write_samples(FILE *out, const struct export *e, const char *family)
{
	scoped_free double *self = alloc_array(e->n_frames, sizeof(*self));

	for (uint32_t i = 0, j; i < e->n_leaves; i = j) {
		const char *context = context_of(e, e->leaves[i].node);

		for (j = i; j < e->n_leaves && context_of(e, e->leaves[j].node) == context; j++)
			self[frame_of(e, j)] += e->leaves[j].counts[0];
		for (uint32_t k = i; k < j; k++) {
			double *count = &self[frame_of(e, k)];
			const struct label labels[] = {
				{ "context", context },
				{ "name", e->frames[frame_of(e, k)].label },
				{ 0 },
			};

			if (*count > 0)
				write_value(out, e, family, labels, *count);
			*count = 0;
		}
	}
}

void export_write_openmetrics(FILE *out, const struct export *e)
{
	bool ns = e->p->clock == PROFILE_CLOCK_NS;
	const char *cpu = ns ? "oncpu_seconds" : "oncpu_instructions";
	scoped(analyze_table_deinit) struct analyze_table table;
	scoped_free char *samples = alloc_strdup(e->unit);

	analyze_table_init(&table, e->p, &(struct analyze_options){ 0 });
	write_family(out, "calls", NULL, "Calls in all runs.");
	write_rows(out, e, "calls", &table, offsetof(struct analyze_figures, calls), 1);
	write_family(out, cpu, ns ? "seconds" : "instructions",
		     "On-CPU time of these calls, less probe cost.");
	write_rows(out, e, cpu, &table, offsetof(struct analyze_figures, total), ns ? 1e-9 : 1);
	for (char *c = strchr(samples, '-'); c; c = strchr(c, '-'))
		*c = '_';
	write_family(out, samples, NULL, "Samples of executed code, excluding callees.");
	write_samples(out, e, samples);
	fputs("# EOF\n", out);
}
