// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "symbol/code.h"
#include "symbol/flow.h"
#include "symbol/kcore.h"
#include "symbol/name.h"

/* Instructions in front of a call that may be taken into the range that times it, where the call takes no probe. */
#define BEFORE_CALL 3

/* Bytes that the kernel's optimizer puts in place of a probe's instruction and what follows. */
#define JUMP 5

struct planner {
	struct record_blocks *blocks;
	bool callees; /* are wanted: then there may be probes on calls, and behind them */
	struct record_symbols *symbols;
	struct symbol_code *code;
	struct symbol_flow *flow; /* of the function at hand */
};

/* Nor at the entry, where the function's own probes are: it is executed once a call anyway. */
static bool is_blacklisted(uint64_t addr, void *arg)
{
	const struct planner *pl = arg;
	const struct symbol_insn *insn = symbol_flow_insn_at(pl->flow, addr);

	return addr == symbol_flow_entry(pl->flow) || (insn && insn->flags & SYMBOL_INSN_FTRACE) ||
	       symbol_tracing_is_blacklisted(pl->symbols->tracing,
					     addr + symbol_kallsyms_stext(pl->symbols->ks)) ==
		       SYMBOL_YES;
}

/*
 * Is INSN so near to the beginning or the end of a call that the jump of a probe on the one would cover the
 * other? Then neither would be a jump.
 */
static bool is_at_call(const struct planner *pl, const struct symbol_insn *insn)
{
	uint32_t n;
	const struct symbol_insn *insns = symbol_flow_insns(pl->flow, &n), *near;

	for (near = insn; near > insns && insn->addr - near->addr < JUMP; near--)
		;
	for (; near < insns + n && near->addr < insn->addr + JUMP; near++) {
		uint64_t end = near->addr + near->len;

		if (near->kind == SYMBOL_INSN_CALL && !(near->flags & SYMBOL_INSN_FTRACE) &&
		    (near->addr + JUMP > insn->addr || end + JUMP > insn->addr))
			return true;
	}
	return false;
}

static bool has_place_apart(struct planner *pl, uint32_t block)
{
	uint32_t n;
	const struct symbol_insn *insns = symbol_flow_insns(pl->flow, &n);
	const struct symbol_block *b = &symbol_flow_blocks(pl->flow, &n)[block];

	for (uint32_t i = b->first_insn; i < b->first_insn + b->n_insns; i++)
		if (!is_at_call(pl, &insns[i]) &&
		    symbol_flow_place(pl->flow, insns[i].addr, is_blacklisted, pl) ==
			    SYMBOL_PLACE_OK)
			return true;
	return false;
}

/* Nor where a probe that times a call may come, if the block has another place. */
static bool is_no_place(uint64_t addr, void *arg)
{
	struct planner *pl = arg;
	const struct symbol_insn *insn = symbol_flow_insn_at(pl->flow, addr);

	if (is_blacklisted(addr, arg))
		return true;
	return pl->callees && insn && is_at_call(pl, insn) && has_place_apart(pl, insn->block);
}

/* Why the blocks of a function with such a graph cannot be counted; NULL: they can. */
static const char *why_not(const struct symbol_flow *flow)
{
	unsigned int problems = symbol_flow_problems(flow);

	if (problems & SYMBOL_FLOW_NOT_LIVE)
		return "the running kernel's code cannot be read (/proc/kcore), and the file's may "
		       "differ from it";
	if (problems & SYMBOL_FLOW_HIDDEN)
		return "somebody's probe hides an instruction of it";
	if (problems & (SYMBOL_FLOW_BAD_CODE | SYMBOL_FLOW_MISALIGNED | SYMBOL_FLOW_CUT |
			SYMBOL_FLOW_FALLS_OUT))
		return "its code was not understood";
	return NULL;
}

