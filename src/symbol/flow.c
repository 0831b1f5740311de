// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A function's code is decoded from front to back, as the kernel's kprobes do it, then what can be
 * reached is told from padding.
 */
#include "symbol/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/flow_impl.h"
#include "symbol/name.h"

#define JUMP_LEN  5 /* of an optimized kprobe */
#define MAX_PARTS 64
#define NONE      UINT32_MAX

/* What is at hand while a graph is built. */
struct builder {
	struct symbol_flow *flow;
	const struct symbol_flow_input *in;
	struct decoder *decoder;
	uint32_t stack_len; /* blocks still to be followed */
	uint32_t *stack;
};

static const char *const noreturn[] = {
	"__fortify_panic",
	"__invalid_creds",
	"__kunit_abort",
	"__module_put_and_kthread_exit",
	"__reiserfs_panic",
	"__stack_chk_fail",
	"__tdx_hypercall_failed",
	"__ubsan_handle_builtin_unreachable",
	"acpi_processor_ffh_play_dead",
	"arch_cpu_idle_dead",
	"arch_call_rest_init",
	"btrfs_assertfail",
	"cpu_bringup_and_idle",
	"cpu_startup_entry",
	"do_exit",
	"do_group_exit",
	"do_task_dead",
	"ex_handler_msr_mce",
	"fortify_panic",
	"hlt_play_dead",
	"hv_ghcb_terminate",
	"kthread_complete_and_exit",
	"kthread_exit",
	"kunit_try_catch_throw",
	"lbug_with_loc",
	"machine_real_restart",
	"make_task_dead",
	"mpt_halt_firmware",
	"nmi_panic_self_stop",
	"panic",
	"panic_smp_self_stop",
	"rest_init",
	"rewind_stack_and_make_dead",
	"sev_es_terminate",
	"snp_abort",
	"start_kernel",
	"stop_this_cpu",
	"usercopy_abort",
	"x86_64_start_kernel",
	"x86_64_start_reservations",
	"xen_cpu_bringup_again",
	"xen_start_kernel",
};

enum symbol_callee symbol_callee_of_name(const char *name)
{
	static const char thunk[] = "_return_thunk";
	size_t len = strlen(name);

	if (!strncmp(name, "__x86_indirect_", 15))
		return SYMBOL_CALLEE_INDIRECT_THUNK;
	if (len >= sizeof(thunk) - 1 && !strcmp(name + len - (sizeof(thunk) - 1), thunk))
		return SYMBOL_CALLEE_RETURN_THUNK;
	for (size_t i = 0; i < sizeof(noreturn) / sizeof(*noreturn); i++)
		if (!strcmp(name, noreturn[i]))
			return SYMBOL_CALLEE_NORETURN;
	return SYMBOL_CALLEE_ORDINARY;
}

bool flow_inside(const struct symbol_flow *flow, uint64_t addr)
{
	for (uint32_t i = 0; i < flow->n_parts; i++)
		if (addr >= flow->parts[i].start && addr < flow->parts[i].end)
			return true;
	return false;
}

