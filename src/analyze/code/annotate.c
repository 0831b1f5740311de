// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/code/annotate.h"

#include <errno.h>
#include <math.h>

#include "analyze/blocks/blocks.h"
#include "analyze/code/annotate_impl.h"
#include "analyze/inline/bodies.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/image/name.h"

/* Return the index of the function with this ID that is inlined into PLACE, or ANALYZE_NO_BODY. PLACE's own BODY has no index. */
static uint32_t body_find(const struct analyze_annotation *a, const struct analyze_place *place,
			  uint32_t id)
{
	for (uint32_t i = 0; i < place->n_bodies; i++)
		if (a->bodies[place->first_body + i].body.id == id)
			return place->first_body + i;
	return ANALYZE_NO_BODY;
}

/* Return whether the inlined function BODY lies within PLACE. BODY's parent has a lower id, so A->bodies has this parent. */
static bool body_is_within(const struct analyze_annotation *a, const struct analyze_place *place,
			   const struct kernel_body *body)
{
	if (!place->is_inlined)
		return true;
	return body->parent == place->body.id ||
	       (body->parent != KERNEL_NONE &&
		body_find(a, place, body->parent) != ANALYZE_NO_BODY);
}

static void name_body(struct analyze_annotation *a, struct analyze_code_body *b)
{
	b->depth = 1;
	if (b->parent != ANALYZE_NO_BODY) {
		b->chain = a->bodies[b->parent].path;
		b->depth = a->bodies[b->parent].depth + 1;
	}
	b->path = alloc_keep(&a->texts, analyze_chain_add(b->body.name, b->chain));
	if (b->body.call_file)
		b->called = alloc_keep(&a->texts,
				       alloc_printf("%s:%u", b->body.call_file, b->body.call_line));
}

static void add_bodies(struct making *m, uint32_t number)
{
	struct analyze_annotation *a = m->a;
	struct analyze_place *place = &a->places[number];

	place->first_body = a->n_bodies;
	for (uint32_t i = 0; i < place->function.n_bodies; i++) {
		struct analyze_code_body b = { .place = number };

		if (kernel_index_body(m->idx, place->function.first_body + i, &b.body) ||
		    !body_is_within(a, place, &b.body))
			continue;
		b.parent = b.body.parent == KERNEL_NONE ? ANALYZE_NO_BODY :
							  body_find(a, place, b.body.parent);
		name_body(a, &b);
		if (b.depth > ANNOTATE_MAX_DEPTH)
			continue;
		vec_push(a, bodies, b);
		place->n_bodies++;
	}
}

/* Return whether INSN is padding: no path in the function reaches it, and it does nothing or traps. */
static bool is_padding(const struct kernel_insn *insn)
{
	return !(insn->flags & KERNEL_INSN_REACHED) &&
	       (insn->kind == KERNEL_INSN_NOP || insn->kind == KERNEL_INSN_TRAP ||
		insn->kind == KERNEL_INSN_BAD);
}

/* Block counts of one function in the requested contexts. */
struct counted {
	const struct profile_blocks *blocks; /* NULL: the function has no counts */
	uint64_t *counts;
	double calls;
	double elsewhere; /* executions of code outside of blocks: 0 if exact, else NAN */
};

static uint32_t context_find(const struct making *m)
{
	for (uint32_t i = 0; m->o->context && i < m->p->n_contexts; i++)
		if (!strcmp(m->p->contexts[i].name, m->o->context))
			return i;
	return ANALYZE_IN_ALL_CONTEXTS;
}

static void counted_init(struct counted *c, const struct making *m,
			 const struct analyze_place *place)
{
	struct analyze_counted counted;

	memset(c, 0, sizeof(*c));
	c->calls = NAN;
	c->elsewhere = profile_is_exact(m->p) ? 0 : NAN;
	for (uint32_t i = 0; i < m->p->n_blocks && !c->blocks; i++) {
		const struct profile_site *site = &m->p->sites[m->p->blocks[i].site];

		if (!profile_site_is_in(site, m->o->module) || site->addr != place->function.addr)
			continue;
		c->blocks = &m->p->blocks[i];
		c->counts = alloc_array(c->blocks->n_items, sizeof(*c->counts));
		analyze_counted_init(&counted, m->p);
		c->calls =
			(double)analyze_counted_sum(&counted, i, context_find(m), c->counts, NULL);
		analyze_counted_deinit(&counted);
	}
}

