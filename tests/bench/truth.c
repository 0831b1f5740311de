// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin of QEMU's emulator that counts the instructions of each call of one kernel function, from its first instruction to its
 * return, callees and interrupts included. The guest runs unchanged and without probes, so the counts are the reference for all
 * tools.
 *
 *     -plugin truth.so,out=FILE,mark=ADDR,entry=ADDR,return=ADDR...,outer=ADDR,outer_return=ADDR...
 *
 *     in=ADDR...,beside=ADDR...,body=ADDR or points=FILE, which has such words, one per line
 *
 * The second form counts an inlined function, and may be added to the first. IN are all instructions of the inlined function,
 * BESIDE all others of the function around it, BODY its first instruction. An excursion into the inlined function begins with one
 * of IN and ends before the next of BESIDE or RETURN. Its instructions are counted, with callees.
 *
 * Instructions between the first and the second execution of MARK are counted. RETURN are the addresses after all calls of the
 * function, from the kernel's disassembly: a call ends when one of them is executed. Calls inside OUTER are also counted apart.
 * One CPU only.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

enum event {
	MARK,
	ENTRY,
	RETURN,
	OUTER,
	OUTER_RETURN,
	IN,
	OUT,
	BODY
};

static const char *const keys[] = { "mark",         "entry", "return", "outer",
				    "outer_return", "in",    "beside", "body" };

#define POINTS_MAX 16384
static struct point {
	uint64_t address;
	enum event event;
} points[POINTS_MAX];
static unsigned int n_points;

static const char *out;
static uint64_t executed; /* all instructions executed so far */
static unsigned int marks, outer_depth;

#define DEPTH_MAX 16
static uint64_t open_calls[DEPTH_MAX];
static unsigned int depth;

static struct sum {
	uint64_t calls, insns, min, max;
} all, inside;

/* Sums over all excursions into the inlined function, and over those inside OUTER. */
static struct sum excursions, excursions_inside;
static uint64_t bodies, bodies_inside, body_executed;
static bool within;
static uint64_t within_since;

static void add(struct sum *sum, uint64_t insns)
{
	if (!sum->calls || insns < sum->min)
		sum->min = insns;
	if (insns > sum->max)
		sum->max = insns;
	sum->calls++;
	sum->insns += insns;
}

static void body_leave(void)
{
	uint64_t insns = executed - within_since;

	if (!within)
		return;
	within = false;
	if (marks != 1)
		return;
	add(&excursions, insns);
	if (outer_depth)
		add(&excursions_inside, insns);
}

static void body_enter(void)
{
	if (within)
		return;
	within = true;
	within_since = executed;
}

/* If an instruction is in BODY and IN, this callback runs before that of IN. */
static void body_entry(void)
{
	if (marks != 1)
		return;
	body_executed++;
	bodies += !within;
	bodies_inside += !within && outer_depth;
}

static void leave(void)
{
	uint64_t insns;

	if (!depth)
		return;
	insns = executed - open_calls[--depth];
	if (marks != 1)
		return;
	add(&all, insns);
	if (outer_depth)
		add(&inside, insns);
}

static void executes(unsigned int cpu, void *data)
{
	(void)cpu;
	switch ((enum event)(uintptr_t)data) {
	case MARK:
		marks++;
		break;
	case ENTRY:
		if (depth == DEPTH_MAX)
			abort();
		open_calls[depth++] = executed;
		break;
	case RETURN:
		body_leave();
		leave();
		break;
	case IN:
		body_enter();
		break;
	case OUT:
		body_leave();
		break;
	case BODY:
		body_entry();
		break;
	case OUTER:
		outer_depth++;
		break;
	case OUTER_RETURN:
		if (outer_depth)
			outer_depth--;
		break;
	}
}

/* Sort by address. At equal addresses, the inlined function's entry comes first. */
static int by_address(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (y->event == BODY) - (x->event == BODY);
}

static void watch(struct qemu_plugin_insn *insn)
{
	uint64_t address = qemu_plugin_insn_vaddr(insn);
	unsigned int low = 0, high = n_points;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (points[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < n_points && points[low].address == address; low++)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, executes, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)points[low].event);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *insn;

	(void)id;
	for (i = 0; i < n; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		/* Callbacks run before this addition, so they see EXECUTED without this instruction. */
		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							   &executed, 1);
		watch(insn);
	}
}

static void write_sum(FILE *file, const char *name, const struct sum *sum)
{
	fprintf(file, "%s calls=%" PRIu64 " insns=%" PRIu64 " min=%" PRIu64 " max=%" PRIu64 "\n",
		name, sum->calls, sum->insns, sum->min, sum->max);
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
	FILE *file = fopen(out, "w");

	(void)id;
	(void)data;
	if (!file)
		return;
	write_sum(file, "all", &all);
	write_sum(file, "outer", &inside);
	write_sum(file, "excursions", &excursions);
	write_sum(file, "excursions_outer", &excursions_inside);
	fprintf(file, "bodies all=%" PRIu64 " outer=%" PRIu64 " executed=%" PRIu64 "\n", bodies,
		bodies_inside, body_executed);
	fprintf(file, "marks %u\n", marks);
	fclose(file);
}

static bool parse(const char *arg);

static bool parse_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[256];
	bool ok = file;

	while (ok && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		ok = !*line || parse(line);
	}
	if (file)
		fclose(file);
	return ok;
}

static bool parse(const char *arg)
{
	unsigned int i;
	size_t n = strcspn(arg, "=");

	if (arg[n] != '=')
		return false;
	if (n == 3 && !strncmp(arg, "out", n)) {
		out = strdup(arg + n + 1);
		return out;
	}
	if (n == 6 && !strncmp(arg, "points", n))
		return parse_file(arg + n + 1);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (n != strlen(keys[i]) || strncmp(arg, keys[i], n) || n_points == POINTS_MAX)
			continue;
		points[n_points].address = strtoull(arg + n + 1, NULL, 16);
		points[n_points++].event = i;
		return true;
	}
	return false;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
					   int argc, char **argv)
{
	int i;

	(void)info;
	for (i = 0; i < argc; i++) {
		if (!parse(argv[i])) {
			fprintf(stderr, "truth: cannot make sense of '%s'\n", argv[i]);
			return -1;
		}
	}
	if (!out)
		return -1;
	qsort(points, n_points, sizeof(points[0]), by_address);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
