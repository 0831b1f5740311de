// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/conditions.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/cfg/stop.h"
#include "profile/resolve.h"

/* Maximum number of loops whose conditions are searched. Reading the DWARF of one compilation unit takes some milliseconds. */
#define MAX_LOOPS 256

struct kernel_graph profile_blocks_graph(const struct profile_blocks *blocks)
{
	struct kernel_graph graph = { .n_blocks = blocks->n_items, .entry = blocks->entry };

	for (uint32_t i = 0; i < blocks->n_arcs; i++) {
		struct kernel_arc arc = { blocks->arcs[i].from, blocks->arcs[i].to };

		vec_push(&graph, arcs, arc);
	}
	return graph;
}

struct work {
	struct profile *p;
	uint64_t *executed; /* executions of blocks; function F's start at executed[first[F]] */
	uint32_t *first; /* for each function: index of its first block in EXECUTED */
	/* Loops, sorted by the number of instructions executed in them, most first. */
	struct candidate {
		uint32_t blocks, loop;
		uint64_t insns;
	} * loops;
	uint32_t n_loops, cap_loops;
};

static void count(struct work *w)
{
	const struct profile *p = w->p;
	uint32_t n = 0;

	w->first = alloc_array(p->n_blocks, sizeof(*w->first));
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		w->first[i] = n;
		n += p->blocks[i].n_items;
	}
	w->executed = alloc_array(n, sizeof(*w->executed));
	vec_each(const struct profile_block_counts, c, p, block_counts)
		for (uint32_t b = 0; b < c->n_counts; b++)
			if (c->counts[b] != PROFILE_NOT_COUNTED)
				w->executed[w->first[c->blocks] + b] += c->counts[b];
}

static void add_loops(struct work *w, uint32_t index)
{
	const struct profile_blocks *blocks = &w->p->blocks[index];
	const uint64_t *executed = &w->executed[w->first[index]];
	scoped(kernel_graph_clear) struct kernel_graph graph = profile_blocks_graph(blocks);
	scoped(kernel_loops_clear) struct kernel_loops loops;

	kernel_loops_find(&graph, &loops);
	for (uint32_t l = 0; l < loops.n_loops; l++) {
		struct candidate c = { index, l, 0 };

		for (uint32_t b = 0; b < blocks->n_items; b++)
			if (kernel_loop_has(&loops, l, b))
				c.insns += executed[b] * blocks->items[b].insns;
		if (c.insns)
			vec_push(w, loops, c);
	}
}

define_compare(by_insns, struct candidate,
	       compare_values(b->insns, a->insns)           ?:
		       compare_values(a->blocks, b->blocks) ?:
							      compare_values(a->loop, b->loop));

static void resolve(struct profile *p, struct kernel_stops *stops, const struct candidate *c)
{
	const struct profile_blocks *blocks = &p->blocks[c->blocks];
	scoped(kernel_graph_clear) struct kernel_graph graph = profile_blocks_graph(blocks);
	scoped_free struct kernel_stop_block *places =
		alloc_array(blocks->n_items, sizeof(*places));
	scoped(kernel_loops_clear) struct kernel_loops loops;
	scoped_free char *text;

	kernel_loops_find(&graph, &loops);
	for (uint32_t b = 0; b < blocks->n_items; b++)
		places[b] =
			(struct kernel_stop_block){ blocks->items[b].addr, blocks->items[b].bytes };
	text = kernel_stop_of(stops, &(struct kernel_stop_function){ &graph, &loops, places },
			      c->loop);
	if (text && strlen(text) < PROFILE_NAME_MAX)
		profile_condition_set(p, blocks->items[loops.loops[c->loop].head].location, text);
}

/* Find the conditions under which W's loops in MODULE (NULL: in the kernel's image) continue. */
static void resolve_in(struct work *w, const char *module, const char *vmlinux)
{
	struct kernel_stops *stops = NULL;
	scoped(kernel_image_destroy_at) struct kernel_image *img = NULL;
	scoped_free char *why_not = NULL;

	for (uint32_t i = 0; i < w->n_loops && i < MAX_LOOPS; i++) {
		const struct profile_blocks *blocks = &w->p->blocks[w->loops[i].blocks];

		if (!profile_site_is_in(&w->p->sites[blocks->site], module))
			continue;
		if (!img && module)
			img = profile_module_image(w->p, module);
		else if (!img && profile_image(w->p, vmlinux, &img, &why_not))
			img = NULL;
		if (!stops && img)
			stops = kernel_stops_create(img);
		if (!stops)
			break;
		resolve(w->p, stops, &w->loops[i]);
	}
	kernel_stops_destroy(stops);
}

void profile_resolve_conditions(struct profile *p, const char *vmlinux)
{
	struct work w = { .p = p };

	count(&w);
	for (uint32_t i = 0; i < p->n_blocks; i++)
		add_loops(&w, i);
	sort_array(w.loops, w.n_loops, sizeof(*w.loops), by_insns);
	resolve_in(&w, NULL, vmlinux);
	for (uint32_t i = 0; i < p->n_envs; i++) {
		const char *module = profile_module_of_env(&p->envs[i]);

		if (module)
			resolve_in(&w, module, NULL);
	}
	free(w.loops);
	free(w.executed);
	free(w.first);
}