/* Return the number of executions of the instruction at ADDR, or NAN. */
static double executions_at(const struct counted *c, uint64_t addr)
{
	const struct profile_block *items = c->blocks ? c->blocks->items : NULL;
	uint32_t n = items ? bisect(c->blocks->n_items, i, items[i].addr <= addr) : 0;

	if (!n || addr - items[n - 1].addr >= items[n - 1].bytes)
		return items ? c->elsewhere : NAN;
	if (c->counts[n - 1] == PROFILE_NOT_COUNTED)
		return NAN;
	return (double)c->counts[n - 1];
}

static void add_instruction(struct making *m, struct analyze_place *place,
			    const struct counted *counted, const struct kernel_insn *insn)
{
	struct analyze_annotation *a = m->a;
	struct analyze_instruction i = { .insn = *insn };
	struct kernel_place at;

	if (place->is_inlined &&
	    !annotate_is_in_ranges(place->body.ranges, place->body.n_ranges, insn->addr))
		return;
	if (kernel_index_at(m->idx, insn->addr, &at))
		return;
	i.symbol = at.symbol;
	i.offset = at.offset;
	i.body = at.body == KERNEL_NONE ? ANALYZE_NO_BODY : body_find(a, place, at.body);
	i.executions = executions_at(counted, insn->addr);
	i.per_call = i.executions / counted->calls;
	/* This index is preliminary: merge_lines() replaces it. */
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

/* Add inlined functions, instructions, and a line for each instruction of place NUMBER. Return 0 or kernel_flow_of()'s error. */
static int annotate_add_code(struct making *m, uint32_t number)
{
	struct analyze_place *place = &m->a->places[number];
	struct kernel_flow *flow;
	struct counted counted;
	int err = kernel_flow_of(m->code, place->function.addr, &flow);

	place->first_insn = m->a->n_insns;
	if (err)
		return err;
	add_bodies(m, number);
	place->problems = flow->problems;
	counted_init(&counted, m, place);
	m->a->counted |= counted.blocks != NULL;
	vec_each(const struct kernel_insn, insn, flow, insns)
		if (!is_padding(insn))
			add_instruction(m, place, &counted, insn);
	free(counted.counts);
	kernel_flow_destroy(flow);
	return 0;
}

static struct analyze_instruction *instruction_at(const struct analyze_annotation *a,
						  const struct analyze_place *place, uint64_t addr)
{
	struct analyze_instruction *insns = a->insns + place->first_insn;
	uint32_t n = bisect(place->n_insns, i, insns[i].insn.addr <= addr);

	return n && addr - insns[n - 1].insn.addr < insns[n - 1].insn.len ? &insns[n - 1] : NULL;
}

static void count_instruction(struct making *m, const struct profile_sample *s, uint32_t number,
			      uint32_t depth)
{
	const struct analyze_place *place = &m->a->places[number];
	uint32_t location = m->p->stacks[s->stack].locations[depth];
	struct analyze_hits hits = annotate_hits_of(s, depth);
	struct analyze_instruction *i;

	if (annotate_is_at_return(s, depth))
		return;
	i = instruction_at(m->a, place, m->p->locations[location].addr);
	if (i)
		annotate_hits_add(&i->hits, &hits);
	else
		m->a->astray += analyze_hits_all(&hits);
}

define_compare(line_compare, struct analyze_line,
	       compare_text(a->path, b->path)         ?:
		       compare_text(a->file, b->file) ?:
							compare_values(a->line, b->line));

/* Unite equal lines. Before, each instruction has a line of its own, which has the instruction's index in N_INSNS. */
static void merge_lines(struct analyze_annotation *a)
{
	uint32_t n = 0;

	sort_array(a->lines, a->n_lines, sizeof(*a->lines), line_compare);
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
		annotate_hits_add(&line->hits, &insn->hits);
		insn->line = n - 1;
	}
	a->n_lines = n;
}

static void sum_executions(struct analyze_annotation *a)
{
	for (uint32_t i = 0; a->counted && i < a->n_insns; i++) {
		if (isnan(a->insns[i].per_call))
			a->n_unknown++;
		else
			a->per_call += a->insns[i].per_call;
	}
}

static void body_take(struct analyze_annotation *a, struct analyze_code_body *b,
		      const struct analyze_instruction *i)
{
	const struct analyze_line *line = &a->lines[i->line];

	b->n_insns++;
	b->per_call += i->per_call;
	annotate_hits_add(&b->own, &i->hits);
	if (!line->line || !annotate_same(line->file, b->body.file))
		return;
	if (!b->first_line || line->line < b->first_line)
		b->first_line = line->line;
	if (line->line > b->last_line)
		b->last_line = line->line;
}

/* Return the time of the inlined function B in the requested context, or NULL. */
static const struct analyze_range *range_find(const struct making *m,
					      const struct analyze_code_body *b)
{
	scoped_free char *chain = kernel_index_chain(m->idx, b->body.id, PROFILE_CHAIN);
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
	return found;
}

