/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks that rest, with --syscall: docs/ARCHITECTURE.md, "Tasks". */
#pragma once

#include "engine.h"

/* With --syscall: contexts that are not measured, ENGINE_CTX_NONE among them. Programs without "some" in their name do not read it. */
__u8 left_out[ENGINE_CONTEXTS] __weak = {};

static __always_inline bool is_left_out(__u32 ctx)
{
	return ctx < ENGINE_CONTEXTS && left_out[ctx];
}

/* To probes the running task is not there while its context, which is or will be CTX, is left out. */
static __always_inline void task_rest(struct engine_cpu *cpu, __u32 ctx)
{
	if (!is_left_out(ctx))
		return;
	cpu->resting = cpu->slot;
	cpu->slot = 0;
}
