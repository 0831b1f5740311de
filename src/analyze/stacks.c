// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/stacks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sort.h"
#include "base/alloc.h"
#include "base/log.h"

/* Bounds against made-up files; the kernel's own stacks have 127 addresses at most. */
#define MAX_FRAMES 1024
#define MAX_NAME   256
#define MAX_BYTES  (256UL << 20)

#define FRAME_USER     "[user]"
#define FRAME_NO_STACK "[no_stack]"
#define FRAME_IRQS_OFF "[irqs_off]"

/* A line of text that grows. */
struct text {
	char *chars;
	size_t n_chars, cap_chars;
};

/* NAME without what has a meaning in folded stacks or on a terminal. */
static void text_name(struct text *t, const char *name)
{
	size_t i, n = strnlen(name, MAX_NAME);

	for (i = 0; i < n; i++) {
		unsigned char c = name[i];

		vec_push(t, chars, c <= ' ' || c >= 0x7f || c == ';' ? '_' : (char)c);
	}
}

/* Begins a frame, after ';' if it is not the first. */
static void text_frame(struct text *t, const char *name)
{
	if (t->n_chars)
		vec_push(t, chars, ';');
	text_name(t, name);
}

static char *text_take(struct text *t)
{
	vec_push(t, chars, '\0');
	return t->chars;
}

/* An address without a name still tells one place from another. */
static void text_unresolved(struct text *t, const struct profile_location *location)
{
	char name[MAX_NAME + 1];

	/* The address of a module's code says nothing without the module. */
	if (location->module)
		snprintf(name, sizeof(name), "[%s]", location->module);
	else
		snprintf(name, sizeof(name), "_stext+0x%llx", (unsigned long long)location->addr);
	text_frame(t, name);
	text_name(t, "_[k]");
}

static void text_location_frame(struct text *t, const struct profile_frame *frame)
{
	text_frame(t, frame->name);
	text_name(t, frame->inlined ? "_[i]" : "_[k]");
}

/* All frames of STACK, outermost first. */
static void text_stack(struct text *t, const struct profile *p, const struct profile_stack *stack)
{
	uint32_t i, j, budget = MAX_FRAMES;

	for (i = stack->n_locations; i-- > 0 && budget;) {
		const struct profile_location *location = &p->locations[stack->locations[i]];

		if (!location->n_frames) {
			text_unresolved(t, location);
			budget--;
		}
		for (j = location->n_frames; j-- > 0 && budget; budget--)
			text_location_frame(t, &location->frames[j]);
	}
}

static char *sample_line(const struct profile *p, const struct profile_sample *s)
{
	const char *context = p->contexts[s->context].name;
	const struct profile_stack *stack = &p->stacks[s->stack];
	bool user = s->flags & PROFILE_SAMPLE_USER;
	struct text t = { 0 };

	if (!user || strcmp(context, PROFILE_CONTEXT_NONE))
		text_frame(&t, context);
	if (user)
		text_frame(&t, FRAME_USER);
	else if (!stack->n_locations)
		text_frame(&t, FRAME_NO_STACK);
	else
		text_stack(&t, p, stack);
	if (s->flags & PROFILE_SAMPLE_LATE)
		text_frame(&t, FRAME_IRQS_OFF);
	return text_take(&t);
}

static char *sample_leaf(const struct profile *p, const struct profile_sample *s)
{
	const struct profile_stack *stack = &p->stacks[s->stack];
	const struct profile_location *location;
	struct text t = { 0 };

	if (s->flags & PROFILE_SAMPLE_USER) {
		text_frame(&t, FRAME_USER);
	} else if (!stack->n_locations) {
		text_frame(&t, FRAME_NO_STACK);
	} else {
		location = &p->locations[stack->locations[0]];
		/* The last of its frames is the function; those before it are inlined there. */
		if (location->n_frames)
			text_location_frame(&t, &location->frames[location->n_frames - 1]);
		else
			text_unresolved(&t, location);
	}
	if (s->flags & PROFILE_SAMPLE_LATE)
		text_frame(&t, FRAME_IRQS_OFF);
	return text_take(&t);
}

/* What of a sample shows in its line: the runs are not told apart. */
static int sample_compare(const void *left, const void *right)
{
	const struct profile_sample *a = left, *b = right;

	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	return a->flags < b->flags ? -1 : a->flags > b->flags;
}

