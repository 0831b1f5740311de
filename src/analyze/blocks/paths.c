// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/blocks/paths.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/sorted.h"
#include "profile/conditions.h"
#include "kernel/cfg/blocks.h"

#define WORDS      3 /* that distinguish a path from others */
#define NEARLY_ALL 0.95 /* of the calls */
/* Paths of a function in a context that are described; the others are not. Few of a large one: it takes time. */
#define DESCRIBED       64
#define DESCRIBED_LARGE 8
#define LARGE           400 /* blocks */
/*
 * Steps for all functions of a profile: an upper limit of what their graphs take, about one nanosecond each. What
 * record can count in one recording stays far below; functions beyond it, of made-up files, are left out.
 */
#define MAX_STEPS 4e9

/* A function, while its paths are made in one context after the other. */
struct work {
	struct analyze_paths *out;
	const struct analyze_counted *counted;
	const struct profile *p;
	const struct profile_blocks *blocks;
	uint32_t index, context; /* ANALYZE_IN_ALL_CONTEXTS */
	struct kernel_graph graph;
	struct kernel_loops loops;
	uint8_t *bits;
	double steps; /* of MAX_STEPS, that are left */
	vec_of(struct analyze_path, rows);
	uint32_t described;
	enum kernel_on_path **on; /* by row: NULL for those that no call can have gone */
};

static void work_graph(struct work *w)
{
	const struct kernel_graph graph = profile_blocks_graph(w->blocks);

	kernel_loops_find(&graph, &w->loops);
	w->graph = graph;
	w->bits = alloc_array(w->blocks->n_items, sizeof(*w->bits));
	for (uint32_t i = 0; i < w->blocks->n_items; i++)
		w->bits[i] = w->blocks->items[i].bit;
}

define_compare(by_calls, struct analyze_path,
	       compare_values(b->calls, a->calls) ?: compare_values(a->signature, b->signature));

define_compare(by_signature, struct analyze_path, compare_values(a->signature, b->signature));

static void path_add(void *left, void *right)
{
	struct analyze_path *to = left, *from = right;

	to->calls += from->calls;
	to->total += from->total;
	for (uint32_t k = 0; k < PROFILE_TRIPS; k++)
		to->iterations[k] += from->iterations[k];
}

/*
 * All paths, and what is left of the calls: those in which no counted block was executed, whose signature is
 * 0, and those of tasks that died in them.
 */
static void collect(struct work *w)
{
	struct profile_stats timed = analyze_counted_calls(w->counted, w->index, w->context);
	struct analyze_path rest = { .calls = (double)timed.calls,
				     .total = (double)timed.oncpu - (double)timed.cost };
	uint32_t n;
	const struct grouped_item *items =
		grouped_find(&w->counted->paths, w->index, w->context, &n);

	w->n_rows = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct profile_path *path = &w->p->paths[items[i].item];
		struct analyze_path row = { .signature = path->signature,
					    .calls = (double)path->calls,
					    .total = (double)path->time };

		for (uint32_t k = 0; k < PROFILE_TRIPS; k++)
			row.iterations[k] = (double)path->trips[k];
		vec_push(w, rows, row);
		rest.calls -= row.calls;
		rest.total -= row.total;
	}
	/* Of the emulator all paths are known, or there was no room for the function's. */
	if (rest.calls > 0 && !profile_is_exact(w->p))
		vec_push(w, rows, rest);
	vec_unite(w, rows, by_signature, path_add);
	sort_array(w->rows, w->n_rows, sizeof(*w->rows), by_calls);
}

/* Each block that not all calls executed has a bit. */
static void know_blocks_on(struct work *w, uint32_t row)
{
	for (uint32_t b = 0; b < w->blocks->n_items; b++)
		w->on[row][b] =
			w->bits[b] == PROFILE_NO_BIT || w->rows[row].signature >> w->bits[b] & 1 ?
				KERNEL_PATH_YES :
				KERNEL_PATH_NO;
}

