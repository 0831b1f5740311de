/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface of an architecture: decoding its instructions, reading the kernel image's tables about instructions, and
 * recognizing probes in code. src/arch/x86 is the only implementation; docs/ARCHITECTURE.md tells how to add one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include <stdint.h>

#include "base/alloc.h"
#include "kprotperf/cost.h"

#if defined(__x86_64__)
#include "arch/x86/defs.h"
#else
/* cppcheck-suppress preprocessorErrorDirective */
#error "kprotperf supports x86-64 kernels only"
#endif

/* Decoding of instructions (decode.c). */

enum decode_kind {
	DECODE_PLAIN,
	DECODE_NOP, /* a no-op of any length */
	DECODE_JUMP, /* direct */
	DECODE_COND, /* direct: jcc, loop, jrcxz */
	DECODE_CALL, /* direct */
	DECODE_JUMP_INDIRECT,
	DECODE_CALL_INDIRECT,
	DECODE_RET, /* also iret, sysret: control leaves the function for good */
	DECODE_INT3,
	DECODE_UD, /* ud0, ud1, ud2 */
};

struct decoded {
	uint8_t len;
	uint8_t kind;
	bool no_kprobe; /* the kernel refuses a kprobe on such an instruction */
	bool harmful; /* the kernel accepts a kprobe on it, and crashes when the probe is hit */
	bool no_optimize; /* a kprobe whose jump would overwrite it stays a breakpoint */
	uint64_t target; /* target address of a direct jump or call */
};

struct decoder;

/* Return NULL if capstone does not support this machine. */
struct decoder *decoder_create(void);
void decoder_destroy(struct decoder *d); /* accepts NULL */

/* Decode the instruction at the start of the AVAIL bytes CODE at ADDR. Return false if there is none. */
bool decode(struct decoder *d, const uint8_t *code, size_t avail, uint64_t addr,
	    struct decoded *out);

/* Return whether BYTE is a kprobe's trap. The kernel also fills the rest of replaced instructions with this byte. */
bool decode_is_trap(uint8_t byte);
/* Return whether the AVAIL bytes CODE at ADDR begin with a jump, as optimized kprobes write it. Set *TARGET to its target. */
bool decode_is_probe_jump(const uint8_t *code, size_t avail, uint64_t addr, uint64_t *target);
/*
 * If the AVAIL bytes CODE begin with Clang's check of an indirect call's target (KCFI), return the length of the part that no
 * kprobe may change, because the kernel reads the expected type from it if the check fails. Else return 0.
 */
size_t decode_type_check(const uint8_t *code, size_t avail);
/* Return whether the instruction at CODE, which has at least 2 bytes, is the trap of a BUG or WARN. */
bool decode_is_bug(const uint8_t *code);

/*
 * Set *BYTES and *ADDR to the bytes and the address of the Nth instruction before an indirect jump (0: the jump
 * itself). Return the number of bytes; 0 if no such instruction leads to the jump.
 */
typedef size_t (*decode_before_fn)(uint32_t n, const uint8_t **bytes, uint64_t *addr, void *arg);

/* The source of an indirect jump's target. */
enum decode_jump_kind {
	DECODE_JUMP_UNKNOWN,
	DECODE_JUMP_POINTER, /* a pointer: the jump leaves the function */
	/* The jump table of a switch statement: */
	DECODE_JUMP_ADDRESSES, /* 8-byte absolute addresses */
	DECODE_JUMP_DIFFERENCES, /* 4-byte differences from the table's address */
};

struct decoded_jump {
	enum decode_jump_kind kind;
	uint64_t table; /* address of the jump table */
	uint32_t n; /* number of entries in the table; 0: unknown */
};

/* Find out where the target of an indirect jump comes from. */
struct decoded_jump decode_indirect_jump(struct decoder *d, decode_before_fn before, void *arg);

/* Operands and effect of an instruction (access.c). */

/*
 * Registers have numbers below ARCH_REGS, which is 64 at most. The first ARCH_MAX_ARGS registers pass arguments, in their order.
 * Calls preserve registers from number ARCH_SAVED on. ARCH_RESULT has a call's return value. ARCH_STACK is the stack pointer.
 */
#define ARCH_NO_REG ARCH_REGS