static void finish_bodies(struct making *m)
{
	struct analyze_annotation *a = m->a;

	for (uint32_t i = 0; i < a->n_insns; i++)
		if (a->insns[i].body != ANALYZE_NO_BODY)
			body_take(a, &a->bodies[a->insns[i].body], &a->insns[i]);
	/* Visit inner functions before outer ones: outer ones have lower indexes. */
	for (uint32_t i = a->n_bodies; i-- > 0;) {
		struct analyze_code_body *b = &a->bodies[i];

		annotate_hits_add(&b->hits, &b->own);
		if (b->parent != ANALYZE_NO_BODY) {
			annotate_hits_add(&a->bodies[b->parent].hits, &b->hits);
			a->bodies[b->parent].per_call += b->per_call;
		}
		if (analyze_hits_all(&b->hits) > 0 || a->n_bodies < 1000)
			b->range = range_find(m, b);
	}
}

/* Return whether the probes of SITE measure the time of the annotated function's calls. */
static bool is_site_of(const struct making *m, const struct profile_site *site)
{
	if (site->estimated || site->kind == PROFILE_SITE_CONTEXT ||
	    !profile_site_is_in(site, m->o->module))
		return false;
	/* Do not compare SITE->symbol, since this is the function around the inlined function. */
	if (site->kind == PROFILE_SITE_RANGE)
		return annotate_same(site->name, m->o->name) &&
		       (!m->o->within || annotate_same(site->into, m->o->within));
	return !m->o->within &&
	       (annotate_same(site->name, m->o->name) || annotate_same(site->symbol, m->o->name));
}

/* Merge the statistics of the function's calls for each context, and for all contexts together. */
static void form_figures(struct making *m)
{
	const struct analyze_options corrected = { .time = ANALYZE_TIME_ONCPU };
	scoped(profile_stats_deinit) struct profile_stats all;

	m->a->figures = analyze_figures_none;
	profile_stats_init(&all);
	vec_each(const struct profile_cell, cell, m->p, cells) {
		if (is_site_of(m, &m->p->sites[cell->site]) &&
		    m->p->runs[cell->run].kind != PROFILE_RUN_CONTROL &&
		    annotate_is_context(m, cell->context)) {
			profile_stats_merge(&m->contexts[cell->context].stats, &cell->stats);
			profile_stats_merge(&all, &cell->stats);
		}
	}
	if (all.calls)
		analyze_figures_form(&m->a->figures, &all, &corrected);
}

/* Set the time of a sample in each context: sampled time divided by samples, or the sampling period if this time is unknown. */
static void form_ticks(struct making *m)
{
	for (uint32_t i = 0; i < m->p->n_contexts; i++) {
		struct context *c = &m->contexts[i];

		c->tick = m->p->sample_period ? (double)m->p->sample_period : NAN;
		vec_each(const struct analyze_range_context, known, m->ranges, contexts)
			if (!strcmp(known->name, m->p->contexts[i].name) &&
			    !isnan(known->sampled) && known->samples > 0)
				c->tick = known->sampled / known->samples;
	}
}

/*
 * Return the number of samples at the function's return that belong to the function. The kernel took samples at the return late,
 * since interrupts were off in the function or in its probes. The function's time without probe cost tells how many samples the
 * function should have. The other samples belong to the probes.
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
	a->runs = profile_probed_runs(m->p);
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

	annotate_find_places(m);
	if (!a->n_places)
		return -ENOENT;
	annotate_select_places(m);
	form_figures(m);
	form_ticks(m);
	form_samples(m);
	for (uint32_t i = 0; i < a->n_places; i++) {
		err = annotate_add_code(m, i);
		if (err == -ENOTSUP)
			return err;
		a->n_unreadable += err != 0;
	}
	if (a->n_unreadable == a->n_places)
		return -ENODATA;
	annotate_samples_each(m, count_instruction);
	merge_lines(a);
	sum_executions(a);
	finish_bodies(m);
	return 0;
}

int analyze_annotation_init(struct analyze_annotation *a, const struct profile *p,
			    const struct analyze_ranges *ranges, const struct kernel_index *idx,
			    const struct kernel_code *code,
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
	a->exact = profile_is_exact(p);
	m.base = alloc_strndup(options->name, kernel_name_base_len(options->name));
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
	alloc_texts_free(&a->texts);
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
	double share = analyze_hits_all(hits) / a->samples;

	return a->exact ? (struct analyze_estimated){ share, share, share } :
			  analyze_binomial(analyze_hits_all(hits), a->samples);
}
