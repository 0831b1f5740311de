// SPDX-License-Identifier: GPL-2.0-or-later
/* Test graphs of hand-assembled functions, edges of address ranges in them, and all functions of a lab kernel. */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#include "test.h"
#include "base/system/clock.h"
#include "kernel/code/flow_function.h"
#include "kernel/image/kcore.h"
#include "kernel/image/name.h"
#include "kernel_fixture.h"

#define AT       0x1000 /* address of the test functions */
#define ENTRY    0x2000 /* addresses of callees, by the effect of the call */
#define NORETURN 0x3000
#define RETTHUNK 0x4000
#define INDTHUNK 0x5000
#define NOWHERE  0x90000000u

/* The bytes of a 32-bit operand at AT + PLACE that leads to TARGET. */
#define REL32(place, target)                                                                       \
	(uint8_t)((target) - (AT + (place) + 4)), (uint8_t)(((target) - (AT + (place) + 4)) >> 8), \
		(uint8_t)(((target) - (AT + (place) + 4)) >> 16),                                  \
		(uint8_t)(((target) - (AT + (place) + 4)) >> 24)

static enum arch_symbol callee(uint64_t addr, void *arg)
{
	(void)arg;
	switch (addr) {
	case NORETURN:
		return ARCH_SYMBOL_NORETURN;
	case RETTHUNK:
		return ARCH_SYMBOL_RETURN_THUNK;
	case INDTHUNK:
		return ARCH_SYMBOL_INDIRECT_THUNK;
	default:
		return addr >= NOWHERE ? ARCH_SYMBOL_NONE : ARCH_SYMBOL_ORDINARY;
	}
}

struct memory {
	uint64_t addr;
	const void *data;
	size_t len;
};

static bool read_memory(uint64_t addr, void *buf, size_t len, void *arg)
{
	const struct memory *m = arg;

	if (!m || addr < m->addr || addr - m->addr > m->len || len > m->len - (addr - m->addr))
		return false;
	memcpy(buf, (const char *)m->data + (addr - m->addr), len);
	return true;
}

static struct kernel_flow *flow_with(const uint8_t *code, size_t len, const uint8_t *file,
				     const struct arch_tables *tables, struct memory *memory)
{
	struct kernel_flow_part part = { AT, AT + len, code, file };
	struct kernel_flow_input in = {
		.parts = &part,
		.n_parts = 1,
		.entry = AT,
		.tables = tables,
		.callee = callee,
		.read = read_memory,
		.base = 0xffffffff90000000,
		.file_base = 0xffffffff81000000,
		.arg = memory,
	};
	struct kernel_flow *flow = kernel_flow_create(&in);

	assert_non_null(flow);
	return flow;
}

#define flow_of(code) flow_with(code, sizeof(code), NULL, NULL, NULL)

/* Return all edges as "FROM-TO:KIND", with offsets of blocks, in one line. */
static const char *describe(const struct kernel_flow *flow)
{
	static const char *const kinds[] = { "fall", "jump",   "taken",      "label",
					     "fix",  "switch", "callinside", "ret",
					     "tail", "any",    "stop" };
	static char text[2048];
	const struct kernel_edge *e = flow->edges;
	const struct kernel_block *b = flow->blocks;
	size_t len = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < flow->n_edges; i++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%x", i ? " " : "",
					(unsigned int)(b[e[i].from].start - AT));
		if (e[i].to != KERNEL_FLOW_OUT)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "-%x",
						(unsigned int)(b[e[i].to].start - AT));
		len += (size_t)snprintf(text + len, sizeof(text) - len, ":%s", kinds[e[i].kind]);
	}
	return text;
}

static void check(struct kernel_flow *flow, const char *edges, unsigned int problems)
{
	assert_string_equal(describe(flow), edges);
	assert_int_equal(flow->problems, problems);
	kernel_flow_destroy(flow);
}

TEST(straight_line_is_one_block)
{
	static const uint8_t code[] = {
		0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3, 0x0f, 0x1f, 0x00, 0xcc
	};
	struct kernel_flow *flow = flow_of(code);

	assert_int_equal(flow->n_insns, 6);
	assert_true(kernel_flow_insn_at(flow, AT + 5)->flags & KERNEL_INSN_REACHED);
	/* Padding after the return is decoded and unreachable. */
	assert_false(kernel_flow_insn_at(flow, AT + 6)->flags & KERNEL_INSN_REACHED);
	assert_null(kernel_flow_insn_at(flow, AT + 2));
	check(flow, "0:ret", 0);
}

TEST(conditions_and_jumps)
{
	static const uint8_t code[] = {
		0x85, 0xff, /* 0: test %edi,%edi */
		0x74, 0x03, /* 2: je 7 */
		0x90, /* 4: nop */
		0xeb, 0x01, /* 5: jmp 8 */
		0x90, /* 7: nop */
		0xc3, /* 8: ret */
	};

	check(flow_of(code), "0-4:fall 0-7:taken 4-8:jump 7-8:fall 8:ret", 0);
}

