// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * -plugin explore.so,symbols=FILE,targets=FILE,from=FIFO,to=FIFO
 *
 * Serve system call programs to build/workloads/calls, which runs in the guest, and count what each executes in the kernel:
 * instructions, those in the targets and what they call, entries of the targets, and blocks of code that no program executed
 * before. FROM has the programs, TO gets a line of counts for each (write_counts()). The guest's recorder has written SYMBOLS when
 * it executes MARK_BEGIN. A line of TARGETS is the symbol of a function, which stands for its variants, too, or "SYMBOL START END":
 * a part of it, as hexadecimal offsets.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "graph.h"
#include "kprotperf/calls.h"
#include "kprotperf/mark.h"
#include "qemu_plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

#define BLOCKS_MAX (1u << 20)
#define BLOCK_HASH (1u << 21)
/* Step 0 is outside of programs, the last one the end of the child. */
#define STEPS_MAX (CALLS_LINES + 2)

/* A block of the kernel's code. Code that the plugin adds to translated code increases COUNTS, which has an item per block. */
struct block {
	uint64_t addr;
	uint32_t function; /* index in the graph */
	uint32_t seen; /* bit I: a program executed the block 2^I to 2^(I+1)-1 times */
};

static struct block *blocks;
static uint64_t *counts;
static uint32_t n_blocks;
static uint32_t *block_of; /* hash table by address; open addressing; 0: empty */

/* Instructions that the kernel executed, of these in targets and what they call, and how often it began to execute a target. */
static struct tally {
	uint64_t kernel, target, entries;
} now, before, steps[STEPS_MAX];

/* The kernel executes a target or a function that it called, since NOW.kernel was ENTERED. */
static bool inside;
static uint64_t entered;

static const char *symbols, *targets;
static FILE *from, *to;
static qemu_plugin_id_t plugin;
static uint32_t step;
static bool ran; /* a program was served, and its counts were not written yet */

static uint32_t find_block(uint64_t addr)
{
	uint32_t at = (uint32_t)((addr * 0x9e3779b97f4a7c15ull) >> 43) % BLOCK_HASH;

	while (block_of[at] && blocks[block_of[at]].addr != addr)
		at = (at + 1) % BLOCK_HASH;
	/* Index 0 stands for all blocks that have no room. */
	if (!block_of[at] && n_blocks < BLOCKS_MAX) {
		block_of[at] = n_blocks;
		blocks[n_blocks++] = (struct block){ addr, graph_find(addr), 0 };
	}
	return block_of[at];
}

/* --- programs ------------------------------------------------------------------------- */

/* Write the program's new blocks, blocks that it executed a new number of times, and the distance of the nearest function. */
static void write_blocks(void)
{
	uint32_t new = 0, more = 0, nearest = GRAPH_FAR;

	for (uint32_t i = 1; i < n_blocks; i++) {
		uint32_t bit, distance;

		if (!counts[i])
			continue;
		bit = 1u << (63 - __builtin_clzll(counts[i] | 1)) % 32;
		new += !blocks[i].seen;
		more += blocks[i].seen && !(blocks[i].seen & bit);
		blocks[i].seen |= bit;
		distance = graph_distance(blocks[i].function);
		nearest = distance < nearest ? distance : nearest;
	}
	fprintf(to, " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32, new, more, n_blocks - 1,
		nearest);
}

/*
 * Write "STATE SIGNAL NEW MORE BLOCKS NEAREST", and for each line of the program and its child's end "KERNEL TARGET ENTRIES FAILED
 * ERROR".
 */
static void write_counts(uint64_t addr)
{
	struct calls_outcome outcome = {};

	if (!guest_read(addr, &outcome, sizeof(outcome)))
		outcome.state = CALLS_INVALID;
	if (outcome.n > CALLS_LINES)
		outcome.n = CALLS_LINES;
	fprintf(to, "%" PRIu32 " %" PRIu32, outcome.state, outcome.signal);
	write_blocks();
	for (uint32_t i = 0; i <= outcome.n; i++)
		fprintf(to, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRId32,
			steps[i + 1].kernel, steps[i + 1].target, steps[i + 1].entries,
			i < outcome.n ? outcome.lines[i].failed : 0,
			i < outcome.n ? outcome.lines[i].error : 0);
	fputc('\n', to);
	fflush(to);
}