/* The index of the last instruction that begins at or before ADDR, or NONE. */
static uint32_t find_covering(const struct symbol_flow *flow, uint64_t addr)
{
	uint32_t lo = 0, hi = flow->n_insns;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (flow->insns[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr - flow->insns[lo - 1].addr >= flow->insns[lo - 1].len)
		return NONE;
	return lo - 1;
}

uint32_t flow_find(const struct symbol_flow *flow, uint64_t addr)
{
	uint32_t i = find_covering(flow, addr);

	return i != NONE && flow->insns[i].addr == addr ? i : NONE;
}

uint32_t flow_next(const struct symbol_flow *flow, uint32_t insn)
{
	const struct symbol_insn *i = &flow->insns[insn];

	if (insn + 1 >= flow->n_insns || flow->insns[insn + 1].addr != i->addr + i->len)
		return NONE;
	return insn + 1;
}

bool flow_insn_falls(const struct symbol_insn *insn)
{
	switch (insn->kind) {
	case SYMBOL_INSN_PLAIN:
	case SYMBOL_INSN_NOP:
	case SYMBOL_INSN_COND:
	case SYMBOL_INSN_CALL:
	case SYMBOL_INSN_WARN:
	case SYMBOL_INSN_LABEL:
		return true;
	default:
		return false;
	}
}

size_t flow_bytes(const struct symbol_flow_input *input, const struct symbol_insn *insn,
		  const uint8_t **bytes)
{
	for (size_t i = 0; i < input->n_parts; i++) {
		const struct symbol_flow_part *p = &input->parts[i];

		if (insn->addr >= p->start && insn->addr < p->end) {
			bool file = insn->flags & SYMBOL_INSN_FROM_FILE;

			*bytes = (file ? p->file : p->bytes) + (insn->addr - p->start);
			return (size_t)(p->end - insn->addr);
		}
	}
	return 0;
}

static enum symbol_callee ask_callee(const struct builder *b, uint64_t addr)
{
	return b->in->callee ? b->in->callee(addr, b->in->arg) : SYMBOL_CALLEE_ORDINARY;
}

/*
 * Instructions.
 */

/* For each byte of the part: does an instruction of the file's begin there? For free(). */
static bool *file_boundaries(struct builder *b, const struct symbol_flow_part *p)
{
	size_t len = (size_t)(p->end - p->start);
	bool *starts = alloc_array(len, sizeof(*starts));
	struct decoded dec;

	for (size_t at = 0; at < len;) {
		starts[at] = true;
		at += decode(b->decoder, p->file + at, len - at, p->start + at, &dec) ? dec.len : 1;
	}
	return starts;
}

/*
 * How many bytes at offset AT are somebody's kprobe, so that the file must say what is there: 1 for
 * its trap, 5 for its jump. An int3 within one of the file's instructions is none: the kernel fills up
 * shorter instructions with them that it patches in.
 */
static size_t probed(const struct builder *b, const struct symbol_flow_part *p, const bool *starts,
		     size_t at)
{
	size_t left = (size_t)(p->end - p->start) - at;
	int32_t rel;

	if (!starts || !starts[at] || p->bytes[at] == p->file[at])
		return 0;
	if (p->bytes[at] == 0xcc)
		return 1;
	if (p->bytes[at] != 0xe9 || left < JUMP_LEN)
		return 0;
	memcpy(&rel, p->bytes + at + 1, sizeof(rel));
	if (ask_callee(b, p->start + at + JUMP_LEN + (uint64_t)(int64_t)rel) !=
	    SYMBOL_CALLEE_UNKNOWN)
		return 0;
	return JUMP_LEN;
}

static void note_insn(struct builder *b, uint64_t addr, const struct decoded *dec, bool from_file)
{
	static const uint8_t kinds[] = {
		[DECODE_PLAIN] = SYMBOL_INSN_PLAIN,
		[DECODE_NOP] = SYMBOL_INSN_NOP,
		[DECODE_JUMP] = SYMBOL_INSN_JUMP,
		[DECODE_COND] = SYMBOL_INSN_COND,
		[DECODE_CALL] = SYMBOL_INSN_CALL,
		[DECODE_JUMP_INDIRECT] = SYMBOL_INSN_JUMP_INDIRECT,
		[DECODE_CALL_INDIRECT] = SYMBOL_INSN_CALL,
		[DECODE_RET] = SYMBOL_INSN_RET,
		[DECODE_INT3] = SYMBOL_INSN_TRAP,
		[DECODE_UD] = SYMBOL_INSN_WARN, /* until the table of bugs says otherwise */
	};
	struct symbol_insn insn = {
		.addr = addr,
		.target = dec->target,
		.block = SYMBOL_FLOW_OUT,
		.kind = kinds[dec->kind],
		.len = dec->len,
	};

	if (dec->no_kprobe)
		insn.flags |= SYMBOL_INSN_NO_KPROBE;
	if (dec->harmful)
		insn.flags |= SYMBOL_INSN_HARMFUL;
	if (dec->no_optimize)
		insn.flags |= SYMBOL_INSN_NO_OPTIMIZE;
	if (from_file)
		insn.flags |= SYMBOL_INSN_FROM_FILE;
	if (dec->kind == DECODE_JUMP_INDIRECT || dec->kind == DECODE_CALL_INDIRECT)
		insn.flags |= SYMBOL_INSN_INDIRECT;
	vec_push(b->flow, insns, insn);
}

#define first_at(t, items, field, addr)                        \
	({                                                     \
		uint32_t lo_ = 0, hi_ = (t)->n_##items;        \
		while (lo_ < hi_) {                            \
			uint32_t mid_ = lo_ + (hi_ - lo_) / 2; \
			if ((t)->items[mid_] field < (addr))   \
				lo_ = mid_ + 1;                \
			else                                   \
				hi_ = mid_;                    \
		}                                              \
		lo_;                                           \
	})

/* An alternative has at most that many bytes. */
#define MAX_ALTERNATIVE UINT8_MAX

/* Do the LEN bytes at ADDR belong to an alternative? What is there now the file does not know. */
static bool in_alternative(const struct builder *b, uint64_t addr, size_t len)
{
	const struct symbol_code_tables *t = b->in->tables;
	uint64_t from = addr > MAX_ALTERNATIVE ? addr - MAX_ALTERNATIVE : 0;

	if (!t)
		return false;
	for (uint32_t i = first_at(t, alternatives, .addr, from);
	     i < t->n_alternatives && t->alternatives[i].addr < addr + len; i++)
		if (t->alternatives[i].addr + t->alternatives[i].len > addr)
			return true;
	return false;
}

/*
 * Does a probe hide a return? The file has jumps to the thunk of returns, which most kernels replace by
 * a return of one byte with traps behind it. RESTORED is where the probe ends.
 */
static bool hides_return(const struct builder *b, const struct symbol_flow_part *p, size_t at,
			 size_t restored, struct decoded *dec)
{
	size_t end = at + dec->len;
	size_t next = restored > at + 1 ? restored : at + 1;

	if (dec->kind != DECODE_JUMP || next >= end || p->bytes[next] != 0xcc ||
	    p->file[next] == 0xcc || ask_callee(b, dec->target) != SYMBOL_CALLEE_RETURN_THUNK)
		return false;
	memset(dec, 0, sizeof(*dec));
	dec->len = 1;
	dec->kind = DECODE_RET;
	return true;
}

/*
 * The instruction under a kprobe's trap, which hides one byte of it: the file's first byte with what
 * follows it now, which has been relocated. Where that is another instruction than the file's, the
 * kernel had put an alternative there.
 */
static bool decode_trapped(struct builder *b, const struct symbol_flow_part *p, size_t at,
			   struct decoded *dec)
{
	size_t left = (size_t)(p->end - p->start) - at;
	size_t len = left < DECODE_MAX_LEN ? left : DECODE_MAX_LEN;
	uint8_t bytes[DECODE_MAX_LEN];
	struct decoded file;

	memcpy(bytes, p->bytes + at, len);
	bytes[0] = p->file[at];
	if (!decode(b->decoder, p->file + at, left, p->start + at, &file))
		return false;
	if (hides_return(b, p, at, at + 1, &file))
		*dec = file;
	else if (!decode(b->decoder, bytes, len, p->start + at, dec) || dec->len != file.len ||
		 dec->kind != file.kind || dec->target != file.target) {
		b->flow->problems |= SYMBOL_FLOW_HIDDEN;
		*dec = file;
	}
	return true;
}

static void note_bad(struct builder *b, uint64_t addr)
{
	struct symbol_insn bad = {
		.addr = addr,
		.block = SYMBOL_FLOW_OUT,
		.kind = SYMBOL_INSN_BAD,
		.len = 1,
	};

	vec_push(b->flow, insns, bad);
}

static void decode_part(struct builder *b, const struct symbol_flow_part *p)
{
	bool *starts = p->file ? file_boundaries(b, p) : NULL;
	size_t len = (size_t)(p->end - p->start), restored = 0;

	for (size_t at = 0; at < len;) {
		size_t n = probed(b, p, starts, at);
		bool file = n || at < restored, ok;
		struct decoded dec;

		if (at + n > restored)
			restored = at + n;
		if (n && in_alternative(b, p->start + at, n))
			b->flow->problems |= SYMBOL_FLOW_HIDDEN;
		if (n == 1)
			ok = decode_trapped(b, p, at, &dec);
		else
			ok = decode(b->decoder, (file ? p->file : p->bytes) + at, len - at,
				    p->start + at, &dec);
		if (ok && file)
			hides_return(b, p, at, restored, &dec);
		if (ok)
			note_insn(b, p->start + at, &dec, file);
		else
			note_bad(b, p->start + at);
		at += ok ? dec.len : 1;
	}
	free(starts);
}

/*
 * What the tables say. Each is ascending, so it is walked from its first entry in a part.
 */

#define table_each(i, t, items, field, part)                        \
	for (uint32_t i = first_at(t, items, field, (part)->start); \
	     i < (t)->n_##items && (t)->items[i] field < (part)->end; i++)

static void flag_at(struct symbol_flow *flow, uint64_t addr, uint16_t flag)
{
	uint32_t i = flow_find(flow, addr);

	if (i != NONE)
		flow->insns[i].flags |= flag;
}

static void note_label(struct symbol_flow *flow, const struct symbol_jump_label *l)
{
	uint32_t i = flow_find(flow, l->code);
	struct symbol_insn *insn = i == NONE ? NULL : &flow->insns[i];

	if (!insn || (insn->kind != SYMBOL_INSN_NOP && insn->kind != SYMBOL_INSN_JUMP))
		return;
	insn->kind = SYMBOL_INSN_LABEL;
	insn->target = l->target;
}

static void note_bug(struct symbol_flow *flow, const struct symbol_bug *bug)
{
	uint32_t i = flow_find(flow, bug->addr);

	if (i == NONE || flow->insns[i].kind != SYMBOL_INSN_WARN)
		return;
	flow->insns[i].flags |= SYMBOL_INSN_BUG;
	if (!bug->warning)
		flow->insns[i].kind = SYMBOL_INSN_TRAP;
}

static void apply_tables(struct symbol_flow *flow, const struct symbol_code_tables *t,
			 const struct symbol_range *part)
{
	table_each(i, t, labels, .code, part) note_label(flow, &t->labels[i]);
	table_each(i, t, fixups, .insn, part) flag_at(flow, t->fixups[i].insn, SYMBOL_INSN_FAULTS);
	table_each(i, t, bugs, .addr, part) note_bug(flow, &t->bugs[i]);
	table_each(i, t, static_calls, , part)
		flag_at(flow, t->static_calls[i], SYMBOL_INSN_STATIC_CALL);
	table_each(i, t, ftrace, , part) flag_at(flow, t->ftrace[i], SYMBOL_INSN_FTRACE);
	/* With thunks the compiler makes no jump tables: such a jump leaves the function. */
	table_each(i, t, retpolines, , part) flag_at(flow, t->retpolines[i], SYMBOL_INSN_TAIL);
}

/* What calls and jumps out of the function are for. */
static void classify(struct builder *b, struct symbol_insn *insn)
{
	const struct symbol_code_tables *t = b->in->tables;
	bool jump = insn->kind == SYMBOL_INSN_JUMP;
	enum symbol_callee callee;

	/* Only jumps keep the mark of a former thunk. */
	if (insn->kind != SYMBOL_INSN_JUMP_INDIRECT && !jump)
		insn->flags &= (uint16_t)~SYMBOL_INSN_TAIL;
	if (insn->kind == SYMBOL_INSN_WARN && t && t->has_bugs && !(insn->flags & SYMBOL_INSN_BUG))
		insn->kind = SYMBOL_INSN_TRAP;
	if (insn->flags & SYMBOL_INSN_INDIRECT)
		return;
	if (insn->kind == SYMBOL_INSN_COND || insn->kind == SYMBOL_INSN_LABEL) {
		if (!flow_inside(b->flow, insn->target))
			insn->flags |= SYMBOL_INSN_TAIL;
		return;
	}
	if ((!jump && insn->kind != SYMBOL_INSN_CALL) || flow_inside(b->flow, insn->target)) {
		insn->flags &= (uint16_t)~SYMBOL_INSN_TAIL;
		return;
	}
	callee = ask_callee(b, insn->target);
	if (jump)
		insn->flags |= SYMBOL_INSN_TAIL;
	if (callee == SYMBOL_CALLEE_INDIRECT_THUNK) {
		insn->flags |= SYMBOL_INSN_INDIRECT;
		if (jump)
			insn->kind = SYMBOL_INSN_JUMP_INDIRECT;
	} else if (callee == SYMBOL_CALLEE_RETURN_THUNK && jump) {
		insn->kind = SYMBOL_INSN_RET;
	} else if (callee == SYMBOL_CALLEE_NORETURN && !jump) {
		insn->kind = SYMBOL_INSN_CALL_NORETURN;
	}
}

/* A call that serves as a jump, as where the return stack buffer is filled. */
static bool calls_inside(const struct symbol_flow *flow, uint32_t i)
{
	const struct symbol_insn *insn = &flow->insns[i];

	return !(insn->flags & SYMBOL_INSN_INDIRECT) && insn->target != flow->entry &&
	       flow_inside(flow, insn->target);
}

/*
 * A call behind which the code ends does not come back. Compilers find out more of those than there
 * are names known here.
 */
static bool ends_code(const struct symbol_flow *flow, uint32_t insn)
{
	uint32_t next = flow_next(flow, insn);

	while (next != NONE && flow->insns[next].kind == SYMBOL_INSN_NOP)
		next = flow_next(flow, next);
	return next == NONE ||
	       (flow->insns[next].kind == SYMBOL_INSN_TRAP && flow->insns[next].len == 1);
}

static void classify_all(struct builder *b)
{
	struct symbol_flow *flow = b->flow;

	for (uint32_t i = 0; i < flow->n_insns; i++) {
		classify(b, &flow->insns[i]);
		if (flow->insns[i].kind == SYMBOL_INSN_BAD)
			flow->problems |= SYMBOL_FLOW_BAD_CODE;
	}
	for (uint32_t i = 0; i < flow->n_insns; i++)
		if (flow->insns[i].kind == SYMBOL_INSN_CALL && !calls_inside(flow, i) &&
		    ends_code(flow, i))
			flow->insns[i].kind = SYMBOL_INSN_CALL_NORETURN;
}

/*
 * Ways: from each instruction to wherever it can go other than to the next.
 */

static void add_way(struct symbol_flow *flow, uint32_t insn, enum symbol_edge_kind kind,
		    uint64_t target)
{
	struct flow_way way = { insn, (uint8_t)kind, target };

	vec_push(flow, ways, way);
}

static void add_direct(struct symbol_flow *flow, uint32_t insn, enum symbol_edge_kind kind)
{
	uint64_t target = flow->insns[insn].target;

	add_way(flow, insn, flow_inside(flow, target) ? kind : SYMBOL_EDGE_TAIL, target);
}

static void add_indirect(struct builder *b, uint32_t i)
{
	struct symbol_insn *insn = &b->flow->insns[i];

	if (!(insn->flags & SYMBOL_INSN_TAIL) && flow_switch(b->flow, i, b->in, b->decoder))
		return;
	if (flow_pointer_jump(b->flow, i, b->in, b->decoder))
		insn->flags |= SYMBOL_INSN_TAIL;
	add_way(b->flow, i,
		insn->flags & SYMBOL_INSN_TAIL ? SYMBOL_EDGE_TAIL : SYMBOL_EDGE_UNRESOLVED, 0);
}

static void add_fixups(struct builder *b, uint32_t i)
{
	const struct symbol_code_tables *t = b->in->tables;
	uint64_t addr = b->flow->insns[i].addr;

	for (uint32_t f = first_at(t, fixups, .insn, addr);
	     f < t->n_fixups && t->fixups[f].insn == addr; f++)
		add_way(b->flow, i, SYMBOL_EDGE_FIXUP, t->fixups[f].fixup);
}

static void add_ways(struct builder *b, uint32_t i)
{
	struct symbol_flow *flow = b->flow;
	const struct symbol_insn *insn = &flow->insns[i];

	switch (insn->kind) {
	case SYMBOL_INSN_JUMP:
		add_direct(flow, i, SYMBOL_EDGE_JUMP);
		break;
	case SYMBOL_INSN_COND:
		add_direct(flow, i, SYMBOL_EDGE_TAKEN);
		break;
	case SYMBOL_INSN_LABEL:
		add_direct(flow, i, SYMBOL_EDGE_LABEL);
		break;
	case SYMBOL_INSN_JUMP_INDIRECT:
		add_indirect(b, i);
		break;
	case SYMBOL_INSN_RET:
		add_way(flow, i, SYMBOL_EDGE_RET, 0);
		break;
	case SYMBOL_INSN_CALL:
		if (calls_inside(flow, i))
			add_way(flow, i, SYMBOL_EDGE_CALL_INSIDE, insn->target);
		break;
	case SYMBOL_INSN_CALL_NORETURN:
	case SYMBOL_INSN_TRAP:
	case SYMBOL_INSN_BAD:
		add_way(flow, i, SYMBOL_EDGE_STOP, 0);
		break;
	default:
		break;
	}
	if (insn->flags & SYMBOL_INSN_FAULTS)
		add_fixups(b, i);
	if (flow_insn_falls(insn) && flow_next(flow, i) == NONE)
		add_way(flow, i, SYMBOL_EDGE_TAIL, insn->addr + insn->len);
}

/*
 * Blocks.
 */

static bool is_padding(const struct symbol_insn *insn)
{
	return insn->kind == SYMBOL_INSN_NOP || (insn->kind == SYMBOL_INSN_TRAP && insn->len == 1);
}

static void mark_targets(struct symbol_flow *flow)
{
	for (uint32_t w = 0; w < flow->n_ways; w++) {
		const struct flow_way *way = &flow->ways[w];
		uint32_t to;

		if (way->kind >= SYMBOL_EDGE_RET)
			continue;
		to = flow_find(flow, way->target);
		if (to != NONE)
			flow->insns[to].flags |= SYMBOL_INSN_LEADER;
		else if (flow_inside(flow, way->target))
			flow->problems |= SYMBOL_FLOW_MISALIGNED;
	}
}

/*
 * The instruction behind a block's last one leads. Where it is padding that nothing jumps to, so does
 * the first that is none: a jump that is not resolved may lead there.
 */
static void mark_after(struct symbol_flow *flow, uint32_t insn)
{
	uint32_t next = flow_next(flow, insn);
	bool target;

	if (next == NONE)
		return;
	target = flow->insns[next].flags & SYMBOL_INSN_LEADER;
	flow->insns[next].flags |= SYMBOL_INSN_LEADER;
	if (target || flow_insn_falls(&flow->insns[insn]))
		return;
	while (next != NONE && is_padding(&flow->insns[next]))
		next = flow_next(flow, next);
	if (next != NONE)
		flow->insns[next].flags |= SYMBOL_INSN_LEADER;
}

static void mark_leaders(struct symbol_flow *flow)
{
	uint32_t entry = flow_find(flow, flow->entry);

	if (entry != NONE)
		flow->insns[entry].flags |= SYMBOL_INSN_LEADER;
	mark_targets(flow);
	for (uint32_t w = 0; w < flow->n_ways; w++)
		mark_after(flow, flow->ways[w].insn);
}

static void make_blocks(struct symbol_flow *flow)
{
	for (uint32_t i = 0; i < flow->n_insns; i++) {
		struct symbol_insn *insn = &flow->insns[i];

		if (!i || insn->flags & SYMBOL_INSN_LEADER || flow_next(flow, i - 1) == NONE) {
			struct symbol_block block = { .start = insn->addr, .first_insn = i };

			insn->flags |= SYMBOL_INSN_LEADER;
			vec_push(flow, blocks, block);
		}
		insn->block = flow->n_blocks - 1;
		flow->blocks[insn->block].n_insns++;
		flow->blocks[insn->block].end = insn->addr + insn->len;
	}
}

static uint32_t block_of(const struct symbol_flow *flow, uint64_t addr)
{
	uint32_t i = flow_find(flow, addr);

	return i == NONE ? SYMBOL_FLOW_OUT : flow->insns[i].block;
}

static void reach(struct builder *b, uint32_t block)
{
	if (block == SYMBOL_FLOW_OUT || b->flow->blocks[block].reached)
		return;
	b->flow->blocks[block].reached = true;
	b->stack[b->stack_len++] = block;
}

static void reach_leaders(struct builder *b)
{
	for (uint32_t i = 0; i < b->flow->n_blocks; i++)
		if (!is_padding(&b->flow->insns[b->flow->blocks[i].first_insn]))
			reach(b, i);
}

static void add_edge(struct builder *b, uint32_t from, uint32_t insn, enum symbol_edge_kind kind,
		     uint64_t target)
{
	struct symbol_flow *flow = b->flow;
	struct symbol_edge edge = {
		.from = from,
		.to = kind >= SYMBOL_EDGE_RET ? SYMBOL_FLOW_OUT : block_of(flow, target),
		.insn = insn,
		.kind = (uint8_t)kind,
		.target = target,
	};

	vec_push(flow, edges, edge);
	if (kind == SYMBOL_EDGE_UNRESOLVED) {
		flow->problems |= SYMBOL_FLOW_UNRESOLVED;
		reach_leaders(b);
	}
	if (kind == SYMBOL_EDGE_TAIL && flow_insn_falls(&flow->insns[insn]) &&
	    target == flow->insns[insn].addr + flow->insns[insn].len)
		flow->problems |= SYMBOL_FLOW_FALLS_OUT;
	reach(b, edge.to);
}

/* The index of the first way of INSN. */
static uint32_t first_way(const struct symbol_flow *flow, uint32_t insn)
{
	uint32_t lo = 0, hi = flow->n_ways;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (flow->ways[mid].insn < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void leave_block(struct builder *b, uint32_t block)
{
	struct symbol_flow *flow = b->flow;
	struct symbol_block *bl = &flow->blocks[block];
	uint32_t last = bl->first_insn + bl->n_insns - 1, next = flow_next(flow, last);

	bl->first_edge = flow->n_edges;
	if (flow_insn_falls(&flow->insns[last]) && next != NONE)
		add_edge(b, block, last, SYMBOL_EDGE_FALL, flow->insns[next].addr);
	for (uint32_t w = first_way(flow, last); w < flow->n_ways && flow->ways[w].insn == last;
	     w++)
		add_edge(b, block, last, flow->ways[w].kind, flow->ways[w].target);
	bl->n_edges = flow->n_edges - bl->first_edge;
}

/* Follows execution from the entry, and makes an edge of each way that it can take. */
static void make_edges(struct builder *b)
{
	struct symbol_flow *flow = b->flow;

	b->stack = alloc_array(flow->n_blocks, sizeof(*b->stack));
	reach(b, block_of(flow, flow->entry));
	while (b->stack_len)
		leave_block(b, b->stack[--b->stack_len]);
	free(b->stack);
	for (uint32_t i = 0; i < flow->n_insns; i++)
		if (flow->blocks[flow->insns[i].block].reached)
			flow->insns[i].flags |= SYMBOL_INSN_REACHED;
}

static int compare_edges(const void *a, const void *b)
{
	const struct symbol_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->target > y->target) - (x->target < y->target);
}

/* Edges came in the order in which blocks were reached. Two jumps to one place are one edge. */
static void order_edges(struct symbol_flow *flow)
{
	uint32_t n = 0;

	if (flow->n_edges)
		qsort(flow->edges, flow->n_edges, sizeof(*flow->edges), compare_edges);
	for (uint32_t i = 0; i < flow->n_edges; i++)
		if (!n || compare_edges(&flow->edges[n - 1], &flow->edges[i]))
			flow->edges[n++] = flow->edges[i];
	flow->n_edges = n;
	for (uint32_t i = 0; i < flow->n_blocks; i++)
		flow->blocks[i].first_edge = flow->blocks[i].n_edges = 0;
	for (uint32_t i = n; i-- > 0;) {
		struct symbol_block *bl = &flow->blocks[flow->edges[i].from];

		bl->first_edge = i;
		bl->n_edges++;
	}
}

static void take_parts(struct builder *b)
{
	struct symbol_flow *flow = b->flow;
	uint64_t total = 0, end = 0;

	for (size_t i = 0; i < b->in->n_parts; i++) {
		const struct symbol_flow_part *p = &b->in->parts[i];
		struct symbol_range part = { p->start, p->end };

		if (p->end <= p->start)
			continue;
		if (p->start < end || i >= MAX_PARTS ||
		    p->end - p->start > SYMBOL_FLOW_MAX - total) {
			flow->problems |= SYMBOL_FLOW_CUT;
			continue;
		}
		total += p->end - p->start;
		end = p->end;
		vec_push(flow, parts, part);
		decode_part(b, p);
	}
}

static uint8_t file_byte(const struct builder *b, uint64_t addr, bool *known)
{
	for (size_t i = 0; i < b->in->n_parts; i++) {
		const struct symbol_flow_part *p = &b->in->parts[i];

		if (addr < p->start || addr >= p->end)
			continue;
		*known = p->file != NULL;
		return p->file ? p->file[addr - p->start] : 0;
	}
	*known = false;
	return 0;
}

/* A trap of one byte that is executed, or stands behind a call, where it looks like the code's end. */
static bool is_hit_trap(const struct symbol_flow *flow, uint32_t i)
{
	const struct symbol_insn *insn = &flow->insns[i];

	if (insn->kind != SYMBOL_INSN_TRAP || insn->len != 1)
		return false;
	return insn->flags & SYMBOL_INSN_REACHED ||
	       (i && insn[-1].kind == SYMBOL_INSN_CALL_NORETURN && flow_next(flow, i - 1) == i);
}

static bool is_jump_nowhere(const struct builder *b, const struct symbol_insn *insn)
{
	return insn->kind == SYMBOL_INSN_JUMP && insn->flags & SYMBOL_INSN_TAIL &&
	       !(insn->flags & SYMBOL_INSN_STATIC_CALL) &&
	       ask_callee(b, insn->target) == SYMBOL_CALLEE_UNKNOWN;
}

/*
 * Probes where no instruction of the file begins, such as behind a call that replaced a longer one:
 * traps that are reached and jumps to no code of the image, which the file does not have.
 */
static void find_hidden(struct builder *b)
{
	for (uint32_t i = 0; i < b->flow->n_insns; i++) {
		const struct symbol_insn *insn = &b->flow->insns[i];
		bool trap = is_hit_trap(b->flow, i), known;

		if (insn->flags & SYMBOL_INSN_FROM_FILE || (!trap && !is_jump_nowhere(b, insn)))
			continue;
		if ((file_byte(b, insn->addr, &known) != 0xcc || !trap) && known)
			b->flow->problems |= SYMBOL_FLOW_HIDDEN;
	}
}

static void build(struct builder *b)
{
	struct symbol_flow *flow = b->flow;

	take_parts(b);
	for (uint32_t i = 0; b->in->tables && i < flow->n_parts; i++)
		apply_tables(flow, b->in->tables, &flow->parts[i]);
	classify_all(b);
	for (uint32_t i = 0; i < flow->n_insns; i++)
		add_ways(b, i);
	mark_leaders(flow);
	make_blocks(flow);
	make_edges(b);
	order_edges(flow);
	find_hidden(b);
	free(flow->ways);
	flow->ways = NULL;
	flow->n_ways = flow->cap_ways = 0;
}

struct symbol_flow *symbol_flow_create(const struct symbol_flow_input *input)
{
	struct builder b = { .in = input, .decoder = decoder_create() };

	if (!b.decoder)
		return NULL;
	b.flow = alloc_new(struct symbol_flow);
	b.flow->entry = input->entry;
	build(&b);
	decoder_destroy(b.decoder);
	return b.flow;
}

void symbol_flow_destroy(struct symbol_flow *flow)
{
	if (!flow)
		return;
	free(flow->parts);
	free(flow->insns);
	free(flow->blocks);
	free(flow->edges);
	free(flow);
}

uint64_t symbol_flow_entry(const struct symbol_flow *flow)
{
	return flow->entry;
}

unsigned int symbol_flow_problems(const struct symbol_flow *flow)
{
	return flow->problems;
}

const struct symbol_insn *symbol_flow_insns(const struct symbol_flow *flow, uint32_t *n)
{
	*n = flow->n_insns;
	return flow->insns;
}

const struct symbol_block *symbol_flow_blocks(const struct symbol_flow *flow, uint32_t *n)
{
	*n = flow->n_blocks;
	return flow->blocks;
}

const struct symbol_edge *symbol_flow_edges(const struct symbol_flow *flow, uint32_t *n)
{
	*n = flow->n_edges;
	return flow->edges;
}

const struct symbol_range *symbol_flow_parts(const struct symbol_flow *flow, uint32_t *n)
{
	*n = flow->n_parts;
	return flow->parts;
}

const struct symbol_insn *symbol_flow_insn_at(const struct symbol_flow *flow, uint64_t addr)
{
	uint32_t i = flow_find(flow, addr);

	return i == NONE ? NULL : &flow->insns[i];
}

uint32_t symbol_flow_block_at(const struct symbol_flow *flow, uint64_t addr)
{
	uint32_t i = find_covering(flow, addr);

	return i == NONE ? SYMBOL_FLOW_OUT : flow->insns[i].block;
}