TEST(a_loop_goes_back)
{
	static const uint8_t code[] = {
		0x90, /* 0: nop */
		0xff, 0xc8, /* 1: dec %eax, the loop's head */
		0x0f, 0x85, 0xf8, 0xff, 0xff, 0xff, /* 3: jne 1, long form */
		0xe2, 0xf6, /* 9: loop 1 */
		0xe3, 0xf5, /* b: jrcxz 2, where no instruction starts */
		0xc3, /* d: ret */
	};

	check(flow_of(code),
	      "0-1:fall 1-9:fall 1-1:taken 9-b:fall 9-1:taken b-d:fall b:taken d:ret",
	      KERNEL_FLOW_MISALIGNED);
}

TEST(calls_come_back_unless_they_do_not)
{
	static const uint8_t code[] = {
		0xe8, REL32(1, ENTRY), /* 0: call ENTRY */
		0x75, 0x05, /* 5: jne c */
		0xe8, REL32(8, NORETURN), /* 7: call NORETURN */
		0xff, 0xd0, /* c: call *%rax */
		0xe8, REL32(0xf, INDTHUNK), /* e: call INDTHUNK */
		0x75, 0x01, /* 13: jne 16 */
		0xc3, /* 15: ret */
		0xe8, REL32(0x17, ENTRY), /* 16: call ENTRY, with only padding after it */
		0x66, 0x90, /* 1b: nop */
	};
	struct kernel_flow *flow = flow_of(code);

	assert_true(kernel_flow_insn_at(flow, AT + 0xe)->flags & KERNEL_INSN_INDIRECT);
	assert_int_equal(kernel_flow_insn_at(flow, AT + 0x16)->kind, KERNEL_INSN_CALL_NORETURN);
	check(flow, "0-7:fall 0-c:taken 7:stop c-15:fall c-16:taken 15:ret 16:stop", 0);
}

TEST(returns_through_thunks_and_tail_jumps)
{
	static const uint8_t code[] = {
		0x74,
		0x05, /* 0: je 7 */
		0xe9,
		REL32(3, RETTHUNK), /* 2: jmp RETTHUNK */
		0x74,
		0x05, /* 7: je e */
		0xe9,
		REL32(0xa, ENTRY), /* 9: jmp ENTRY */
		0x0f,
		0x84,
		REL32(0x10, ENTRY), /* e: je ENTRY */
		0x2e,
		0xe9,
		REL32(0x16, INDTHUNK), /* 14: cs jmp INDTHUNK, as in retpolines */
	};
	struct kernel_flow *flow = flow_of(code);

	assert_int_equal(kernel_flow_insn_at(flow, AT + 2)->kind, KERNEL_INSN_RET);
	assert_int_equal(kernel_flow_insn_at(flow, AT + 0x14)->kind, KERNEL_INSN_JUMP_INDIRECT);
	check(flow, "0-2:fall 0-7:taken 2:ret 7-9:fall 7-e:taken 9:tail e-14:fall e:tail 14:tail",
	      0);
}

TEST(jump_labels_have_both_states)
{
	static const uint8_t off[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x90, 0xc3, 0x90, 0xc3 };
	static const uint8_t on[] = { 0xeb, 0x05, 0x0f, 0x1f, 0x00, 0x90, 0xc3, 0x90, 0xc3 };
	struct arch_entry label = { AT, AT + 7 };
	struct arch_tables tables = { .of[ARCH_SECTION_LABELS] = { &label, 1 } };
	struct kernel_flow *flow = flow_with(off, sizeof(off), NULL, &tables, NULL);

	assert_true(kernel_flow_insn_at(flow, AT)->flags & KERNEL_INSN_LABEL_NOP);
	check(flow, "0-5:fall 0-7:label 5:ret 7:ret", 0);
	flow = flow_with(on, sizeof(on), NULL, &tables, NULL);
	assert_false(kernel_flow_insn_at(flow, AT)->flags & KERNEL_INSN_LABEL_NOP);
	check(flow, "0-2:fall 0-7:label 2:ret 7:ret", 0);
	/* Without the table of jump labels, a nop is a plain nop. */
	check(flow_with(off, sizeof(off), NULL, NULL, NULL), "0:ret", 0);
}

TEST(faults_continue_at_their_fixup)
{
	static const uint8_t code[] = { 0x90, 0x8b, 0x07, 0x31, 0xc0, 0xc3, 0x90, 0xc3 };
	struct arch_entry fixups[] = { { AT + 1, AT + 6 }, { AT + 3, AT + 0x4444 } };
	struct arch_tables tables = { .of[ARCH_SECTION_FIXUPS] = { fixups, 2 } };

	check(flow_with(code, sizeof(code), NULL, &tables, NULL),
	      "0-3:fall 0-6:fix 3-5:fall 3:fix 5:ret 6:ret", 0);
}

TEST(warn_goes_on_and_bug_does_not)
{
	static const uint8_t code[] = {
		0x0f, 0x0b, 0x74, 0x02, 0x0f, 0x0b, 0x90, 0x0f, 0x0b, 0xc3
	};
	struct arch_entry bugs[] = { { AT, .warning = true }, { AT + 4 } };
	struct arch_tables tables = { .of[ARCH_SECTION_BUGS] = { bugs, 2 }, .has_bugs = true };
	struct kernel_flow *flow = flow_with(code, sizeof(code), NULL, &tables, NULL);

	assert_int_equal(kernel_flow_place(flow, AT, NULL, NULL), KERNEL_PLACE_BUG);
	/* The last trap is not in the table of WARN() and BUG(): the compiler generated it. */
	check(flow, "0-4:fall 0-6:taken 4:stop 6:stop", 0);
}

