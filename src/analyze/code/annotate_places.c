// SPDX-License-Identifier: GPL-2.0-or-later
/* Find all copies of a function's code, and count the samples in each copy. */

#include "analyze/code/annotate_impl.h"
#include "analyze/inline/bodies.h"
#include "base/alloc.h"
#include "base/sorted.h"

static bool is_function(const struct making *m, const struct kernel_function *f)
{
	/* A user requests one clone of a function by its symbol, such as f.isra.0, or all clones by the name in the source. */
	return annotate_same(f->name, m->o->name) || annotate_same(f->symbol, m->o->name);
}

static bool is_within(const struct making *m, const struct kernel_function *f)
{
	return !m->o->within || annotate_same(f->name, m->o->within) ||
	       annotate_same(f->symbol, m->o->within);
}

static int add_function(const struct kernel_function *f, void *arg)
{
	struct making *m = arg;
	struct analyze_place place = { .function = *f };

	if (is_function(m, f) && !m->o->within)
		vec_push(m->a, places, place);
	return 0;
}

/* Return whether BODY is inlined into another copy of the annotated function. The other copy already includes BODY. */
static bool is_nested(const struct making *m, const struct kernel_body *body)
{
	struct kernel_body around = *body;

	if (is_function(m, &body->function))
		return true;
	for (int i = 0; i < ANNOTATE_MAX_DEPTH && around.parent != KERNEL_NONE; i++) {
		if (kernel_index_body(m->idx, around.parent, &around))
			break;
		if (annotate_same(around.name, body->name))
			return true;
	}
	return false;
}

static int add_body(const struct kernel_body *body, void *arg)
{
	struct making *m = arg;
	struct analyze_place place = { .function = body->function,
				       .body = *body,
				       .is_inlined = true };

	if (!is_within(m, &body->function) || is_nested(m, body))
		return 0;
	place.chain = alloc_keep(&m->a->texts, kernel_index_chain(m->idx, body->id, PROFILE_CHAIN));
	vec_push(m->a, places, place);
	return 0;
}

/* Add a function written in assembler. It has no DWARF function, so find its symbol among the sampled addresses. */
static void add_symbol(struct making *m)
{
	vec_each(const struct profile_location, l, m->p, locations) {
		struct analyze_place place = { .function.id = KERNEL_NONE };
		struct kernel_place at;

		if (!same_text(l->module, m->o->module) || kernel_index_at(m->idx, l->addr, &at) ||
		    at.function != KERNEL_NONE || !annotate_same(at.symbol, m->o->name))
			continue;
		place.function.name = place.function.symbol = at.symbol;
		place.function.addr = l->addr - at.offset;
		kernel_index_declaration(m->idx, place.function.addr, &place.function.file,
					 &place.function.line);
		vec_push(m->a, places, place);
		return;
	}
}

void annotate_find_places(struct making *m)
{
	kernel_index_functions_each(m->idx, m->base, add_function, m);
	if (!strcmp(m->base, m->o->name))
		kernel_index_bodies_each(m->idx, m->base, add_body, m, NULL);
	if (!m->a->n_places && !m->o->within)
		add_symbol(m);
}

/* Return the index of the copy that contains ADDR, or ANNOTATE_NO_PLACE. AT describes ADDR. */
static uint32_t place_at(const struct making *m, const struct kernel_place *at, uint64_t addr)
{
	for (uint32_t i = 0; i < m->a->n_places; i++) {
		const struct analyze_place *place = &m->a->places[i];

		if (place->function.id != at->function)
			continue;
		if (place->function.id == KERNEL_NONE ?
			    annotate_same(place->function.symbol, at->symbol) :
			    !place->is_inlined || annotate_is_in_ranges(place->body.ranges,
									place->body.n_ranges, addr))
			return i;
	}
	return ANNOTATE_NO_PLACE;
}

