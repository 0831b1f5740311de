// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Known patterns of memory accesses, for tests/lab/model.t:
 *
 *     memory PATTERN KIB N
 *
 * stream reads KIB N times, line by line; stride reads one line of each page; chase follows pointers through all lines in a
 * random order, N times; random reads N lines anywhere; none does not read. These loops access no other memory. Pages have
 * 4 KiB, and were written to before.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LINE 64
#define PAGE 4096

static uint64_t seed = 1;

static uint64_t next_random(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 33;
}

static void walk(volatile char *at, size_t bytes, size_t step, uint64_t n)
{
	while (n--)
		for (size_t i = 0; i < bytes; i += step)
			(void)at[i];
}

/* Link all cache lines into one random cycle (Sattolo's shuffle). */
static void link_lines(char *at, size_t lines)
{
	uint32_t *order = malloc(lines * sizeof(*order));

	if (!order)
		exit(1);
	for (size_t i = 0; i < lines; i++)
		order[i] = i;
	for (size_t i = lines - 1; i; i--) {
		size_t k = next_random() % i;
		uint32_t other = order[k];

		order[k] = order[i];
		order[i] = other;
	}
	for (size_t i = 0; i < lines; i++)
		*(void **)(at + (size_t)order[i] * LINE) =
			at + (size_t)order[(i + 1) % lines] * LINE;
	free(order);
}

static void chase(void *at, uint64_t n)
{
	while (n--)
		at = *(void *volatile *)at;
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 10) << 10 : 0;
	uint64_t n = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!n || at == MAP_FAILED || madvise(at, bytes, MADV_NOHUGEPAGE)) {
		fprintf(stderr, "memory PATTERN KIB N\n");
		return 2;
	}
	memset(at, 1, bytes);
	if (!strcmp(argv[1], "chase")) {
		link_lines(at, bytes / LINE);
		chase(at, n * (bytes / LINE));
	} else if (!strcmp(argv[1], "random")) {
		while (n--)
			(void)((volatile char *)at)[next_random() % (bytes / LINE) * LINE];
	} else if (strcmp(argv[1], "none") != 0) {
		walk(at, bytes, !strcmp(argv[1], "stride") ? PAGE : LINE, n);
	}
	return 0;
}