static void find_blocks_on(struct work *w)
{
	w->on = alloc_array(w->n_rows, sizeof(*w->on));
	for (uint32_t i = 0; i < w->described; i++) {
		w->on[i] = alloc_array(w->blocks->n_items, sizeof(**w->on));
		if (profile_is_exact(w->p)) {
			know_blocks_on(w, i);
			continue;
		}
		if (kernel_paths_of(&w->graph, w->bits, w->rows[i].signature, w->on[i]))
			continue;
		free(w->on[i]);
		w->on[i] = NULL;
	}
}

/* The share of calls on other paths than ROW that are on BLOCK as IS says. */
static double others(const struct work *w, uint32_t row, uint32_t block, enum kernel_on_path is)
{
	double of = 0, calls = 0;

	for (uint32_t i = 0; i < w->described; i++) {
		if (i == row || !w->on[i])
			continue;
		calls += w->rows[i].calls;
		if (w->on[i][block] == is)
			of += w->rows[i].calls;
	}
	return calls > 0 ? of / calls : 0;
}

/* What a block does, in words: the function it calls, the inlined body it is in, or its line. */
static char *block_words(const struct work *w, uint32_t b)
{
	const struct profile_block *block = &w->blocks->items[b];
	const struct profile_location *l = &w->p->locations[block->location];
	const struct profile_frame *f = l->n_frames ? &l->frames[0] : NULL;
	char *at = f && f->file ? alloc_printf("%s:%" PRIu32, f->file, f->line) :
				  alloc_printf("_stext+0x%" PRIx64, block->addr);
	char *text;

	if (block->callee)
		text = alloc_printf("%s() at %s", block->callee, at);
	else if (f && f->inlined)
		text = alloc_printf("%s at %s", f->name, at);
	else
		return at;
	free(at);
	return text;
}

/* Calls say most, then inlined bodies. */
static double weight(const struct work *w, uint32_t b)
{
	const struct profile_block *block = &w->blocks->items[b];
	const struct profile_location *l = &w->p->locations[block->location];

	return block->callee ? 3 : l->n_frames && l->frames[0].inlined ? 2 : 1;
}

/* The blocks that ROW has as IS says and most others as OTHER says, up to WORDS of them. */
static const char *differences(struct work *w, uint32_t row, enum kernel_on_path is,
			       enum kernel_on_path other)
{
	scoped_free bool *taken = alloc_array(w->blocks->n_items, sizeof(*taken));
	char *text = alloc_strdup("");

	for (uint32_t n = 0; n < WORDS; n++) {
		uint32_t best = UINT32_MAX;
		double most = 0;
		char *words;

		for (uint32_t b = 0; b < w->blocks->n_items; b++) {
			double score;

			if (taken[b] || w->on[row][b] != is)
				continue;
			score = others(w, row, b, other);
			score = score > 0.5 ? score * weight(w, b) : 0;
			if (score > most) {
				most = score;
				best = b;
			}
		}
		if (best == UINT32_MAX)
			break;
		taken[best] = true;
		words = block_words(w, best);
		if (strstr(text, words))
			free(words);
		else
			alloc_append_item(&text, words);
	}
	return alloc_keep(&w->out->texts, text);
}

/* What nearly all calls do, so that nothing distinguishes them: the functions that ROW always calls. */
static const char *path_calls(struct work *w, uint32_t row)
{
	char *text = alloc_strdup("");
	uint32_t n = 0;

	for (uint32_t b = 0; b < w->blocks->n_items && n < WORDS; b++) {
		if (!w->blocks->items[b].callee || w->on[row][b] != KERNEL_PATH_YES)
			continue;
		alloc_append_item(&text, block_words(w, b));
		n++;
	}
	return alloc_keep(&w->out->texts, text);
}

define_compare(by_trips, struct analyze_path_trips,
	       compare_values(b->trips, a->trips) ?: compare_values(a->offset, b->offset));

