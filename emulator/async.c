// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the context that queued work, such as an RCU callback, for later execution. Queued work has the address of its RCU head or
 * work item: an argument of the function that queues the work, and the first argument of the callback. A soft interrupt has the
 * number of its handler instead.
 */
#include <stdlib.h>

#include "exact.h"

/* Maximum number of queued items. Further work counts for the context that executes it, and as lost data. */
#define ITEMS_MAX (1u << 16)

static const struct {
	enum exact_kind kind;
	enum role queues, runs;
	enum guest_register
		argument; /* register with the work's address in a call of the queueing function */
	const char *what;
} kinds[] = {
	{ EXACT_RCU, ROLE_QUEUES_RCU, ROLE_RUNS_RCU, GUEST_RDI, "RCU callbacks" },
	{ EXACT_WORK, ROLE_QUEUES_WORK, ROLE_RUNS_WORK, GUEST_RDX, "work on workqueues" },
	{ EXACT_TASK_WORK, ROLE_QUEUES_TASK_WORK, ROLE_RUNS_TASK_WORK, GUEST_RSI, "task work" },
	{ EXACT_RAISED, ROLE_RAISES, ROLE_SOFTIRQ, GUEST_RDI, "soft interrupts" },
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct item {
	uint64_t address; /* address of the work, or number of the soft interrupt */
	enum exact_kind kind;
	const struct context *by;
	struct item *next; /* next item with the same hash, or next unused item */
};

static struct item *items[ITEMS_MAX]; /* hash table */
static struct item *unused;
static bool knows; /* registers can be read */

void async_begin(void)
{
	if (!guest_has_registers()) {
		fputs("exact: this QEMU does not provide registers: cannot tell who queued work, and "
		      "counts instructions twice that fault and are retried\n",
		      stderr);
		return;
	}
	for (size_t i = 0; i < N_KINDS; i++)
		if (!symbols_have(kinds[i].queues) || !symbols_have(kinds[i].runs))
			fprintf(stderr,
				"exact: cannot tell who queued %s: this kernel uses different "
				"functions for that\n",
				kinds[i].what);
	knows = true;
	unused = get_memory(ITEMS_MAX * sizeof(*unused));
	for (uint32_t i = 0; i + 1 < ITEMS_MAX; i++)
		unused[i].next = &unused[i + 1];
}

static struct item **find(enum exact_kind kind, uint64_t address)
{
	struct item **at = &items[((address + kind) * 0x9e3779b97f4a7c15ull) >> 48];

	while (*at && ((*at)->address != address || (*at)->kind != kind))
		at = &(*at)->next;
	return at;
}

/* Return the command's context that work queued in CONTEXT belongs to, or NULL. */
static const struct context *cause_of(const struct context *context)
{
	if (context->by)
		return context->by;
	if (!context->command || context->kind == EXACT_IRQ || context->kind == EXACT_SOFTIRQ)
		return NULL;
	return context;
}

static void queue(enum exact_kind kind, uint64_t address, const struct context *by)
{
	struct item **at = find(kind, address);

	if (!*at) {
		if (!unused) {
			losses.nodes_full++;
			return;
		}
		*at = unused;
		unused = unused->next;
		**at = (struct item){ .address = address, .kind = kind };
	}
	(*at)->by = by;
}

void async_called(const struct function *function, const struct context *context)
{
	const struct context *by = cause_of(context);

	/* If a timer queues delayed work again, BY is NULL: the work still belongs to the context that queued it first. */
	for (size_t i = 0; knows && by && i < N_KINDS; i++)
		if (function->role == kinds[i].queues)
			queue(kinds[i].kind, function->softirq ?: guest_register(kinds[i].argument),
			      by);
}

static struct context *run(enum exact_kind kind, uint64_t address, const struct context *context)
{
	struct item **at = find(kind, address), *item = *at;

	if (!address || !item)
		return NULL;
	*at = item->next;
	item->next = unused;
	unused = item;
	/* If the context that queued the work executes it, no other context begins. */
	return item->by == context ? NULL : tree_context_by(kind, item->by);
}

struct context *async_begins(const struct function *runner, const struct function *callback,
			     const struct context *context)
{
	for (size_t i = 0; knows && i < N_KINDS; i++)
		if (runner->role == kinds[i].runs)
			return run(kinds[i].kind,
				   runner->role == ROLE_SOFTIRQ ? callback->softirq :
								  guest_register(GUEST_RDI),
				   context);
	return NULL;
}

/* The CPU aligns the stack and pushes five words; the last is the return address. Some exceptions also push an error code. */
bool async_resumed_at(uint64_t *addr)
{
	return knows && guest_read(guest_register(GUEST_RSP) | 8, addr, sizeof(*addr));
}
