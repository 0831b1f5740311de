// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/inline/bodies.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"

/* Return the names of the first N FRAMES as one string for free(), or NULL if N is 0. */
static char *join_chain(const struct profile_frame *frames, uint32_t n)
{
	char *chain = NULL;

	for (uint32_t i = 0; i < n; i++)
		alloc_append(&chain, "%s%s", i ? PROFILE_CHAIN : "", frames[i].name);
	return chain;
}

char *analyze_chain_of(const struct profile_location *l)
{
	uint32_t n = 0;

	while (n < l->n_frames && l->frames[n].inlined)
		n++;
	return join_chain(l->frames, n);
}

char *analyze_chain_add(const char *name, const char *chain)
{
	return alloc_printf("%s%s%s", name, chain ? PROFILE_CHAIN : "", chain ? chain : "");
}

char *analyze_chain_place(const struct profile_location *l)
{
	if (!l->n_frames || !l->frames->file)
		return NULL;
	return alloc_printf("%s:%" PRIu32, l->frames->file, l->frames->line);
}

/* Limits against made-up files. Real kernels inline functions about twelve levels deep, and all names take a few MB. */
#define MAX_DEPTH 64
#define MAX_BYTES ((size_t)64 << 20)

#define NO_BODY UINT32_MAX

int analyze_body_compare(const struct analyze_body *a, const struct analyze_body *b)
{
	return compare_text(a->function, b->function)   ?:
		       compare_text(a->name, b->name)   ?:
		       compare_text(a->chain, b->chain) ?:
		       compare_text(a->file, b->file)   ?:
							  compare_values(a->line, b->line);
}

/* A function inlined at the address with index LOCATION. DEPTH is the number of inlined functions inside it at this address. */
struct ref {
	struct analyze_body body;
	uint32_t location, depth;
};

struct refs {
	vec_of(struct ref, refs);
};

/* The inlined functions at location L are IDS[FIRST[L]] to IDS[FIRST[L + 1] - 1], innermost first. */
struct places {
	uint32_t *first, *ids;
	/* Indexed by location: number of the outermost function there. The number is the index of one of its locations. */
	uint32_t *function;
};

static void refs_add(struct analyze_bodies *b, struct refs *refs,
		     const struct profile_location *location, uint32_t number)
{
	uint32_t n = location->n_frames;

	if (n < 2 || n > MAX_DEPTH || location->frames[n - 1].inlined)
		return;
	for (uint32_t i = 0; i + 1 < n && b->bytes < MAX_BYTES; i++) {
		const struct profile_frame *frame = &location->frames[i], *around = frame + 1;
		struct ref ref = { .location = number, .depth = i };
		const char *chain;

		if (!frame->inlined)
			continue;
		chain = alloc_keep(&b->chains, join_chain(around, n - 2 - i));
		b->bytes += chain ? strlen(chain) + 1 : 0;
		ref.body = (struct analyze_body){ .name = frame->name,
						  .function = location->frames[n - 1].name,
						  .chain = chain,
						  .file = around->file,
						  .line = around->line };
		vec_push(refs, refs, ref);
	}
}

define_compare(ref_compare_body, struct ref, analyze_body_compare(&a->body, &b->body));

define_compare(ref_compare_place, struct ref,
	       compare_values(a->location, b->location) ?: compare_values(a->depth, b->depth));

/* Add each inlined function of REFS to B once. REFS are sorted by function. Set each BODY.LINE to the function's index in B. */
static void bodies_number(struct analyze_bodies *b, struct refs *refs)
{
	for (size_t i = 0; i < refs->n_refs; i++) {
		struct analyze_body *body = &refs->refs[i].body;

		if (!b->n_bodies || analyze_body_compare(&b->bodies[b->n_bodies - 1], body))
			vec_push(b, bodies, *body);
		body->line = b->n_bodies - 1;
	}
}

static int location_compare(const void *left, const void *right, void *arg)
{
	const struct profile *p = arg;
	const struct profile_location *a = &p->locations[*(const uint32_t *)left];
	const struct profile_location *b = &p->locations[*(const uint32_t *)right];

	if (!a->n_frames || !b->n_frames)
		return !!a->n_frames - !!b->n_frames;
	return compare_text(a->frames[a->n_frames - 1].name, b->frames[b->n_frames - 1].name);
}