/* The mean trip counts of the loops from FIRST_LOOP on in a call of ROW, the largest first. */
static void path_trips(struct work *w, struct analyze_path *row, uint32_t first_loop)
{
	row->first_trips = w->out->n_path_trips;
	for (uint32_t i = first_loop; i < w->out->n_loops; i++) {
		const struct analyze_loop *loop = &w->out->loops[i];
		struct analyze_path_trips trips = { row->function,  row->context, row->number,
						    loop->location, loop->body,   loop->offset };

		if (loop->counter == PROFILE_NO_BIT)
			continue;
		row->counted = true;
		trips.trips = row->iterations[loop->counter] / row->calls;
		if (trips.trips > 0)
			vec_push(w->out, path_trips, trips);
	}
	row->n_trips = w->out->n_path_trips - row->first_trips;
	sort_array(&w->out->path_trips[row->first_trips], row->n_trips, sizeof(*w->out->path_trips),
		   by_trips);
}

/* FIRST_LOOP: the function's first loop in this context; the others follow. */
static void add_rows(struct work *w, const char *function, const char *context, uint32_t first_loop)
{
	double calls = 0, total = 0;

	for (uint32_t i = 0; i < w->n_rows; i++) {
		calls += w->rows[i].calls;
		total += w->rows[i].total;
	}
	for (uint32_t i = 0; i < w->n_rows; i++) {
		struct analyze_path *row = &w->rows[i];

		row->function = function;
		row->context = context;
		row->number = i + 1;
		row->share = row->calls / calls;
		row->mean = row->total / row->calls;
		row->total_share = total > 0 ? row->total / total : NAN;
		row->does = w->on[i] ? differences(w, i, KERNEL_PATH_YES, KERNEL_PATH_NO) : "";
		if (w->on[i] && !*row->does && row->share > NEARLY_ALL)
			row->does = path_calls(w, i);
		row->lacks = w->on[i] ? differences(w, i, KERNEL_PATH_NO, KERNEL_PATH_YES) : "";
		path_trips(w, row, first_loop);
		vec_push(w->out, rows, *row);
	}
}

/* Instructions executed in each loop; NAN where a block of it has no count. For free(). */
static double *loops_insns(const struct work *w, const uint64_t *counts)
{
	double *insns = alloc_array(w->loops.n_loops, sizeof(*insns));

	for (uint32_t b = 0; b < w->blocks->n_items; b++)
		if (w->loops.innermost[b] != KERNEL_LOOP_NONE)
			insns[w->loops.innermost[b]] +=
				counts[b] == PROFILE_NOT_COUNTED ?
					NAN :
					(double)counts[b] * w->blocks->items[b].insns;
	/* Larger ones follow those in them. */
	for (uint32_t l = 0; l < w->loops.n_loops; l++)
		if (w->loops.loops[l].parent != KERNEL_LOOP_NONE)
			insns[w->loops.loops[l].parent] += insns[l];
	return insns;
}

/* The frame of L that is DEPTH frames from the outermost. */
static const struct profile_frame *frame_of(const struct profile_location *l, uint32_t depth)
{
	return depth < l->n_frames ? &l->frames[l->n_frames - 1 - depth] : NULL;
}

static bool same_frame(const struct profile_frame *a, const struct profile_frame *b)
{
	return a && b && a->name == b->name;
}

/* How many bodies, from the function on, O and AT are both in. */
static uint32_t common_bodies(const struct profile_location *o, const struct profile_location *at)
{
	uint32_t d = 0;

	while (same_frame(frame_of(o, d + 1), frame_of(at, d + 1)) &&
	       frame_of(o, d)->line == frame_of(at, d)->line)
		d++;
	return d;
}

/*
 * How deep below the function the innermost of its head's bodies is that the loop is in: three quarters of the
 * instructions executed, since the compiler mixes in what is others'.
 */