static void add_callee(struct record_block_function *f, uint64_t addr)
{
	for (uint32_t i = 0; i < f->n_callees; i++)
		if (f->callees[i] == addr)
			return;
	vec_push(f, callees, addr);
}

/* What it calls, or ends in a jump to. */
static void find_callees(const struct symbol_flow *flow, struct record_block_function *f)
{
	uint32_t n;
	const struct symbol_insn *insns = symbol_flow_insns(flow, &n);

	for (uint32_t i = 0; i < n; i++) {
		bool calls = insns[i].kind == SYMBOL_INSN_CALL || insns[i].flags & SYMBOL_INSN_TAIL;

		if (calls && insns[i].target && insns[i].flags & SYMBOL_INSN_REACHED &&
		    symbol_flow_block_at(flow, insns[i].target) == SYMBOL_FLOW_OUT)
			add_callee(f, insns[i].target);
	}
}

/* Where a probe can tell that the call INSN is coming, at it or just in front of it; false: nowhere. */
static bool find_call_start(struct planner *pl, const struct symbol_insn *insn, uint64_t *start)
{
	const struct symbol_insn *at = insn;

	for (int i = 0; i <= BEFORE_CALL; i++, at--) {
		if (symbol_flow_place(pl->flow, at->addr, is_blacklisted, pl) == SYMBOL_PLACE_OK) {
			*start = at->addr;
			return true;
		}
		if (at->flags & SYMBOL_INSN_LEADER || at[-1].kind == SYMBOL_INSN_CALL)
			break;
	}
	return false;
}

static bool is_probed(const struct record_block_function *f, uint64_t addr)
{
	for (uint32_t i = 0; i < f->plan.n_probes; i++)
		if (f->plan.probes[i].addr == addr)
			return true;
	return false;
}

/* Two probes at one place cost other than each alone: where a block has no other, the call goes without. */
static void find_calls(struct planner *pl, struct record_block_function *f)
{
	uint32_t n;
	const struct symbol_insn *insns = symbol_flow_insns(pl->flow, &n);

	for (uint32_t i = 0; i < n; i++) {
		struct record_block_call call = { .end = insns[i].addr + insns[i].len,
						  .target = insns[i].target };

		if (insns[i].kind != SYMBOL_INSN_CALL || !(insns[i].flags & SYMBOL_INSN_REACHED) ||
		    insns[i].flags & SYMBOL_INSN_FTRACE)
			continue;
		if (insns[i].flags & SYMBOL_INSN_INDIRECT)
			call.target = 0;
		if (!find_call_start(pl, &insns[i], &call.start))
			call.why_not = "no probe can be in front of the call";
		else if (is_probed(f, call.start) || is_probed(f, call.end))
			call.why_not = "a probe that counts a block has its place";
		vec_push(f, calls, call);
	}
}

/* Which function each block calls, by the kernel's own names. */
static void name_callees(struct planner *pl, struct record_block_function *f)
{
	uint64_t stext = symbol_kallsyms_stext(pl->symbols->ks);
	uint32_t n;
	const struct symbol_insn *insns = symbol_flow_insns(pl->flow, &n);

	f->called = alloc_array(f->n_blocks, sizeof(*f->called));
	for (uint32_t i = 0; i < n; i++) {
		bool calls = insns[i].kind == SYMBOL_INSN_CALL || insns[i].flags & SYMBOL_INSN_TAIL;
		const struct symbol_sym *sym;

		if (!calls || !insns[i].target || insns[i].flags & SYMBOL_INSN_FTRACE ||
		    insns[i].block >= f->n_blocks || f->called[insns[i].block])
			continue;
		sym = symbol_kallsyms_covering(pl->symbols->ks, insns[i].target + stext, NULL);
		/* A retpoline's thunk says nothing of what is called. */
		if (sym && strncmp(sym->name, "__x86_", 6) != 0)
			f->called[insns[i].block] = sym->name;
	}
}

