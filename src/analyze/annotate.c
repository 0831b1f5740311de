// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/annotate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/bodies.h"
#include "analyze/sort.h"
#include "base/alloc.h"
#include "symbol/name.h"

/* Bounds against a damaged index; the kernel's bodies are a dozen deep. */
#define MAX_DEPTH 64

#define NO_PLACE UINT32_MAX

/* What the function comes to in one context. */
struct context {
	double placed, at_return; /* samples */
	double tick; /* what one of them stands for; NAN: unknown */
	struct profile_stats stats; /* of its calls */
};

/* What is at hand while an annotation is made. */
struct making {
	struct analyze_annotation *a;
	const struct profile *p;
	const struct analyze_ranges *ranges;
	const struct symbol_index *idx;
	const struct symbol_code *code;
	const struct analyze_annotate_options *o;
	char *base; /* the name without clone suffixes */
	uint32_t *place_of; /* by location of P: in the places, or NO_PLACE */
	struct context *contexts; /* those of P */
};

static void hits_add(struct analyze_hits *to, const struct analyze_hits *from)
{
	to->self += from->self;
	to->below += from->below;
	to->late += from->late;
}

static bool hits_any(const struct analyze_hits *h)
{
	return analyze_hits_all(h) > 0;
}

/* --- places --------------------------------------------------------------------------------- */

static bool same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static bool is_function(const struct making *m, const struct symbol_function *f)
{
	/* A clone is asked for by its symbol, all of them by the name. */
	return same(f->name, m->o->name) || same(f->symbol, m->o->name);
}

static bool is_within(const struct making *m, const struct symbol_function *f)
{
	return !m->o->within || same(f->name, m->o->within) || same(f->symbol, m->o->within);
}

static int add_function(const struct symbol_function *f, void *arg)
{
	struct making *m = arg;
	struct analyze_place place = { .function = *f };

	if (is_function(m, f) && !m->o->within)
		vec_push(m->a, places, place);
	return 0;
}

/* Is BODY inlined, directly or not, into what is a place itself? */
static bool is_nested(const struct making *m, const struct symbol_body *body)
{
	struct symbol_body around = *body;

	if (is_function(m, &body->function))
		return true;
	for (int i = 0; i < MAX_DEPTH && around.parent != SYMBOL_NONE; i++) {
		if (symbol_index_body(m->idx, around.parent, &around))
			break;
		if (same(around.name, body->name))
			return true;
	}
	return false;
}

static int add_body(const struct symbol_body *body, void *arg)
{
	struct making *m = arg;
	struct analyze_place place = { .function = body->function,
				       .body = *body,
				       .is_inlined = true };

	if (!is_within(m, &body->function) || is_nested(m, body))
		return 0;
	place.chain = symbol_index_chain(m->idx, body->id, PROFILE_CHAIN);
	vec_push(m->a, places, place);
	return 0;
}

/* Code in assembler has no function in DWARF: a symbol in the samples is all there is. */
static void add_symbol(struct making *m)
{
	for (uint32_t i = 0; i < m->p->n_locations; i++) {
		const struct profile_location *l = &m->p->locations[i];
		struct analyze_place place = { .function.id = SYMBOL_NONE };
		struct symbol_place at;

		if (l->module || symbol_index_at(m->idx, l->addr, &at) ||
		    at.function != SYMBOL_NONE || !same(at.symbol, m->o->name))
			continue;
		place.function.name = place.function.symbol = at.symbol;
		place.function.addr = l->addr - at.offset;
		symbol_index_declaration(m->idx, place.function.addr, &place.function.file,
					 &place.function.line);
		vec_push(m->a, places, place);
		return;
	}
}

static void find_places(struct making *m)
{
	symbol_index_functions_each(m->idx, m->base, add_function, m);
	if (!strcmp(m->base, m->o->name))
		symbol_index_bodies_each(m->idx, m->base, add_body, m, NULL);
	if (!m->a->n_places && !m->o->within)
		add_symbol(m);
}

/* --- samples to places ---------------------------------------------------------------------- */

static bool is_in_ranges(const struct symbol_range *ranges, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (addr >= ranges[i].start && addr < ranges[i].end)
			return true;
	return false;
}

