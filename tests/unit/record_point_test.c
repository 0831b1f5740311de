// SPDX-License-Identifier: GPL-2.0-or-later
/* Test probes inside functions: how the kernel executes a breakpoint's instruction, and the program's cookie. */
#include "test.h"
#include "arch/arch.h"
#include "record/probe/point.h"

/* The first four bytes of an instruction. */
#define TEXT(a, b, c, d) ((uint32_t)(a) | (b) << 8 | (c) << 16 | (uint32_t)(d) << 24)

TEST(breakpoints_are_told_by_the_instruction)
{
	static const struct {
		uint32_t text;
		enum engine_range_kind kind;
	} cases[] = {
		{ TEXT(0x48, 0x89, 0xf8, 0x90), ENGINE_RANGE_STEPPED }, /* mov %rdi,%rax */
		{ TEXT(0x83, 0xf8, 0x05, 0x90), ENGINE_RANGE_STEPPED }, /* cmp $5,%eax */
		{ TEXT(0xe8, 0, 0, 0), ENGINE_RANGE_CALL_EMULATED },
		{ TEXT(0xff, 0xd0, 0x90, 0x90), ENGINE_RANGE_CALL_EMULATED }, /* call *%rax */
		{ TEXT(0x41, 0xff, 0xd2, 0x90), ENGINE_RANGE_CALL_EMULATED }, /* call *%r10 */
		{ TEXT(0xff, 0x35, 0, 0), ENGINE_RANGE_STEPPED }, /* push 0(%rip) */
		{ TEXT(0xff, 0xe0, 0x90, 0x90), ENGINE_RANGE_JUMP_EMULATED }, /* jmp *%rax */
		{ TEXT(0xeb, 0x10, 0x90, 0x90), ENGINE_RANGE_JUMP_EMULATED },
		{ TEXT(0xe9, 0, 0, 0), ENGINE_RANGE_JUMP_EMULATED },
		{ TEXT(0xc3, 0xcc, 0xcc, 0xcc), ENGINE_RANGE_JUMP_EMULATED },
		{ TEXT(0xf3, 0xc3, 0xcc, 0xcc), ENGINE_RANGE_JUMP_EMULATED }, /* rep ret */
		{ TEXT(0x74, 0x10, 0x90, 0x90), ENGINE_RANGE_EMULATED },
		{ TEXT(0x0f, 0x85, 0, 0), ENGINE_RANGE_EMULATED },
		{ TEXT(0x0f, 0xb6, 0xc0, 0x90), ENGINE_RANGE_STEPPED }, /* movzbl %al,%eax */
		{ TEXT(0xe2, 0x10, 0x90, 0x90), ENGINE_RANGE_EMULATED }, /* loop */
		{ TEXT(0xfa, 0x90, 0x90, 0x90), ENGINE_RANGE_CALL_EMULATED }, /* cli */
		{ TEXT(0x9c, 0x90, 0x90, 0x90), ENGINE_RANGE_EMULATED }, /* pushf */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(arch_kprobe_kind(cases[i].text), cases[i].kind);
}

TEST(finds_the_calls_to_calibrate_on)
{
	static const uint8_t code[] = {
		0x55, /* 0: push %rbp */
		0xbf, 0x01, 0,    0,    0,    0xe8, 0x45, 0,
		0,    0,    0x83, 0xf8, 0x02, /* 1: compare f(1) with 2 */
		0x75, 0x10, 0x41, 0xb8, 0x05, 0,    0, /* 16: mov $5,%r8d */
		0,    0xbf, 0x01, 0,    0,    0, /* 22: mov $1,%edi */
		0xe8, 0xe0, 0xff, 0xff, 0xff, 0x83, 0xf8, 0x06, /* 27: f(1, 5), before the code */
		0x0f, 0x85, 0x10, 0,    0,    0,    0xc3, 0xcc, /* 35: jne; 41: ret */
	};
	uint64_t moves[3], after[3];

	assert_true(arch_find_test_call(code, sizeof(code), 0x1000, 0x1050, 1, moves, after));
	assert_int_equal(moves[0], 0x1001);
	assert_int_equal(after[0], 0x1006);
	assert_int_equal(after[1], 0x100b);
	assert_int_equal(after[2], 0x100e);
	assert_true(arch_find_test_call(code, sizeof(code), 0x1000, 0x1000, 2, moves, after));
	assert_int_equal(moves[0], 0x1010);
	assert_int_equal(moves[1], 0x1016);
	assert_int_equal(after[0], 0x101b);
	assert_int_equal(after[2], 0x1023);
	/* Find no call with too many arguments (within the code or before its start), to another function, or in cut-off code. */
	assert_false(arch_find_test_call(code, sizeof(code), 0x1000, 0x1000, 3, moves, after));
	assert_false(arch_find_test_call(code, sizeof(code), 0x1000, 0x1050, 2, moves, after));
	assert_false(arch_find_test_call(code, sizeof(code), 0x1000, 0x1051, 1, moves, after));
	assert_false(arch_find_test_call(code, 15, 0x1000, 0x1050, 1, moves, after));
	assert_int_equal(arch_find_return(code, sizeof(code)), 41);
	assert_int_equal(arch_find_return(code, 42), 42);
}

TEST(one_action_stands_in_the_cookie)
{
	struct record_point p = {
		.actions = { { .site = 300, .flags = ENGINE_RANGE_CALL | ENGINE_RANGE_STRICT } },
		.n_actions = 1,
		.kind = ENGINE_RANGE_PREPARED,
		.frame = ENGINE_RANGE_FRAME_FP | 17,
	};
	uint64_t cookie = record_point_cookie(&p);

	assert_int_equal(cookie & ENGINE_RANGE_KEY, ENGINE_KEY(300, 0));
	assert_true(cookie & ENGINE_RANGE_CALL && cookie & ENGINE_RANGE_STRICT);
	assert_int_equal(cookie >> ENGINE_RANGE_KIND & (ENGINE_RANGE_KINDS - 1),
			 ENGINE_RANGE_PREPARED);
	assert_int_equal(cookie >> ENGINE_RANGE_FRAME, ENGINE_RANGE_FRAME_FP | 17);
}

TEST(several_actions_have_a_list)
{
	struct record_point p = { .n_actions = 2, .list = 9, .kind = ENGINE_RANGE_STEPPED };
	uint64_t cookie = record_point_cookie(&p);

	assert_int_equal(cookie & ENGINE_RANGE_KEY, 9);
	assert_int_equal(cookie >> ENGINE_RANGE_KIND & (ENGINE_RANGE_KINDS - 1),
			 ENGINE_RANGE_STEPPED);
}

TEST(a_block_is_all_a_cookie_says)
{
	struct record_point p = { .counts = true, .block = 77, .kind = 3 };

	assert_int_equal(record_point_cookie(&p), 77);
}

RUN_TESTS(NULL, NULL)
