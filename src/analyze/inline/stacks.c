// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/inline/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/inline/bodies.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/sorted.h"

/* Limits against made-up files. Real kernel stacks have at most 127 addresses. */
#define MAX_FRAMES 1024
#define MAX_BYTES  (256UL << 20) /* limit of the bytes above ONE_STACK, summed over all stacks */
#define ONE_STACK  2048 /* bytes of names: twice those of the longest stack in exact recordings */

static const struct analyze_frame frame_user = { ANALYZE_FRAME_OTHER, "[user]" };
static const struct analyze_frame frame_no_stack = { ANALYZE_FRAME_OTHER, "[no_stack]" };
static const struct analyze_frame frame_irqs_off = { ANALYZE_FRAME_OTHER, "[irqs_off]" };

static struct analyze_frame frame_of(const struct profile_frame *frame)
{
	return (struct analyze_frame){ frame->inlined ? ANALYZE_FRAME_INLINED :
							ANALYZE_FRAME_KERNEL,
				       frame->name };
}

/* Return a frame for an address without a symbol, with a name such as "[MODULE]" or "_stext+0x12". */
static struct analyze_frame frame_unresolved(const struct profile_location *l,
					     struct alloc_texts *texts)
{
	char *name = l->module ? alloc_printf("[%s]", l->module) :
				 alloc_printf("_stext+0x%" PRIx64, l->addr);

	return (struct analyze_frame){ ANALYZE_FRAME_KERNEL, alloc_keep(texts, name) };
}

static int frames_compare(const struct analyze_frame *a, uint32_t n_a,
			  const struct analyze_frame *b, uint32_t n_b)
{
	int diff;

	for (uint32_t i = 0; i < n_a && i < n_b; i++) {
		diff = compare_text(a[i].name, b[i].name) ?: (int)a[i].kind - (int)b[i].kind;
		if (diff)
			return diff;
	}
	return compare_values(n_a, n_b);
}

/* Two samples are equal if they differ only in run and count. */
define_compare(sample_compare, struct profile_sample,
	       compare_values(a->stack, b->stack)             ?:
		       compare_values(a->context, b->context) ?:
								compare_values(a->flags, b->flags));

static void sample_add(void *to, void *from)
{
	((struct profile_sample *)to)->count += ((struct profile_sample *)from)->count;
}

/* Return the samples of all runs, with equal ones summed up. The caller frees the array. */
static struct profile_sample *samples_sum(const struct profile *p, size_t *n_out)
{
	struct profile_sample *samples = alloc_array(p->n_samples, sizeof(*samples));
	size_t n = 0;

	for (size_t i = 0; i < p->n_samples; i++)
		if (p->runs[p->samples[i].run].kind != PROFILE_RUN_CONTROL)
			samples[n++] = p->samples[i];
	*n_out = unite_array(samples, n, sizeof(*samples), sample_compare, sample_add);
	return samples;
}

static void add_frame(struct analyze_stack *s, struct analyze_frame frame)
{
	vec_push(s, frames, frame);
}

/* Return the stack of SAMPLE. If IS_CALL, the innermost address is a called function's entry: omit functions inlined there. */
static struct analyze_stack stack_of(const struct profile *p, const struct profile_sample *sample,
				     bool is_call, struct alloc_texts *texts)
{
	const struct profile_stack *stack = &p->stacks[sample->stack];
	const char *context = p->contexts[sample->context].name;
	bool user = sample->flags & PROFILE_SAMPLE_USER;
	uint32_t left = MAX_FRAMES, n = stack->n_locations;
	struct analyze_stack s = { 0 };

	if (!user || !profile_context_is(p, sample->context, PROFILE_CONTEXT_NONE))
		add_frame(&s, (struct analyze_frame){ ANALYZE_FRAME_OTHER, context });
	if (user)
		add_frame(&s, frame_user);
	else if (!n)
		add_frame(&s, frame_no_stack);
	for (uint32_t i = user ? 0 : n; i-- > 0 && left;) {
		const struct profile_location *l = &p->locations[stack->locations[i]];
		uint32_t inlined = is_call && !i && l->n_frames ? l->n_frames - 1 : 0;

		if (!l->n_frames) {
			add_frame(&s, frame_unresolved(l, texts));
			left--;
		}
		for (uint32_t j = l->n_frames; j-- > inlined && left; left--)
			add_frame(&s, frame_of(&l->frames[j]));
	}
	if (sample->flags & PROFILE_SAMPLE_LATE)
		add_frame(&s, frame_irqs_off);
	return s;
}

struct analyze_stack analyze_stack_of(const struct profile *p, const struct profile_sample *s,
				      struct alloc_texts *texts)
{
	return stack_of(p, s, false, texts);
}

define_compare(stack_compare, struct analyze_stack,
	       frames_compare(a->frames, a->n_frames, b->frames, b->n_frames));

static void stack_merge(void *to, void *from)
{
	struct analyze_stack *a = to, *b = from;

	a->count[0] += b->count[0];
	a->count[1] += b->count[1];
	free(b->frames);
}