/* The place that ADDR, of the function AT names, is in. */
static uint32_t place_at(const struct making *m, const struct symbol_place *at, uint64_t addr)
{
	for (uint32_t i = 0; i < m->a->n_places; i++) {
		const struct analyze_place *place = &m->a->places[i];

		if (place->function.id != at->function)
			continue;
		if (place->function.id == SYMBOL_NONE ?
			    same(place->function.symbol, at->symbol) :
			    !place->is_inlined ||
				    is_in_ranges(place->body.ranges, place->body.n_ranges, addr))
			return i;
	}
	return NO_PLACE;
}

static void find_locations(struct making *m)
{
	m->place_of = alloc_array(m->p->n_locations, sizeof(*m->place_of));
	for (uint32_t i = 0; i < m->p->n_locations; i++) {
		const struct profile_location *l = &m->p->locations[i];
		struct symbol_place at;

		m->place_of[i] = NO_PLACE;
		if (!l->module && !symbol_index_at(m->idx, l->addr, &at))
			m->place_of[i] = place_at(m, &at, l->addr);
	}
}

static bool is_context(const struct making *m, uint32_t context)
{
	return !m->o->context || !strcmp(m->p->contexts[context].name, m->o->context);
}

static bool is_asked_for(const struct making *m, const struct profile_sample *s)
{
	return m->p->runs[s->run].kind != PROFILE_RUN_CONTROL &&
	       !(s->flags & PROFILE_SAMPLE_USER) && is_context(m, s->context) &&
	       !analyze_sample_is_in_probe(m->p, s);
}

/* Tells FN of each sample of the function: its place, and where in its stack that is. */
typedef void (*sample_fn)(struct making *m, const struct profile_sample *s, uint32_t place,
			  uint32_t depth);

static void samples_each(struct making *m, sample_fn fn)
{
	for (uint32_t i = 0; i < m->p->n_samples; i++) {
		const struct profile_sample *s = &m->p->samples[i];
		const struct profile_stack *stack = &m->p->stacks[s->stack];

		if (!is_asked_for(m, s))
			continue;
		for (uint32_t depth = 0; depth < stack->n_locations; depth++) {
			uint32_t location = stack->locations[depth];

			if (analyze_sample_is_interrupt_entry(m->p, s, &m->p->locations[location]))
				break;
			if (m->place_of[location] == NO_PLACE)
				continue;
			fn(m, s, m->place_of[location], depth);
			break;
		}
	}
}

static bool is_at_return(const struct profile_sample *s, uint32_t depth)
{
	return depth == 0 && s->flags & PROFILE_SAMPLE_AT_RETURN;
}

static struct analyze_hits hits_of(const struct profile_sample *s, uint32_t depth)
{
	struct analyze_hits hits = { 0 };

	if (depth)
		hits.below = (double)s->count;
	else
		hits.self = (double)s->count;
	if (!depth && s->flags & PROFILE_SAMPLE_LATE)
		hits.late = hits.self;
	return hits;
}

static void count_place(struct making *m, const struct profile_sample *s, uint32_t place,
			uint32_t depth)
{
	struct analyze_hits hits = hits_of(s, depth);

	if (is_at_return(s, depth)) {
		m->a->places[place].at_return += (double)s->count;
		m->a->at_return += (double)s->count;
		m->contexts[s->context].at_return += (double)s->count;
		return;
	}
	m->contexts[s->context].placed += (double)s->count;
	hits_add(&m->a->places[place].hits, &hits);
	hits_add(&m->a->hits, &hits);
}

static double place_samples(const struct analyze_place *p)
{
	return analyze_hits_all(&p->hits) + p->at_return;
}

static int place_compare(const void *left, const void *right)
{
	const struct analyze_place *a = left, *b = right;
	double samples_a = place_samples(a), samples_b = place_samples(b);

	if (samples_a != samples_b)
		return samples_a < samples_b ? 1 : -1;
	if (a->function.addr != b->function.addr)
		return a->function.addr < b->function.addr ? -1 : 1;
	return a->body.id < b->body.id ? -1 : a->body.id > b->body.id;
}

/* Those with most samples first; those without are left out where others have some. */
static void select_places(struct making *m)
{
	struct analyze_annotation *a = m->a;
	uint32_t kept = a->n_places;

	for (uint32_t i = 0; i < m->p->n_samples; i++)
		if (is_asked_for(m, &m->p->samples[i]))
			a->kernel += (double)m->p->samples[i].count;
	find_locations(m);
	samples_each(m, count_place);
	analyze_sort(a->places, a->n_places, sizeof(*a->places), place_compare);
	while (!m->o->all && kept > 1 && !(place_samples(&a->places[kept - 1]) > 0))
		kept--;
	a->n_other_places = a->n_places - kept;
	while (a->n_places > kept)
		free(a->places[--a->n_places].chain);
	/* Their order has changed. */
	free(m->place_of);
	find_locations(m);
}

