// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fill a tree from recordings by probes: contexts (system calls and interrupts), timed functions in each context, and timed
 * inlined functions in these. Own times exclude timed callees, so a context's own time is the time outside of all timed functions.
 */
#include <math.h>
#include <string.h>

#include "analyze/figures/table.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "profile/conditions.h"
#include "tree/fill.h"

define_compare(by_name, char *const, strcmp(*a, *b));

/* Return an array by site, for free(): true if kernel SIDE inlines the function and the other kernel times it as a function. */
static bool *find_called(const struct tree *t, int side)
{
	const struct profile *p = t->p[side], *other = t->p[!side];
	bool *called = alloc_array(p->n_sites, sizeof(*called));
	scoped_free const char **names = alloc_array(other->n_sites, sizeof(*names));
	size_t n = 0;

	vec_each(const struct profile_site, site, other, sites)
		if (!site->into)
			names[n++] = site->name;
	sort_array(names, n, sizeof(*names), by_name);
	for (uint32_t k = 0; k < p->n_sites; k++)
		called[k] = p->sites[k].into &&
			    search_array(&p->sites[k].name, names, n, sizeof(*names), by_name);
	return called;
}

/* Return the node of CELL. If CALLED, put an inlined function below its context, where the other kernel has this function. */
static uint32_t node_of(struct tree *t, const struct profile *p, const struct profile_cell *cell,
			int side, bool called)
{
	const struct profile_site *site = &p->sites[cell->site];
	uint32_t node = tree_find_or_add(
		t, &(struct tree_key){ TREE_ROOT, p->contexts[cell->context].name });

	if (!cell->site || t->n_nodes >= t->max_nodes)
		return node;
	if (site->into && !called)
		node = tree_find_or_add(t, &(struct tree_key){ node, site->into });
	node = tree_find_or_add(t, &(struct tree_key){ node, site->name });
	t->nodes[node].inlined[side] |= site->into != NULL;
	return node;
}

/*
 * Return the standard deviation of CELL's own time, from the differences between its calls. Return 0 if repetitions exist, since
 * these show the deviation. Even one call varies: the execve() that starts tar differs by up to 6 % between two boots.
 */
static double chance(const struct tree *t, const struct profile_cell *cell)
{
	const struct analyze_options options = { .time = ANALYZE_TIME_ONCPU };
	double self = fabs((double)(int64_t)cell->stats.self);
	struct analyze_figures f;

	if (t->has_runs)
		return 0;
	if (cell->stats.calls == 1)
		return LITTLE * self;
	analyze_figures_form(&f, &cell->stats, &options);
	return !isnan(f.spread) && f.total > 0 ? sqrt(f.calls) * f.spread * self / f.total : 0;
}

void tree_fill_probed(struct tree *t, int side)
{
	const struct profile *p = t->p[side];
	scoped(analyze_calibration_deinit) struct analyze_calibration calibration;
	scoped_free bool *called = find_called(t, side);

	analyze_calibration_init(&calibration, p, ANALYZE_OF_TIME);
	vec_each(const struct profile_cell, cell, p, cells) {
		uint32_t column = tree_column(t, side, cell->run);
		struct tree_value *value;
		uint32_t node;
		double *doubt;

		if (column == TREE_NONE)
			continue;
		node = node_of(t, p, cell, side, called[cell->site]);
		doubt = &t->nodes[node].own_doubt[side];
		*doubt = hypot(*doubt, chance(t, cell) / t->n_runs[side]);
		value = tree_value_of(t, node, column);
		value->insns += (double)(int64_t)cell->stats.self;
		value->error += analyze_calibration_uncertainty(&calibration, p, cell);
		value->times += (double)cell->stats.calls;
		value->seen = true;
	}
}

/*
 * Add functions whose basic blocks were counted. Block probes distort a function's time, so move this time to the context and
 * increase the context's uncertainty. If the clock counts instructions, move the blocks' instructions back to the function.
 */

struct filler {
	struct tree *t;
	const struct profile *p;
	int side;
	vec_of(struct tree_times, times);
};

static uint32_t find_context(struct tree *t, const struct profile *p, uint32_t context)
{
	return tree_find_or_add(t, &(struct tree_key){ TREE_ROOT, p->contexts[context].name });
}

/* CELL is a function whose basic blocks were counted. Move CELL's time to its context. */
static void move_time(const struct filler *f, const struct profile_cell *cell)
{
	uint32_t column = tree_column(f->t, f->side, cell->run);
	uint32_t context = find_context(f->t, f->p, cell->context);
	const struct tree_key key = { context, f->p->sites[cell->site].name };
	double self = (double)(int64_t)cell->stats.self;
	struct tree_value *from, *to;
	uint32_t node = tree_find(f->t, &key);

	/* If a function has no node, the context already has its time. */
	if (column == TREE_NONE || node == TREE_NONE)
		return;
	from = tree_value_of(f->t, node, column);
	to = tree_value_of(f->t, context, column);
	to->insns += self;
	to->error += from->error + fabs(self);
	from->insns -= self;
	from->error = 0;
	f->t->nodes[node].own_doubt[f->side] = 0;
}