TEST(switches_go_through_their_tables)
{
	static const uint8_t code[] = {
		0x83, 0xff, 0x02, /* 0: cmp $2,%edi */
		0x77, 0x0a, /* 3: ja f */
		0x3e, 0xff, 0x24, 0xfd, 0x00, 0x80, 0x00, 0x90, /* 5: jmp *TABLE(,%rdi,8) */
		0x50, /* d: push, case 0 */
		0x50, /* e: push, case 1 */
		0xc3, /* f: ret, case 2 and default */
	};
	/* The word after the third case belongs to another table. */
	const uint64_t table[] = { 0xffffffff8100100d, 0xffffffff8100100e, 0xffffffff8100100f,
				   0xffffffff8100100e };
	struct memory memory = { 0x8000, table, sizeof(table) };

	check(flow_with(code, sizeof(code), NULL, NULL, &memory),
	      "0-5:fall 0-f:taken 5-d:switch 5-e:switch 5-f:switch d-e:fall e-f:fall f:ret", 0);
	/* A table that cannot be read, or that leads out of the function, makes the jump go anywhere. */
	memory.len = 16;
	check(flow_with(code, sizeof(code), NULL, NULL, &memory),
	      "0-5:fall 0-f:taken 5:any d-f:fall f:ret", KERNEL_FLOW_UNRESOLVED);
}

TEST(switches_by_differences)
{
	static const uint8_t code[] = {
		0x48, 0x8d, 0x15, REL32(3, 0x8000), /* 0: lea TABLE(%rip),%rdx */
		0x48, 0x63, 0x04, 0xba, /* 7: movslq (%rdx,%rdi,4),%rax */
		0x48, 0x01, 0xd0, /* b: add %rdx,%rax */
		0xff, 0xe0, /* e: jmp *%rax */
		0x90, /* 10: nop */
		0xc3, /* 11: ret */
	};
	const int32_t table[] = { AT + 0x10 - 0x8000, AT + 0x11 - 0x8000, 0x7777777 };
	struct memory memory = { 0x8000, table, sizeof(table) };

	check(flow_with(code, sizeof(code), NULL, NULL, &memory),
	      "0-10:switch 0-11:switch 10-11:fall 11:ret", 0);
}

/* A kprobe on a call with a prefix crashes Linux 6.1, which continues 5 bytes after the call's start. */
TEST(kprobes_that_harm)
{
	static const uint8_t code[] = {
		0x2e,
		0xe8,
		REL32(2, INDTHUNK), /* 0: cs call INDTHUNK */
		0xe8,
		REL32(7, INDTHUNK), /* 6: call INDTHUNK */
		0xc2,
		0x08,
		0x00, /* b: ret $8 */
	};
	struct kernel_flow *flow = flow_of(code);

	assert_int_equal(kernel_flow_place(flow, AT, NULL, NULL), KERNEL_PLACE_HARMFUL);
	assert_int_equal(kernel_flow_place(flow, AT + 6, NULL, NULL), KERNEL_PLACE_OK);
	assert_int_equal(kernel_flow_place(flow, AT + 0xb, NULL, NULL), KERNEL_PLACE_HARMFUL);
	check(flow, "0:ret", 0);
}

/* In a Clang kernel with KCFI, the handler of ud2 reads the two instructions before the jump. */
TEST(kprobes_on_type_checks)
{
	static const uint8_t code[] = {
		0x41, 0xba,
		0x01, 0x02,
		0x03, 0x04, /* 0: mov $0x4030201,%r10d */
		0x45, 0x03,
		0x53, 0xfc, /* 6: add -4(%r11),%r10d */
		0x74, 0x02, /* a: je e */
		0x0f, 0x0b, /* c: ud2 */
		0xe8, REL32(0xe, INDTHUNK), /* e: call INDTHUNK */
		0x41, 0xba,
		0x01, 0x02,
		0x03, 0x04, /* 13: mov $0x4030201,%r10d, not followed by a check */
		0xc3, /* 19: ret */
	};
	struct arch_tables tables = { .has_bugs = true };
	struct kernel_flow *flow = flow_with(code, sizeof(code), NULL, &tables, NULL);
	static const uint8_t refused[] = { 0, 6 }, taken[] = { 0xa, 0xe, 0x13, 0x19 };

	for (size_t i = 0; i < sizeof(refused); i++)
		assert_int_equal(kernel_flow_place(flow, AT + refused[i], NULL, NULL),
				 KERNEL_PLACE_INSN);
	for (size_t i = 0; i < sizeof(taken); i++)
		assert_int_equal(kernel_flow_place(flow, AT + taken[i], NULL, NULL),
				 KERNEL_PLACE_OK);
	/* Code after the check is reachable; the trap ends its path. */
	check(flow, "0-c:fall 0-e:taken c:stop e:ret", 0);
}

