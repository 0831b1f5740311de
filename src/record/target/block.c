// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/block.h"

#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/log.h"
#include "kernel/code/flow_function.h"
#include "record/engine/features.h"

struct planner {
	struct record_blocks *blocks;
	struct record_symbols *symbols;
	const struct record_image *in; /* image of the function that is being planned */
	struct kernel_flow *flow; /* flow graph of the function that is being planned */
};

/* Return whether no block probe may be at ADDR. The function's entry needs none, since the function's own probes count calls. */
static bool is_blacklisted(uint64_t addr, void *arg)
{
	const struct planner *pl = arg;
	const struct kernel_insn *insn = kernel_flow_insn_at(pl->flow, addr);

	return addr == pl->flow->entry || (insn && insn->flags & KERNEL_INSN_FTRACE) ||
	       record_symbols_is_blacklisted(pl->symbols, pl->in->base + addr);
}

/* Return why the blocks in the flow graph FLOW cannot be counted; NULL: they can be counted. */
static const char *why_not(const struct kernel_flow *flow)
{
	unsigned int problems = flow->problems;

	if (problems & KERNEL_FLOW_NOT_LIVE)
		return KERNEL_FLOW_NOT_LIVE_TEXT;
	if (problems & KERNEL_FLOW_HIDDEN)
		return "another probe hides one of its instructions";
	if (problems & (KERNEL_FLOW_BAD_CODE | KERNEL_FLOW_MISALIGNED | KERNEL_FLOW_CUT |
			KERNEL_FLOW_FALLS_OUT))
		return "its code cannot be decoded";
	return NULL;
}

/* Return whether NAME is a thunk of a retpoline, which does not tell the name of the called function. */
static bool is_thunk(const char *name)
{
	enum arch_symbol kind = arch_symbol_of_name(name);

	return kind == ARCH_SYMBOL_INDIRECT_THUNK || kind == ARCH_SYMBOL_RETURN_THUNK;
}

/* Set CALLED of each block to the name, as in kallsyms, of the first function that the block's code calls. */
static void name_callees(struct planner *pl, struct record_block_function *f)
{
	f->called = alloc_array(f->n_blocks, sizeof(*f->called));
	vec_each(const struct kernel_insn, insn, pl->flow, insns) {
		bool calls = insn->kind == KERNEL_INSN_CALL || insn->flags & KERNEL_INSN_TAIL;
		const struct kernel_sym *sym;

		if (!calls || !insn->target || insn->flags & KERNEL_INSN_FTRACE ||
		    insn->block >= f->n_blocks || f->called[insn->block])
			continue;
		sym = kernel_kallsyms_covering(pl->symbols->ks, insn->target + f->in->base, NULL);
		if (sym && !is_thunk(sym->name))
			f->called[insn->block] = sym->name;
	}
}

static void add_points(struct planner *pl, struct record_block_function *f)
{
	f->first_point = pl->blocks->n_points;
	vec_each(const struct kernel_block_probe, probe, &f->plan, probes) {
		struct record_point p = {
			.addr = probe->addr + f->in->base,
			.counts = true,
			.block = pl->blocks->n_points,
			.optimizes = probe->optimizes,
			.event = -1,
			.link = -1,
		};

		vec_push(pl->blocks, points, p);
	}
}

/* Plan the block probes of the function SYM. If its blocks cannot be counted, report why and return -errno, else 0. */
static int plan(struct planner *pl, const struct kernel_sym *sym)
{
	struct record_image *in = record_symbols_image_of(pl->symbols, sym);
	struct record_block_function f = { .sym = sym, .in = in };
	const char *why;
	int err = record_image_code(pl->symbols, in);

	err = err ?: kernel_flow_of(in->code, sym->addr - in->base, &pl->flow);
	if (err) {
		log_error("cannot count the blocks of '%s': cannot read its code: %s", sym->name,
			  !in->image && in->why_not ? in->why_not : log_strerror(err));
		return err;
	}
	pl->in = in;
	why = record_symbols_why_patched(pl->symbols, sym) ?: why_not(pl->flow);
	if (!why && kernel_blocks_plan(pl->flow, is_blacklisted, pl, &f.plan))
		why = "it has too many blocks";
	if (!why && pl->blocks->n_points + f.plan.n_probes > RECORD_MAX_BLOCK_PROBES)
		why = "they need too many probes";
	if (why) {
		log_error("cannot count the blocks of '%s': %s", sym->name, why);
		kernel_block_plan_clear(&f.plan);
		err = -EOPNOTSUPP;
	} else {
		f.n_blocks = pl->flow->n_blocks;
		f.blocks = alloc_array(f.n_blocks, sizeof(*f.blocks));
		memcpy(f.blocks, pl->flow->blocks, f.n_blocks * sizeof(*f.blocks));
		name_callees(pl, &f);
		add_points(pl, &f);
		log_verbose(1, "'%s': %u blocks, %u of them probed, %u unknown", sym->name,
			    f.plan.n_blocks, f.plan.n_probes, f.plan.n_unknown);
		vec_push(pl->blocks, items, f);
	}
	kernel_flow_destroy(pl->flow);
	pl->flow = NULL;
	return err;
}

