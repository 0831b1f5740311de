// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/code/arguments.h"

#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"

#define MAX_STEPS 4000 /* maximum number of instructions examined */
#define WINDOW    256 /* bytes read at once */

/* Code that is still to be examined. UNTOUCHED is a bit mask of argument registers that still have their values of the entry. */
struct place {
	uint64_t addr;
	uint8_t untouched;
};

struct walk {
	const struct kernel_arguments_input *input;
	struct decoder *decoder;
	vec_of(struct place, places);
	uint32_t at; /* index in PLACES of the code to examine next */
	uint32_t steps;
	uint64_t window_addr;
	size_t window_len;
	uint8_t window[WINDOW];
};

static void go(struct walk *w, uint64_t addr, uint8_t untouched)
{
	struct place place = { addr, untouched };

	for (uint32_t i = 0; i < w->n_places; i++)
		if (w->places[i].addr == addr && !(untouched & ~w->places[i].untouched))
			return;
	vec_push(w, places, place);
}

/* Return the code at ADDR; NULL: there is none. *AVAIL bytes are valid, and cover one instruction unless the code ends before. */
static const uint8_t *code_at(struct walk *w, uint64_t addr, size_t *avail)
{
	if (addr - w->window_addr >= w->window_len ||
	    w->window_len - (addr - w->window_addr) < ARCH_MAX_INSN) {
		w->window_addr = addr;
		w->window_len = w->input->read(addr, w->window, sizeof(w->window), w->input->arg);
	}
	*avail = w->window_len - (addr - w->window_addr);
	return *avail ? w->window + (addr - w->window_addr) : NULL;
}

/* Return whether INSN may be a static key's nop, which becomes a jump. Only the length tells, so padding may count, too. */
static bool may_be_label(const struct decoded *insn)
{
	return insn->kind == DECODE_NOP && (insn->len == 2 || insn->len == 5);
}

/* Return the address behind the endbr64 (or a nop of equal length) and the ftrace location at ADDR, which may both be missing. */
static uint64_t skip_entry(struct walk *w, uint64_t addr)
{
	const uint8_t *code;
	struct decoded insn;
	size_t avail;
	uint32_t text;

	code = code_at(w, addr, &avail);
	if (code && avail >= sizeof(text)) {
		memcpy(&text, code, sizeof(text));
		addr += arch_entry_mark_len(text);
	}
	code = code_at(w, addr, &avail);
	if (code && decode(w->decoder, code, avail, addr, &insn) && insn.len == ARCH_FTRACE_LEN &&
	    (insn.kind == DECODE_NOP || insn.kind == DECODE_CALL))
		addr += ARCH_FTRACE_LEN;
	return addr;
}

/* Follow a jump or call to TARGET. Return YES if TARGET is known to read one of the registers in the bit mask UNTOUCHED. */
static enum kernel_answer enter(struct walk *w, uint64_t target, uint8_t untouched)
{
	int n = w->input->takes(target, w->input->arg);

	if (n == -ENOENT) {
		go(w, target, untouched);
		return KERNEL_NO;
	}
	if (n < 0)
		return KERNEL_UNKNOWN;
	return untouched & ((1u << n) - 1) ? KERNEL_YES : KERNEL_NO;
}

/*
 * Examine the instruction at *ADDR. Advance *ADDR, or set *ADDR to 0 if the next instruction cannot read arguments. Return YES if
 * the instruction, or a function that it calls or jumps to, reads a register in the mask *UNTOUCHED; else NO or UNKNOWN.
 */
static enum kernel_answer step(struct walk *w, uint64_t *addr, uint8_t *untouched)
{
	struct arch_access access;
	struct decoded insn;
	const uint8_t *code;
	uint64_t at = *addr;
	size_t avail;

	code = code_at(w, at, &avail);
	if (!code || !decode(w->decoder, code, avail, at, &insn) || may_be_label(&insn) ||
	    !arch_access_of(w->decoder, code, insn.len, at, &access) || w->steps++ >= MAX_STEPS)
		return KERNEL_UNKNOWN;
	if (access.reads & *untouched)
		return KERNEL_YES;
	*untouched &= (uint8_t)~access.writes;
	*addr += insn.len;
	switch (insn.kind) {
	case DECODE_COND:
		go(w, insn.target, *untouched);
		return KERNEL_NO;
	case DECODE_JUMP:
	case DECODE_CALL:
		*addr = 0;
		return enter(w, insn.target, *untouched);
	case DECODE_JUMP_INDIRECT:
	case DECODE_CALL_INDIRECT:
	case DECODE_INT3: /* a trap, or the probe of another tool */
		return KERNEL_UNKNOWN;
	case DECODE_RET:
	case DECODE_UD:
		*addr = 0;
		return KERNEL_NO;
	default:
		return KERNEL_NO;
	}
}

static enum kernel_answer walk(struct walk *w)
{
	enum kernel_answer answer = KERNEL_NO;

	for (; w->at < w->n_places; w->at++) {
		struct place p = w->places[w->at];

		while (p.addr && p.untouched) {
			enum kernel_answer one = step(w, &p.addr, &p.untouched);

			if (one == KERNEL_YES)
				return KERNEL_YES;
			if (one == KERNEL_UNKNOWN) {
				answer = KERNEL_UNKNOWN;
				break;
			}
		}
	}
	return answer;
}

enum kernel_answer kernel_arguments_beyond(struct decoder *decoder,
					   const struct kernel_arguments_input *input,
					   uint64_t entry, unsigned int n)
{
	struct walk w = { .input = input, .decoder = decoder };
	uint8_t untouched = (uint8_t)(((1u << ARCH_MAX_ARGS) - 1) & ~((1u << n) - 1));
	enum kernel_answer answer;

	go(&w, skip_entry(&w, entry), untouched);
	answer = walk(&w);
	free(w.places);
	return answer;
}