/* BLOCK in NODE makes TIMES calls. Add these calls to the callee, unless it is timed: then they are already counted. */
static void add_callee(struct filler *f, uint32_t node, uint32_t context,
		       const struct profile_block *block, const struct tree_times *times)
{
	struct tree_value *value;

	if (!block->callee || f->t->n_nodes >= f->t->max_nodes ||
	    tree_find(f->t, &(struct tree_key){ context, block->callee }) != TREE_NONE)
		return;
	node = tree_find_or_add(f->t, &(struct tree_key){ node, block->callee });
	value = tree_value_of(f->t, node, times->column);
	value->times += times->times;
	value->seen = true;
}

/* Add TIMES executions of BLOCK. The block is in the node FUNCTION, or in functions inlined there. */
static void add_block(struct filler *f, uint32_t function, uint32_t context,
		      const struct profile_block *block, struct tree_times times)
{
	const struct profile_location *l = &f->p->locations[block->location];
	double insns = times.times * block->insns;

	times.node = function;
	times.location = block->location;
	for (uint32_t k = l->n_frames; k-- > 0 && f->t->n_nodes < f->t->max_nodes;) {
		times.frame = &l->frames[k];
		if (times.frame->inlined) {
			times.node = tree_find_or_add(
				f->t, &(struct tree_key){ times.node, times.frame->name });
			f->t->nodes[times.node].inlined[f->side] = true;
		}
		tree_extend(&f->t->nodes[times.node], times.frame, f->side);
	}
	add_callee(f, times.node, context, block, &times);
	if (times.frame && times.frame->line) {
		tree_line_value(f->t, times.node, times.frame, times.column)->insns += insns;
		vec_push(f, times, times);
	}
	tree_value_of(f->t, times.node, times.column)->seen = true;
	if (f->p->clock == PROFILE_CLOCK_INSN) {
		tree_value_of(f->t, times.node, times.column)->insns += insns;
		tree_value_of(f->t, context, times.column)->insns -= insns;
	}
}

static void add_counts(struct filler *f, const struct profile_block_counts *c)
{
	const struct profile_blocks *blocks = &f->p->blocks[c->blocks];
	uint32_t column = tree_column(f->t, f->side, c->run), context, function;

	if (column == TREE_NONE)
		return;
	context = find_context(f->t, f->p, c->context);
	function = tree_find_or_add(f->t,
				    &(struct tree_key){ context, f->p->sites[blocks->site].name });
	for (uint32_t i = 0; i < c->n_counts; i++)
		if (c->counts[i] && c->counts[i] != PROFILE_NOT_COUNTED)
			add_block(f, function, context, &blocks->items[i],
				  (struct tree_times){ .column = column,
						       .times = (double)c->counts[i] });
}

void tree_fill_counted(struct tree *t, int side)
{
	struct filler f = { .t = t, .p = t->p[side], .side = side };
	scoped_free bool *counted = alloc_array(f.p->n_sites, sizeof(*counted));

	vec_each(const struct profile_blocks, blocks, f.p, blocks)
		counted[blocks->site] = true;
	vec_each(const struct profile_cell, cell, f.p, cells)
		if (counted[cell->site])
			move_time(&f, cell);
	vec_each(const struct profile_block_counts, c, f.p, block_counts)
		add_counts(&f, c);
	f.n_times = tree_times_unite(f.times, f.n_times);
	tree_times_add(t, side, f.times, f.n_times);
	free(f.times);
}

/* ---- executions of instructions, from exact recordings and counted basic blocks ---- */

define_compare(by_instruction, struct tree_times,
	       compare_values(a->node, b->node)                 ?:
		       compare_values(a->location, b->location) ?:
		       compare_values(a->column, b->column));

static void times_add(void *to, void *from)
{
	((struct tree_times *)to)->times += ((struct tree_times *)from)->times;
}

size_t tree_times_unite(struct tree_times *all, size_t n)
{
	return unite_array(all, n, sizeof(*all), by_instruction, times_add);
}

double tree_times_per_run(const struct tree *t, int side, const struct tree_times *times, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += times[i].times;
	return sum / t->n_runs[side];
}

/* If the instruction HEAD begins a loop, add the loop to HEAD's node and to the functions around this node. */
static void add_loop(struct tree *t, int side, const struct tree_times *head, double times)
{
	const struct profile *p = t->p[side];
	const struct profile_location *l = &p->locations[head->location];
	struct tree_loop loop = { head->node, side, times,
				  profile_condition_of(p, head->location) };

	for (uint32_t k = 0; k < l->n_frames && loop.node && loop.condition; k++) {
		vec_push(t, loops, loop);
		loop.node = t->nodes[loop.node].parent;
	}
}

void tree_times_add(struct tree *t, int side, const struct tree_times *all, size_t n)
{
	for_each_run(i, j, n, tree_times_same(&all[i], &all[j])) {
		for (size_t k = i; k < j; k++) {
			struct tree_value *line =
				tree_line_value(t, all[k].node, all[k].frame, all[k].column);

			line->times = fmax(line->times, all[k].times);
		}
		add_loop(t, side, &all[i], tree_times_per_run(t, side, &all[i], j - i));
	}
}
