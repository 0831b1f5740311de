// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin of QEMU's emulator that counts how often one task executes each instruction of some kernel functions (COUNT), while
 * the task is in other functions (OUTER). The guest runs unchanged, so the counts are the reference for record --blocks.
 *
 *     -plugin executions.so,out=FILE,mark=RANGE,switch=RANGE,irq_enter=RANGE,irq_exit=RANGE,
 *             softirq=RANGE,fault=RANGE...,outer=RANGE...,count=RANGE...
 *
 * A RANGE is START-END of a function's code, in hexadecimal. The counted task is the first one that executes MARK. Counting ends
 * at the next execution of MARK, and excludes interrupts. The running task is identified by the stack that SWITCH (__switch_to)
 * pushes to. Interrupts begin with IRQ_ENTER and end with IRQ_EXIT; soft interrupts are in SOFTIRQ. An instruction right before
 * the first of FAULT (asm_exc_page_fault) has faulted, and does not count. FILE gets a line "ADDRESS COUNT" for each executed
 * instruction, and "marks N". One CPU only.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

/* A kernel stack without KASAN has 16 KiB, and is aligned to its size. */
#define STACK_SHIFT 14

enum kind {
	MARK,
	SWITCH,
	IRQ_ENTER,
	IRQ_EXIT,
	SOFTIRQ,
	FAULT,
	OUTER,
	COUNT
};

static const char *const keys[] = { "mark",    "switch", "irq_enter", "irq_exit",
				    "softirq", "fault",  "outer",     "count" };

#define RANGES_MAX 512
static struct range {
	enum kind kind;
	uint64_t start, end;
	uint64_t *counts; /* for COUNT: executions of the instruction at each byte */
} ranges[RANGES_MAX];
static unsigned int n_ranges;

static const char *out;
static unsigned int marks, interrupts, outer;
static uint64_t task, marked; /* kernel stacks of the running task and of the counted task */
static uint64_t executed; /* all instructions executed so far, including those that faulted */
static uint64_t *counted, counted_at; /* the last increased count, and EXECUTED at that time */

static bool is_watched(void)
{
	return marks == 1 && task == marked && !interrupts;
}

static void on_mark(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (!marks++)
		marked = task;
}

static void on_switch(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	(void)cpu;
	(void)info;
	(void)data;
	task = vaddr >> STACK_SHIFT;
}

static void on_interrupt(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	interrupts++;
}

static void on_interrupt_end(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	interrupts -= interrupts > 0;
}

static void on_outer(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	outer += is_watched();
}

static void on_outer_end(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	outer -= is_watched() && outer;
}

static void on_count(unsigned int cpu, void *data)
{
	(void)cpu;
	counted = is_watched() && outer ? data : NULL;
	counted_at = executed;
	if (counted)
		++*counted;
}

static void on_fault(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (counted && executed == counted_at + 1)
		--*counted;
	counted = NULL;
}

/* Return whether INSN is a return or a jump out of R. Read the code as the kernel has patched it. */
static bool leaves(const struct range *r, const struct qemu_plugin_insn *insn)
{
	const unsigned char *code = qemu_plugin_insn_data(insn);
	uint64_t next = qemu_plugin_insn_vaddr(insn) + qemu_plugin_insn_size(insn), to;
	int32_t by;

	if (code[0] == 0xc3 || (code[0] == 0xf3 && code[1] == 0xc3))
		return true;
	if (code[0] != 0xe9)
		return false;
	memcpy(&by, code + 1, sizeof(by));
	to = next + (int64_t)by;
	return to < r->start || to >= r->end;
}

static void on_exec(struct qemu_plugin_insn *insn, void (*cb)(unsigned int, void *), void *data)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, QEMU_PLUGIN_CB_NO_REGS, data);
}

static void watch(struct qemu_plugin_insn *insn, const struct range *r)
{
	uint64_t at = qemu_plugin_insn_vaddr(insn);
	const unsigned char *code = qemu_plugin_insn_data(insn);
	bool first = at == r->start, last = leaves(r, insn);

	switch (r->kind) {
	case MARK:
		if (first)
			on_exec(insn, on_mark, NULL);
		break;
	case SWITCH:
		/*
		 * Watch pushes to the new task's stack. QEMU 7.2 does not report its pops in all kernels, and misses reads after
		 * an instruction that calls one of QEMU's helpers.
		 */
		if (code[code[0] == 0x41] >> 3 == 0x50 >> 3)
			qemu_plugin_register_vcpu_mem_cb(insn, on_switch, QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_W, NULL);
		break;
	case IRQ_ENTER:
		if (first)
			on_exec(insn, on_interrupt, NULL);
		break;
	case IRQ_EXIT:
		if (last)
			on_exec(insn, on_interrupt_end, NULL);
		break;
	case SOFTIRQ:
		if (first)
			on_exec(insn, on_interrupt, NULL);
		if (last)
			on_exec(insn, on_interrupt_end, NULL);
		break;
	case FAULT:
		if (first)
			on_exec(insn, on_fault, NULL);
		break;
	case OUTER:
		if (first)
			on_exec(insn, on_outer, NULL);
		if (last)
			on_exec(insn, on_outer_end, NULL);
		break;
	case COUNT:
		on_exec(insn, on_count, &r->counts[at - r->start]);
		break;
	}
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t at = qemu_plugin_insn_vaddr(insn);

		for (unsigned int k = 0; k < n_ranges; k++)
			if (at >= ranges[k].start && at < ranges[k].end)
				watch(insn, &ranges[k]);
		/* This addition runs after all callbacks of the instruction. */
		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							   &executed, 1);
	}
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
	FILE *file = fopen(out, "w");

	(void)id;
	(void)data;
	if (!file)
		return;
	for (unsigned int k = 0; k < n_ranges; k++)
		for (uint64_t i = 0; ranges[k].counts && i < ranges[k].end - ranges[k].start; i++)
			if (ranges[k].counts[i])
				fprintf(file, "%" PRIx64 " %" PRIu64 "\n", ranges[k].start + i,
					ranges[k].counts[i]);
	fprintf(file, "marks %u\n", marks);
	fclose(file);
}

static bool parse_range(enum kind kind, const char *text)
{
	struct range *r = &ranges[n_ranges];

	r->kind = kind;
	if (n_ranges == RANGES_MAX ||
	    sscanf(text, "%" SCNx64 "-%" SCNx64, &r->start, &r->end) != 2 || r->end <= r->start ||
	    r->end - r->start > 1 << 20)
		return false;
	if (kind == COUNT)
		r->counts = calloc(r->end - r->start, sizeof(*r->counts));
	n_ranges++;
	return kind != COUNT || r->counts;
}

static bool parse(const char *arg)
{
	size_t n = strcspn(arg, "=");

	if (arg[n] != '=')
		return false;
	if (n == 3 && !strncmp(arg, "out", n)) {
		out = strdup(arg + n + 1);
		return out;
	}
	for (unsigned int i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (n == strlen(keys[i]) && !strncmp(arg, keys[i], n))
			return parse_range(i, arg + n + 1);
	return false;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
					   int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!parse(argv[i])) {
			fprintf(stderr, "executions: cannot make sense of '%s'\n", argv[i]);
			return -1;
		}
	}
	if (!out)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
