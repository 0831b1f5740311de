// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the values that code reads, and those that decide its branches. */
#include <stdio.h>

#include "test.h"
#include "kernel/code/operands.h"

#define BASE 0x1000

#define CALL 0xe8, 0x00, 0x10, 0x00, 0x00
#define RET  0xc3

struct code {
	uint8_t bytes[48];
};

static size_t word(char *text, size_t room, const struct kernel_operand *items,
		   const struct kernel_operand *o)
{
	char base[256];

	switch (o->kind) {
	case KERNEL_OPERAND_ARGUMENT:
		return (size_t)snprintf(text, room, "%u", o->argument);
	case KERNEL_OPERAND_MEMBER:
		word(base, sizeof(base), items, &items[o->base]);
		return (size_t)snprintf(text, room, "%s+%d:%u", base, (int)o->offset, o->bytes);
	default:
		return (size_t)snprintf(text, room, "%s%x:%u",
					o->kind == KERNEL_OPERAND_PER_CPU ? "cpu" : "at",
					(unsigned int)o->addr, o->bytes);
	}
}

/* Return the operands that conditional jumps depend on, each with "!", then those that are only read from memory. */
static const char *operands(struct code code)
{
	static char text[4096];
	struct kernel_operands o;
	size_t n = 0;

	assert_true(kernel_operands_of(code.bytes, sizeof(code.bytes), BASE, &o));
	text[0] = '\0';
	for (int decides = 1; decides >= 0; decides--)
		for (uint32_t i = 0; i < o.n_items; i++) {
			const struct kernel_operand *p = &o.items[i];

			if (p->decides != decides || (!decides && !p->bytes))
				continue;
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? " " : "",
					      decides ? "!" : "");
			n += word(text + n, sizeof(text) - n, o.items, p);
		}
	kernel_operands_deinit(&o);
	return text;
}

#define operands_are(expected, ...) \
	assert_string_equal(operands((struct code){ { __VA_ARGS__ } }), expected)

TEST(what_is_compared_decides)
{
	/* cmpl $0,8(%rdi) */
	operands_are("!0+8:4", 0x83, 0x7f, 0x08, 0x00, RET);
	/* mov 16(%rsi),%eax; and $7,%eax; cmp $3,%eax */
	operands_are("!1+16:4", 0x8b, 0x46, 0x10, 0x83, 0xe0, 0x07, 0x83, 0xf8, 0x03, RET);
	/* test %esi,%esi */
	operands_are("!1", 0x85, 0xf6, RET);
	/* mov 16(%rsi),%eax; and $7,%eax; je: the flags are set by the and */
	operands_are("!1+16:4", 0x8b, 0x46, 0x10, 0x83, 0xe0, 0x07, 0x74, 0x00, RET);
	/* with mov $0,%ecx before the je, which leaves the flags unchanged */
	operands_are("!1+16:4", 0x8b, 0x46, 0x10, 0x83, 0xe0, 0x07, 0xb9, 0x00, 0x00, 0x00, 0x00,
		     0x74, 0x00, RET);
	/* with xor %ecx,%ecx before the je, which sets the flags: the jump does not use those of the and */
	operands_are("1+16:4", 0x8b, 0x46, 0x10, 0x83, 0xe0, 0x07, 0x31, 0xc9, 0x74, 0x00, RET);
	/* without the je: nothing uses the flags */
	operands_are("1+16:4", 0x8b, 0x46, 0x10, 0x83, 0xe0, 0x07, RET);
	/* cmpl $2,0x100(%rip); mov %gs:0x20,%eax */
	operands_are("!at1107:4 cpu20:4", 0x83, 0x3d, 0x00, 0x01, 0x00, 0x00, 0x02, 0x65, 0x8b,
		     0x04, 0x25, 0x20, 0x00, 0x00, 0x00, RET);
}

