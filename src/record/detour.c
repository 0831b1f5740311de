// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/detour.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define OPTIMIZATION_PATH "/proc/sys/debug/kprobes-optimization"

/* As the kernel writes them over an instruction's first byte. */
#define OP_CALL 0xe8 /* ftrace's */
#define OP_JUMP 0xe9
#define OP_INT3 0xcc

/* Instructions that mark where indirect branches may go; a probe on the function comes behind. */
#define ENDBR64      0xfa1e0ff3
#define ENDBR_POISON 0x001f0f66
#define ENDBR_LEN    4

#define WORD (-8) /* on the program's stack */

/*
 * Between two looks. The optimizer waits until every task has slept once, and looks again only after 0.1 s
 * if it finds one running, which would be this one, were it to look all the time.
 */
#define STEP_MS 10

/* Loads a program that returns the four bytes at the address it is given, 0 if it cannot. */
int record_detour_open(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_3, .src_reg = BPF_REG_1 },
		{ .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = WORD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = WORD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 4 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel },
		{ .code = BPF_LDX | BPF_MEM | BPF_W,
		  .dst_reg = BPF_REG_0,
		  .src_reg = BPF_REG_10,
		  .off = WORD },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "kprotperf_look", "GPL", insns,
			       sizeof(insns) / sizeof(insns[0]), NULL);

	return fd < 0 ? -errno : fd;
}

uint32_t record_detour_text(int reader, uint64_t addr)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &addr, .ctx_size_in = sizeof(addr));

	return bpf_prog_test_run_opts(reader, &opts) ? 0 : opts.retval;
}

enum profile_mechanism record_detour_look_with(int reader, uint64_t addr)
{
	uint32_t text = record_detour_text(reader, addr);

	if (text == ENDBR64 || text == ENDBR_POISON)
		text = record_detour_text(reader, addr + ENDBR_LEN);
	switch (text & 0xff) {
	case OP_CALL:
		return PROFILE_MECH_KPROBE;
	case OP_JUMP:
		return PROFILE_MECH_KPROBE_OPTIMIZED;
	case OP_INT3:
		return PROFILE_MECH_KPROBE_INT3;
	default:
		return PROFILE_MECH_NONE;
	}
}

enum profile_mechanism record_detour_look(uint64_t addr)
{
	int reader = record_detour_open();
	enum profile_mechanism found;

	if (reader < 0)
		return PROFILE_MECH_NONE;
	found = record_detour_look_with(reader, addr);
	close(reader);
	return found;
}

bool record_detour_is_off(void)
{
	FILE *f = fopen(OPTIMIZATION_PATH, "re");
	int on = 0;

	if (f && fscanf(f, "%d", &on) != 1)
		on = 0;
	if (f)
		fclose(f);
	return !on;
}

enum profile_mechanism record_detour_await(uint64_t addr)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
	int reader = record_detour_open(), left = RECORD_DETOUR_MS;
	enum profile_mechanism found;

	if (reader < 0)
		return PROFILE_MECH_NONE;
	if (record_detour_is_off())
		left = 0;
	while ((found = record_detour_look_with(reader, addr)) == PROFILE_MECH_KPROBE_INT3 &&
	       left > 0) {
		nanosleep(&step, NULL);
		left -= STEP_MS;
	}
	close(reader);
	return found;
}