/* --- code ----------------------------------------------------------------------------------- */

static const char *keep_text(struct analyze_annotation *a, char *text)
{
	vec_push(a, texts, text);
	return text;
}

/* The body with the id ID among those of PLACE; ANALYZE_NO_BODY: none, or the place's own. */
static uint32_t body_find(const struct analyze_annotation *a, const struct analyze_place *place,
			  uint32_t id)
{
	for (uint32_t i = 0; i < place->n_bodies; i++)
		if (a->bodies[place->first_body + i].body.id == id)
			return place->first_body + i;
	return ANALYZE_NO_BODY;
}

/* Is the body within PLACE? Its parent, if that is within, is known by then: ids of outer ones are lower. */
static bool body_is_within(const struct analyze_annotation *a, const struct analyze_place *place,
			   const struct symbol_body *body)
{
	if (!place->is_inlined)
		return true;
	return body->parent == place->body.id ||
	       (body->parent != SYMBOL_NONE &&
		body_find(a, place, body->parent) != ANALYZE_NO_BODY);
}

static void name_body(struct analyze_annotation *a, struct analyze_code_body *b)
{
	b->depth = 1;
	if (b->parent != ANALYZE_NO_BODY) {
		b->chain = a->bodies[b->parent].path;
		b->depth = a->bodies[b->parent].depth + 1;
	}
	b->path = keep_text(
		a, b->chain ? alloc_printf("%s" PROFILE_CHAIN "%s", b->body.name, b->chain) :
			      alloc_strdup(b->body.name));
	if (b->body.call_file)
		b->called = alloc_printf("%s:%u", b->body.call_file, b->body.call_line);
}

static void add_bodies(struct making *m, uint32_t number)
{
	struct analyze_annotation *a = m->a;
	struct analyze_place *place = &a->places[number];

	place->first_body = a->n_bodies;
	for (uint32_t i = 0; i < place->function.n_bodies; i++) {
		struct analyze_code_body b = { .place = number };

		if (symbol_index_body(m->idx, place->function.first_body + i, &b.body) ||
		    !body_is_within(a, place, &b.body))
			continue;
		b.parent = b.body.parent == SYMBOL_NONE ? ANALYZE_NO_BODY :
							  body_find(a, place, b.body.parent);
		name_body(a, &b);
		if (b.depth > MAX_DEPTH)
			continue;
		vec_push(a, bodies, b);
		place->n_bodies++;
	}
}

/* Padding between pieces of code is none of the function's. */
static bool is_padding(const struct symbol_insn *insn)
{
	return !(insn->flags & SYMBOL_INSN_REACHED) &&
	       (insn->kind == SYMBOL_INSN_NOP || insn->kind == SYMBOL_INSN_TRAP ||
		insn->kind == SYMBOL_INSN_BAD);
}

/* Counts of the blocks of one function, in the contexts asked for. */
struct counted {
	const struct profile_blocks *blocks; /* NULL: there are none */
	uint64_t *counts;
	double calls;
};

static uint32_t context_find(const struct making *m)
{
	for (uint32_t i = 0; m->o->context && i < m->p->n_contexts; i++)
		if (!strcmp(m->p->contexts[i].name, m->o->context))
			return i;
	return PROFILE_ALL_CONTEXTS;
}

static void counted_init(struct counted *c, const struct making *m,
			 const struct analyze_place *place)
{
	memset(c, 0, sizeof(*c));
	c->calls = NAN;
	for (uint32_t i = 0; i < m->p->n_sites && !c->blocks; i++) {
		const struct profile_site *site = &m->p->sites[i];

		if (site->kind == PROFILE_SITE_FUNCTION && !profile_site_in_module(site) &&
		    site->addr == place->function.addr)
			c->blocks = profile_blocks_of(m->p, i);
	}
	if (!c->blocks)
		return;
	c->counts = alloc_array(c->blocks->n_items, sizeof(*c->counts));
	c->calls = (double)profile_block_counts_sum(m->p, c->blocks, context_find(m), c->counts);
}

