// SPDX-License-Identifier: GPL-2.0-or-later
/* A kernel with one inlined body; its parameters are in registers or constant: tests/unit/kernel_parameters_test.c. */
struct thing {
	int pad, n;
};

static inline __attribute__((always_inline)) int inl(const struct thing *thing, int n, int ten)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		asm volatile("" : : : "memory");
		sum += thing->n;
	}
	return sum * ten;
}

int outer(const struct thing *thing, int n);

__attribute__((noinline)) int outer(const struct thing *thing, int n)
{
	asm volatile("nop");
	return inl(thing, n, 10);
}

void _start(void);

void _start(void)
{
	static struct thing thing;

	outer(&thing, thing.pad);
}