static void keep(struct analyze_stacks *stacks, struct analyze_stack s)
{
	size_t bytes = 0;

	for (size_t i = 0; i < s.n_frames; i++)
		bytes += strnlen(s.frames[i].name, ANALYZE_FRAME_NAME_MAX);
	stacks->bytes += bytes > ONE_STACK ? bytes - ONE_STACK : 0;
	vec_push(stacks, rows, s);
}

static int finish(struct analyze_stacks *stacks)
{
	if (stacks->bytes > MAX_BYTES) {
		log_error("the stacks of this file would take more than %lu MiB of text: the file "
			  "is damaged",
			  MAX_BYTES >> 20);
		return -E2BIG;
	}
	/* Stacks are equal if the names of their frames are equal, even with different addresses. */
	vec_unite(stacks, rows, stack_compare, stack_merge);
	return 0;
}

int analyze_stacks_add(struct analyze_stacks *stacks, const struct profile *p, unsigned int side,
		       double scale)
{
	scoped_free struct profile_sample *samples;
	size_t n;

	samples = samples_sum(p, &n);
	for (size_t i = 0; i < n && stacks->bytes <= MAX_BYTES; i++) {
		struct analyze_stack s;

		s = stack_of(p, &samples[i], false, &stacks->texts);
		s.count[side] = (double)samples[i].count * scale;
		keep(stacks, s);
	}
	return finish(stacks);
}

/* Add the calls in P, an exact recording, as stacks that end in the called function. Return analyze_stacks_add()'s result. */
static int stacks_add_calls(struct analyze_stacks *stacks, const struct profile *p)
{
	for (uint32_t i = 0; i < p->n_edges && stacks->bytes <= MAX_BYTES; i++) {
		const struct profile_edge *e = &p->edges[i];
		const struct profile_stack *stack = &p->stacks[e->stack];
		struct analyze_stack s;

		if (!stack->n_locations)
			continue;
		s = stack_of(p,
			     &(struct profile_sample){ .context = e->context, .stack = e->stack },
			     true, &stacks->texts);
		s.count[0] = (double)e->calls;
		keep(stacks, s);
	}
	return finish(stacks);
}

uint32_t analyze_stack_sure(const struct analyze_stack *s)
{
	static const char *const unlock[] = { "_raw_spin_unlock", "_raw_read_unlock",
					      "_raw_write_unlock" };
	uint32_t n = s->n_frames;

	if (strcmp(s->frames[n - 1].name, frame_irqs_off.name) != 0)
		return n;
	n--;
	while (n > 1 && s->frames[n - 1].kind == ANALYZE_FRAME_INLINED)
		n--;
	for (size_t i = 0; n > 1 && i < ARRAY_SIZE(unlock); i++)
		if (!strncmp(s->frames[n - 1].name, unlock[i], strlen(unlock[i])))
			return n - 1;
	return n;
}

void analyze_stacks_deinit(struct analyze_stacks *stacks)
{
	while (stacks->n_rows)
		free(stacks->rows[--stacks->n_rows].frames);
	free(stacks->rows);
	alloc_texts_free(&stacks->texts);
	memset(stacks, 0, sizeof(*stacks));
}

/* Return the function that sample S hit, with an unset SHARE. TEXTS owns the names that P does not own. */
static struct analyze_leaf leaf_of(const struct profile *p, const struct profile_sample *s,
				   struct alloc_texts *texts)
{
	const struct profile_stack *stack = &p->stacks[s->stack];
	struct analyze_leaf leaf = { .n_frames = 1, .samples = (double)s->count, .share = NAN };

	if (s->flags & PROFILE_SAMPLE_USER) {
		leaf.frames[0] = frame_user;
	} else if (!stack->n_locations) {
		leaf.frames[0] = frame_no_stack;
	} else {
		const struct profile_location *l = &p->locations[stack->locations[0]];

		/* The last frame is the function itself; earlier frames are inlined functions. */
		leaf.frames[0] = l->n_frames ? frame_of(&l->frames[l->n_frames - 1]) :
					       frame_unresolved(l, texts);
	}
	if (s->flags & PROFILE_SAMPLE_LATE)
		leaf.frames[leaf.n_frames++] = frame_irqs_off;
	return leaf;
}

define_compare(leaf_compare_name, struct analyze_leaf,
	       frames_compare(a->frames, a->n_frames, b->frames, b->n_frames));

define_compare(leaf_compare_samples, struct analyze_leaf,
	       compare_values(b->samples, a->samples) ?: leaf_compare_name(a, b));

static void leaf_add(void *to, void *from)
{
	((struct analyze_leaf *)to)->samples += ((struct analyze_leaf *)from)->samples;
}

void analyze_leaves_init(struct analyze_leaves *leaves, const struct profile *p)
{
	size_t n;
	scoped_free struct profile_sample *samples = samples_sum(p, &n);

	memset(leaves, 0, sizeof(*leaves));
	for (size_t i = 0; i < n; i++) {
		vec_push(leaves, leaves, leaf_of(p, &samples[i], &leaves->texts));
		leaves->samples += (double)samples[i].count;
	}
	vec_unite(leaves, leaves, leaf_compare_name, leaf_add);
	vec_each(struct analyze_leaf, leaf, leaves, leaves)
		leaf->share = leaf->samples / leaves->samples;
	sort_array(leaves->leaves, leaves->n_leaves, sizeof(*leaves->leaves), leaf_compare_samples);
}

