/* SPDX-License-Identifier: GPL-2.0-or-later */
/* With --syscall, tasks rest outside of the measured system calls: they are hidden from probes. docs/ARCHITECTURE.md, "Tasks". */
#pragma once

#include "engine.h"

/* Contexts that --syscall excludes, perhaps also ENGINE_CTX_NONE. Only programs with "some" in their names read this. */
__u8 left_out[ENGINE_CONTEXTS] __weak = {};

static __always_inline bool is_left_out(__u32 ctx)
{
	return ctx < ENGINE_CONTEXTS && left_out[ctx];
}

/* If CTX, the running task's current or next context, is excluded, hide the task from probes. */
static __always_inline void task_rest(struct engine_cpu *cpu, __u32 ctx)
{
	if (!is_left_out(ctx))
		return;
	cpu->resting = cpu->slot;
	cpu->slot = 0;
}
