// SPDX-License-Identifier: GPL-2.0-or-later
/* Recognize probes in the code of x86-64 kernels, and tell how the kernel executes a probed instruction. */
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"

/* Opcodes that the kernel writes over the first byte of a probed instruction. */
#define OP_CALL 0xe8 /* ftrace's call */
#define OP_JUMP 0xe9
#define OP_INT3 0xcc

/* Instructions that mark targets of indirect branches. A probe on a function's entry is after the mark. */
#define ENDBR64          0xfa1e0ff3
#define ENDBR_POISON     0x001f0f66 /* nopw (%rax): replaces ENDBR64 if no indirect branch goes there */
#define ENDBR_POISON_NEW 0xd6401f0f /* nopl -42(%rax): the same since Linux 6.15 */

uint32_t arch_entry_mark_len(uint32_t text)
{
	return text == ENDBR64 || text == ENDBR_POISON || text == ENDBR_POISON_NEW ?
		       ARCH_MAX_ENTRY_MARK :
		       0;
}

enum arch_patch arch_patch_of(uint32_t text)
{
	switch (text & 0xff) {
	case OP_CALL:
		return ARCH_PATCH_CALL;
	case OP_JUMP:
		return ARCH_PATCH_JUMP;
	case OP_INT3:
		return ARCH_PATCH_TRAP;
	default:
		return ARCH_PATCH_NONE;
	}
}

/*
 * The kernel emulates calls, jumps, returns, and instructions that read or change the interrupt flag (cli, sti, pushf, popf). It
 * single-steps copies of all others.
 */
enum engine_range_kind arch_kprobe_kind(uint32_t text)
{
	uint8_t op, next;

	for (int i = 0; i < 3; i++, text >>= 8) {
		op = text;
		/* Prefixes: operand size, segments, repeat, REX. */
		if (op != 0x66 && op != 0x2e && op != 0x3e && op != 0xf2 && op != 0xf3 &&
		    (op & 0xf0) != 0x40)
			break;
	}
	op = text;
	next = text >> 8;
	switch (op) {
	case 0xe8:
		return ENGINE_RANGE_CALL_EMULATED;
	case 0xe9: /* jump */
	case 0xeb:
	case 0xc2: /* return */
	case 0xc3:
		return ENGINE_RANGE_JUMP_EMULATED;
	case 0xfa: /* cli and sti: emulated in about as many instructions as a call */
	case 0xfb:
		return ENGINE_RANGE_CALL_EMULATED;
	case 0x9c: /* pushf and popf: emulated about as fast as a conditional jump */
	case 0x9d:
		return ENGINE_RANGE_EMULATED;
	case 0xff:
		if ((next & 0x38) == 0x10) /* call */
			return ENGINE_RANGE_CALL_EMULATED;
		return (next & 0x38) == 0x20 ? ENGINE_RANGE_JUMP_EMULATED : ENGINE_RANGE_STEPPED;
	case 0x0f: /* conditional jump */
		return (next & 0xf0) == 0x80 ? ENGINE_RANGE_EMULATED : ENGINE_RANGE_STEPPED;
	default:
		return (op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0 ? ENGINE_RANGE_EMULATED :
								    ENGINE_RANGE_STEPPED;
	}
}

/* Return the length of the instruction before AT if it moves a small number to a register, else 0. At least 6 bytes precede AT. */
static size_t move_before(const uint8_t *at)
{
	if ((at[-5] & 0xf8) != 0xb8 || at[-3] || at[-2] || at[-1])
		return 0;
	return at[-6] == 0x41 ? 6 : 5;
}

/* Return whether the 10 bytes CODE at ADDR call TARGET, compare %eax with a one-byte number, and jump if they differ. */
static bool is_tested_call(const uint8_t *code, uint64_t addr, uint64_t target)
{
	int32_t rel;

	memcpy(&rel, code + 1, sizeof(rel));
	return code[0] == OP_CALL && addr + 5 + (uint64_t)(int64_t)rel == target &&
	       code[5] == 0x83 && code[6] == 0xf8 &&
	       (code[8] == 0x75 || (code[8] == 0x0f && code[9] == 0x85));
}

/* Find the N consecutive moves of constants before CODE[AT]. Set MOVES to their addresses. */
static bool find_moves(const uint8_t *code, size_t at, uint64_t addr, uint32_t n, uint64_t *moves)
{
	while (n-- > 0) {
		size_t len = at < 6 ? 0 : move_before(code + at);

		if (!len)
			return false;
		at -= len;
		moves[n] = addr + at;
	}
	return true;
}

bool arch_find_test_call(const uint8_t *code, size_t len, uint64_t addr, uint64_t target,
			 uint32_t n, uint64_t *moves, uint64_t after[3])
{
	for (size_t at = 0; at + 10 <= len; at++) {
		if (!is_tested_call(code + at, addr + at, target) ||
		    !find_moves(code, at, addr, n, moves))
			continue;
		after[0] = addr + at;
		after[1] = addr + at + 5;
		after[2] = addr + at + 8;
		return true;
	}
	return false;
}

/* Find a return with a breakpoint after it: the kernel pads a return that replaces a longer jump with breakpoints. */
size_t arch_find_return(const uint8_t *code, size_t len)
{
	for (size_t at = 0; at + 1 < len; at++)
		if (code[at] == 0xc3 && code[at + 1] == OP_INT3)
			return at;
	return len;
}

/* Functions of this architecture that never return. */

static const char *const noreturn[] = {
	"__tdx_hypercall_failed", "acpi_processor_ffh_play_dead",
	"ex_handler_msr_mce",     "hlt_play_dead",
	"hv_ghcb_terminate",      "machine_real_restart",
	"sev_es_terminate",       "snp_abort",
	"x86_64_start_kernel",    "x86_64_start_reservations",
	"xen_cpu_bringup_again",  "xen_start_kernel",
};

enum arch_symbol arch_symbol_of_name(const char *name)
{
	static const char thunk[] = "_return_thunk";
	size_t len = strlen(name);

	if (!strncmp(name, "__x86_indirect_", 15))
		return ARCH_SYMBOL_INDIRECT_THUNK;
	if (len >= sizeof(thunk) - 1 && !strcmp(name + len - (sizeof(thunk) - 1), thunk))
		return ARCH_SYMBOL_RETURN_THUNK;
	for (size_t i = 0; i < ARRAY_SIZE(noreturn); i++)
		if (!strcmp(name, noreturn[i]))
			return ARCH_SYMBOL_NORETURN;
	return ARCH_SYMBOL_ORDINARY;
}
