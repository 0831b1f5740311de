// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin of QEMU's emulator that counts the instructions of each call of one kernel function, from
 * its first to its return, callees and interrupts included. The guest does not take part: there is no
 * probe, and nothing of ours in the kernel. So this is what all tools' figures are held against.
 *
 *     -plugin truth.so,out=FILE,mark=ADDR,entry=ADDR,return=ADDR...,outer=ADDR,outer_return=ADDR...
 *
 * Counted is what lies between the first and the second time that MARK is executed. A call is over
 * when one of the addresses behind a call of the function is executed; those are few, and known from
 * the kernel's disassembly. Calls inside of OUTER are also told apart. One CPU.
 *
 * The few declarations of qemu-plugin.h (version 1 of that interface) that this needs are repeated
 * here, since Debian has no package with the file.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int cpu, void *data), int flags,
					    void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int op, void *ptr,
						uint64_t imm);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, void *),
				    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);

EXPORT int qemu_plugin_version = 1;

enum {
	CB_NO_REGS = 0,
	INLINE_ADD_U64 = 0
};
enum event {
	MARK,
	ENTRY,
	RETURN,
	OUTER,
	OUTER_RETURN
};

static const char *const keys[] = { "mark", "entry", "return", "outer", "outer_return" };

#define POINTS_MAX 64
static struct point {
	uint64_t address;
	enum event event;
} points[POINTS_MAX];
static unsigned int n_points;

static const char *out;
static uint64_t executed; /* all instructions so far */
static unsigned int marks, outer_depth;

#define DEPTH_MAX 16
static uint64_t open_calls[DEPTH_MAX];
static unsigned int depth;

static struct sum {
	uint64_t calls, insns, min, max;
} all, inside;

static void add(struct sum *sum, uint64_t insns)
{
	if (!sum->calls || insns < sum->min)
		sum->min = insns;
	if (insns > sum->max)
		sum->max = insns;
	sum->calls++;
	sum->insns += insns;
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
		leave();
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

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *insn;
	unsigned int p;

	(void)id;
	for (i = 0; i < n; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		/* Callbacks run before inline operations: they see what was executed before. */
		qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64, &executed, 1);
		for (p = 0; p < n_points; p++)
			if (points[p].address == qemu_plugin_insn_vaddr(insn))
				qemu_plugin_register_vcpu_insn_exec_cb(
					insn, executes, CB_NO_REGS,
					(void *)(uintptr_t)points[p].event);
	}
}

static void write_sum(FILE *file, const char *name, const struct sum *sum)
{
	fprintf(file, "%s calls=%" PRIu64 " mean=%.1f min=%" PRIu64 " max=%" PRIu64 "\n", name,
		sum->calls, sum->calls ? (double)sum->insns / sum->calls : 0, sum->min, sum->max);
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
	fprintf(file, "marks %u\n", marks);
	fclose(file);
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
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (n != strlen(keys[i]) || strncmp(arg, keys[i], n) || n_points == POINTS_MAX)
			continue;
		points[n_points].address = strtoull(arg + n + 1, NULL, 16);
		points[n_points++].event = i;
		return true;
	}
	return false;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
			       char **argv)
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
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