TEST(registers_are_followed)
{
	/* mov %rdi,%rbx; call; cmpl $1,4(%rbx); cmpl $1,4(%rdi): a call preserves rbx, but not rdi */
	operands_are("!0+4:4", 0x48, 0x89, 0xfb, 0x90, CALL, 0x83, 0x7b, 0x04, 0x01, 0x83, 0x7f,
		     0x04, 0x01, RET);
	/* add $8,%rdi; cmpl $1,(%rdi): not a member of the argument */
	operands_are("", 0x48, 0x83, 0xc7, 0x08, 0x83, 0x3f, 0x01, RET);
	/* cmpl $1,(%rdi,%rsi,4) */
	operands_are("", 0x83, 0x3c, 0xb7, 0x01, RET);
	/* mov (%rdi),%rax; cmpl $1,8(%rax) */
	operands_are("!0+0:8+8:4 0+0:8", 0x48, 0x8b, 0x07, 0x83, 0x78, 0x08, 0x01, RET);
	/* mov (%rdi),%eax; cmpl $1,8(%rax): not a pointer */
	operands_are("0+0:4", 0x8b, 0x07, 0x83, 0x78, 0x08, 0x01, RET);
	/* mov %gs:0x20,%rax; cmpl $1,8(%rax) */
	operands_are("!cpu20:8+8:4 cpu20:8", 0x65, 0x48, 0x8b, 0x04, 0x25, 0x20, 0x00, 0x00, 0x00,
		     0x83, 0x78, 0x08, 0x01, RET);
	/* mov $0x1000,%rbx; add %gs:0x40,%rbx; call; cmpl $1,8(%rbx): a per-CPU variable */
	operands_are("!cpu40:8+4104:4 cpu40:8", 0x48, 0xc7, 0xc3, 0x00, 0x10, 0x00, 0x00, 0x65,
		     0x48, 0x03, 0x1c, 0x25, 0x40, 0x00, 0x00, 0x00, CALL, 0x83, 0x7b, 0x08, 0x01,
		     RET);
	/* mov %gs:0x40,%rax; lea 0x1000(%rax),%rbx; cmpl $1,8(%rbx) */
	operands_are("!cpu40:8+4104:4 cpu40:8", 0x65, 0x48, 0x8b, 0x04, 0x25, 0x40, 0x00, 0x00,
		     0x00, 0x48, 0x8d, 0x98, 0x00, 0x10, 0x00, 0x00, 0x83, 0x7b, 0x08, 0x01, RET);
	/* lea 16(%rdi),%rbx; lea 8(%rbx),%rbx; cmpl $1,8(%rbx) */
	operands_are("!0+32:4", 0x48, 0x8d, 0x5f, 0x10, 0x48, 0x8d, 0x5b, 0x08, 0x83, 0x7b, 0x08,
		     0x01, RET);
	/* mov $0x1000,%rbx; add %rdi,%rbx; call; cmpl $1,8(%rbx) */
	operands_are("", 0x48, 0xc7, 0xc3, 0x00, 0x10, 0x00, 0x00, 0x48, 0x01, 0xfb, CALL, 0x83,
		     0x7b, 0x08, 0x01, RET);
}

TEST(ways_meet)
{
	/* test %edx,%edx; je 1f; mov %rsi,%rdi; 1: cmpl $1,(%rdi): one path reads the second argument, the other the first */
	operands_are("!2 !1+0:4 !0+0:4", 0x85, 0xd2, 0x74, 0x03, 0x48, 0x89, 0xf7, 0x83, 0x3f, 0x01,
		     RET);
	/* je 1f; and $1,%esi; ret; 1: je: the and does not set the flags of the second je, since it is on another path */
	operands_are("", 0x74, 0x04, 0x83, 0xe6, 0x01, RET, 0x74, 0x00, RET);
	/* 1: inc %eax; cmp %esi,%eax; jl 1b: a loop's bound */
	operands_are("!1", 0xff, 0xc0, 0x39, 0xf0, 0x7c, 0xfa, RET);
	/* ret; cmpl $2,0x100(%rip); cmpl $1,(%rdi): of unreachable code, as after a static key, only the variable is used */
	operands_are("!at1108:4", RET, 0x83, 0x3d, 0x00, 0x01, 0x00, 0x00, 0x02, 0x83, 0x3f, 0x01,
		     RET);
}

TEST(nothing_that_code_does_harms)
{
	struct code code;

	for (uint32_t seed = 1; seed < 20000; seed++) {
		uint32_t x = seed * 2654435761u;

		for (size_t i = 0; i < sizeof(code.bytes); i++) {
			x = x * 1664525u + 1013904223u;
			code.bytes[i] = (uint8_t)(x >> 24);
		}
		operands(code);
	}
}

RUN_TESTS(NULL, NULL)
