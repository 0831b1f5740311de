// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the argument registers that a function reads, from its code. */
#include <errno.h>

#include "test.h"
#include "arch/arch.h"
#include "kernel/code/arguments.h"

#define BASE 0x1000

#define FTRACE 0x0f, 0x1f, 0x44, 0x00, 0x00
#define RET    0xc3

struct code {
	uint8_t bytes[64];
	int callee; /* number of arguments of the callee */
};

static size_t read_code(uint64_t addr, void *buf, size_t len, void *arg)
{
	const struct code *code = arg;
	uint64_t at = addr - BASE;

	if (at >= sizeof(code->bytes))
		return 0;
	len = len < sizeof(code->bytes) - at ? len : sizeof(code->bytes) - at;
	memcpy(buf, code->bytes + at, len);
	return len;
}

static int takes(uint64_t addr, void *arg)
{
	const struct code *code = arg;

	return addr - BASE < sizeof(code->bytes) ? -ENOENT : code->callee;
}

static enum kernel_answer beyond(struct code code, unsigned int n)
{
	struct kernel_arguments_input input = { read_code, takes, &code };
	struct decoder *decoder = decoder_create();
	enum kernel_answer answer = kernel_arguments_beyond(decoder, &input, BASE, n);

	decoder_destroy(decoder);
	return answer;
}

TEST(reads_are_found_on_any_path)
{
	/* test %rdi,%rdi; je 1f; ret; 1: mov %rsi,%rax; ret */
	const struct code code = { { FTRACE, 0x48, 0x85, 0xff, 0x74, 0x01, RET, 0x48, 0x89, 0xf0,
				     RET } };

	assert_int_equal(beyond(code, 2), KERNEL_NO);
	assert_int_equal(beyond(code, 1), KERNEL_YES);
	assert_int_equal(beyond(code, 0), KERNEL_YES);
}

TEST(what_was_written_is_no_argument)
{
	/* endbr64; mov $1,%edi; xor %esi,%esi; mov %rdi,%rax; add %rsi,%rax; ret */
	struct code code = { { 0xf3, 0x0f, 0x1e, 0xfa, FTRACE, 0xbf, 1, 0, 0, 0, 0x31, 0xf6, 0x48,
			       0x89, 0xf8, 0x48, 0x01, 0xf0, RET } };
	/* The same with the replacement of endbr64 in functions without indirect calls: first up to Linux 6.14, then since. */
	static const uint8_t poison[][4] = { { 0x66, 0x0f, 0x1f, 0x00 },
					     { 0x0f, 0x1f, 0x40, 0xd6 } };

	assert_int_equal(beyond(code, 0), KERNEL_NO);
	for (size_t i = 0; i < 2; i++) {
		memcpy(code.bytes, poison[i], sizeof(poison[i]));
		assert_int_equal(beyond(code, 0), KERNEL_NO);
	}
}

/* call +0x100; mov %rsi,%rax; ret */
#define CALLS                                                               \
	{                                                                   \
		FTRACE, 0xe8, 0x00, 0x01, 0x00, 0x00, 0x48, 0x89, 0xf0, RET \
	}

TEST(callees_may_read_what_is_passed_on)
{
	assert_int_equal(beyond((struct code){ CALLS, 1 }, 1), KERNEL_NO);
	assert_int_equal(beyond((struct code){ CALLS, 2 }, 1), KERNEL_YES);
	assert_int_equal(beyond((struct code){ CALLS, 2 }, 2), KERNEL_NO);
	assert_int_equal(beyond((struct code){ CALLS, -EINVAL }, 1), KERNEL_UNKNOWN);
	assert_int_equal(beyond((struct code){ CALLS, -ENOENT }, 1), KERNEL_UNKNOWN);
}

TEST(what_cannot_be_followed_is_unknown)
{
	static const struct code codes[] = {
		{ { FTRACE, 0xff, 0xe0 } }, /* jmp *%rax */
		{ { FTRACE, 0xff, 0xd0, RET } }, /* call *%rax */
		{ { FTRACE, FTRACE, RET } }, /* a jump label */
		{ { FTRACE, 0x66, 0x90, RET } }, { { FTRACE, 0xcc, RET } }, /* a kprobe */
		{ { FTRACE, 0x06, RET } }, /* an invalid instruction */
	};
	struct code missing = { { 0 } };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		assert_int_equal(beyond(codes[i], 5), KERNEL_UNKNOWN);
	memset(missing.bytes, 0x90, sizeof(missing.bytes));
	assert_int_equal(beyond(missing, 5), KERNEL_UNKNOWN);
	/* If all six arguments are passed on, no further argument can be read. */
	assert_int_equal(beyond(codes[0], 6), KERNEL_NO);
}

/* 1: jmp 1b. Then 1: jne 1b; xor %r9d,%r9d; jmp 1b. */
TEST(loops_end)
{
	assert_int_equal(beyond((struct code){ { FTRACE, 0xeb, 0xfe } }, 0), KERNEL_NO);
	assert_int_equal(
		beyond((struct code){ { FTRACE, 0x75, 0xfe, 0x45, 0x31, 0xc9, 0xeb, 0xf9 } }, 0),
		KERNEL_NO);
}

RUN_TESTS(NULL, NULL)