/* Return an array with the number of each location's outermost function: the index of one of the function's locations. */
static uint32_t *functions_number(const struct profile *p)
{
	scoped_free uint32_t *order = alloc_array(p->n_locations, sizeof(*order));
	uint32_t *function = alloc_array(p->n_locations, sizeof(*function)), i;

	for (i = 0; i < p->n_locations; i++)
		order[i] = i;
	if (p->n_locations)
		qsort_r(order, p->n_locations, sizeof(*order), location_compare, (void *)p);
	for (i = 0; i < p->n_locations; i++) {
		bool same = i && !location_compare(&order[i - 1], &order[i], (void *)p);

		function[order[i]] = same ? function[order[i - 1]] : order[i];
	}
	return function;
}

static void places_init(struct places *places, struct analyze_bodies *b, const struct profile *p)
{
	struct refs refs = { 0 };
	uint32_t at = 0;

	for (uint32_t i = 0; i < p->n_locations; i++)
		refs_add(b, &refs, &p->locations[i], i);
	sort_array(refs.refs, refs.n_refs, sizeof(*refs.refs), ref_compare_body);
	bodies_number(b, &refs);
	sort_array(refs.refs, refs.n_refs, sizeof(*refs.refs), ref_compare_place);
	places->first = alloc_array((size_t)p->n_locations + 1, sizeof(*places->first));
	places->ids = alloc_array(refs.n_refs, sizeof(*places->ids));
	for (uint32_t i = 0; i <= p->n_locations; i++) {
		places->first[i] = at;
		for (; at < refs.n_refs && refs.refs[at].location == i; at++)
			places->ids[at] = refs.refs[at].body.line;
	}
	places->function = functions_number(p);
	free(refs.refs);
}

static void places_deinit(struct places *places)
{
	free(places->first);
	free(places->ids);
	free(places->function);
}

/* Counts of one inlined function in the current context. */
struct body_tally {
	struct analyze_body_count count;
	uint32_t seen; /* number of the last counted sample, plus 1 */
	uint32_t inner; /* the only function seen inside this one so far, or NO_BODY */
	uint32_t home; /* number of the outermost function */
};

/* Counts of one outermost function in the current context. */
struct function_tally {
	double late; /* delayed samples, called functions excluded */
	double around; /* samples with the function on their stack */
	uint32_t seen; /* number of the last counted sample, plus 1 */
};

struct counting {
	const struct profile *p;
	const struct places *places;
	struct analyze_bodies *b;
	struct body_tally *body;
	struct function_tally *function;
	/* Indexes of the elements in BODY and FUNCTION that have counts in this context. context_end() clears only these. */
	vec_of(uint32_t, bodies);
	vec_of(uint32_t, functions);
};

bool analyze_sample_is_in_probe(const struct profile *p, const struct profile_sample *s)
{
	const struct profile_stack *stack = &p->stacks[s->stack];
	const struct profile_location *leaf;

	if (s->flags & PROFILE_SAMPLE_PROBE)
		return true;
	if (!stack->n_locations)
		return false;
	leaf = &p->locations[stack->locations[0]];
	return leaf->module && !strcmp(leaf->module, "[probe]");
}

bool analyze_sample_is_interrupt_entry(const struct profile *p, const struct profile_sample *s,
				       const struct profile_location *location)
{
	return profile_context_is(p, s->context, PROFILE_CONTEXT_IRQ) && location->n_frames &&
	       !strncmp(location->frames[location->n_frames - 1].name, "asm_", 4);
}

static void count_body(struct counting *c, uint32_t body, uint32_t inner, bool fresh, double count,
		       bool leaf, bool late)
{
	struct body_tally *t = &c->body[body];

	if (fresh) {
		if (!t->count.samples) {
			t->inner = inner;
			vec_push(c, bodies, body);
		}
		t->count.samples += count;
		t->count.own += leaf ? count : 0;
		t->count.late += leaf && late ? count : 0;
	}
	/* In a recursion, check all frames of the sample: the frames may contain different inlined functions. */
	if (t->inner != inner)
		t->inner = NO_BODY;
}

static void count_function(struct counting *c, uint32_t function, uint32_t number, double count,
			   bool late)
{
	struct function_tally *t = &c->function[function];

	if (late)
		t->late += count;
	if (t->seen == number)
		return;
	t->seen = number;
	if (!t->around)
		vec_push(c, functions, function);
	t->around += count;
}

