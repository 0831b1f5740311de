// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

/* 2^20 nodes take 100 MB, and their counts another 100 MB. If nodes run out, calls count for the caller's node. */
#define NODES_MAX   (1u << 20)
#define NODE_HASH   (1u << 21)
#define CALLS_HASH  (1u << 16) /* at most half full, which takes 80 MB */
#define BLOCK_HASH  (1u << 18)
#define MISSES_MAX  (1u << 20) /* takes 100 MB */
#define COUNTS_STEP 8

struct node **nodes;
struct block **blocks;
struct context **contexts;
uint32_t n_nodes, n_blocks, n_contexts;
struct losses losses;

static uint32_t cap_nodes, cap_blocks, cap_contexts;
static struct node **node_of; /* hash table by parent, site and function; open addressing */
static struct block **block_of; /* hash table by address; blocks with the same hash are linked */

/* Return the array ITEMS of N pointers, enlarged if it is full. */
static void **grow(void *items, uint32_t n, uint32_t *cap)
{
	void **old = items, **more;

	if (n < *cap)
		return old;
	*cap = *cap ? 2 * *cap : 1024;
	more = get_memory(*cap * sizeof(*more));
	if (n)
		memcpy(more, old, n * sizeof(*more));
	free(old);
	return more;
}

static uint64_t hash(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t h =
		a * 0x9e3779b97f4a7c15ull ^ b * 0xc2b2ae3d27d4eb4full ^ c * 0x165667b19e3779f9ull;

	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9ull;
	return h ^ h >> 32;
}

static struct node *add_node(struct node *parent, uint64_t site, struct function *function,
			     struct context *context)
{
	struct node *node = get_memory(sizeof(*node));

	*node = (struct node){ .parent = parent,
			       .site = site,
			       .function = function,
			       .context = context,
			       .id = n_nodes };
	nodes = (struct node **)grow(nodes, n_nodes, &cap_nodes);
	nodes[n_nodes++] = node;
	return node;
}

static struct context *find_context(enum exact_kind kind, bool command, struct function *function,
				    const struct context *by)
{
	struct context *context;

	for (uint32_t i = 0; i < n_contexts; i++)
		if (contexts[i]->kind == kind && contexts[i]->command == command &&
		    contexts[i]->function == function && contexts[i]->by == by)
			return contexts[i];
	context = get_memory(sizeof(*context));
	*context = (struct context){
		.kind = kind, .command = command, .function = function, .by = by, .id = n_contexts
	};
	context->root = add_node(NULL, 0, kind == EXACT_USER ? &user_code : NULL, context);
	contexts = (struct context **)grow(contexts, n_contexts, &cap_contexts);
	contexts[n_contexts++] = context;
	return context;
}

struct context *tree_context(enum exact_kind kind, bool command, struct function *function)
{
	return find_context(kind, command, function, NULL);
}

struct context *tree_context_by(enum exact_kind kind, const struct context *by)
{
	return find_context(kind, true, NULL, by);
}

/* Return the counts of FUNCTION's calls in CONTEXT, whatever called it, or NULL if the table is full. */
static struct calls *calls_of(struct context *context, struct function *function)
{
	static struct calls **table; /* hash table, open addressing */
	static uint32_t n;
	uint32_t at = hash(context->id, function->start, 0) & (CALLS_HASH - 1);

	if (!table)
		table = get_memory(CALLS_HASH * sizeof(struct calls *));
	for (; table[at]; at = (at + 1) & (CALLS_HASH - 1))
		if (table[at]->context == context && table[at]->function == function)
			return table[at];
	if (n == CALLS_HASH / 2)
		return NULL;
	n++;
	table[at] = get_memory(sizeof(struct calls));
	table[at]->context = context;
	table[at]->function = function;
	table[at]->min = UINT64_MAX;
	return table[at];
}

struct node *tree_child(struct node *parent, uint64_t site, struct function *function)
{
	uint32_t at = hash(parent->id, site, function->id) & (NODE_HASH - 1);
	struct node *node;

