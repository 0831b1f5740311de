// SPDX-License-Identifier: GPL-2.0-or-later
#include "exact/code.h"

#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "profile/resolve.h"

/* Return the name of the function that begins at ADDR. NULL: there is none, or it is a thunk or a cold part. */
static const char *callee_at(const struct kernel_kallsyms *ks, uint64_t addr)
{
	uint64_t offset = 0;
	const struct kernel_sym *sym = addr ? kernel_kallsyms_covering(ks, addr, &offset) : NULL;
	enum arch_symbol kind = sym ? arch_symbol_of_name(sym->name) : ARCH_SYMBOL_ORDINARY;

	if (!sym || offset || kind == ARCH_SYMBOL_RETURN_THUNK ||
	    kind == ARCH_SYMBOL_INDIRECT_THUNK || strstr(sym->name, ".cold"))
		return NULL;
	return sym->name;
}

void exact_code_add(struct exact_code *c, struct profile *p, const struct kernel_kallsyms *ks,
		    uint32_t local, const struct profile_block *piece, struct exact_way way)
{
	struct profile_block item = *piece;

	while (c->n_ways <= local) {
		vec_push(c, ways, (struct exact_way){});
		vec_push(&c->list, items, (struct profile_block){});
	}
	item.location = profile_location_at(p, ks, piece->addr);
	item.addr = p->locations[item.location].addr;
	item.callee = profile_intern(p, callee_at(ks, way.target));
	/* Make the target relative to the start of PIECE's image, like item.addr. */
	way.target += way.target ? item.addr - piece->addr : 0;
	c->list.items[local] = item;
	c->ways[local] = way;
}

/* The first address of a piece of code. */
struct start {
	uint64_t addr;
	uint32_t piece;
};

static void lead_to(struct exact_code *c, uint32_t from, const struct start *starts, uint64_t addr)
{
	const struct start *to =
		search_array(&addr, starts, c->list.n_items, sizeof(*starts), compare_u64);

	if (addr && to)
		vec_push(&c->list, arcs, ((struct profile_arc){ from, to->piece }));
}

/* Connect the pieces of code by arcs. Jumps to code that was not executed have no arc. */
static void connect(struct exact_code *c, uint64_t entry)
{
	uint32_t n = c->list.n_items;
	scoped_free struct start *starts = alloc_array(n, sizeof(*starts));

	for (uint32_t i = 0; i < n; i++)
		starts[i] = (struct start){ c->list.items[i].addr, i };
	sort_array(starts, n, sizeof(*starts), compare_u64);
	c->list.entry = starts[0].piece;
	for (uint32_t i = 0; i < n; i++) {
		const struct profile_block *piece = &c->list.items[i];

		if (piece->addr == entry)
			c->list.entry = i;
		if (c->ways[i].falls)
			lead_to(c, i, starts, piece->addr + piece->bytes);
		lead_to(c, i, starts, c->ways[i].target);
	}
}

struct profile_block_counts *exact_code_counts(struct exact_code *c, struct profile *p,
					       uint32_t site, uint32_t context)
{
	if (!c->number) {
		connect(c, p->sites[site].addr);
		c->list.site = site;
		c->number = profile_blocks_add(p, &c->list) + 1;
	}
	return profile_block_counts(p, 0, c->number - 1, context);
}

void exact_code_deinit(struct exact_code *c)
{
	if (!c->number) {
		free(c->list.items);
		free(c->list.arcs);
	}
	free(c->ways);
}

/* ---- context ---- */

/* Kernel functions of system calls with another name than the system call. */
static const struct {
	const char *function, *syscall;
} renamed[] = {
	{ "newstat", "stat" },   { "newfstat", "fstat" },      { "newlstat", "lstat" },
	{ "newuname", "uname" }, { "sendfile64", "sendfile" }, { "umount", "umount2" },
};