/* Count sample S for all functions and inlined functions on its stack. NUMBER is the sample's number plus 1. */
static void count_sample(struct counting *c, const struct profile_sample *s, uint32_t number)
{
	const struct profile_stack *stack = &c->p->stacks[s->stack];
	bool late = s->flags & (PROFILE_SAMPLE_LATE | PROFILE_SAMPLE_AT_RETURN);
	double count = (double)s->count;

	for (uint32_t i = 0; i < stack->n_locations; i++) {
		uint32_t location = stack->locations[i], inner = NO_BODY;
		const uint32_t *first = &c->places->first[location];

		if (analyze_sample_is_interrupt_entry(c->p, s, &c->p->locations[location]))
			break;
		count_function(c, c->places->function[location], number, count, late && i == 0);
		for (uint32_t j = first[0]; j < first[1]; j++) {
			uint32_t body = c->places->ids[j];
			struct body_tally *t = &c->body[body];
			bool fresh = t->seen != number;

			t->seen = number;
			t->home = c->places->function[location];
			count_body(c, body, inner, fresh, count, i == 0, late);
			inner = body;
		}
	}
}

/* Append the counts of CONTEXT to C->b, and clear them for the next context. */
static void context_end(struct counting *c, uint32_t context)
{
	while (c->n_bodies) {
		uint32_t body = c->bodies[--c->n_bodies];
		struct body_tally *t = &c->body[body];

		t->count.body = body;
		t->count.context = context;
		t->count.missing = c->function[t->home].late - t->count.late;
		t->count.around = c->function[t->home].around;
		t->count.only_wraps = t->inner != NO_BODY;
		vec_push(c->b, counts, t->count);
		memset(&t->count, 0, sizeof(t->count));
	}
	while (c->n_functions) {
		struct function_tally *t = &c->function[c->functions[--c->n_functions]];

		t->late = t->around = 0;
	}
}

static int sample_compare(const void *left, const void *right, void *arg)
{
	const struct profile *p = arg;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return compare_values(p->samples[a].context, p->samples[b].context) ?: compare_values(a, b);
}

define_compare(count_compare, struct analyze_body_count,
	       compare_values(a->body, b->body) ?: compare_values(a->context, b->context));

/* Return the indexes of kernel samples outside of probes, sorted by context. Also set B's total numbers of samples. */
static uint32_t *samples_order(struct analyze_bodies *b, const struct profile *p, uint32_t *n_out)
{
	uint32_t *order = alloc_array(p->n_samples, sizeof(*order)), i, n = 0;

	for (i = 0; i < p->n_samples; i++) {
		const struct profile_sample *s = &p->samples[i];

		if (p->runs[s->run].kind == PROFILE_RUN_CONTROL)
			continue;
		b->all += (double)s->count;
		if (profile_context_is(p, s->context, PROFILE_CONTEXT_IRQ))
			b->irq += (double)s->count;
		if (s->flags & PROFILE_SAMPLE_USER || !s->count || analyze_sample_is_in_probe(p, s))
			continue;
		b->samples[s->context] += (double)s->count;
		order[n++] = i;
	}
	if (n)
		qsort_r(order, n, sizeof(*order), sample_compare, (void *)p);
	*n_out = n;
	return order;
}

void analyze_bodies_init(struct analyze_bodies *b, const struct profile *p)
{
	struct counting c = { .p = p, .b = b };
	scoped(places_deinit) struct places places;
	uint32_t *order, n;

	memset(b, 0, sizeof(*b));
	b->samples = alloc_array(p->n_contexts, sizeof(*b->samples));
	places_init(&places, b, p);
	c.places = &places;
	c.body = alloc_array(b->n_bodies, sizeof(*c.body));
	c.function = alloc_array(p->n_locations, sizeof(*c.function));
	order = samples_order(b, p, &n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t context = p->samples[order[i]].context;

		count_sample(&c, &p->samples[order[i]], i + 1);
		if (i + 1 == n || p->samples[order[i + 1]].context != context)
			context_end(&c, context);
	}
	sort_array(b->counts, b->n_counts, sizeof(*b->counts), count_compare);
	free(order);
	free(c.functions);
	free(c.bodies);
	free(c.function);
	free(c.body);
}

void analyze_bodies_deinit(struct analyze_bodies *b)
{
	alloc_texts_free(&b->chains);
	free(b->samples);
	free(b->counts);
	free(b->bodies);
	memset(b, 0, sizeof(*b));
}