TEST(other_indirect_jumps)
{
	/* jmp *8(%rax); jmp *%rax after a load; jmp *%rax of an unknown value */
	static const uint8_t memory[] = { 0xff, 0x60, 0x08 };
	static const uint8_t loaded[] = { 0x48, 0x8b, 0x40, 0x08, 0xff, 0xe0 };
	static const uint8_t unknown[] = { 0x74, 0x02, 0xff, 0xe0, 0x50, 0xc3, 0x50, 0xc3 };
	struct arch_entry retpoline = { AT + 2 };
	struct arch_tables tables = { .of[ARCH_SECTION_RETPOLINES] = { &retpoline, 1 } };

	check(flow_of(memory), "0:tail", 0);
	check(flow_of(loaded), "0:tail", 0);
	check(flow_of(unknown), "0-2:fall 0-4:taken 2:any 4:ret 6:ret", KERNEL_FLOW_UNRESOLVED);
	/* If the table of retpolines lists the jump, the jump is a tail call through a function pointer. */
	check(flow_with(unknown, sizeof(unknown), NULL, &tables, NULL),
	      "0-2:fall 0-4:taken 2:tail 4:ret", 0);
}

TEST(calls_of_the_next_instruction)
{
	static const uint8_t code[] = { 0xe8, 0x01, 0, 0, 0, 0xcc, 0x48, 0x83, 0xc4, 0x08, 0xc3 };

	check(flow_of(code), "0-5:fall 0-6:callinside 5:stop 6:ret", 0);
}

TEST(younger_instructions_than_the_decoder)
{
	static const uint8_t code[] = {
		0x0f, 0x01, 0xe8, /* serialize */
		0x0f, 0x01, 0xee, /* rdpkru */
		0x66, 0x0f, 0xae, 0xf1, /* tpause */
		0xf3, 0x0f, 0x1e, 0xfa, /* endbr64 */
		0xc3,
	};
	struct kernel_flow *flow = flow_of(code);

	assert_int_equal(flow->n_insns, 5);
	check(flow, "0:ret", 0);
}

TEST(bytes_that_are_no_code)
{
	static const uint8_t code[] = { 0x90, 0x06, 0x90, 0xc3 };
	static const uint8_t cut[] = { 0x90, 0xe9, 0x00, 0x00 };
	struct kernel_flow *flow = flow_of(code);

	assert_int_equal(kernel_flow_place(flow, AT, NULL, NULL), KERNEL_PLACE_OK);
	assert_int_equal(kernel_flow_place(flow, AT + 2, NULL, NULL), KERNEL_PLACE_NO_BOUNDARY);
	check(flow, "0:stop", KERNEL_FLOW_BAD_CODE);
	flow = flow_of(cut);
	assert_true(flow->problems & KERNEL_FLOW_BAD_CODE);
	kernel_flow_destroy(flow);
	flow = flow_with(code, 0, NULL, NULL, NULL);
	check(flow, "", 0);
}

TEST(the_end_falls_out)
{
	static const uint8_t code[] = { 0x90 };

	check(flow_of(code), "0:tail", KERNEL_FLOW_FALLS_OUT);
}

/* Other tools' probes are replaced by the file's code. The kernel's own patches stay. */
TEST(probes_of_others)
{
	static const uint8_t file[] = {
		0x55, /* 0: push %rbp */
		0x85, 0xff, /* 1: test %edi,%edi */
		0x74, 0x03, /* 3: je 8 */
		0x48, 0x89,
		0xe5, /* 5: mov %rsp,%rbp */
		0xe9, REL32(9, RETTHUNK), /* 8: jmp RETTHUNK */
	};
	uint8_t live[] = {
		0xcc, 0x85, 0xff, 0x74, 0x03, 0x48, 0x89, 0xe5, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc,
	};
	static const uint8_t jump[] = { 0xe9, 0x00, 0x00, 0x00, 0x98 };
	struct kernel_flow *flow = flow_with(live, sizeof(live), file, NULL, NULL);

	assert_true(kernel_flow_insn_at(flow, AT)->flags & KERNEL_INSN_FROM_FILE);
	assert_int_equal(kernel_flow_insn_at(flow, AT + 8)->kind, KERNEL_INSN_RET);
	assert_int_equal(kernel_flow_insn_at(flow, AT + 8)->len, 1);
	check(flow, "0-5:fall 0-8:taken 5-8:fall 8:ret", 0);
	/* An optimized probe covers several instructions. */
	memcpy(live, jump, sizeof(jump));
	flow = flow_with(live, sizeof(live), file, NULL, NULL);
	check(flow, "0-5:fall 0-8:taken 5-8:fall 8:ret", 0);
	/* Any byte of the probe's jump displacement may look like a trap. This one is at the address of the je. */
	live[3] = 0xcc;
	flow = flow_with(live, sizeof(live), file, NULL, NULL);
	check(flow, "0-5:fall 0-8:taken 5-8:fall 8:ret", 0);
}