uint8_t arch_dwarf_register(uint8_t reg);

/* The effect of an instruction on registers and flags. Names in capitals are members of struct arch_access. */
enum arch_effect {
	ARCH_EFFECT_OTHER,
	ARCH_EFFECT_MOVE, /* TO becomes FROM, NUMBER, the memory's value, or a part of it */
	ARCH_EFFECT_ADDRESS, /* TO becomes the sum of BASE and AT */
	/* The next four compute TO and the flags from TO and another operand: FROM, NUMBER, or memory. */
	ARCH_EFFECT_AND,
	ARCH_EFFECT_SHIFT_LEFT,
	ARCH_EFFECT_SHIFT_RIGHT,
	ARCH_EFFECT_ADD,
	/* The next three set only the flags. Left operand: TO, or else memory. Right operand: FROM, NUMBER, or memory. */
	ARCH_EFFECT_COMPARE,
	ARCH_EFFECT_TEST, /* flags of the bitwise AND of both operands */
	ARCH_EFFECT_BIT, /* flags of one bit of the left operand; the right operand is the bit's number */
};

/* The relation that a conditional jump tests: between the operands of a compare, or of another instruction's result to 0. */
enum arch_relation {
	ARCH_RELATION_NONE,
	ARCH_RELATION_EQUAL,
	ARCH_RELATION_UNEQUAL,
	ARCH_RELATION_LESS,
	ARCH_RELATION_NOT_LESS,
	ARCH_RELATION_GREATER,
	ARCH_RELATION_NOT_GREATER,
};

struct arch_access {
	enum arch_effect effect;
	enum arch_relation relation; /* the conditional jump jumps if this relation holds */
	uint64_t
		reads; /* registers whose values or parts matter, such as not that of xor with itself: one bit each */
	uint64_t writes; /* registers written, or parts of them: one bit each */
	bool writes_flags;
	uint8_t to, from; /* register operands, or ARCH_NO_REG */
	bool has_number; /* the other operand is the constant NUMBER */
	int64_t number;
	/* Memory that is read: BYTES bytes at BASE + AT, or at AT if BASE is ARCH_NO_REG. Index registers are not supported. */
	bool has_memory, is_per_cpu;
	uint8_t base, bytes;
	uint64_t at;
};

/* Set *OUT for the instruction at the start of the AVAIL bytes CODE at ADDR. Return false if capstone does not know it. */
bool arch_access_of(struct decoder *d, const uint8_t *code, size_t avail, uint64_t addr,
		    struct arch_access *out);

/* The operation of an instruction, independent of the instruction's address (disasm.c). */

enum arch_value_kind {
	ARCH_VALUE_NUMBER, /* an immediate, which may be an address too */
	ARCH_VALUE_OFFSET, /* memory offset from a register, or an address to which a register is added */
	ARCH_VALUE_STACK, /* memory offset from the stack pointer, or a number added to the stack pointer */
	ARCH_VALUE_ADDRESS, /* address of code, or of memory without a base register */
};

#define ARCH_MAX_VALUES 3

struct arch_operation {
	/* Hashes: SHAPE of the operation and of the kinds and sizes of its operands, REGISTERS of the registers in them. */
	uint64_t shape, registers;
	bool inverted; /* conditional jump with the opposite of the condition in SHAPE */
	bool has_code_target; /* the only value is the target of a direct jump or call */
	uint8_t n_values;
	struct arch_value {
		uint64_t value;
		enum arch_value_kind kind;
	} values[ARCH_MAX_VALUES];
};

/* Set *OUT for the instruction in the LEN bytes CODE at ADDR. If capstone does not know it, SHAPE is a hash of its bytes. */
void arch_operation_of(struct decoder *d, const uint8_t *code, size_t len, uint64_t addr,
		       struct arch_operation *out);

/* Probes in code (probe.c). */

/* Code that the kernel has written over an instruction to reach a probe. */
enum arch_patch {
	ARCH_PATCH_NONE,
	ARCH_PATCH_CALL, /* ftrace's call */
	ARCH_PATCH_JUMP, /* an optimized kprobe's jump */
	ARCH_PATCH_TRAP,
};