static uint32_t loop_depth(const struct work *w, uint32_t l, const uint64_t *counts)
{
	const struct profile_block *head = &w->blocks->items[w->loops.loops[l].head];
	const struct profile_location *at = &w->p->locations[head->location];
	uint32_t depth = at->n_frames ? at->n_frames - 1 : 0;
	double *inside = alloc_array((size_t)depth + 1, sizeof(*inside)), all = 0, sum = 0;

	for (uint32_t b = 0; depth && b < w->blocks->n_items; b++) {
		const struct profile_block *block = &w->blocks->items[b];
		double insns = (double)counts[b] * block->insns;

		if (!kernel_loop_has(&w->loops, l, b) || counts[b] == PROFILE_NOT_COUNTED)
			continue;
		all += insns;
		inside[common_bodies(&w->p->locations[block->location], at)] += insns;
	}
	for (; depth; depth--) {
		sum += inside[depth];
		if (sum >= 0.75 * all)
			break;
	}
	free(inside);
	return depth;
}

/* The trip counts of LOOP, whose head is HEAD, in CALLS calls. */
static void add_trips(struct work *w, struct analyze_loop *loop, uint32_t head, double calls)
{
	scoped_free struct analyze_trips *rows;
	size_t n = analyze_trips_of(w->counted, w->index, w->context,
				    w->blocks->items[head].counter, calls, &rows);

	loop->first_trips = w->out->n_trips;
	loop->n_trips = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		struct analyze_loop_trips row = { loop->function, loop->context, loop->location,
						  loop->body,     loop->offset,  rows[i] };

		vec_push(w->out, trips, row);
	}
}

/* The captured value that LOOP's trip count is, which is a variable by one of two names: analyze_paths_name_variables(). */
static void find_trip_value(const struct work *w, struct analyze_loop *loop)
{
	uint32_t site = w->blocks->site;
	char *names[] = { alloc_printf("trip_count(%s)", loop->location ?: ""),
			  alloc_printf("trip_count(+0x%" PRIx64 ")", (uint64_t)loop->offset) };

	for (int i = 0; i < 2; i++) {
		if (!loop->trip_value.variable)
			analyze_trip_value_find(&loop->trip_value, w->p, site, names[i],
						loop->condition);
		free(names[i]);
	}
}

static void add_loops(struct work *w, const char *function, const char *context)
{
	scoped_free uint64_t *counts = alloc_array(w->blocks->n_items, sizeof(*counts));
	double calls = (double)analyze_counted_sum(w->counted, w->index, w->context, counts, NULL);
	scoped_free double *insns = loops_insns(w, counts);

	for (uint32_t l = 0; l < w->loops.n_loops && calls > 0; l++) {
		uint32_t head = w->loops.loops[l].head;
		const struct profile_block *block = &w->blocks->items[head];
		const struct profile_location *at = &w->p->locations[block->location];
		struct analyze_loop loop = { .function = function, .context = context };
		const struct profile_frame *frame;

		if (!counts[head] || counts[head] == PROFILE_NOT_COUNTED)
			continue;
		frame = frame_of(at, loop_depth(w, l, counts));
		if (frame && frame->file)
			loop.location =
				alloc_keep(&w->out->texts,
					   alloc_printf("%s:%" PRIu32, frame->file, frame->line));
		if (frame && frame->inlined)
			loop.body = frame->name;
		loop.condition = profile_condition_of(w->p, block->location);
		loop.counter = block->counter;
		loop.offset = (double)(int64_t)(block->addr - w->p->sites[w->blocks->site].addr);
		loop.trips = (double)counts[head] / calls;
		loop.insns_per_iteration = insns[l] / (double)counts[head];
		loop.insns_per_call = insns[l] / calls;
		if (analyze_is_sum(context) && w->p->n_captures)
			find_trip_value(w, &loop);
		add_trips(w, &loop, head, calls);
		vec_push(w->out, loops, loop);
	}
}

/* Whether there are steps left for the rows of W, which are taken; how many of these will be described. */
static bool spend(struct work *w)
{
	double blocks = w->blocks->n_items, ones = 0;
	double nested = blocks * (1 + w->loops.n_loops), each;

	for (uint32_t b = 0; b < w->blocks->n_items; b++)
		ones += w->bits[b] != PROFILE_NO_BIT;
	each = profile_is_exact(w->p) ? blocks : kernel_paths_steps(&w->graph, (uint32_t)ones);
	w->described = blocks > LARGE ? DESCRIBED_LARGE : DESCRIBED;
	if (w->described > w->n_rows)
		w->described = w->n_rows;
	w->steps -= nested + (double)w->n_rows * w->loops.n_loops +
		    w->described * (each + blocks * WORDS * 2 * w->described);
	return w->steps > 0;
}