/* With the mitigation of Indirect Target Selection, jumps and calls lead to memory without symbols. */
TEST(thunks_that_have_no_name)
{
	static const uint8_t file[] = {
		0x74, 0x06, /* 0: je 8 */
		0x90, /* 2: nop */
		0xe9, REL32(4, INDTHUNK), /* 3: jmp INDTHUNK */
		0xe8, REL32(9, INDTHUNK), /* 8: call INDTHUNK */
		0xc3,
	};
	static const uint8_t live[] = {
		0x74, 0x06, 0x90, 0xe9, REL32(4, NOWHERE), 0xe8, REL32(9, NOWHERE), 0xc3,
	};
	struct arch_entry sites[] = { { AT + 3 }, { AT + 8 } };
	struct arch_tables tables = { .of[ARCH_SECTION_RETPOLINES] = { sites, 2 } };
	struct kernel_flow *flow = flow_with(live, sizeof(live), file, &tables, NULL);

	assert_int_equal(kernel_flow_insn_at(flow, AT + 3)->kind, KERNEL_INSN_JUMP_INDIRECT);
	assert_false(kernel_flow_insn_at(flow, AT + 3)->flags & KERNEL_INSN_FROM_FILE);
	assert_true(kernel_flow_insn_at(flow, AT + 8)->flags & KERNEL_INSN_INDIRECT);
	check(flow, "0-2:fall 0-8:taken 2:tail 8:ret", 0);
	/* A changed call that is not in the table of thunks belongs to another tool. */
	flow = flow_with(live, sizeof(live), file, NULL, NULL);
	assert_int_equal(kernel_flow_insn_at(flow, AT + 3)->kind, KERNEL_INSN_JUMP);
	assert_false(kernel_flow_insn_at(flow, AT + 8)->flags & KERNEL_INSN_INDIRECT);
	kernel_flow_destroy(flow);
}

TEST(probes_that_hide_what_the_kernel_changed)
{
	/* One probe covers four pushes and the jump to the thunk. The kernel has changed the jump to a return. */
	static const uint8_t file[] = { 0x50, 0x51, 0x52, 0x53, 0xe9, REL32(5, RETTHUNK) };
	static const uint8_t jump[] = { 0xe9, 0x00, 0x00, 0x00, 0x98, 0xcc, 0xcc, 0xcc, 0xcc };
	static const uint8_t trap[] = { 0x50, 0x51, 0x52, 0x53, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc };
	/* A call, and two replacements by the kernel, each with a trap of a probe in it. */
	static const uint8_t call[] = { 0xe8, REL32(1, ENTRY), 0xc3 };
	static const uint8_t behind[] = { 0x41, 0xff, 0xd0, 0xcc, 0x00, 0xc3 };
	static const uint8_t other[] = { 0xcc, 0x0f, 0xc7, 0x4e, 0x00, 0xc3 };
	struct arch_entry alternative = { AT, .len = 4 };
	struct arch_tables tables = { .of[ARCH_SECTION_ALTERNATIVES] = { &alternative, 1 } };
	struct kernel_flow *flow = flow_with(jump, sizeof(jump), file, NULL, NULL);

	assert_int_equal(kernel_flow_insn_at(flow, AT + 4)->kind, KERNEL_INSN_RET);
	assert_int_equal(kernel_flow_insn_at(flow, AT + 4)->len, 1);
	check(flow, "0:ret", 0);
	flow = flow_with(trap, sizeof(trap), file, NULL, NULL);
	assert_int_equal(kernel_flow_insn_at(flow, AT + 4)->len, 1);
	check(flow, "0:ret", 0);
	check(flow_with(other, sizeof(other), call, NULL, NULL), "0:ret", KERNEL_FLOW_HIDDEN);
	/* The call was replaced by a shorter call and a nop; the trap is on the nop. */
	check(flow_with(behind, sizeof(behind), call, NULL, NULL), "0:stop", KERNEL_FLOW_HIDDEN);
	/* The trap is on the second byte of code that may have been replaced. */
	check(flow_with(trap, sizeof(trap), file, &tables, NULL), "0:ret", 0);
	alternative.len = 5;
	check(flow_with(trap, sizeof(trap), file, &tables, NULL), "0:ret", KERNEL_FLOW_HIDDEN);
}

TEST(parts_are_one_function)
{
	/* je to the cold part, which jumps back */
	static const uint8_t hot[] = { 0x0f, 0x84, 0xfa, 0x0f, 0x00, 0x00, 0x90, 0xc3 };
	static const uint8_t cold[] = { 0x90, 0xe9, 0x00, 0xf0, 0xff, 0xff };
	struct kernel_flow_part parts[] = { { AT, AT + sizeof(hot), hot, NULL },
					    { AT + 0x1000, AT + 0x1000 + sizeof(cold), cold,
					      NULL } };
	struct kernel_flow_input in = { .parts = parts, .n_parts = 2, .entry = AT };
	struct kernel_flow *flow = kernel_flow_create(&in);

	check(flow, "0-6:fall 0-1000:taken 6:ret 1000-6:jump", 0);
	/* Overlapping parts are refused. */
	parts[1].start = AT + 4;
	flow = kernel_flow_create(&in);
	assert_true(flow->problems & KERNEL_FLOW_CUT);
	kernel_flow_destroy(flow);
}

