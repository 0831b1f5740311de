// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"

#define FUNCTIONS_MAX (1u << 19)
#define CALLS_MAX     (1u << 22)
#define TARGETS_MAX   (1u << 17)
#define CODE_MAX      (1u << 20) /* bytes of the longest function that is read */

static struct function {
	uint64_t start;
	char *name;
	uint32_t distance;
	uint32_t first_call; /* index of the first call of this function */
	bool code; /* a function, not a variable */
} * functions;
static uint32_t n_functions;

/* Calls of one function are a list. */
static struct call {
	uint32_t caller, next; /* NEXT: 0 ends the list */
} * calls;
static uint32_t n_calls = 1;

/* Code from START to END. Targets are sorted, and do not overlap. */
static struct target {
	uint64_t start, end;
} * targets;
static uint32_t n_targets;

static bool read_symbols(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[1024], *name;

	functions = get_memory(FUNCTIONS_MAX * sizeof(*functions));
	/* A function without a name has the addresses before all symbols. */
	functions[n_functions++] = (struct function){ .name = "", .distance = GRAPH_FAR };
	while (file && n_functions < FUNCTIONS_MAX && fgets(line, sizeof(line), file)) {
		uint64_t addr = strtoull(line, &name, 16);

		line[strcspn(line, "\t\n")] = '\0';
		if (strlen(name) > 3)
			functions[n_functions++] =
				(struct function){ .start = addr,
						   .name = strdup(name + 3),
						   .distance = GRAPH_FAR,
						   .code = strchr("tTwW", name[1]) != NULL };
	}
	if (file)
		fclose(file);
	return n_functions > 1;
}

uint32_t graph_find(uint64_t addr)
{
	uint32_t low = 0, high = n_functions;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (functions[mid].start <= addr)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* Return the address after FUNCTION, which may share its address with others. */
static uint64_t end_of(uint32_t function)
{
	uint32_t next = function + 1;

	while (next < n_functions && functions[next].start == functions[function].start)
		next++;
	return next < n_functions ? functions[next].start : functions[function].start;
}

/* Return whether NAME is SYMBOL, or a variant or part that the compiler made of it, such as SYMBOL.isra.0. */
static bool is_variant(const char *name, const char *symbol)
{
	size_t n = strlen(symbol);

	return !strncmp(name, symbol, n) && (!name[n] || name[n] == '.');
}

static void add_target(uint64_t start, uint64_t end)
{
	if (n_targets == TARGETS_MAX || start >= end)
		return;
	targets[n_targets++] = (struct target){ start, end };
	functions[graph_find(start)].distance = 0;
}

/* Add the target of one line: from START to END in SYMBOL, or, if END is 0, all of SYMBOL's variants. */
static void add_line(const char *symbol, uint64_t start, uint64_t end)
{
	for (uint32_t i = 1; i < n_functions; i++) {
		const struct function *f = &functions[i];

		if (end && !strcmp(f->name, symbol))
			add_target(f->start + start, f->start + end);
		else if (!end && f->code && is_variant(f->name, symbol))
			add_target(f->start, end_of(i));
	}
}

static int by_start(const void *a, const void *b)
{
	uint64_t x = ((const struct target *)a)->start, y = ((const struct target *)b)->start;

	return (x > y) - (x < y);
}

/* Sort the targets. Make one of those that overlap. */
static void unite_targets(void)
{
	uint32_t n = 0;

	qsort(targets, n_targets, sizeof(*targets), by_start);
	for (uint32_t i = 0; i < n_targets; i++)
		if (n && targets[i].start <= targets[n - 1].end)
			targets[n - 1].end = targets[i].end > targets[n - 1].end ?
						     targets[i].end :
						     targets[n - 1].end;
		else
			targets[n++] = targets[i];
	n_targets = n;
}

bool graph_read(const char *symbols, const char *path)
{
	char line[1024], symbol[512];
	FILE *file;

	if (!read_symbols(symbols)) {
		fprintf(stderr, "explore: %s has no symbols\n", symbols);
		return false;
	}
	file = fopen(path, "r");
	targets = get_memory(TARGETS_MAX * sizeof(*targets));
	while (file && fgets(line, sizeof(line), file)) {
		uint64_t start = 0, end = 0;

		if (sscanf(line, "%511s %" SCNx64 " %" SCNx64, symbol, &start, &end) > 0)
			add_line(symbol, start, end);
	}
	if (file)
		fclose(file);
	/* Code that is left out would be missing in the counts. */
	if (n_targets == TARGETS_MAX || n_functions == FUNCTIONS_MAX) {
		fputs("explore: this kernel has more symbols or targets than expected\n", stderr);
		return false;
	}
	unite_targets();
	if (!n_targets)
		fprintf(stderr, "explore: this kernel has none of the functions in %s\n", path);
	return n_targets > 0;
}

bool graph_is_target(uint64_t addr)
{
	uint32_t low = 0, high = n_targets;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (addr < targets[mid].start)
			high = mid;
		else if (addr >= targets[mid].end)
			low = mid + 1;
		else
			return true;
	}
	return false;
}

/* --- calls ---------------------------------------------------------------------------- */

/* Add the calls and jumps in the N bytes of CODE, which begin at FUNCTION. A displacement that hits a function's start is one. */
static void add_calls(uint32_t function, const unsigned char *code, size_t n)
{
	for (size_t i = 0; i + 5 <= n && n_calls < CALLS_MAX; i++) {
		int32_t by;
		uint64_t target;
		uint32_t callee;

		if (code[i] != 0xe8 && code[i] != 0xe9)
			continue;
		memcpy(&by, code + i + 1, sizeof(by));
		target = functions[function].start + i + 5 + (uint64_t)(int64_t)by;
		callee = graph_find(target);
		if (functions[callee].start != target || !functions[callee].code)
			continue;
		calls[n_calls] = (struct call){ function, functions[callee].first_call };
		functions[callee].first_call = n_calls++;
	}
}

/* Follow calls from the targets to their callers, nearest first. */
static void find_distances(void)
{
	uint32_t *queue = get_memory(n_functions * sizeof(*queue)), n = 0;

	for (uint32_t i = 0; i < n_functions; i++)
		if (!functions[i].distance)
			queue[n++] = i;
	for (uint32_t i = 0; i < n; i++) {
		const struct function *f = &functions[queue[i]];

		for (uint32_t c = f->first_call; c; c = calls[c].next) {
			struct function *caller = &functions[calls[c].caller];

			if (caller->distance != GRAPH_FAR)
				continue;
			caller->distance = f->distance + 1;
			queue[n++] = calls[c].caller;
		}
	}
	free(queue);
}

void graph_read_calls(void)
{
	unsigned char *code, byte;

	/* With page table isolation, most of the kernel is not mapped in user space, nor where the kernel is entered. */
	if (calls || !guest_read(targets[0].start, &byte, 1))
		return;
	calls = get_memory(CALLS_MAX * sizeof(*calls));
	code = get_memory(CODE_MAX);
	for (uint32_t i = 1; i + 1 < n_functions; i++) {
		uint64_t size = functions[i + 1].start - functions[i].start;

		if (functions[i].code && size && size <= CODE_MAX &&
		    guest_read(functions[i].start, code, size))
			add_calls(i, code, size);
	}
	free(code);
	find_distances();
}

uint32_t graph_distance(uint32_t function)
{
	return functions[function].distance;
}