const char *exact_context_function(const struct kernel_kallsyms *ks, const struct kernel_sym *sym)
{
	static const char ia32[] = "__ia32_sys_";
	const struct kernel_sym *const *found;
	scoped_free char *native = NULL;
	size_t n;

	if (!sym || strncmp(sym->name, ia32, sizeof(ia32) - 1) != 0)
		return sym ? sym->name : NULL;
	native = alloc_printf("__x64_sys_%s", sym->name + sizeof(ia32) - 1);
	found = kernel_kallsyms_named(ks, native, &n);
	return n && found[0]->addr == sym->addr ? found[0]->name : sym->name;
}

/* Return the name of the system call that FUNCTION implements. The caller frees the name. */
static char *syscall_name(const char *function)
{
	static const struct {
		const char *prefix, *becomes;
	} prefixes[] = {
		{ "__x64_sys_", "" },
		{ "__ia32_compat_sys_", "compat:" },
		{ "__ia32_sys_", "compat:" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t n = strlen(prefixes[i].prefix);
		const char *name = function + n;

		if (strncmp(function, prefixes[i].prefix, n) != 0)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(renamed); k++)
			if (!strcmp(name, renamed[k].function))
				name = renamed[k].syscall;
		return alloc_printf("%s%s", prefixes[i].becomes, name);
	}
	return alloc_strdup(function);
}

static char *name_of(const struct exact_context *c, const char *function, const char *by)
{
	if (by)
		return alloc_printf("%s %s", by, profile_queued_name(c->kind - EXACT_QUEUED));
	if (c->kind == EXACT_KTHREAD && function)
		return alloc_printf("[%s]", function);
	if (c->kind == EXACT_IDLE)
		return alloc_strdup("[idle]");
	if (!c->command)
		return alloc_strdup("[other tasks]");
	switch (c->kind) {
	case EXACT_SYSCALL:
		return syscall_name(function ?: "[syscall]");
	case EXACT_PAGE_FAULT:
		return alloc_strdup(profile_context_name(PROFILE_CONTEXT_PAGE_FAULT));
	case EXACT_IRQ:
		return alloc_strdup(profile_context_name(PROFILE_CONTEXT_IRQ));
	case EXACT_SOFTIRQ:
		return alloc_strdup(profile_queued_name(PROFILE_QUEUED_SOFTIRQ));
	default:
		return alloc_strdup(profile_context_name(PROFILE_CONTEXT_NONE));
	}
}

void exact_context_init(struct exact_context *c, struct profile *p, enum exact_kind kind,
			bool command, const char *function, const struct exact_context *by)
{
	scoped_free char *name;

	*c = (struct exact_context){ .kind = kind, .command = command };
	name = name_of(c, function, by ? p->contexts[by->profile].name : NULL);
	c->profile = profile_context_add(p, name);
}

void exact_context_entered_by(struct exact_context *c, uint32_t function)
{
	if (!exact_context_is_entered_by(c, function))
		vec_push(c, entered_by, function);
}

bool exact_context_is_entered_by(const struct exact_context *c, uint32_t function)
{
	if (c->kind == EXACT_NONE || !c->command)
		return false;
	for (uint32_t i = 0; i < c->n_entered_by; i++)
		if (c->entered_by[i] == function)
			return true;
	return false;
}

/* ---- trace ---- */

#define PERIOD_MAX 128 /* longest sequence of items of a call that is folded into a loop */
#define ROWS_MAX   (1u << 17) /* lines of a trace: 2 MB in a file */

struct exact_trace_item {
	enum profile_trace_kind kind;
	uint32_t location;
	uint64_t times;
	uint64_t insns; /* instructions per iteration */
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

/* Set the hash and the number of instructions of ITEM from the items in its body. */
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

/* If the last items of LIST repeat the items before them, fold all of them into a loop. */
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
	/* If another function is open at this depth, it is a thunk that jumped to FUNCTION. */
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
