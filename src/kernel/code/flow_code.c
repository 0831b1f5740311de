// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decode the instructions of a function's parts, from front to back, as the kernel's kprobes do. If another tool's probe hides
 * code, take that code from the file. Then find jump labels, traps, tail calls and so on, by the kernel's tables and the names of
 * called functions.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/code/flow_impl.h"

#define MAX_PARTS 64

static enum arch_symbol ask_callee(const struct flow_builder *b, uint64_t addr)
{
	return b->in->callee ? b->in->callee(addr, b->in->arg) : ARCH_SYMBOL_ORDINARY;
}

/* Return an array indexed by byte of P: true if an instruction of the file begins there. The caller frees the array. */
static bool *file_boundaries(struct flow_builder *b, const struct kernel_flow_part *p)
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
 * Return the length of the kprobe's trap or jump at offset AT of P; 0: no kprobe. A trap inside an instruction of the file is no
 * kprobe: the kernel has patched in a shorter instruction, and filled the rest with traps.
 */
static size_t probed(const struct flow_builder *b, const struct kernel_flow_part *p,
		     const bool *starts, size_t at)
{
	uint64_t target;

	if (!starts || !starts[at] || p->bytes[at] == p->file[at])
		return 0;
	if (decode_is_trap(p->bytes[at]))
		return ARCH_TRAP_LEN;
	return decode_is_probe_jump(p->bytes + at, (size_t)(p->end - p->start) - at, p->start + at,
				    &target) &&
			       ask_callee(b, target) == ARCH_SYMBOL_NONE ?
		       ARCH_JUMP_LEN :
		       0;
}

static void note_insn(struct flow_builder *b, uint64_t addr, const struct decoded *dec,
		      bool from_file)
{
	static const uint8_t kinds[] = {
		[DECODE_PLAIN] = KERNEL_INSN_PLAIN,
		[DECODE_NOP] = KERNEL_INSN_NOP,
		[DECODE_JUMP] = KERNEL_INSN_JUMP,
		[DECODE_COND] = KERNEL_INSN_COND,
		[DECODE_CALL] = KERNEL_INSN_CALL,
		[DECODE_JUMP_INDIRECT] = KERNEL_INSN_JUMP_INDIRECT,
		[DECODE_CALL_INDIRECT] = KERNEL_INSN_CALL,
		[DECODE_RET] = KERNEL_INSN_RET,
		[DECODE_INT3] = KERNEL_INSN_TRAP,
		[DECODE_UD] = KERNEL_INSN_WARN, /* classify() corrects this for a BUG */
	};
	struct kernel_insn insn = {
		.addr = addr,
		.target = dec->target,
		.block = KERNEL_FLOW_OUT,
		.kind = kinds[dec->kind],
		.len = dec->len,
	};

	if (dec->no_kprobe)
		insn.flags |= KERNEL_INSN_NO_KPROBE;
	if (dec->harmful)
		insn.flags |= KERNEL_INSN_HARMFUL;
	if (dec->no_optimize)
		insn.flags |= KERNEL_INSN_NO_OPTIMIZE;
	if (from_file)
		insn.flags |= KERNEL_INSN_FROM_FILE;
	if (dec->kind == DECODE_JUMP_INDIRECT || dec->kind == DECODE_CALL_INDIRECT)
		insn.flags |= KERNEL_INSN_INDIRECT;
	vec_push(b->flow, insns, insn);
}

/* Maximum length in bytes of the code that an alternative replaces. */
#define MAX_ALTERNATIVE UINT8_MAX

/* Return whether an alternative overlaps the LEN bytes at ADDR. The file does not tell if the kernel has applied it. */
static bool in_alternative(const struct flow_builder *b, uint64_t addr, size_t len)
{
	const struct arch_tables *t = b->in->tables;
	uint64_t from = addr > MAX_ALTERNATIVE ? addr - MAX_ALTERNATIVE : 0;

	if (!t)
		return false;
	for (uint32_t i = bisect(t->n_alternatives, j, t->alternatives[j].addr < from);
	     i < t->n_alternatives && t->alternatives[i].addr < addr + len; i++)
		if (t->alternatives[i].addr + t->alternatives[i].len > addr)
			return true;
	return false;
}

/*
 * DEC is the file's instruction at offset AT, and a probe hides the running code up to RESTORED. Most kernels replace a jump to
 * the return thunk by a return and traps. If DEC is a jump replaced in this way, set DEC to the return and return true.
 */