/* Return the probes that time RANGES, as "OFFSET:ROLES", with + if reached from inside the ranges, - from outside. */
static const char *sites_text(const struct kernel_flow *flow, const struct kernel_range *ranges,
			      size_t n)
{
	static char text[1024];
	struct kernel_site_edges edges;
	size_t len = 0;

	text[0] = '\0';
	kernel_flow_edges_of(flow, ranges, n, NULL, NULL, &edges);
	for (uint32_t i = 0; i < edges.n_edges; i++) {
		const struct kernel_site_edge *e = &edges.edges[i];
		static const char letters[] = "ELRFXC?";

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%x:", i ? " " : "",
					(unsigned int)(e->addr - AT));
		for (int bit = 0; bit < 7; bit++)
			if (e->roles >> bit & 1)
				len += (size_t)snprintf(text + len, sizeof(text) - len, "%c",
							letters[bit]);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
					e->from_inside ? "+" : "", e->from_outside ? "-" : "");
	}
	kernel_site_edges_clear(&edges);
	return text;
}

TEST(ranges_are_entered_and_left)
{
	static const uint8_t code[] = {
		0x90, /* 0: nop */
		0x85, 0xff, /* 1: test %edi,%edi */
		0x74, 0x06, /* 3: je b */
		0x90, /* 5: nop, start of the range */
		0xff, 0xc8, /* 6: dec %eax, the loop's head */
		0x75, 0xfc, /* 8: jne 6 */
		0x90, /* a: nop */
		0x90, /* b: nop, after the range */
		0x74, 0xfa, /* c: je 8 */
		0xc3, /* e: ret */
	};
	struct kernel_flow *flow = flow_of(code);
	struct kernel_range range = { AT + 5, AT + 0xb };
	struct kernel_range two[] = { { AT + 5, AT + 6 }, { AT + 0, AT + 3 }, { AT + 9, AT + 9 } };
	struct kernel_range head = { AT + 6, AT + 0xa }, whole = { AT, AT + 0xf };
	struct kernel_range empty = { AT + 5, AT + 5 }, elsewhere = { 0, AT };

	assert_string_equal(sites_text(flow, &range, 1), "5:E- 8:E+- b:L+-");
	assert_string_equal(sites_text(flow, two, 3), "0:EF- 3:L+ 5:E- 6:L+-");
	/* The range ends in the middle of straight code, and contains its loop's backward jump. */
	assert_string_equal(sites_text(flow, &head, 1), "6:E+- 8:E+- a:L+");
	assert_string_equal(sites_text(flow, &whole, 1), "0:EF- e:R+");
	assert_string_equal(sites_text(flow, &empty, 1), "");
	assert_string_equal(sites_text(flow, &elsewhere, 1), "");
	assert_string_equal(sites_text(flow, NULL, 0), "");
	kernel_flow_destroy(flow);
}

TEST(one_range_into_another_of_the_set)
{
	static const uint8_t code[] = {
		0x90, /* 0: nop */
		0xeb, 0x03, /* 1: jmp 6, range 1 */
		0x90, /* 3: nop, range 2 */
		0xeb, 0x03, /* 4: jmp 9 */
		0x90, /* 6: nop, range 3 */
		0xeb, 0xfa, /* 7: jmp 3 */
		0xc3, /* 9: ret */
	};
	struct kernel_range set[] = { { AT + 1, AT + 3 }, { AT + 3, AT + 6 }, { AT + 6, AT + 9 } };
	struct kernel_flow *flow = flow_of(code);

	assert_string_equal(sites_text(flow, set, 3), "1:E- 9:L+");
	/* Without the middle range, control leaves the ranges and enters them again. */
	set[1] = set[2];
	assert_string_equal(sites_text(flow, set, 2), "1:E- 3:L+");
	kernel_flow_destroy(flow);
}

TEST(ways_out_from_inside)
{
	static const uint8_t code[] = {
		0x8b,
		0x07, /* 0: mov (%rdi),%eax may fault, inside the range */
		0x74,
		0x01, /* 2: je 5 */
		0xc3, /* 4: ret */
		0x74,
		0x05, /* 5: je c */
		0xe9,
		REL32(8, ENTRY), /* 7: jmp ENTRY */
		0x0f,
		0x84,
		REL32(0xe, ENTRY), /* c: je ENTRY */
		0xe8,
		REL32(0x13, NORETURN), /* 12: call NORETURN */
		0x90, /* 17: nop, the fault's fixup, outside the range */
		0xc3, /* 18: ret */
	};
	struct arch_entry fixup = { AT, AT + 0x17 };
	struct arch_tables tables = { .of[ARCH_SECTION_FIXUPS] = { &fixup, 1 } };
	struct kernel_flow *flow = flow_with(code, sizeof(code), NULL, &tables, NULL);
	struct kernel_range range = { AT, AT + 0x17 };

	assert_string_equal(sites_text(flow, &range, 1), "0:EF- 4:R+ 7:R+ c:RC+ 17:LX+");
	kernel_flow_destroy(flow);
}

TEST(unresolved_jumps_make_candidates)
{
	static const uint8_t code[] = {
		0x74, 0x02, /* 0: je 4 */
		0xff, 0xe0, /* 2: jmp *%rax */
		0x50, /* 4: push %rax */
		0xc3, /* 5: ret */
		0x50, /* 6: push %rax */
		0xc3, /* 7: ret */
	};
	struct kernel_flow *flow = flow_of(code);
	struct kernel_range jump = { AT + 2, AT + 4 }, target = { AT + 6, AT + 8 };

	assert_string_equal(sites_text(flow, &jump, 1), "0:L?+ 2:ERC+- 4:L?+- 6:L?+");
	assert_string_equal(sites_text(flow, &target, 1), "6:E?- 7:R+");
	kernel_flow_destroy(flow);
}