static void add_points(struct planner *pl, struct record_block_function *f)
{
	uint64_t stext = symbol_kallsyms_stext(pl->symbols->ks);

	f->first_point = pl->blocks->n_points;
	for (uint32_t i = 0; i < f->plan.n_probes; i++) {
		const struct symbol_block_probe *probe = &f->plan.probes[i];
		struct record_point p = {
			.addr = probe->addr + stext,
			.counts = true,
			.block = pl->blocks->n_points,
			.optimizes = probe->optimizes,
			.event = -1,
			.link = -1,
		};

		vec_push(pl->blocks, points, p);
	}
}

/* Plans the probes of the function at SYM. Reports why it cannot. */
static int plan(struct planner *pl, const struct symbol_sym *sym)
{
	struct record_block_function f = { .sym = sym };
	const struct symbol_block *flow_blocks;
	const char *why;
	int err = symbol_flow_of(pl->code, sym->addr - symbol_kallsyms_stext(pl->symbols->ks),
				 &pl->flow);

	if (err) {
		log_error("the blocks of '%s' cannot be counted: its code cannot be read: %s",
			  sym->name, log_strerror(err));
		return err;
	}
	why = why_not(pl->flow);
	if (!why && symbol_blocks_plan(pl->flow, SYMBOL_PLAN_CALLS_KNOWN | SYMBOL_PLAN_LOOPS,
				       is_no_place, pl, &f.plan))
		why = "it has too many";
	if (!why && pl->blocks->n_points + f.plan.n_probes > RECORD_MAX_BLOCK_PROBES)
		why = "that would take too many probes";
	if (why) {
		log_error("the blocks of '%s' cannot be counted: %s", sym->name, why);
		symbol_block_plan_clear(&f.plan);
		err = -EOPNOTSUPP;
	} else {
		flow_blocks = symbol_flow_blocks(pl->flow, &f.n_blocks);
		f.blocks = alloc_array(f.n_blocks, sizeof(*f.blocks));
		memcpy(f.blocks, flow_blocks, f.n_blocks * sizeof(*f.blocks));
		find_callees(pl->flow, &f);
		if (pl->callees)
			find_calls(pl, &f);
		name_callees(pl, &f);
		add_points(pl, &f);
		log_verbose(1, "'%s': %u blocks, %u of them probed, %u stay unknown", sym->name,
			    f.plan.n_blocks, f.plan.n_probes, f.plan.n_unknown);
		vec_push(pl->blocks, items, f);
	}
	symbol_flow_destroy(pl->flow);
	pl->flow = NULL;
	return err;
}

static bool is_planned(const struct record_blocks *blocks, const struct symbol_sym *sym)
{
	for (uint32_t i = 0; i < blocks->n_items; i++)
		if (blocks->items[i].sym->addr == sym->addr)
			return true;
	return false;
}

/* All functions of that name, or of that name but for the compiler's suffixes. */
static int plan_name(struct planner *pl, const char *name)
{
	const struct symbol_sym **syms;
	uint32_t usable = 0;
	int err = 0, one;
	size_t n;

	if (symbol_name_base_len(name) == strlen(name)) {
		syms = symbol_kallsyms_clones(pl->symbols->ks, name, &n);
	} else {
		const struct symbol_sym *const *named =
			symbol_kallsyms_named(pl->symbols->ks, name, &n);

		syms = alloc_array(n, sizeof(*syms));
		for (size_t i = 0; i < n; i++)
			syms[i] = named[i];
	}
	for (size_t i = 0; i < n; i++) {
		if (symbol_kallsyms_is_init(pl->symbols->ks, syms[i]) || syms[i]->module)
			continue;
		usable++;
		one = is_planned(pl->blocks, syms[i]) ? 0 : plan(pl, syms[i]);
		err = err ?: one;
	}
	free(syms);
	if (usable)
		return err;
	log_error("'%s' is no function of this kernel's image, or only inlined: --blocks takes "
		  "functions (kprotperf list shows which there are)",
		  name);
	return -ENOENT;
}