static bool hides_return(const struct flow_builder *b, const struct kernel_flow_part *p, size_t at,
			 size_t restored, struct decoded *dec)
{
	size_t end = at + dec->len;
	size_t next = restored > at + ARCH_RET_LEN ? restored : at + ARCH_RET_LEN;

	if (dec->kind != DECODE_JUMP || next >= end || !decode_is_trap(p->bytes[next]) ||
	    decode_is_trap(p->file[next]) || ask_callee(b, dec->target) != ARCH_SYMBOL_RETURN_THUNK)
		return false;
	memset(dec, 0, sizeof(*dec));
	dec->len = ARCH_RET_LEN;
	dec->kind = DECODE_RET;
	return true;
}

/*
 * Decode the instruction under a kprobe's trap. Take the first byte, which the trap replaces, from the file, and the other bytes,
 * which may be relocated, from the running kernel. If this gives another instruction than the file's, the kernel has patched that
 * instruction: take the file's, and set KERNEL_FLOW_HIDDEN.
 */
static bool decode_trapped(struct flow_builder *b, const struct kernel_flow_part *p, size_t at,
			   struct decoded *dec)
{
	size_t left = (size_t)(p->end - p->start) - at;
	size_t len = left < ARCH_MAX_INSN ? left : ARCH_MAX_INSN;
	uint8_t bytes[ARCH_MAX_INSN];
	struct decoded file;

	memcpy(bytes, p->bytes + at, len);
	memcpy(bytes, p->file + at, ARCH_TRAP_LEN);
	if (!decode(b->decoder, p->file + at, left, p->start + at, &file))
		return false;
	if (hides_return(b, p, at, at + ARCH_TRAP_LEN, &file))
		*dec = file;
	else if (!decode(b->decoder, bytes, len, p->start + at, dec) || dec->len != file.len ||
		 dec->kind != file.kind || dec->target != file.target) {
		b->flow->problems |= KERNEL_FLOW_HIDDEN;
		*dec = file;
	}
	return true;
}

static void note_bad(struct flow_builder *b, uint64_t addr)
{
	struct kernel_insn bad = {
		.addr = addr,
		.block = KERNEL_FLOW_OUT,
		.kind = KERNEL_INSN_BAD,
		.len = 1,
	};

	vec_push(b->flow, insns, bad);
}

static void decode_part(struct flow_builder *b, const struct kernel_flow_part *p)
{
	scoped_free bool *starts = p->file ? file_boundaries(b, p) : NULL;
	size_t len = (size_t)(p->end - p->start), restored = 0, checked = 0;

	for (size_t at = 0; at < len;) {
		/* Look for no probe inside the jump of another probe: a byte of the jump may look like a trap. */
		size_t n = at < restored ? 0 : probed(b, p, starts, at);
		bool file = n || at < restored, ok;
		struct decoded dec = {};

		if (at + n > restored)
			restored = at + n;
		if (n && in_alternative(b, p->start + at, n))
			b->flow->problems |= KERNEL_FLOW_HIDDEN;
		if (n == ARCH_TRAP_LEN)
			ok = decode_trapped(b, p, at, &dec);
		else
			ok = decode(b->decoder, (file ? p->file : p->bytes) + at, len - at,
				    p->start + at, &dec);
		if (at >= checked)
			checked = at + decode_type_check(p->bytes + at, len - at);
		dec.no_kprobe |= at < checked;
		if (ok && file)
			hides_return(b, p, at, restored, &dec);
		if (ok)
			note_insn(b, p->start + at, &dec, file);
		else
			note_bad(b, p->start + at);
		at += ok ? dec.len : 1;
	}
}

/* Loop over those entries of T's table ITEMS whose address (member FIELD) is in PART. Tables are sorted by address. */