static bool is_planned(const struct record_blocks *blocks, const struct kernel_sym *sym)
{
	for (uint32_t i = 0; i < blocks->n_items; i++)
		if (blocks->items[i].sym->addr == sym->addr)
			return true;
	return false;
}

/* Plan the block probes of all functions called NAME; compilers may have appended suffixes to the name. */
static int plan_name(struct planner *pl, const char *name)
{
	size_t n;
	const struct kernel_sym **syms = record_sites_named(pl->symbols->ks, name, &n);
	uint32_t usable = 0;
	int err = 0, one;

	for (size_t i = 0; i < n; i++) {
		if (kernel_kallsyms_is_init(pl->symbols->ks, syms[i]))
			continue;
		usable++;
		one = is_planned(pl->blocks, syms[i]) ? 0 : plan(pl, syms[i]);
		err = err ?: one;
	}
	free(syms);
	if (usable)
		return err;
	log_error("'%s' is not a function of this kernel: --blocks needs a function that is not "
		  "inlined (see kprotperf list)",
		  name);
	return -ENOENT;
}

int record_blocks_resolve(struct record_blocks *blocks, const struct record_kernel *kernel,
			  const struct record_names *names)
{
	struct record_symbols *symbols = kernel->symbols;
	struct planner pl = { .blocks = blocks, .symbols = symbols };
	int err = 0, one;

	if (!names->n_items)
		return 0;
	if (kernel->features->kprobe) {
		log_error("cannot count blocks on this kernel: kprobes: %s",
			  record_features_why_not_kprobe(kernel->features));
		return -EOPNOTSUPP;
	}
	for (uint32_t i = 0; i < names->n_items; i++) {
		one = plan_name(&pl, names->items[i]);
		err = err ?: one;
	}
	return err;
}

void record_blocks_deinit(struct record_blocks *blocks)
{
	for (uint32_t i = 0; i < blocks->n_items; i++) {
		free(blocks->items[i].blocks);
		free(blocks->items[i].called);
		kernel_block_plan_clear(&blocks->items[i].plan);
	}
	free(blocks->items);
	free(blocks->points);
	free(blocks->hit_costs);
	*blocks = (struct record_blocks){};
}

/* Return the engine's number of the function at ADDR; 0: SITES does not contain the function. */
static uint32_t site_at(const struct record_sites *sites, uint64_t addr)
{
	for (uint32_t i = 0; i < sites->n_items; i++)
		if (sites->items[i].sym->addr == addr)
			return i + 1;
	return 0;
}

void record_blocks_store(struct record_blocks *blocks, const struct record_sites *sites,
			 struct profile *p)
{
	vec_each(struct record_block_function, f, blocks, items) {
		struct profile_blocks counted = { .entry = f->plan.graph.entry };

		counted.site = f->site = site_at(sites, f->sym->addr);
		for (uint32_t b = 0; b < f->n_blocks; b++) {
			const struct kernel_block *block = &f->blocks[b];
			struct profile_block item = {
				.addr = block->start,
				.bytes = block->end - block->start,
				.insns = block->n_insns,
				.reached = block->reached,
				.location = profile_location_add(p, block->start, f->in->module),
				.callee = profile_intern(p, f->called[b]),
			};

			vec_push(&counted, items, item);
		}
		for (uint32_t a = 0; a < f->plan.graph.n_arcs; a++) {
			struct profile_arc arc = { f->plan.graph.arcs[a].from,
						   f->plan.graph.arcs[a].to };

			vec_push(&counted, arcs, arc);
		}
		f->counted = profile_blocks_add(p, &counted);
	}
}
