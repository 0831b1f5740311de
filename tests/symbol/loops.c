// SPDX-License-Identifier: GPL-2.0-or-later
/* A kernel with loops that end at addresses of its variables: tests/unit/kernel_stop_test.c. */
struct item {
	struct item *next, *other;
};

struct item first;
struct item pair[2];
char room[1 << 20]; /* one of its addresses has the lower half 0x81080000, a constant in walk() */
unsigned int key;
long count;

void walk(void);

__attribute__((noinline)) void walk(void)
{
	for (struct item *i = first.next; i != &first; i = i->next)
		count++;
	for (struct item *i = pair[0].next; i != &pair[1]; i = i->next)
		count--;
	for (unsigned int k = key; k != 0x81080000; k = 5 * k + 1)
		room[k & 0xff]++;
}

void _start(void)
{
	walk();
}