void analyze_leaves_deinit(struct analyze_leaves *leaves)
{
	free(leaves->leaves);
	alloc_texts_free(&leaves->texts);
	memset(leaves, 0, sizeof(*leaves));
}

/* Return LIST's entry for FRAME (NULL: the function itself). Add an entry if there is none. */
static struct analyze_neighbour *find(struct analyze_neighbour_list *list,
				      const struct analyze_frame *frame)
{
	struct analyze_neighbour new = { .calls = NAN };

	if (frame) {
		new.kind = frame->kind;
		new.name = frame->name;
	}
	for (uint32_t i = 0; i < list->n_items; i++)
		if (list->items[i].kind == new.kind && !compare_text(list->items[i].name, new.name))
			return &list->items[i];
	vec_push(list, items, new);
	return &list->items[list->n_items - 1];
}

/*
 * Find the outermost and the innermost frame of N's function on STACK. Set their indexes, or 0 if STACK lacks the function. Skip
 * frame 0: a context or "[user]" has no caller.
 */
static void places(const struct analyze_neighbours *n, const struct analyze_stack *stack,
		   uint32_t *outermost, uint32_t *innermost)
{
	*outermost = *innermost = 0;
	for (uint32_t i = 1; i < stack->n_frames; i++)
		if (!strcmp(stack->frames[i].name, n->name)) {
			*outermost = *outermost ?: i;
			*innermost = i;
		}
}

static void add_stack(struct analyze_neighbours *n, const struct analyze_stack *stack)
{
	uint32_t outermost, innermost;

	places(n, stack, &outermost, &innermost);
	if (!outermost)
		return;
	n->samples += stack->count[0];
	find(&n->callers, &stack->frames[outermost - 1])->samples += stack->count[0];
	find(&n->callees, innermost + 1 < stack->n_frames ? &stack->frames[innermost + 1] : NULL)
		->samples += stack->count[0];
}

static void add_calls(struct analyze_neighbour *neighbour, double calls)
{
	neighbour->calls = calls + (isnan(neighbour->calls) ? 0 : neighbour->calls);
}

/* STACK ends with a caller and the called function. If one of these is the requested function, add the number of these calls. */
static void add_call(struct analyze_neighbours *n, const struct analyze_stack *stack)
{
	uint32_t last = stack->n_frames - 1;

	if (last > 0 && !strcmp(stack->frames[last].name, n->name))
		add_calls(find(&n->callers, &stack->frames[last - 1]), stack->count[0]);
	if (last > 1 && !strcmp(stack->frames[last - 1].name, n->name))
		add_calls(find(&n->callees, &stack->frames[last]), stack->count[0]);
}

define_compare(compare, struct analyze_neighbour,
	       compare_values(b->samples, a->samples) ?: compare_text(a->name, b->name));

static void finish_list(struct analyze_neighbour_list *list, double all, double period)
{
	for (uint32_t i = 0; i < list->n_items; i++) {
		list->items[i].share = list->items[i].samples / all;
		list->items[i].total = list->items[i].samples * period;
	}
	sort_array(list->items, list->n_items, sizeof(*list->items), compare);
}

/* Return the name that stacks have for FUNCTION. It may be another symbol at FUNCTION's address. */
static const char *name_in_stacks(const struct profile *p, const char *function)
{
	vec_each(const struct profile_site, site, p, sites) {
		if (site->kind != PROFILE_SITE_FUNCTION || !profile_site_has_label(site, function))
			continue;
		vec_each(const struct profile_location, at, p, locations)
			if (at->addr == site->addr && at->n_frames &&
			    profile_site_is_in(site, at->module))
				return at->frames[at->n_frames - 1].name;
	}
	return function;
}

int analyze_neighbours_init(struct analyze_neighbours *n, const struct profile *p,
			    const char *function)
{
	double period = p->sample_period ? (double)p->sample_period : NAN;
	int err;

	*n = (struct analyze_neighbours){ .function = function };
	if (!function)
		return 0;
	n->name = name_in_stacks(p, function);
	err = analyze_stacks_add(&n->stacks, p, 0, 1) ?: stacks_add_calls(&n->calls, p);
	if (err)
		return err;
	for (size_t i = 0; i < n->stacks.n_rows; i++)
		add_stack(n, &n->stacks.rows[i]);
	for (size_t i = 0; i < n->calls.n_rows; i++)
		add_call(n, &n->calls.rows[i]);
	finish_list(&n->callers, n->samples, period);
	finish_list(&n->callees, n->samples, period);
	return 0;
}

void analyze_neighbours_deinit(struct analyze_neighbours *n)
{
	free(n->callers.items);
	free(n->callees.items);
	analyze_stacks_deinit(&n->stacks);
	analyze_stacks_deinit(&n->calls);
}