/* Return how the kernel has patched an instruction. TEXT has the instruction's first four bytes in memory. */
enum arch_patch arch_patch_of(uint32_t text);
/* Return the length of the instruction with the bytes TEXT if it marks a target of indirect branches (endbr64), else 0. */
uint32_t arch_entry_mark_len(uint32_t text);

/* Return how the kernel executes the instruction under a kprobe's trap. TEXT has the instruction's first four bytes. */
enum engine_range_kind arch_kprobe_kind(uint32_t text);

/* Test calls and returns in the kernel's code, on which probes are calibrated (probe.c). */

/*
 * Find the call of TARGET with N small constants as arguments in the LEN bytes CODE at ADDR. Set MOVES to the addresses of the
 * instructions that move the constants to registers. Set AFTER to the addresses of the call, of the compare of its result, and of
 * the conditional jump after the compare. Return false if there is no such call.
 */
bool arch_find_test_call(const uint8_t *code, size_t len, uint64_t addr, uint64_t target,
			 uint32_t n, uint64_t *moves, uint64_t after[3]);
/* Return the offset of the first return in the LEN bytes CODE that may have replaced a jump to the return thunk, or LEN. */
size_t arch_find_return(const uint8_t *code, size_t len);

/* Names of functions (probe.c). */

enum arch_symbol {
	ARCH_SYMBOL_ORDINARY,
	ARCH_SYMBOL_NORETURN, /* names of this architecture; kernel_name_is_noreturn() has all */
	ARCH_SYMBOL_RETURN_THUNK,
	ARCH_SYMBOL_INDIRECT_THUNK,
	ARCH_SYMBOL_NONE, /* no symbol: outside of the kernel image, such as a probe's trampoline */
};

enum arch_symbol arch_symbol_of_name(const char *name);

/* Tables in the kernel image about its code (tables.c). */

enum arch_section_name {
	ARCH_SECTION_LABELS, /* jump labels: each is a jump or a nop, depending on a static key */
	ARCH_SECTION_FIXUPS, /* where execution continues if an instruction faults */
	ARCH_SECTION_BUGS,
	ARCH_SECTION_STATIC_CALLS,
	ARCH_SECTION_FTRACE, /* calls of __fentry__ */
	ARCH_SECTION_RETPOLINES, /* indirect jumps and calls that were compiled as calls of thunks */
	ARCH_SECTION_ALTERNATIVES, /* code that the kernel replaces at boot on some CPUs */
	ARCH_N_SECTIONS,
};

struct arch_entry {
	uint64_t addr; /* of an instruction */
	uint64_t target; /* of a jump label or fixup */
	uint64_t key; /* address of the jump label's static key, a count: above 0, the key is on */
	uint8_t len; /* bytes that an alternative replaces */
	bool warning; /* the bug is a WARN: execution continues after the trap */
};

struct arch_tables {
	struct arch_table {
		vec_of(struct arch_entry, items); /* sorted by address */
	} of[ARCH_N_SECTIONS];
	bool has_bugs; /* the image has a bug table: a ud2 that is not listed is no BUG or WARN */
};

/* The symbols at the bounds of each section in the image, and the section's name in a module. */
extern const struct arch_section_bounds {
	const char *start, *stop, *section;
} arch_section_bounds[ARCH_N_SECTIONS];

/*
 * If TYPE is a PC-relative relocation, apply it with VALUE to the 4 bytes AT, whose address is PLACE. Calls and most of the tables
 * above use such relocations.
 */
void arch_relocate(uint32_t type, uint64_t value, uint64_t place, uint8_t *at);

/* The bytes of a section between its two symbols; LEN is 0 if the image lacks the symbols. */
struct arch_section {
	uint64_t addr; /* link-time address: the image may run elsewhere */
	const uint8_t *data;
	size_t len;
};

/* Return the bytes at address ADDR of the file, and set *AVAIL to their number. Return NULL if there are none. */
typedef const uint8_t *(*arch_data_fn)(uint64_t addr, size_t *avail, void *arg);

/* Read the tables from the sections of an image whose _stext is at BASE. Addresses in OUT are relative to BASE. */
void arch_tables_read(struct arch_tables *out, const struct arch_section sections[ARCH_N_SECTIONS],
		      uint64_t base, arch_data_fn data, void *arg);
void arch_tables_clear(struct arch_tables *tables);
