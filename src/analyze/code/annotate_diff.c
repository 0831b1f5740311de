// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/code/annotate.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "base/number.h"

/* Minimum length of a text that identifies a moved line. Many lines have the same shorter text, such as "}". */
#define MIN_TEXT 6

define_compare(row_compare, struct analyze_annotate_diff_row,
	       compare_text(a->path, b->path)         ?:
		       compare_text(a->file, b->file) ?:
							compare_values(a->place, b->place));

/* Return the time of HITS in ticks: per call if D->is_of_call is set, else per run. */
static struct analyze_estimated cost_of(const struct analyze_annotate_diff *d,
					const struct analyze_annotation *a,
					const struct analyze_hits *hits)
{
	double tick = d->is_of_call ? a->tick : a->tick_of_run;
	struct analyze_estimated share = analyze_annotation_share(a, hits);

	return analyze_estimated_scale(&share, tick * a->samples);
}

static void side_form(struct analyze_annotated_side *side, const struct analyze_annotate_diff *d,
		      const struct analyze_annotation *a)
{
	/* A kernel without this code has a cost of exactly 0. */
	if (!(side->n_insns > 0)) {
		*side = (struct analyze_annotated_side){
			.line = NAN, .hits = { NAN, NAN, NAN }, .samples = NAN, .share = NAN
		};
		return;
	}
	if (!a->counted)
		side->per_call = NAN;
	if (!side->line)
		side->line = NAN;
	side->samples = analyze_hits_all(&side->hits);
	side->share = a->samples > 0 ? side->samples / a->samples : NAN;
	side->cost = a->samples > 0 ? cost_of(d, a, &side->hits) : analyze_estimated_none;
}

static void rows_finish(struct analyze_annotate_diff_rows *rows,
			const struct analyze_annotate_diff *d,
			const struct analyze_annotation *const sides[2])
{
	vec_each(struct analyze_annotate_diff_row, row, rows, rows) {
		side_form(&row->sides[0], d, sides[0]);
		side_form(&row->sides[1], d, sides[1]);
		row->delta = analyze_estimated_difference(&row->sides[0].cost, &row->sides[1].cost);
	}
}

static void row_add(void *to, void *from)
{
	for (int side = 0; side < 2; side++) {
		struct analyze_annotated_side *a =
			&((struct analyze_annotate_diff_row *)to)->sides[side];
		const struct analyze_annotated_side *b =
			&((struct analyze_annotate_diff_row *)from)->sides[side];

		a->line = fmax(a->line, b->line);
		a->n_insns += b->n_insns;
		a->hits.self += b->hits.self;
		a->hits.callees += b->hits.callees;
		a->hits.late += b->hits.late;
		a->per_call += b->per_call;
	}
}

static void lines_collect(struct analyze_annotate_diff_rows *rows,
			  const struct analyze_annotation *a, unsigned int side)
{
	vec_each(const struct analyze_line, line, a, lines) {
		struct analyze_annotate_diff_row row = { .path = line->path,
							 .file = line->file,
							 .place = line->line };

		row.sides[side] = (struct analyze_annotated_side){ .line = line->line,
								   .n_insns = line->n_insns,
								   .hits = line->hits,
								   .per_call = line->per_call };
		vec_push(rows, rows, row);
	}
}

static void bodies_collect(struct analyze_annotate_diff_rows *rows,
			   const struct analyze_annotation *a, unsigned int side)
{
	vec_each(const struct analyze_code_body, b, a, bodies) {
		struct analyze_annotate_diff_row row = { .path = b->path };

		row.sides[side] =
			(struct analyze_annotated_side){ .n_insns = b->n_insns ? b->n_insns : 1,
							 .hits = b->hits,
							 .per_call = b->per_call };
		vec_push(rows, rows, row);
	}
}

static bool is_of(const struct analyze_annotate_diff_row *row, unsigned int side)
{
	return row->sides[side].n_insns > 0;
}

define_compare(by_side, struct analyze_annotate_diff_row,
	       compare_text(a->path, b->path)              ?:
		       compare_text(a->file, b->file)      ?:
		       (int)is_of(a, 1) - (int)is_of(b, 1) ?:
							     compare_values(a->place, b->place));

/* Return the N rows' source texts in one kernel, or NULL if one text is unknown. The caller frees the array. */
static const char **texts_of(const struct analyze_annotate_diff_row *rows, size_t n,
			     unsigned int side, analyze_line_text_fn text, void *arg)
{
	const char **texts = alloc_array(n, sizeof(*texts));

	for (size_t i = 0; i < n; i++) {
		texts[i] = text(side, rows[i].file, (uint32_t)rows[i].sides[side].line, arg);
		if (!texts[i]) {
			free(texts);
			return NULL;
		}
	}
	return texts;
}

/* Source texts of the baseline's lines (A) and the hardened kernel's lines (B). */
struct texts {
	const char *const *a, *const *b;
};

static bool texts_same(const void *arg, uint32_t i, uint32_t j)
{
	const struct texts *t = arg;

	return !strcmp(t->a[i], t->b[j]);
}

