// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program with known inlining, which unit tests build as if it were a kernel: linked at a fixed
 * address, with a symbol _stext. Tests find lines by the comments at their ends.
 */

volatile int sink;

/* Define a global symbol for this address, even in an inlined function, for tests to look up. */
#define MARK(name) asm volatile(".globl " #name "\n" #name ":\n\tnop")

static inline __attribute__((always_inline)) int innermost(int x)
{
	sink = x;
	MARK(mark_innermost); /* in innermost */
	sink += 2 * x;
	return sink;
}

static inline __attribute__((always_inline)) int middle(int x)
{
	int y;

	MARK(mark_middle); /* in middle */
	y = innermost(x + 1); /* innermost in middle */
	sink = y;
	return y ^ 0x55;
}

__attribute__((noinline)) int outer(int x) /* outer */
{
	sink = x + 7;
	MARK(mark_outer); /* in outer */
	x = middle(x); /* middle in outer */
	sink = x;
	return x;
}

static inline __attribute__((always_inline)) int twice(int x) /* twice itself */
{
	sink = x;
	return sink * 5;
}

__attribute__((noinline)) int caller(int x)
{
	x += twice(x); /* twice, first */
	sink += x;
	return x + twice(x + 1); /* twice, second */
}

/* The compiler removes all code of this function. */
static inline __attribute__((always_inline)) void nothing(void)
{
}

__attribute__((noinline, cold)) void rare(int x)
{
	sink = x;
}

static inline __attribute__((always_inline)) void body(int x)
{
	sink += 1;
	if (x == 12345) {
		rare(x);
		MARK(mark_cold); /* in body, in split.cold */
		rare(x + 1);
	}
}

/* Code that only leads to rare() goes to split.cold, so body() has two ranges. */
__attribute__((noinline)) int split(int x)
{
	nothing();
	sink = x;
	body(x); /* body in split */
	sink = x;
	return x - 1;
}

/* The parameter k is always 3, so this becomes cloned.constprop.0. */
static __attribute__((noinline)) int cloned(int x, int k)
{
	sink = x * k;
	MARK(mark_cloned);
	return sink + k;
}

/* Two nested inlined functions that end at the same address. */
static inline __attribute__((always_inline)) void last(int x)
{
	sink = x;
}

static inline __attribute__((always_inline)) void ends(int x)
{
	sink = 3;
	last(x);
}

__attribute__((noinline)) void together(int x)
{
	sink = 1;
	ends(x);
	sink = 2;
}

void _start(void)
{
	together(sink);
	sink = outer(sink) + caller(sink) + split(sink);
	sink = cloned(sink, 3);
	sink += cloned(sink, 3);
	for (;;)
		;
}
