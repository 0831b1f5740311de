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

/* Add the instruction DEC at ADDR. If its length is 0, add a byte that cannot be decoded. */
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
		.kind = dec->len ? kinds[dec->kind] : KERNEL_INSN_BAD,
		.len = dec->len ?: 1,
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
	const struct arch_table *t;
	uint64_t from = addr > MAX_ALTERNATIVE ? addr - MAX_ALTERNATIVE : 0;

	if (!b->in->tables)
		return false;
	t = &b->in->tables->of[ARCH_SECTION_ALTERNATIVES];
	for (uint32_t i = bisect(t->n_items, j, t->items[j].addr < from);
	     i < t->n_items && t->items[i].addr < addr + len; i++)
		if (t->items[i].addr + t->items[i].len > addr)
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
		if (!ok)
			dec = (struct decoded){};
		else if (file)
			hides_return(b, p, at, restored, &dec);
		note_insn(b, p->start + at, &dec, ok && file);
		at += dec.len ?: 1;
	}
}

static void note_label(struct kernel_insn *insn, const struct arch_entry *label)
{
	if (insn->kind != KERNEL_INSN_NOP && insn->kind != KERNEL_INSN_JUMP)
		return;
	if (insn->kind == KERNEL_INSN_NOP)
		insn->flags |= KERNEL_INSN_LABEL_NOP;
	insn->kind = KERNEL_INSN_LABEL;
	insn->target = label->target;
}

static void note_bug(struct kernel_insn *insn, const struct arch_entry *bug)
{
	if (insn->kind != KERNEL_INSN_WARN)
		return;
	insn->flags |= KERNEL_INSN_BUG;
	if (!bug->warning)
		insn->kind = KERNEL_INSN_TRAP;
}

/* Note in INSN what the table NAME says about it. */
static void apply_entry(struct kernel_insn *insn, enum arch_section_name name,
			const struct arch_entry *entry)
{
	static const uint16_t flags[ARCH_N_SECTIONS] = {
		[ARCH_SECTION_FIXUPS] = KERNEL_INSN_FAULTS,
		[ARCH_SECTION_STATIC_CALLS] = KERNEL_INSN_STATIC_CALL,
		[ARCH_SECTION_FTRACE] = KERNEL_INSN_FTRACE,
		/* With thunks, compilers make no jump tables, so these jumps leave the function. */
		[ARCH_SECTION_RETPOLINES] = KERNEL_INSN_TAIL,
	};

	insn->flags |= flags[name];
	if (name == ARCH_SECTION_LABELS)
		note_label(insn, entry);
	else if (name == ARCH_SECTION_BUGS)
		note_bug(insn, entry);
}

static void apply_tables(struct kernel_flow *flow, const struct arch_tables *tables,
			 const struct kernel_range *part)
{
	for (int name = 0; name < ARCH_N_SECTIONS; name++) {
		const struct arch_table *t = &tables->of[name];

		for (uint32_t i = bisect(t->n_items, j, t->items[j].addr < part->start);
		     i < t->n_items && t->items[i].addr < part->end; i++) {
			uint32_t insn = flow_find(flow, t->items[i].addr);

			if (insn != FLOW_NONE)
				apply_entry(&flow->insns[insn], name, &t->items[i]);
		}
	}
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
		const struct kernel_flow_part *p;
		bool trap = is_hit_trap(b->flow, i);

		if (insn->flags & KERNEL_INSN_FROM_FILE || (!trap && !is_jump_nowhere(b, insn)))
			continue;
		p = flow_input_part(b->in, insn->addr);
		if (p->file && !(trap && decode_is_trap(p->file[insn->addr - p->start])))
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
