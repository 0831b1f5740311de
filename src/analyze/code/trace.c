// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/code/trace.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/sorted.h"
#include "kernel/image/name.h"

static struct analyze_trace_line line_of(const struct profile *p, const struct profile_trace *of)
{
	const struct profile_location *l = &p->locations[of->location];
	struct analyze_trace_line line = { .kind = of->kind,
					   .depth = of->depth,
					   .line = NAN,
					   .times = (double)of->times,
					   .insns = (double)of->times * (double)of->insns };

	if (!l->n_frames || of->kind == PROFILE_TRACE_LOOP || of->kind == PROFILE_TRACE_LOST)
		return line;
	if (of->kind == PROFILE_TRACE_CALL) {
		line.name = l->frames[l->n_frames - 1].name;
		return line;
	}
	line.name = l->frames[0].inlined ? l->frames[0].name : NULL;
	line.file = l->frames[0].file;
	line.line = line.file ? l->frames[0].line : NAN;
	return line;
}

static bool same_name(const char *a, const char *b)
{
	return a == b || (a && b && !kernel_name_compare(a, b));
}

static bool is_alike(const struct analyze_trace_line *a, const struct analyze_trace_line *b)
{
	return a->kind == b->kind && same_name(a->name, b->name) && same_text(a->file, b->file) &&
	       (!a->file || a->line == b->line);
}

void analyze_trace_init(struct analyze_trace *t, const struct profile *p)
{
	memset(t, 0, sizeof(*t));
	for (uint32_t i = 0; i < p->n_traces; i++) {
		struct analyze_trace_line line = line_of(p, &p->traces[i]);
		struct analyze_trace_line *last = t->n_lines ? &t->lines[t->n_lines - 1] : NULL;

		if (i && !p->traces[i].depth)
			break;
		if (last && line.kind == PROFILE_TRACE_LINE && line.file &&
		    last->depth == line.depth && is_alike(last, &line))
			last->insns += line.insns;
		else
			vec_push(t, lines, line);
	}
}

void analyze_trace_deinit(struct analyze_trace *t)
{
	free(t->lines);
	memset(t, 0, sizeof(*t));
}

/* The lines directly below one line of the trace OF, such as the lines of a called function. AT has their indexes in OF. */
struct body {
	const struct analyze_trace *of;
	vec_of(uint32_t, at);
};

static uint32_t end_of(const struct analyze_trace *t, uint32_t at)
{
	uint32_t end = at + 1;

	while (end < t->n_lines && t->lines[end].depth > t->lines[at].depth)
		end++;
	return end;
}

static struct body body_of(const struct analyze_trace *t, uint32_t at)
{
	struct body body = { .of = t };
	uint32_t end = end_of(t, at);

	for (uint32_t i = at + 1; i < end; i = end_of(t, i))
		vec_push(&body, at, i);
	return body;
}

static const struct analyze_trace_line *line_at(const struct body *body, uint32_t i)
{
	return &body->of->lines[body->at[i]];
}

/* Return whether two lines are equal, including all lines below them. */
static bool is_equal(const struct analyze_trace *a, uint32_t at_a, const struct analyze_trace *b,
		     uint32_t at_b)
{
	uint32_t n = end_of(a, at_a) - at_a;

	if (end_of(b, at_b) - at_b != n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct analyze_trace_line *x = &a->lines[at_a + i], *y = &b->lines[at_b + i];

		if (!is_alike(x, y) || x->times != y->times || x->insns != y->insns ||
		    x->depth - a->lines[at_a].depth != y->depth - b->lines[at_b].depth)
			return false;
	}
	return true;
}

static void add(struct analyze_trace_diff *d, const struct analyze_trace_line *a,
		const struct analyze_trace_line *b, enum analyze_trace_change change)
{
	const struct analyze_trace_pair pair = {
		.lines = { a, b },
		.change = change,
		.delta = (b ? b->insns : 0) - (a ? a->insns : 0),
	};

	vec_push(d, pairs, pair);
}

static bool has_alike(const struct body *body, const struct analyze_trace_line *line)
{
	for (uint32_t i = 0; i < body->n_at; i++)
		if (is_alike(line_at(body, i), line))
			return true;
	return false;
}

/* Add line I of BODIES[SIDE] and all below it as lines of one kernel. If BODIES[!SIDE] has a similar line, mark all as moved. */
static void add_side(struct analyze_trace_diff *d, int side, const struct body *const bodies[2],
		     uint32_t i)
{
	const struct body *body = bodies[side];
	const struct analyze_trace *t = body->of;
	enum analyze_trace_change change =
		side ? ANALYZE_TRACE_HARDENED_ONLY : ANALYZE_TRACE_BASELINE_ONLY;

	if (line_at(body, i)->kind == PROFILE_TRACE_LINE &&
	    has_alike(bodies[!side], line_at(body, i)))
		change = ANALYZE_TRACE_MOVED;
	for (uint32_t at = body->at[i], end = end_of(t, at); at < end; at++)
		add(d, side ? NULL : &t->lines[at], side ? &t->lines[at] : NULL, change);
}