	if (!node_of)
		node_of = get_memory(NODE_HASH * sizeof(struct node *));
	for (; (node = node_of[at]); at = (at + 1) & (NODE_HASH - 1))
		if (node->parent == parent && node->site == site && node->function == function)
			return node;
	if (n_nodes >= NODES_MAX) {
		losses.nodes_full++;
		return parent;
	}
	node = add_node(parent, site, function, parent->context);
	node->distribution = calls_of(parent->context, function);
	return node_of[at] = node;
}

void tree_call(struct node *node, uint64_t total)
{
	struct calls *d = node->distribution;

	node->calls++;
	node->total += total;
	if (!d)
		return;
	d->n++;
	d->total += total;
	d->squares += (double)total * (double)total;
	d->min = total < d->min ? total : d->min;
	d->max = total > d->max ? total : d->max;
	d->slots[hist_slot(total)]++;
}

static void make_room(struct node *node, uint32_t local)
{
	uint32_t cap = local + COUNTS_STEP;
	uint64_t *counts = get_memory(cap * sizeof(*counts));

	if (node->n_counts)
		memcpy(counts, node->counts, node->n_counts * sizeof(*counts));
	free(node->counts);
	node->counts = counts;
	node->n_counts = cap;
}

void tree_execution(struct node *node, const struct block *block)
{
	/* If a callee's node did not fit, NODE gets the callee's blocks. Skip such blocks. */
	if (block->function != node->function)
		return;
	if (block->local >= node->n_counts)
		make_room(node, block->local);
	node->counts[block->local]++;
}

static struct miss *miss_of(struct node *node, struct block *block, uint16_t insn)
{
	static struct miss **table; /* hash table, open addressing */
	static uint32_t n;
	uint32_t at = hash(node->id, block ? block->addr : 0, insn) & (2 * MISSES_MAX - 1);
	struct miss *miss;

	if (!table)
		table = get_memory(2 * MISSES_MAX * sizeof(struct miss *));
	for (; (miss = table[at]); at = (at + 1) & (2 * MISSES_MAX - 1))
		if (miss->node == node && miss->block == block && miss->insn == insn)
			return miss;
	if (n == MISSES_MAX)
		return NULL;
	n++;
	miss = get_memory(sizeof(*miss));
	*miss = (struct miss){ node->misses, node, block, insn, { 0 } };
	return node->misses = table[at] = miss;
}

void tree_miss(struct node *node, struct block *block, uint16_t insn, enum model_event event)
{
	struct miss *miss;

	/* The instruction is unknown in user space, in the entry code of an exception, and in a callee without a node. */
	if (!block || block->function == &user_code || block->function != node->function ||
	    insn >= block->n) {
		block = NULL;
		insn = 0;
	}
	miss = miss_of(node, block, insn);
	if (miss)
		miss->counts[event]++;
	else
		losses.nodes_full++;
}

struct block *tree_block(uint64_t addr, uint16_t n, const uint8_t *sizes)
{
	uint32_t at = hash(addr, n, 0) & (BLOCK_HASH - 1);
	struct block *b;

	if (!block_of)
		block_of = get_memory(BLOCK_HASH * sizeof(struct block *));
	for (b = block_of[at]; b; b = b->next)
		if (b->addr == addr && b->n == n && !memcmp(b->sizes, sizes, n))
			return b;
	b = get_memory(sizeof(*b));
	*b = (struct block){ .addr = addr,
			     .n = n,
			     .end = addr,
			     .function = addr >> 63 ? symbols_at(addr) : &user_code,
			     .sizes = get_memory(n),
			     .next = block_of[at] };
	b->local = b->function->n_blocks++;
	memcpy(b->sizes, sizes, n);
	for (uint16_t i = 0; i < n; i++)
		b->end += sizes[i];
	blocks = (struct block **)grow(blocks, n_blocks, &cap_blocks);
	blocks[n_blocks++] = b;
	return block_of[at] = b;
}

void tree_shorten(struct block *b)
{
	b->end -= b->sizes[--b->n];
	b->ending = ENDS_OTHERWISE;
	b->direct = b->within = false;
}

void tree_join(struct function *part, struct function *whole)
{
	part->whole = whole;
	for (uint32_t i = 0; i < n_blocks; i++)
		if (blocks[i]->function == part) {
			blocks[i]->function = whole;
			blocks[i]->local = whole->n_blocks++;
		}
}