static void find_locations(struct making *m)
{
	m->place_of = alloc_array(m->p->n_locations, sizeof(*m->place_of));
	for (uint32_t i = 0; i < m->p->n_locations; i++) {
		const struct profile_location *l = &m->p->locations[i];
		struct kernel_place at;

		m->place_of[i] = ANNOTATE_NO_PLACE;
		if (same_text(l->module, m->o->module) && !kernel_index_at(m->idx, l->addr, &at))
			m->place_of[i] = place_at(m, &at, l->addr);
	}
}

bool annotate_is_context(const struct making *m, uint32_t context)
{
	return !m->o->context || !strcmp(m->p->contexts[context].name, m->o->context);
}

static bool is_asked_for(const struct making *m, const struct profile_sample *s)
{
	return m->p->runs[s->run].kind != PROFILE_RUN_CONTROL &&
	       !(s->flags & PROFILE_SAMPLE_USER) && annotate_is_context(m, s->context) &&
	       !analyze_sample_is_in_probe(m->p, s);
}

void annotate_samples_each(struct making *m, annotate_sample_fn fn)
{
	vec_each(const struct profile_sample, s, m->p, samples) {
		const struct profile_stack *stack = &m->p->stacks[s->stack];

		if (!is_asked_for(m, s))
			continue;
		for (uint32_t depth = 0; depth < stack->n_locations; depth++) {
			uint32_t location = stack->locations[depth];

			if (analyze_sample_is_interrupt_entry(m->p, s, &m->p->locations[location]))
				break;
			if (m->place_of[location] == ANNOTATE_NO_PLACE)
				continue;
			fn(m, s, m->place_of[location], depth);
			break;
		}
	}
}

bool annotate_is_at_return(const struct profile_sample *s, uint32_t depth)
{
	return depth == 0 && s->flags & PROFILE_SAMPLE_AT_RETURN;
}

struct analyze_hits annotate_hits_of(const struct profile_sample *s, uint32_t depth)
{
	struct analyze_hits hits = { 0 };

	if (depth)
		hits.callees = (double)s->count;
	else
		hits.self = (double)s->count;
	if (!depth && s->flags & PROFILE_SAMPLE_LATE)
		hits.late = hits.self;
	return hits;
}

static void count_place(struct making *m, const struct profile_sample *s, uint32_t place,
			uint32_t depth)
{
	struct analyze_hits hits = annotate_hits_of(s, depth);

	if (annotate_is_at_return(s, depth)) {
		m->a->places[place].at_return += (double)s->count;
		m->a->at_return += (double)s->count;
		m->contexts[s->context].at_return += (double)s->count;
		return;
	}
	m->contexts[s->context].placed += (double)s->count;
	annotate_hits_add(&m->a->places[place].hits, &hits);
	annotate_hits_add(&m->a->hits, &hits);
}

static double place_samples(const struct analyze_place *p)
{
	return analyze_hits_all(&p->hits) + p->at_return;
}

define_compare(place_compare, struct analyze_place,
	       compare_values(place_samples(b), place_samples(a))         ?:
		       compare_values(a->function.addr, b->function.addr) ?:
		       compare_values(a->body.id, b->body.id));

/* Remove the function's inlined copies that have no samples, unless the user asked for them. Keep at least one copy. */
void annotate_select_places(struct making *m)
{
	struct analyze_annotation *a = m->a;
	uint32_t kept = a->n_places;

	for (uint32_t i = 0; i < m->p->n_samples; i++)
		if (is_asked_for(m, &m->p->samples[i]))
			a->kernel += (double)m->p->samples[i].count;
	find_locations(m);
	annotate_samples_each(m, count_place);
	sort_array(a->places, a->n_places, sizeof(*a->places), place_compare);
	while (!m->o->all && kept > 1 && !(place_samples(&a->places[kept - 1]) > 0))
		kept--;
	a->n_other_places = a->n_places - kept;
	a->n_places = kept;
	/* Find the indexes of the copies again, since sorting has changed them. */
	free(m->place_of);
	find_locations(m);
}