/* NAN where it was not counted, and does not follow from what was. */
static double executions_at(const struct counted *c, uint64_t addr)
{
	uint32_t lo = 0, hi = c->blocks ? c->blocks->n_items : 0;
	const struct profile_block *b;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->blocks->items[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	b = lo ? &c->blocks->items[lo - 1] : NULL;
	if (!b || addr - b->addr >= b->bytes || c->counts[lo - 1] == PROFILE_NOT_COUNTED)
		return NAN;
	return (double)c->counts[lo - 1];
}

static void add_instruction(struct making *m, struct analyze_place *place,
			    const struct counted *counted, const struct symbol_insn *insn)
{
	struct analyze_annotation *a = m->a;
	struct analyze_instruction i = { .insn = *insn };
	struct symbol_place at;

	if (place->is_inlined &&
	    !is_in_ranges(place->body.ranges, place->body.n_ranges, insn->addr))
		return;
	if (symbol_index_at(m->idx, insn->addr, &at))
		return;
	i.symbol = at.symbol;
	i.offset = at.offset;
	i.body = at.body == SYMBOL_NONE ? ANALYZE_NO_BODY : body_find(a, place, at.body);
	i.executions = executions_at(counted, insn->addr);
	i.per_call = i.executions / counted->calls;
	/* The line's number replaces this when all are known. */
	i.line = a->n_lines;
	vec_push(a, lines,
		 ((struct analyze_line){ .path = i.body == ANALYZE_NO_BODY ? NULL :
									     a->bodies[i.body].path,
					 .file = at.file,
					 .line = at.line,
					 .n_insns = a->n_insns }));
	vec_push(a, insns, i);
	place->n_insns++;
}

static int add_code(struct making *m, uint32_t number)
{
	struct analyze_place *place = &m->a->places[number];
	const struct symbol_insn *insns;
	struct symbol_flow *flow;
	struct counted counted;
	uint32_t n;
	int err = symbol_flow_of(m->code, place->function.addr, &flow);

	place->first_insn = m->a->n_insns;
	if (err)
		return err;
	add_bodies(m, number);
	place->problems = symbol_flow_problems(flow);
	counted_init(&counted, m, place);
	m->a->counted |= counted.blocks != NULL;
	insns = symbol_flow_insns(flow, &n);
	for (uint32_t i = 0; i < n; i++)
		if (!is_padding(&insns[i]))
			add_instruction(m, place, &counted, &insns[i]);
	free(counted.counts);
	symbol_flow_destroy(flow);
	return 0;
}

/* --- samples to instructions ---------------------------------------------------------------- */

static struct analyze_instruction *instruction_at(const struct analyze_annotation *a,
						  const struct analyze_place *place, uint64_t addr)
{
	uint32_t lo = 0, hi = place->n_insns;
	struct analyze_instruction *insns = a->insns + place->first_insn;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (insns[mid].insn.addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr - insns[lo - 1].insn.addr >= insns[lo - 1].insn.len)
		return NULL;
	return &insns[lo - 1];
}

static void count_instruction(struct making *m, const struct profile_sample *s, uint32_t number,
			      uint32_t depth)
{
	const struct analyze_place *place = &m->a->places[number];
	uint32_t location = m->p->stacks[s->stack].locations[depth];
	struct analyze_hits hits = hits_of(s, depth);
	struct analyze_instruction *i;

	if (is_at_return(s, depth))
		return;
	i = instruction_at(m->a, place, m->p->locations[location].addr);
	if (i)
		hits_add(&i->hits, &hits);
	else
		m->a->astray += analyze_hits_all(&hits);
}

/* --- lines ---------------------------------------------------------------------------------- */

static int text_compare(const char *a, const char *b)
{
	if (a == b)
		return 0;
	return a && b ? strcmp(a, b) : !!a - !!b;
}

static int line_compare(const void *left, const void *right)
{
	const struct analyze_line *a = left, *b = right;
	int diff = text_compare(a->path, b->path) ?: text_compare(a->file, b->file);

	return diff ? diff : a->line < b->line ? -1 : a->line > b->line;
}

/* There is a line for each instruction, which its n_insns numbers: those that are equal become one. */
static void merge_lines(struct analyze_annotation *a)
{
	uint32_t n = 0;

	analyze_sort(a->lines, a->n_lines, sizeof(*a->lines), line_compare);
	for (uint32_t i = 0; i < a->n_lines; i++) {
		struct analyze_instruction *insn = &a->insns[a->lines[i].n_insns];
		struct analyze_line *line = n ? &a->lines[n - 1] : NULL;

		if (!line || line_compare(line, &a->lines[i])) {
			line = &a->lines[n++];
			*line = a->lines[i];
			line->n_insns = 0;
			line->executions = line->per_call = 0;
		}
		line->n_insns++;
		line->executions += insn->executions;
		line->per_call += insn->per_call;
		hits_add(&line->hits, &insn->hits);
		insn->line = n - 1;
	}
	a->n_lines = n;
}

/* --- bodies --------------------------------------------------------------------------------- */

static void body_take(struct analyze_annotation *a, struct analyze_code_body *b,
		      const struct analyze_instruction *i)
{
	const struct analyze_line *line = &a->lines[i->line];

	b->n_insns++;
	hits_add(&b->own, &i->hits);
	if (!line->line || !same(line->file, b->body.file))
		return;
	if (!b->first_line || line->line < b->first_line)
		b->first_line = line->line;
	if (line->line > b->last_line)
		b->last_line = line->line;
}

/* The row of RANGES that is of B, in the context asked for. */
static const struct analyze_range *range_find(const struct making *m,
					      const struct analyze_code_body *b)
{
	char *chain = symbol_index_chain(m->idx, b->body.id, PROFILE_CHAIN);
	const char *context = m->o->context ? m->o->context : ANALYZE_ALL_CONTEXTS;
	struct analyze_body body = { .name = b->body.name,
				     .function = m->a->places[b->place].function.name,
				     .chain = chain,
				     .file = b->body.call_file,
				     .line = b->body.call_line };
	const struct analyze_range *found = NULL;

	for (uint32_t i = 0; i < m->ranges->n_rows && !found; i++) {
		const struct analyze_range *row = &m->ranges->rows[i];

		if (!strcmp(row->context, context) && !analyze_body_compare(&row->body, &body))
			found = row;
	}
	free(chain);
	return found;
}

static void finish_bodies(struct making *m)
{
	struct analyze_annotation *a = m->a;

	for (uint32_t i = 0; i < a->n_insns; i++)
		if (a->insns[i].body != ANALYZE_NO_BODY)
			body_take(a, &a->bodies[a->insns[i].body], &a->insns[i]);
	/* Inner ones come after those they are in. */
	for (uint32_t i = a->n_bodies; i-- > 0;) {
		struct analyze_code_body *b = &a->bodies[i];

		hits_add(&b->hits, &b->own);
		if (b->parent != ANALYZE_NO_BODY)
			hits_add(&a->bodies[b->parent].hits, &b->hits);
		if (hits_any(&b->hits) || a->n_bodies < 1000)
			b->range = range_find(m, b);
	}
}

/* --- what it all comes to ------------------------------------------------------------------- */

/* Is SITE, timed, all of the function's calls or some of them? */
static bool is_site_of(const struct making *m, const struct profile_site *site)
{
	if (site->estimated || site->kind == PROFILE_SITE_CONTEXT)
		return false;
	/* The symbol of a range is that of the function around it. */
	if (site->kind == PROFILE_SITE_RANGE)
		return same(site->name, m->o->name) &&
		       (!m->o->within || same(site->into, m->o->within));
	return !m->o->within && (same(site->name, m->o->name) || same(site->symbol, m->o->name));
}

/* The calls of the function by context, all of them in A's figures. */
static void form_figures(struct making *m)
{
	const struct analyze_options corrected = { .time = ANALYZE_TIME_ONCPU };
	struct profile_stats all;

	m->a->figures = analyze_figures_none;
	profile_stats_init(&all);
	for (uint32_t i = 0; i < m->p->n_cells; i++) {
		const struct profile_cell *cell = &m->p->cells[i];

		if (is_site_of(m, &m->p->sites[cell->site]) &&
		    m->p->runs[cell->run].kind != PROFILE_RUN_CONTROL &&
		    is_context(m, cell->context)) {
			profile_stats_merge(&m->contexts[cell->context].stats, &cell->stats);
			profile_stats_merge(&all, &cell->stats);
		}
	}
	if (all.calls)
		analyze_figures_form(&m->a->figures, &all, &corrected);
	profile_stats_deinit(&all);
}

/* What a sample stands for in each context: of its time where that was taken, else the period. */
static void form_ticks(struct making *m)
{
	for (uint32_t i = 0; i < m->p->n_contexts; i++) {
		struct context *c = &m->contexts[i];

		c->tick = m->p->sample_period ? (double)m->p->sample_period : NAN;
		for (uint32_t n = 0; n < m->ranges->n_contexts; n++) {
			const struct analyze_range_context *known = &m->ranges->contexts[n];

			if (!strcmp(known->name, m->p->contexts[i].name) &&
			    !isnan(known->sampled) && known->samples > 0)
				c->tick = known->sampled / known->samples;
		}
	}
}

/*
 * How many of the samples that came at the function's return are its own. They were due while interrupts were
 * off, in it, or in probes within it, whose time is none of its. What it took tells how many samples it should have
 * had: those beyond are the probes'.
 */
static double unplaced_in(const struct context *c)
{
	double due = (double)c->stats.oncpu - (double)c->stats.cost;

	return fmin(c->at_return, fmax(due / c->tick - c->placed, 0));
}

static void form_samples(struct making *m)
{
	struct analyze_annotation *a = m->a;
	double time = 0;

	for (uint32_t i = 0; i < m->p->n_contexts; i++) {
		const struct context *c = &m->contexts[i];
		double unplaced = c->at_return > 0 ? unplaced_in(c) : 0;

		a->unplaced += unplaced;
		if (c->placed + unplaced > 0)
			time += (c->placed + unplaced) * c->tick;
	}
	a->samples = analyze_hits_all(&a->hits) + a->unplaced;
	for (uint32_t i = 0; i < m->p->n_runs; i++)
		a->runs += m->p->runs[i].kind != PROFILE_RUN_CONTROL;
	a->tick_is_of_call = !isnan(a->figures.calls);
	a->tick = a->tick_of_run = NAN;
	if (!(a->samples > 0))
		return;
	a->tick_of_run = (a->tick_is_of_call ? a->figures.total : time) / a->runs / a->samples;
	a->tick = a->tick_is_of_call ? a->figures.mean / a->samples : a->tick_of_run;
}

static int make(struct making *m)
{
	struct analyze_annotation *a = m->a;
	int err;

	find_places(m);
	if (!a->n_places)
		return -ENOENT;
	select_places(m);
	form_figures(m);
	form_ticks(m);
	form_samples(m);
	for (uint32_t i = 0; i < a->n_places; i++) {
		err = add_code(m, i);
		if (err == -ENOTSUP)
			return err;
		a->n_unreadable += err != 0;
	}
	if (a->n_unreadable == a->n_places)
		return -ENODATA;
	samples_each(m, count_instruction);
	merge_lines(a);
	finish_bodies(m);
	return 0;
}

int analyze_annotation_init(struct analyze_annotation *a, const struct profile *p,
			    const struct analyze_ranges *ranges, const struct symbol_index *idx,
			    const struct symbol_code *code,
			    const struct analyze_annotate_options *options)
{
	struct making m = {
		.a = a, .p = p, .ranges = ranges, .idx = idx, .code = code, .o = options
	};
	int err;

	memset(a, 0, sizeof(*a));
	a->name = options->name;
	a->context = options->context;
	a->clock = p->clock;
	m.base = alloc_strndup(options->name, symbol_name_base_len(options->name));
	m.contexts = alloc_array(p->n_contexts, sizeof(*m.contexts));
	for (uint32_t i = 0; i < p->n_contexts; i++)
		profile_stats_init(&m.contexts[i].stats);
	err = make(&m);
	for (uint32_t i = 0; i < p->n_contexts; i++)
		profile_stats_deinit(&m.contexts[i].stats);
	free(m.contexts);
	free(m.place_of);
	free(m.base);
	return err;
}

void analyze_annotation_deinit(struct analyze_annotation *a)
{
	for (uint32_t i = 0; i < a->n_places; i++)
		free(a->places[i].chain);
	for (uint32_t i = 0; i < a->n_bodies; i++)
		free(a->bodies[i].called);
	while (a->n_texts)
		free(a->texts[--a->n_texts]);
	free(a->texts);
	free(a->lines);
	free(a->bodies);
	free(a->insns);
	free(a->places);
	memset(a, 0, sizeof(*a));
}

double analyze_annotation_cost(const struct analyze_annotation *a, const struct analyze_hits *hits)
{
	return analyze_hits_all(hits) * a->tick;
}

struct analyze_estimated analyze_annotation_share(const struct analyze_annotation *a,
						  const struct analyze_hits *hits)
{
	return analyze_binomial(analyze_hits_all(hits), a->samples);
}