/* P's samples with those of all runs summed; the caller frees it. */
static struct profile_sample *samples_sum(const struct profile *p, size_t *n_out)
{
	struct profile_sample *samples = alloc_array(p->n_samples, sizeof(*samples));
	size_t i, n = 0, out = 0;

	for (i = 0; i < p->n_samples; i++)
		if (p->runs[p->samples[i].run].kind != PROFILE_RUN_CONTROL)
			samples[n++] = p->samples[i];
	analyze_sort(samples, n, sizeof(*samples), sample_compare);
	for (i = 0; i < n; i++) {
		if (out && !sample_compare(&samples[out - 1], &samples[i]))
			samples[out - 1].count += samples[i].count;
		else
			samples[out++] = samples[i];
	}
	*n_out = out;
	return samples;
}

static int line_compare(const void *left, const void *right)
{
	const struct output_folded_line *a = left, *b = right;

	return strcmp(a->stack, b->stack);
}

/* Different addresses in the same functions give the same line. */
static void lines_merge(struct analyze_stacks *stacks)
{
	struct output_folded_line *lines = stacks->lines;
	size_t i, out = 0;

	analyze_sort(lines, stacks->n_lines, sizeof(*lines), line_compare);
	for (i = 0; i < stacks->n_lines; i++) {
		if (out && !line_compare(&lines[out - 1], &lines[i])) {
			lines[out - 1].count[0] += lines[i].count[0];
			lines[out - 1].count[1] += lines[i].count[1];
			stacks->bytes -= strlen(lines[i].stack);
			free(lines[i].stack);
		} else {
			lines[out++] = lines[i];
		}
	}
	stacks->n_lines = out;
}

int analyze_stacks_add(struct analyze_stacks *stacks, const struct profile *p, unsigned int side,
		       double scale)
{
	struct profile_sample *samples;
	size_t n, i;

	samples = samples_sum(p, &n);
	for (i = 0; i < n && stacks->bytes <= MAX_BYTES; i++) {
		struct output_folded_line line = { .stack = sample_line(p, &samples[i]) };

		line.count[side] = (double)samples[i].count * scale;
		stacks->bytes += strlen(line.stack);
		vec_push(stacks, lines, line);
	}
	free(samples);
	if (stacks->bytes > MAX_BYTES) {
		log_error("the stacks of this file make more than %lu MiB of text: it is damaged",
			  MAX_BYTES >> 20);
		return -E2BIG;
	}
	lines_merge(stacks);
	return 0;
}

void analyze_stacks_deinit(struct analyze_stacks *stacks)
{
	size_t i;

	for (i = 0; i < stacks->n_lines; i++)
		free(stacks->lines[i].stack);
	free(stacks->lines);
	memset(stacks, 0, sizeof(*stacks));
}

static int leaf_compare_name(const void *left, const void *right)
{
	const struct analyze_leaf *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static int leaf_compare_samples(const void *left, const void *right)
{
	const struct analyze_leaf *a = left, *b = right;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return strcmp(a->name, b->name);
}

void analyze_leaves_init(struct analyze_leaves *leaves, const struct profile *p)
{
	struct profile_sample *samples;
	size_t n, i, out = 0;

	memset(leaves, 0, sizeof(*leaves));
	samples = samples_sum(p, &n);
	for (i = 0; i < n; i++) {
		double count = (double)samples[i].count;

		vec_push(leaves, leaves,
			 ((struct analyze_leaf){ sample_leaf(p, &samples[i]), count, NAN }));
		leaves->samples += count;
	}
	free(samples);
	analyze_sort(leaves->leaves, leaves->n_leaves, sizeof(*leaves->leaves), leaf_compare_name);
	for (i = 0; i < leaves->n_leaves; i++) {
		struct analyze_leaf *leaf = &leaves->leaves[i];

		if (out && !leaf_compare_name(&leaves->leaves[out - 1], leaf)) {
			leaves->leaves[out - 1].samples += leaf->samples;
			free(leaf->name);
		} else {
			leaves->leaves[out++] = *leaf;
		}
	}
	leaves->n_leaves = out;
	for (i = 0; i < out; i++)
		leaves->leaves[i].share = leaves->leaves[i].samples / leaves->samples;
	analyze_sort(leaves->leaves, out, sizeof(*leaves->leaves), leaf_compare_samples);
}

void analyze_leaves_deinit(struct analyze_leaves *leaves)
{
	size_t i;

	for (i = 0; i < leaves->n_leaves; i++)
		free(leaves->leaves[i].name);
	free(leaves->leaves);
	memset(leaves, 0, sizeof(*leaves));
}