int record_blocks_resolve(struct record_blocks *blocks, struct record_symbols *symbols,
			  char *const *names, uint32_t n_names, bool callees)
{
	struct planner pl = { .blocks = blocks, .symbols = symbols, .callees = callees };
	struct symbol_kcore *kcore = NULL;
	struct symbol_image *image = NULL;
	int err, one;

	err = record_symbols_load_functions(symbols);
	err = err ?: record_symbols_image(symbols, &image);
	if (err)
		return err;
	if (!image) {
		log_error("--blocks needs the kernel's vmlinux: %s",
			  symbols->image_why_not ?: "none was found (--vmlinux)");
		return -ENODATA;
	}
	if (symbol_kcore_open(SYMBOL_KCORE_PATH, &kcore))
		kcore = NULL;
	err = symbol_code_create(image, kcore, symbol_kallsyms_stext(symbols->ks), &pl.code);
	if (err)
		log_error("blocks cannot be counted: the kernel's code cannot be read: %s",
			  log_strerror(err));
	for (uint32_t i = 0; i < n_names && pl.code; i++) {
		one = plan_name(&pl, names[i]);
		err = err ?: one;
	}
	symbol_code_destroy(pl.code);
	symbol_kcore_destroy(kcore);
	return err;
}

void record_blocks_deinit(struct record_blocks *blocks)
{
	record_blocks_detach(blocks);
	for (uint32_t i = 0; i < blocks->n_items; i++) {
		free(blocks->items[i].blocks);
		free(blocks->items[i].callees);
		free(blocks->items[i].called);
		free(blocks->items[i].calls);
		symbol_block_plan_clear(&blocks->items[i].plan);
	}
	free(blocks->items);
	free(blocks->points);
	free(blocks->hit_costs);
	*blocks = (struct record_blocks){};
}

void record_blocks_find_sites(struct record_blocks *blocks, const struct record_sites *sites)
{
	for (uint32_t i = 0; i < blocks->n_items; i++)
		for (uint32_t k = 0; k < sites->n_items; k++)
			if (sites->items[k].sym->addr == blocks->items[i].sym->addr)
				blocks->items[i].site = k + 1;
}

static bool is_timed(const struct record_sites *sites, uint64_t addr)
{
	for (uint32_t i = 0; i < sites->n_items; i++)
		if (sites->items[i].sym->addr == addr)
			return true;
	return false;
}

/* What CALL is a call of, by name. For free(); NULL: nothing that takes time of its own. */
static char *call_name(const struct record_block_call *call, const struct symbol_kallsyms *ks)
{
	const struct symbol_sym *sym =
		call->target ? symbol_kallsyms_covering(
				       ks, call->target + symbol_kallsyms_stext(ks), NULL) :
			       NULL;

	/* A thunk says nothing of what is called. */
	if (!sym || strncmp(sym->name, "__x86_indirect", 14) == 0)
		return alloc_strdup("(*)()");
	return alloc_printf("%s()", sym->name);
}

void record_blocks_add_calls(const struct record_blocks *blocks, const struct record_sites *sites,
			     struct record_symbols *symbols, struct record_ranges *ranges)
{
	uint64_t stext = symbol_kallsyms_stext(symbols->ks);

	for (uint32_t i = 0; i < blocks->n_items; i++) {
		const struct record_block_function *f = &blocks->items[i];

		for (uint32_t k = 0; k < f->n_calls; k++) {
			const struct record_block_call *call = &f->calls[k];
			char *name;

			if (call->target && is_timed(sites, call->target + stext))
				continue;
			name = call_name(call, symbols->ks);
			record_ranges_add_call(ranges, f->sym->name, f->sym->addr - stext, name,
					       (struct symbol_range){ call->start, call->end },
					       call->why_not);
			free(name);
		}
	}
}