static bool second_byte(uint64_t addr, void *arg)
{
	return addr == *(uint64_t *)arg;
}

TEST(where_probes_can_be)
{
	static const uint8_t code[] = {
		0x0f, 0x1f,
		0x44, 0x00,
		0x00, /* 0: nop, an ftrace location */
		0x66, 0x90, /* 5: nop, a jump label */
		0xe8, REL32(8, ENTRY), /* 7: call ENTRY, a static call */
		0xff, 0x50,
		0x08, /* c: call *8(%rax) */
		0x31, 0xc0, /* f: xor %eax,%eax */
		0x31, 0xc0, /* 11: xor %eax,%eax */
		0x31, 0xc0, /* 13: xor %eax,%eax */
		0x75, 0xfa, /* 15: jne 11 */
		0xc3, /* 17: ret */
	};
	struct arch_entry ftrace = { AT }, static_call = { AT + 7 }, label = { AT + 5, AT + 0xf };
	uint64_t listed = AT + 0x11;
	struct arch_tables tables = {
		.of = { [ARCH_SECTION_FTRACE] = { &ftrace, 1 },
			[ARCH_SECTION_STATIC_CALLS] = { &static_call, 1 },
			[ARCH_SECTION_LABELS] = { &label, 1 } },
	};
	struct kernel_flow *flow = flow_with(code, sizeof(code), NULL, &tables, NULL);
	struct kernel_range after = { AT + 5, AT + sizeof(code) }, none = { 0, 0 };
	uint64_t out[4];

#define place(offset) kernel_flow_place(flow, AT + (offset), second_byte, &listed)
	assert_int_equal(place(0), KERNEL_PLACE_OK);
	assert_int_equal(place(4), KERNEL_PLACE_FTRACE);
	assert_int_equal(place(5), KERNEL_PLACE_JUMP_LABEL);
	assert_int_equal(place(6), KERNEL_PLACE_JUMP_LABEL);
	assert_int_equal(place(7), KERNEL_PLACE_STATIC_CALL);
	assert_int_equal(place(0xc), KERNEL_PLACE_INSN);
	assert_int_equal(place(0xd), KERNEL_PLACE_NO_BOUNDARY);
	assert_int_equal(place(0xf), KERNEL_PLACE_OK);
	assert_int_equal(place(0x11), KERNEL_PLACE_BLACKLISTED);
	assert_int_equal(place(0x18), KERNEL_PLACE_OUTSIDE);
	assert_string_equal(kernel_place_text(place(5)), "it is a jump label");
	/* The loop's head is within the five bytes from f on, so a probe at f is not optimized. */
	assert_true(kernel_flow_optimizes(flow, AT));
	assert_false(kernel_flow_optimizes(flow, AT + 0xf));
	assert_false(kernel_flow_optimizes(flow, AT + 0x15));
	/* Both paths from the jump label reach the xor, the first instruction after it that can be probed. */
	assert_int_equal(kernel_flow_substitutes(flow, AT + 5, &after, 1, true, NULL, NULL, out, 4),
			 1);
	assert_int_equal(out[0], AT + 0xf);
	assert_int_equal(kernel_flow_substitutes(flow, AT + 5, &none, 1, true, NULL, NULL, out, 4),
			 0);
	assert_int_equal(
		kernel_flow_substitutes(flow, AT + 0x17, &after, 1, true, NULL, NULL, out, 4), 1);
	kernel_flow_destroy(flow);
}

/* Random bytes with random tables: kernel_flow terminates; its answers do not matter. */
TEST(noise)
{
	uint64_t seed = 1;

	for (int round = 0; round < 3000; round++) {
		uint8_t code[64];
		struct arch_entry labels[4], fixups[4];
		struct arch_tables tables = {
			.of = { [ARCH_SECTION_LABELS] = { labels, 4 },
				[ARCH_SECTION_FIXUPS] = { fixups, 4 } },
		};
		struct memory memory = { AT, code, sizeof(code) };
		struct kernel_flow *flow;

		for (size_t i = 0; i < sizeof(code); i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			code[i] = (uint8_t)(seed >> 56);
		}
		for (uint32_t i = 0; i < 4; i++) {
			labels[i] = (struct arch_entry){ AT + i * 8, AT + code[i] };
			fixups[i] = (struct arch_entry){ AT + i * 5, AT + code[i + 8] };
		}
		flow = flow_with(code, sizeof(code), round & 1 ? (uint8_t *)&labels : NULL, &tables,
				 &memory);
		for (uint32_t i = 0; i < 8; i++) {
			struct kernel_range r = { AT + code[i] % 64, AT + code[i + 8] % 64 };

			sites_text(flow, &r, 1);
			kernel_flow_optimizes(flow, AT + i);
		}
		kernel_flow_destroy(flow);
	}
}