/* Read the next program into TEXT. A line "." ends it. Leave TEXT empty if there are no more programs. */
static void read_program(char text[CALLS_TEXT])
{
	char line[CALLS_TEXT];
	size_t n = 0;

	*text = '\0';
	while (fgets(line, sizeof(line), from) && strcmp(line, ".\n") != 0) {
		size_t size = strlen(line);

		if (n + size < CALLS_TEXT) {
			memcpy(text + n, line, size + 1);
			n += size;
		}
	}
}

/* The guest asks for a program. */
static void on_next(unsigned int cpu, void *data)
{
	char text[CALLS_TEXT];

	(void)cpu;
	(void)data;
	if (ran)
		write_counts(guest_register(GUEST_RSI));
	read_program(text);
	if (!guest_write(guest_register(GUEST_RDI), text, strlen(text) + 1)) {
		fputs("explore: this QEMU does not show the guest's memory to plugins\n", stderr);
		exit(1);
	}
	memset(steps, 0, sizeof(steps));
	ran = true;
}

/* The block that follows is in a target. */
static void on_target(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (inside)
		return;
	inside = true;
	entered = now.kernel;
	now.entries++;
}

/* The block that follows is in a function that has or calls a target, so no target is executed any more. */
static void on_outside(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (inside)
		now.target += now.kernel - entered;
	inside = false;
}

/* The program's next line begins, its child's end, or, with 0, what is outside of it. */
static void on_step(unsigned int cpu, void *data)
{
	uint64_t next = guest_register(GUEST_RDI);

	on_outside(cpu, data);
	steps[step].kernel += now.kernel - before.kernel;
	steps[step].target += now.target - before.target;
	steps[step].entries += now.entries - before.entries;
	before = now;
	if (next == 1)
		memset(counts, 0, n_blocks * sizeof(*counts));
	step = next < STEPS_MAX ? (uint32_t)next : 0;
}

/* --- translated code ------------------------------------------------------------------ */

static void add(struct qemu_plugin_tb *tb, uint64_t *count, uint64_t n)
{
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, count, n);
}

static void watch(struct qemu_plugin_tb *tb, void (*cb)(unsigned int, void *))
{
	qemu_plugin_register_vcpu_tb_exec_cb(tb, cb, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

static void count(struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	uint32_t block;
	bool in_target = false;

	graph_read_calls();
	block = find_block(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)));
	for (size_t i = 0; i < n && !in_target; i++)
		in_target = graph_is_target(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, i)));
	if (in_target)
		watch(tb, on_target);
	else if (graph_distance(blocks[block].function) <= 1)
		watch(tb, on_outside);
	add(tb, &now.kernel, n);
	add(tb, &counts[block], 1);
}

static bool is_mark(const struct qemu_plugin_insn *insn, const unsigned char *mark)
{
	return qemu_plugin_insn_size(insn) == MARK_BYTES &&
	       !memcmp(qemu_plugin_insn_data(insn), mark, MARK_BYTES);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	static const unsigned char next[] = { MARK_NEXT }, of_step[] = { MARK_STEP };
	const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);

	(void)id;
	if (qemu_plugin_insn_vaddr(first) >> 63)
		count(tb);
	else if (is_mark(first, next))
		watch(tb, on_next);
	else if (is_mark(first, of_step))
		watch(tb, on_step);
}

static void start(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
}

static void on_begin(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (!graph_read(symbols, targets))
		exit(1);
	qemu_plugin_reset(plugin, start);
}

static void translated_aside(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	static const unsigned char begin[] = { MARK_BEGIN };

	(void)id;
	if (qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)) >> 63)
		return;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
		if (is_mark(qemu_plugin_tb_get_insn(tb, i), begin))
			qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, i),
							       on_begin, QEMU_PLUGIN_CB_NO_REGS,
							       NULL);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
					   int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "symbols=", 8))
			symbols = strdup(argv[i] + 8);
		else if (!strncmp(argv[i], "targets=", 8))
			targets = strdup(argv[i] + 8);
		else if (!strncmp(argv[i], "from=", 5))
			from = fopen(argv[i] + 5, "re");
		else if (!strncmp(argv[i], "to=", 3))
			to = fopen(argv[i] + 3, "we");
	}
	if (!symbols || !targets || !from || !to || !guest_has_registers()) {
		fputs("explore: arguments are missing, or this QEMU does not show registers\n",
		      stderr);
		return -1;
	}
	blocks = get_memory(BLOCKS_MAX * sizeof(*blocks));
	counts = get_memory(BLOCKS_MAX * sizeof(*counts));
	block_of = get_memory(BLOCK_HASH * sizeof(*block_of));
	n_blocks = 1;
	plugin = id;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated_aside);
	return 0;
}