/*
 * Match N lines of the baseline (A) and M lines of the hardened kernel (B) by equal texts in equal order. A matched line of B gets
 * the sort key of A's line. Each other line of B gets a sort key just after B's previous line.
 */
static void match_texts(const struct analyze_annotate_diff_row *a, uint32_t n,
			struct analyze_annotate_diff_row *b, uint32_t m, const struct texts *texts)
{
	scoped_free uint32_t *of = alloc_array(n, sizeof(*of));
	double place = 0;

	if (!subsequence_match(of, n, m, texts_same, texts))
		return;
	for (uint32_t i = 0, j = 0; j < m; j++) {
		while (i < n && (of[i] == SUBSEQUENCE_NONE || of[i] < j))
			i++;
		place = i < n && of[i] == j ? a[i].place : place + 1.0 / (m + 1);
		b[j].place = place;
	}
}

/* Match lines with the same file and PATH by equal texts in equal order, since line numbers differ between the two sources. */
static void match_lines(struct analyze_annotate_diff_rows *rows, analyze_line_text_fn text,
			void *arg)
{
	sort_array(rows->rows, rows->n_rows, sizeof(*rows->rows), by_side);
	for_each_run(i, j, rows->n_rows,
		     same_text(rows->rows[i].path, rows->rows[j].path) &&
			     same_text(rows->rows[i].file, rows->rows[j].file)) {
		struct analyze_annotate_diff_row *a = &rows->rows[i], *b = a;
		scoped_free const char **texts_a = NULL, **texts_b = NULL;
		uint32_t n = 0, m;

		while (i + n < j && is_of(&a[n], 0))
			n++;
		b = a + n;
		m = (uint32_t)(j - i) - n;
		if (!a->file || !n || !m)
			continue;
		texts_a = texts_of(a, n, 0, text, arg);
		texts_b = texts_of(b, m, 1, text, arg);
		if (texts_a && texts_b)
			match_texts(a, n, b, m, &(struct texts){ texts_a, texts_b });
	}
}

static bool is_one_sided(const struct analyze_annotate_diff_row *row, unsigned int side)
{
	return row->sides[side].n_insns > 0 && !(row->sides[!side].n_insns > 0);
}

/* Only the baseline has ROW's line. Return the first line of only the hardened kernel that has the same text, or NULL. */
static struct analyze_annotate_diff_row *find_moved(struct analyze_annotate_diff_rows *rows,
						    const struct analyze_annotate_diff_row *row,
						    analyze_line_text_fn text, void *arg)
{
	const char *own = text(0, row->file, (uint32_t)row->sides[0].line, arg);

	if (!own || strlen(own) < MIN_TEXT)
		return NULL;
	vec_each(struct analyze_annotate_diff_row, other, rows, rows) {
		const char *its;

		if (!is_one_sided(other, 1) || compare_text(other->path, row->path) ||
		    compare_text(other->file, row->file))
			continue;
		its = text(1, other->file, (uint32_t)other->sides[1].line, arg);
		if (its && !strcmp(own, its))
			return other;
	}
	return NULL;
}

/* If a line of only the baseline and a line of only the hardened kernel have equal texts, the line has moved: unite their rows. */
static void join_moved(struct analyze_annotate_diff_rows *rows, analyze_line_text_fn text,
		       void *arg)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < rows->n_rows; i++) {
		struct analyze_annotate_diff_row *row = &rows->rows[i], *other;

		other = row->file && is_one_sided(row, 0) ? find_moved(rows, row, text, arg) : NULL;
		if (!other)
			continue;
		other->sides[0] = row->sides[0];
		row->sides[0].n_insns = 0;
	}
	for (uint32_t i = 0; i < rows->n_rows; i++)
		if (rows->rows[i].sides[0].n_insns > 0 || rows->rows[i].sides[1].n_insns > 0)
			rows->rows[kept++] = rows->rows[i];
	rows->n_rows = kept;
}

void analyze_annotate_diff_init(struct analyze_annotate_diff *d,
				const struct analyze_annotation *baseline,
				const struct analyze_annotation *hardened,
				analyze_line_text_fn text, void *arg)
{
	const struct analyze_annotation *const sides[2] = { baseline, hardened };
	bool of_call = true;

	memset(d, 0, sizeof(*d));
	for (unsigned int i = 0; i < 2; i++) {
		/* A kernel without the function has a cost of 0 per call and per run, so the other kernel decides the unit. */
		of_call &= sides[i]->tick_is_of_call || !sides[i]->n_places;
		lines_collect(&d->lines, sides[i], i);
		bodies_collect(&d->bodies, sides[i], i);
	}
	d->is_of_call = of_call;
	if (text)
		match_lines(&d->lines, text, arg);
	vec_unite(&d->lines, rows, row_compare, row_add);
	vec_unite(&d->bodies, rows, row_compare, row_add);
	if (text)
		join_moved(&d->lines, text, arg);
	rows_finish(&d->lines, d, sides);
	rows_finish(&d->bodies, d, sides);
}

void analyze_annotate_diff_deinit(struct analyze_annotate_diff *d)
{
	free(d->lines.rows);
	free(d->bodies.rows);
	memset(d, 0, sizeof(*d));
}