static void check_function(const struct kernel_flow *flow)
{
	const struct kernel_insn *insns = flow->insns;
	const struct kernel_block *blocks = flow->blocks;
	const struct kernel_edge *edges = flow->edges;
	const struct kernel_range *parts = flow->parts;
	uint32_t n = flow->n_insns, n_blocks = flow->n_blocks, n_edges = flow->n_edges;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < flow->n_parts; i++)
		bytes += parts[i].end - parts[i].start;
	/* Each byte belongs to one instruction, and each instruction to one block. */
	for (uint32_t i = 0; i < n; i++) {
		assert_true(insns[i].len > 0 && insns[i].block < n_blocks);
		bytes -= insns[i].len;
	}
	assert_int_equal(bytes, 0);
	for (uint32_t i = 0; i < n_edges; i++) {
		const struct kernel_edge *e = &edges[i];

		assert_true(blocks[e->from].reached);
		if (e->to != KERNEL_FLOW_OUT)
			assert_true(blocks[e->to].start == e->target && blocks[e->to].reached);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct kernel_insn *to;

		if (insns[i].kind != KERNEL_INSN_JUMP && insns[i].kind != KERNEL_INSN_COND)
			continue;
		to = kernel_flow_insn_at(flow, insns[i].target);
		assert_true(!to || to->flags & KERNEL_INSN_LEADER);
	}
}

TEST(all_functions_of_a_kernel)
{
	struct kernel_image *img = fixture_lab_image();
	uint64_t start = clock_ns(), addr = 0, insns = 0, problems = 0, functions = 0;
	struct kernel_code *code;

	if (!img)
		fixture_skip(FIXTURE_NO_KERNEL);
	assert_int_equal(kernel_code_create(img, NULL, &code), 0);
	assert_true(code->tables.has_bugs);
	assert_true(code->tables.of[ARCH_SECTION_LABELS].n_items > 1000);
	assert_true(code->tables.of[ARCH_SECTION_ALTERNATIVES].n_items > 1000);
	while (addr < 0x2000000) {
		struct kernel_range range;
		const char *name = kernel_image_extent(img, addr, &range);
		struct kernel_flow *flow;

		if (name && range.start == addr && !kernel_name_is_cold(name)) {
			assert_int_equal(kernel_flow_of(code, addr, &flow), 0);
			check_function(flow);
			insns += flow->n_insns;
			functions++;
			/* These two functions overlap on purpose. */
			if (strcmp(name, "retbleed_untrain_ret") &&
			    strcmp(name, "srso_untrain_ret"))
				problems |= flow->problems;
			kernel_flow_destroy(flow);
		}
		addr = name && range.start == addr ? range.end : addr + 1;
	}
	assert_int_equal(problems, KERNEL_FLOW_NOT_LIVE);
	assert_true(functions > 20000);
	print_message("# %" PRIu64 " functions, %" PRIu64 " instructions in %.2f s\n", functions,
		      insns, (double)(clock_ns() - start) / 1e9);
	kernel_code_destroy(code);
	kernel_image_destroy(img);
}

TEST(kcore_reads_by_its_headers)
{
	struct {
		Elf64_Ehdr ehdr;
		Elf64_Phdr phdr[3];
		char data[16];
	} core = {
		.ehdr = { .e_type = ET_CORE,
			  .e_phoff = sizeof(Elf64_Ehdr),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 3 },
		.phdr = { { .p_type = PT_NOTE },
			  { .p_type = PT_LOAD,
			    .p_vaddr = 0x1000,
			    .p_memsz = 16,
			    .p_offset = offsetof(__typeof__(core), data) },
			  { .p_type = PT_LOAD,
			    .p_vaddr = 0x5000,
			    .p_memsz = UINT64_MAX,
			    .p_offset = UINT64_MAX - 8 } },
		.data = "0123456789abcdef",
	};
	struct kernel_kcore *kc;
	char buf[8] = "";

	memcpy(core.ehdr.e_ident, ELFMAG, SELFMAG);
	core.ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	assert_int_equal(kernel_kcore_open(fixture_write("core", &core, sizeof(core)), &kc), 0);
	assert_int_equal(kernel_kcore_read(kc, 0x1003, buf, 4), 0);
	assert_string_equal(buf, "3456");
	assert_int_equal(kernel_kcore_read(kc, 0x100d, buf, 4), -EFAULT);
	assert_int_equal(kernel_kcore_read(kc, 0xfff, buf, 4), -EFAULT);
	assert_int_equal(kernel_kcore_read(kc, 0x5000, buf, 4), -EFAULT);
	assert_int_equal(kernel_kcore_read(kc, 0x6000, buf, 4), -EFAULT);
	kernel_kcore_destroy(kc);
	core.ehdr.e_phnum = 200;
	assert_int_equal(kernel_kcore_open(fixture_write("core", &core, sizeof(core)), &kc),
			 -ENOEXEC);
	core.ehdr.e_type = ET_EXEC;
	assert_int_equal(kernel_kcore_open(fixture_write("core", &core, sizeof(core)), &kc),
			 -ENOEXEC);
	assert_int_equal(kernel_kcore_open(fixture_text("core", "short"), &kc), -ENOEXEC);
	assert_int_equal(kernel_kcore_open("/nonexistent", &kc), -ENOENT);
}

RUN_TESTS(fixture_setup, fixture_teardown)
