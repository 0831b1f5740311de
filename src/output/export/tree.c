// SPDX-License-Identifier: GPL-2.0-or-later
/* The call tree of stacks. Its nodes refer to a list of distinct frames. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/sorted.h"
#include "output/export/export.h"
#include "output/text.h"

#define FORMAT(name, binary) { export_write_##name, binary },
#define NAME(name, binary)   #name,
const struct export_format export_formats[] = { EXPORT_FORMATS(FORMAT) };
const char *const export_format_names[] = { EXPORT_FORMATS(NAME) NULL };

int64_t export_integer(double count)
{
	return count < 0x1p62 ? llround(count) : (int64_t)1 << 62;
}

/* Maximum number of frames in a flame graph. Minimum width of a frame as a fraction of the graph's width: a tenth of a pixel. */
#define NARROWEST   (1 / 12000.0)
#define FRAMES_MOST 10000

static bool frame_equal(const void *frames, uint32_t item, const void *key)
{
	const struct export_frame *a = (const struct export_frame *)frames + item;
	const struct analyze_frame *b = key;

	return a->kind == b->kind && !strcmp(a->name, b->name);
}

static char *label_of(const struct analyze_frame *frame)
{
	scoped_free char *name = alloc_strndup(frame->name, ANALYZE_FRAME_NAME_MAX);
	char *label = output_text_escape(name);

	if (frame->kind == ANALYZE_FRAME_INLINED)
		alloc_append(&label, " (inlined)");
	return label;
}

static uint32_t frame_add(struct export *e, struct hash_index *index,
			  const struct analyze_frame *frame)
{
	uint32_t item = hash_find_or_add(index, hash_string(frame->name), frame_equal, e->frames,
					 frame, e->n_frames);

	if (item == e->n_frames)
		vec_push(e, frames,
			 ((struct export_frame){ frame->kind, frame->name, label_of(frame) }));
	return item;
}

static double time_of(const struct profile *p)
{
	const char *text = profile_env_get(p, PROFILE_ENV_TIME);
	struct tm tm = { 0 };

	return text && strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) ? (double)timegm(&tm) : NAN;
}

static char *title_of(const struct profile *p)
{
	scoped_free char *title = NULL;
	size_t size;
	FILE *f = open_memstream(&title, &size);

	for (uint32_t i = 0; f && i < p->n_args; i++)
		fprintf(f, "%s%s", i ? " " : "", p->args[i]);
	if (f)
		fclose(f);
	return output_text_escape(title && *title ? title : "kprotperf");
}

void export_init(struct export *e, const struct profile *p, const struct analyze_stacks *stacks)
{
	bool exact = profile_is_exact(p);
	scoped(hash_deinit) struct hash_index index = { 0 };
	uint32_t *path = NULL, n_path = 0, cap_path = 0;

	*e = (struct export){ .p = p,
			      .title = title_of(p),
			      .unit = exact ? "instructions" : "samples",
			      .period = exact ? 1 : (double)p->sample_period,
			      .noise = { !exact },
			      .time = time_of(p) };
	vec_each(const struct analyze_stack, s, stacks, rows) {
		uint32_t depth = 0, frame = 0;
		bool same = true;

		/* Stacks are sorted, so this stack shares its outer frames with the previous one. */
		for (; depth < s->n_frames; depth++) {
			frame = frame_add(e, &index, &s->frames[depth]);
			same = same && depth < n_path && e->nodes[path[depth]].frame == frame;
			if (same)
				continue;
			vec_push(e, nodes,
				 ((struct export_node){ depth ? path[depth - 1] : EXPORT_NO_NODE,
							frame, depth }));
			if (depth == cap_path)
				path = alloc_resize(path, cap_path = 2 * cap_path + 64,
						    sizeof(*path));
			path[depth] = e->n_nodes - 1;
		}
		n_path = depth;
		if (depth)
			vec_push(e, leaves,
				 ((struct export_leaf){ path[depth - 1],
							{ s->count[0], s->count[1] } }));
	}
	free(path);
}

int export_init_sides(struct export *e, const struct profile *const sides[2],
		      struct analyze_stacks *stacks)
{
	double each[2] = { 0 };

	for (int i = 0; i < 2 && sides[i]; i++) {
		each[i] = 1 / fmax(1, profile_probed_runs(sides[i]));
		if (analyze_stacks_add(stacks, sides[i], i, each[i]))
			return -E2BIG;
	}
	export_init(e, sides[0], stacks);
	e->other = sides[1];
	for (int i = 0; i < 2 && e->noise[0]; i++)
		e->noise[i] = each[i];
	return 0;
}

/* Return the array COUNTS of a struct export_graph, for free(). */
static double *counts_below(const struct export *e)
{
	double *counts = alloc_array(2 * e->n_nodes + 2, sizeof(*counts));

	vec_each(const struct export_leaf, leaf, e, leaves) {
		for (int side = 0; side < 2; side++)
			counts[2 * leaf->node + side] += leaf->counts[side];
	}
	/* Add callees to their callers, last node first, since NODES has each caller before its callees. */
	for (uint32_t i = e->n_nodes; i-- > 0;) {
		uint32_t parent = e->nodes[i].parent;

		for (int side = 0; side < 2; side++)
			counts[2 * (parent == EXPORT_NO_NODE ? e->n_nodes : parent) + side] +=
				counts[2 * i + side];
	}
	return counts;
}

double export_change(const struct export *e, const double counts[2])
{
	double error = sqrt(e->noise[0] * counts[0] + e->noise[1] * counts[1]);
	double more = counts[1] - counts[0];

	return fabs(more) > 2 * error ? more / fmax(counts[0], counts[1]) : 0;
}

struct place {
	double width;
	uint32_t depth, node;
};

define_compare(by_width, struct place,
	       compare_values(b->width, a->width)         ?:
		       compare_values(a->depth, b->depth) ?:
							    compare_values(a->node, b->node));

void export_graph_init(struct export_graph *g, const struct export *e)
{
	uint32_t n = e->n_nodes;
	scoped_free struct place *places = alloc_array(n, sizeof(*places));

	*g = (struct export_graph){ .counts = counts_below(e),
				    .widths = alloc_array(n + 1, sizeof(*g->widths)),
				    .is_drawn = alloc_array(n, sizeof(*g->is_drawn)),
				    .left_out = n };
	/* Callees come after their caller, so the loop adds their widths to the caller's before it reaches the caller. */
	for (uint32_t i = n; i-- > 0;) {
		const struct export_node *node = &e->nodes[i];

		g->widths[i] = fmax(g->widths[i], fmax(g->counts[2 * i], g->counts[2 * i + 1]));
		g->widths[node->parent == EXPORT_NO_NODE ? n : node->parent] += g->widths[i];
		places[i] = (struct place){ g->widths[i], node->depth, i };
	}
	sort_array(places, n, sizeof(*places), by_width);
	for (uint32_t i = 0; i < n && i < FRAMES_MOST; i++) {
		if (!(places[i].width > g->widths[n] * NARROWEST))
			break;
		g->is_drawn[places[i].node] = true;
		g->left_out--;
	}
}

void export_graph_deinit(struct export_graph *g)
{
	free(g->counts);
	free(g->widths);
	free(g->is_drawn);
}

void export_deinit(struct export *e)
{
	for (uint32_t i = 0; i < e->n_frames; i++)
		free(e->frames[i].label);
	free(e->title);
	free(e->frames);
	free(e->nodes);
	free(e->leaves);
}
