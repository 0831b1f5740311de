// SPDX-License-Identifier: GPL-2.0-or-later
#include "exact/trace.h"

#include "base/alloc.h"

#define PERIOD_MAX 128 /* of what repeats, in items of one call */
#define ROWS_MAX   (1u << 17) /* 2 MB in a file */

struct exact_trace_item {
	enum profile_trace_kind kind;
	uint32_t location;
	uint64_t times;
	uint64_t insns; /* of one turn */
	uint64_t hash;
	struct exact_trace_list body;
};

static void item_free(struct exact_trace_item *item)
{
	for (uint32_t i = 0; i < item->body.n_items; i++)
		item_free(&item->body.items[i]);
	free(item->body.items);
}

static bool is_same(const struct exact_trace_item *a, const struct exact_trace_item *b, uint32_t n)
{
	while (n-- > 0)
		if (a[n].hash != b[n].hash || a[n].times != b[n].times)
			return false;
	return true;
}

static void mix(uint64_t *hash, uint64_t value)
{
	*hash = (*hash ^ value) * 0x9e3779b97f4a7c15ull;
	*hash ^= *hash >> 29;
}

/* Set the hash and the number of instructions of ITEM from its body. */
static void sum_up(struct exact_trace_item *item)
{
	item->hash = item->kind;
	mix(&item->hash, item->location);
	if (item->kind == PROFILE_TRACE_LINE)
		mix(&item->hash, item->insns);
	else
		item->insns = 0;
	vec_each(const struct exact_trace_item, of, &item->body, items) {
		mix(&item->hash, of->hash);
		mix(&item->hash, of->times);
		item->insns += of->times * of->insns;
	}
}

static void drop(struct exact_trace_list *list, uint32_t n)
{
	while (n-- > 0)
		item_free(&list->items[--list->n_items]);
}

/* Makes one of the end of LIST where its last items are what was there before. */
static void fold(struct exact_trace_list *list)
{
	for (uint32_t n = 1; n <= PERIOD_MAX && n < list->n_items; n++) {
		struct exact_trace_item *tail = &list->items[list->n_items - n], *loop = tail - 1;
		struct exact_trace_item made = { .kind = PROFILE_TRACE_LOOP, .times = 2 };

		if (loop->kind == PROFILE_TRACE_LOOP && loop->body.n_items == n &&
		    is_same(loop->body.items, tail, n)) {
			loop->times++;
			drop(list, n);
			return;
		}
		if (list->n_items < 2 * n || !is_same(tail - n, tail, n))
			continue;
		drop(list, n);
		made.location = list->items[list->n_items - n].location;
		for (uint32_t i = list->n_items - n; i < list->n_items; i++)
			vec_push(&made.body, items, list->items[i]);
		list->n_items -= n;
		sum_up(&made);
		vec_push(list, items, made);
		return;
	}
}

static void append(struct exact_trace_list *list, struct exact_trace_item item)
{
	sum_up(&item);
	vec_push(list, items, item);
	fold(list);
}

static void close_last(struct exact_trace_list *open)
{
	struct exact_trace_item item = open->items[--open->n_items];

	append(&open->items[open->n_items - 1].body, item);
}

void exact_trace_step(struct exact_trace *t, uint32_t depth, uint32_t function, uint32_t location,
		      uint32_t insns)
{
	struct exact_trace_item call = { PROFILE_TRACE_CALL, .location = function, .times = 1 };
	const struct exact_trace_item line = { PROFILE_TRACE_LINE, .location = location, .times = 1,
					       .insns = insns };
	struct exact_trace_list *open = &t->open;

	while (open->n_items > depth + 1)
		close_last(open);
	/* Behind a thunk comes what it was called for. */
	if (open->n_items == depth + 1 && depth && open->items[depth].location != function)
		close_last(open);
	while (open->n_items < depth + 1)
		vec_push(open, items, call);
	append(&open->items[depth].body, line);
}

static void emit(struct profile *p, const struct exact_trace_item *item, uint32_t depth,
		 uint64_t *lost)
{
	const struct profile_trace row = { .kind = item->kind,
					   .depth = depth,
					   .location = item->location,
					   .times = item->times,
					   .insns = item->insns };

	if (p->n_traces >= ROWS_MAX) {
		++*lost;
		return;
	}
	vec_push(p, traces, row);
	for (uint32_t i = 0; i < item->body.n_items; i++)
		emit(p, &item->body.items[i], depth + 1, lost);
}

void exact_trace_finish(struct exact_trace *t, struct profile *p)
{
	struct exact_trace_item *call = t->open.items;

	if (!t->open.n_items)
		return;
	while (t->open.n_items > 1)
		close_last(&t->open);
	sum_up(call);
	emit(p, call, 0, &t->lost);
	if (t->lost) {
		const struct profile_trace lost = { .kind = PROFILE_TRACE_LOST,
						    .depth = 1,
						    .location = call->location,
						    .times = t->lost };

		vec_push(p, traces, lost);
	}
	item_free(call);
	free(t->open.items);
}