static void align(struct analyze_trace_diff *d, uint32_t at_a, uint32_t at_b);

/* The lists of lines to align, each from index FROM on. [0]: baseline, [1]: hardened. */
struct parts {
	const struct body *bodies[2];
	uint32_t from[2];
};

static bool parts_alike(const void *arg, uint32_t i, uint32_t j)
{
	const struct parts *p = arg;

	return is_alike(line_at(p->bodies[0], p->from[0] + i),
			line_at(p->bodies[1], p->from[1] + j));
}

/* Align N lines of the baseline with M lines of the hardened trace, from PARTS->from on. If the lines are too many, pair none. */
static void align_between(struct analyze_trace_diff *d, const struct parts *parts, uint32_t n,
			  uint32_t m)
{
	scoped_free uint32_t *of = alloc_array(n, sizeof(*of));
	const struct body *const *bodies = parts->bodies;
	uint32_t j = 0;

	subsequence_match(of, n, m, parts_alike, parts);
	for (uint32_t i = 0; i < n; i++) {
		if (of[i] == SUBSEQUENCE_NONE) {
			add_side(d, 0, bodies, parts->from[0] + i);
			continue;
		}
		while (j < of[i])
			add_side(d, 1, bodies, parts->from[1] + j++);
		align(d, bodies[0]->at[parts->from[0] + i], bodies[1]->at[parts->from[1] + j++]);
	}
	while (j < m)
		add_side(d, 1, bodies, parts->from[1] + j++);
}

/* Pair two similar lines, then align the lines below them. */
static void align(struct analyze_trace_diff *d, uint32_t at_a, uint32_t at_b)
{
	const struct analyze_trace *ta = &d->traces[0], *tb = &d->traces[1];
	struct body a = body_of(ta, at_a), b = body_of(tb, at_b);
	uint32_t begin = 0, end_a = a.n_at, end_b = b.n_at;

	if (is_equal(ta, at_a, tb, at_b)) {
		add(d, &ta->lines[at_a], &tb->lines[at_b], ANALYZE_TRACE_SAME);
		goto out;
	}
	add(d, &ta->lines[at_a], &tb->lines[at_b], ANALYZE_TRACE_DIFFERS);
	while (begin < end_a && begin < end_b && is_alike(line_at(&a, begin), line_at(&b, begin)))
		begin++;
	while (end_a > begin && end_b > begin &&
	       is_alike(line_at(&a, end_a - 1), line_at(&b, end_b - 1))) {
		end_a--;
		end_b--;
	}
	for (uint32_t i = 0; i < begin; i++)
		align(d, a.at[i], b.at[i]);
	align_between(d, &(struct parts){ { &a, &b }, { begin, begin } }, end_a - begin,
		      end_b - begin);
	for (uint32_t i = end_a; i < a.n_at; i++)
		align(d, a.at[i], b.at[end_b + i - end_a]);
out:
	free(a.at);
	free(b.at);
}

/* Return whether the two lines of P differ, not only the lines below them. */
static bool differs_itself(const struct analyze_trace_pair *p)
{
	switch (p->change) {
	case ANALYZE_TRACE_DIFFERS:
		return p->lines[0]->times != p->lines[1]->times;
	case ANALYZE_TRACE_BASELINE_ONLY:
	case ANALYZE_TRACE_HARDENED_ONLY:
		return true;
	default:
		return false;
	}
}

void analyze_trace_diff_init(struct analyze_trace_diff *d, const struct profile *baseline,
			     const struct profile *hardened)
{
	memset(d, 0, sizeof(*d));
	analyze_trace_init(&d->traces[0], baseline);
	analyze_trace_init(&d->traces[1], hardened);
	if (!d->traces[0].n_lines || !d->traces[1].n_lines)
		return;
	align(d, 0, 0);
	for (uint32_t i = 0; i < d->n_pairs; i++)
		if (differs_itself(&d->pairs[i])) {
			d->pairs[i].first = true;
			break;
		}
}

void analyze_trace_diff_deinit(struct analyze_trace_diff *d)
{
	analyze_trace_deinit(&d->traces[0]);
	analyze_trace_deinit(&d->traces[1]);
	free(d->pairs);
	memset(d, 0, sizeof(*d));
}