static void add_context(struct work *w, uint32_t context)
{
	const char *function = w->p->sites[w->blocks->site].name;
	const char *name = context == ANALYZE_IN_ALL_CONTEXTS ? ANALYZE_ALL_CONTEXTS :
								w->p->contexts[context].name;
	uint32_t first_loop = w->out->n_loops;

	w->context = context;
	collect(w);
	if (!spend(w))
		return;
	find_blocks_on(w);
	add_loops(w, function, name);
	add_rows(w, function, name, first_loop);
	for (uint32_t i = 0; i < w->n_rows; i++)
		free(w->on[i]);
	free(w->on);
}

static void add_function(struct work *w, uint32_t index)
{
	w->index = index;
	w->blocks = &w->p->blocks[index];
	work_graph(w);
	add_context(w, ANALYZE_IN_ALL_CONTEXTS);
	for (uint32_t context = 0; context < w->p->n_contexts; context++)
		if (analyze_counted_has(w->counted, index, context))
			add_context(w, context);
	free(w->bits);
	kernel_loops_clear(&w->loops);
	kernel_graph_clear(&w->graph);
}

void analyze_paths_init(struct analyze_paths *out, const struct profile *p)
{
	scoped(analyze_counted_deinit) struct analyze_counted counted;
	struct work w = { .out = out, .p = p, .counted = &counted, .steps = MAX_STEPS };

	memset(out, 0, sizeof(*out));
	out->clock = p->clock;
	analyze_counted_init(&counted, p);
	for (uint32_t i = 0; i < p->n_blocks && w.steps > 0; i++)
		if (p->blocks[i].n_items <= KERNEL_GRAPH_MAX)
			add_function(&w, i);
	free(w.rows);
}

void analyze_paths_deinit(struct analyze_paths *out)
{
	alloc_texts_free(&out->texts);
	free(out->rows);
	free(out->loops);
	free(out->trips);
	free(out->path_trips);
	memset(out, 0, sizeof(*out));
}

static bool has_variable(const struct profile *p, uint32_t site, const char *name)
{
	for (uint32_t i = 0; i < p->n_variables; i++)
		if (p->variables[i].site == site && !strcmp(p->variables[i].name, name))
			return true;
	return false;
}

/*
 * "trip_count(mm/slub.c:1907)", of V "trip_count(+0x1a4)", or of that offset where the line is not known, or is
 * another's too. For free(). NULL: V's name is no offset. Older files have "turns(+0x1a4)".
 */
static char *trip_count_name(const struct analyze_paths *paths, const struct profile *p,
			     const struct profile_variable *v)
{
	const char *at = strstr(v->name, "(+");
	uint64_t offset;

	if (!at)
		return NULL;
	at += strlen("(+");
	if (!number_scan_hex(&at, &offset))
		return NULL;
	for (uint32_t i = 0; i < paths->n_loops; i++) {
		const struct analyze_loop *loop = &paths->loops[i];
		char *name;

		if (!loop->location || loop->offset != (double)offset ||
		    strcmp(loop->function, p->sites[v->site].name) != 0)
			continue;
		name = alloc_printf("trip_count(%s)", loop->location);
		if (!has_variable(p, v->site, name))
			return name;
		free(name);
		break;
	}
	return alloc_printf("trip_count(+0x%" PRIx64 ")", offset);
}

void analyze_paths_name_variables(struct profile *p)
{
	scoped(analyze_paths_deinit) struct analyze_paths paths = {};
	bool known = false;

	vec_each(struct profile_variable, v, p, variables) {
		scoped_free char *name = NULL;

		if (v->kind != PROFILE_VARIABLE_TRIP_COUNT)
			continue;
		if (!known)
			analyze_paths_init(&paths, p);
		known = true;
		name = trip_count_name(&paths, p, v);
		if (name)
			v->name = profile_intern(p, name);
	}
}