#define table_each(i, t, items, field, part)                                              \
	for (uint32_t i = bisect((t)->n_##items, j, (t)->items[j] field < (part)->start); \
	     i < (t)->n_##items && (t)->items[i] field < (part)->end; i++)

static void flag_at(struct kernel_flow *flow, uint64_t addr, uint16_t flag)
{
	uint32_t i = flow_find(flow, addr);

	if (i != FLOW_NONE)
		flow->insns[i].flags |= flag;
}

static void note_label(struct kernel_flow *flow, const struct arch_jump_label *l)
{
	uint32_t i = flow_find(flow, l->code);
	struct kernel_insn *insn = i == FLOW_NONE ? NULL : &flow->insns[i];

	if (!insn || (insn->kind != KERNEL_INSN_NOP && insn->kind != KERNEL_INSN_JUMP))
		return;
	if (insn->kind == KERNEL_INSN_NOP)
		insn->flags |= KERNEL_INSN_LABEL_NOP;
	insn->kind = KERNEL_INSN_LABEL;
	insn->target = l->target;
}

static void note_bug(struct kernel_flow *flow, const struct arch_bug *bug)
{
	uint32_t i = flow_find(flow, bug->addr);

	if (i == FLOW_NONE || flow->insns[i].kind != KERNEL_INSN_WARN)
		return;
	flow->insns[i].flags |= KERNEL_INSN_BUG;
	if (!bug->warning)
		flow->insns[i].kind = KERNEL_INSN_TRAP;
}

static void apply_tables(struct kernel_flow *flow, const struct arch_tables *t,
			 const struct kernel_range *part)
{
	table_each(i, t, labels, .code, part) note_label(flow, &t->labels[i]);
	table_each(i, t, fixups, .insn, part) flag_at(flow, t->fixups[i].insn, KERNEL_INSN_FAULTS);
	table_each(i, t, bugs, .addr, part) note_bug(flow, &t->bugs[i]);
	table_each(i, t, static_calls, , part)
		flag_at(flow, t->static_calls[i], KERNEL_INSN_STATIC_CALL);
	table_each(i, t, ftrace, , part) flag_at(flow, t->ftrace[i], KERNEL_INSN_FTRACE);
	/*
	 * RETPOLINES lists jumps and calls through thunks. With thunks, compilers make no jump tables, so these jumps leave the
	 * function.
	 */
	table_each(i, t, retpolines, , part) flag_at(flow, t->retpolines[i], KERNEL_INSN_TAIL);
}

/* Set INSN's kind and flags by its target, if this is outside of the function, and by the kernel's table of bugs. */
static void classify(struct flow_builder *b, struct kernel_insn *insn)
{
	const struct arch_tables *t = b->in->tables;
	bool jump = insn->kind == KERNEL_INSN_JUMP;
	bool was_thunk = insn->flags & KERNEL_INSN_TAIL;
	enum arch_symbol callee;

	/* Calls and conditional jumps do not keep KERNEL_INSN_TAIL here. */
	if (insn->kind != KERNEL_INSN_JUMP_INDIRECT && !jump)
		insn->flags &= (uint16_t)~KERNEL_INSN_TAIL;
	if (insn->kind == KERNEL_INSN_WARN && t && t->has_bugs && !(insn->flags & KERNEL_INSN_BUG))
		insn->kind = KERNEL_INSN_TRAP;
	if (insn->flags & KERNEL_INSN_INDIRECT)
		return;
	if (insn->kind == KERNEL_INSN_COND || insn->kind == KERNEL_INSN_LABEL) {
		if (!flow_part_of(b->flow, insn->target))
			insn->flags |= KERNEL_INSN_TAIL;
		return;
	}
	if ((!jump && insn->kind != KERNEL_INSN_CALL) || flow_part_of(b->flow, insn->target)) {
		insn->flags &= (uint16_t)~KERNEL_INSN_TAIL;
		return;
	}
	callee = ask_callee(b, insn->target);
	/* Against Indirect Target Selection (a CPU flaw), the kernel makes thunks in memory, which have no symbols. */
	if (callee == ARCH_SYMBOL_NONE && was_thunk)
		callee = ARCH_SYMBOL_INDIRECT_THUNK;
	if (jump)
		insn->flags |= KERNEL_INSN_TAIL;
	if (callee == ARCH_SYMBOL_INDIRECT_THUNK) {
		insn->flags |= KERNEL_INSN_INDIRECT;
		if (jump)
			insn->kind = KERNEL_INSN_JUMP_INDIRECT;
	} else if (callee == ARCH_SYMBOL_RETURN_THUNK && jump) {
		insn->kind = KERNEL_INSN_RET;
	} else if (callee == ARCH_SYMBOL_NORETURN && !jump) {
		insn->kind = KERNEL_INSN_CALL_NORETURN;
	}
}

/*
 * Return whether the code ends after the call INSN (an index). If so, the compiler knew that the called function never returns,
 * although kernel_name_is_noreturn() may not know.
 */
static bool ends_code(const struct kernel_flow *flow, uint32_t insn)
{
	uint32_t next = flow_next(flow, insn);

	while (next != FLOW_NONE && flow->insns[next].kind == KERNEL_INSN_NOP)
		next = flow_next(flow, next);
	return next == FLOW_NONE || (flow->insns[next].kind == KERNEL_INSN_TRAP &&
				     flow->insns[next].len == ARCH_TRAP_LEN);
}

static void classify_all(struct flow_builder *b)
{
	struct kernel_flow *flow = b->flow;

	for (uint32_t i = 0; i < flow->n_insns; i++) {
		classify(b, &flow->insns[i]);
		if (flow->insns[i].kind == KERNEL_INSN_BAD)
			flow->problems |= KERNEL_FLOW_BAD_CODE;
	}
	for (uint32_t i = 0; i < flow->n_insns; i++)
		if (flow->insns[i].kind == KERNEL_INSN_CALL && !flow_calls_inside(flow, i) &&
		    ends_code(flow, i))
			flow->insns[i].kind = KERNEL_INSN_CALL_NORETURN;
}

static void take_parts(struct flow_builder *b)
{
	struct kernel_flow *flow = b->flow;
	uint64_t total = 0, end = 0;

	for (size_t i = 0; i < b->in->n_parts; i++) {
		const struct kernel_flow_part *p = &b->in->parts[i];
		struct kernel_range part = { p->start, p->end };

		if (p->end <= p->start)
			continue;
		if (p->start < end || i >= MAX_PARTS ||
		    p->end - p->start > KERNEL_FLOW_MAX - total) {
			flow->problems |= KERNEL_FLOW_CUT;
			continue;
		}
		total += p->end - p->start;
		end = p->end;
		vec_push(flow, parts, part);
		decode_part(b, p);
	}
}

static uint8_t file_byte(const struct flow_builder *b, uint64_t addr, bool *known)
{
	vec_each(const struct kernel_flow_part, p, b->in, parts) {
		if (addr < p->start || addr >= p->end)
			continue;
		*known = p->file != NULL;
		return p->file ? p->file[addr - p->start] : 0;
	}
	*known = false;
	return 0;
}

/*
 * Return whether instruction I may be a probe's trap: a one-byte trap that execution can reach or that follows a call. ends_code()
 * assumes that a call before a trap never returns, so such a trap is not marked as reached.
 */
static bool is_hit_trap(const struct kernel_flow *flow, uint32_t i)
{
	const struct kernel_insn *insn = &flow->insns[i];

	if (insn->kind != KERNEL_INSN_TRAP || insn->len != ARCH_TRAP_LEN)
		return false;
	return insn->flags & KERNEL_INSN_REACHED ||
	       (i && insn[-1].kind == KERNEL_INSN_CALL_NORETURN && flow_next(flow, i - 1) == i);
}

static bool is_jump_nowhere(const struct flow_builder *b, const struct kernel_insn *insn)
{
	return insn->kind == KERNEL_INSN_JUMP && insn->flags & KERNEL_INSN_TAIL &&
	       !(insn->flags & KERNEL_INSN_STATIC_CALL) &&
	       ask_callee(b, insn->target) == ARCH_SYMBOL_NONE;
}

/*
 * Find probes at addresses where no instruction of the file begins, for example behind a patched-in call that is shorter than the
 * file's instruction. A probe shows as a reachable trap, or as a jump out of the kernel image, that the file lacks.
 */
void flow_find_hidden(struct flow_builder *b)
{
	for (uint32_t i = 0; i < b->flow->n_insns; i++) {
		const struct kernel_insn *insn = &b->flow->insns[i];
		bool trap = is_hit_trap(b->flow, i), known;

		if (insn->flags & KERNEL_INSN_FROM_FILE || (!trap && !is_jump_nowhere(b, insn)))
			continue;
		if ((!decode_is_trap(file_byte(b, insn->addr, &known)) || !trap) && known)
			b->flow->problems |= KERNEL_FLOW_HIDDEN;
	}
}

void flow_decode(struct flow_builder *b)
{
	struct kernel_flow *flow = b->flow;

	take_parts(b);
	for (uint32_t i = 0; b->in->tables && i < flow->n_parts; i++)
		apply_tables(flow, b->in->tables, &flow->parts[i]);
	classify_all(b);
}
