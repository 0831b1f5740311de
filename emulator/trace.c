// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trace one call: the Nth call of a function by the command's tasks, with all blocks that the function and its callees execute, in
 * order. Other tasks, and other contexts such as interrupts, are not traced.
 */
#include <stdlib.h>
#include <string.h>

#include "exact.h"

#define STEPS_MAX (1u << 21) /* takes 32 MB */

struct trace trace;

bool trace_ask(const char *what)
{
	const char *n = strrchr(what, ':');

	trace.name = strndup(what, n ? (size_t)(n - what) : strlen(what));
	trace.number = n ? strtoull(n + 1, NULL, 10) : 1;
	return *trace.name && trace.number;
}

void trace_called(const struct function *function, const struct context *context, const void *task,
		  uint32_t depth)
{
	if (trace.context || !context->command || ++trace.calls != trace.number)
		return;
	trace.function = function;
	trace.context = context;
	trace.task = task;
	trace.depth = depth;
	trace.steps = get_memory(STEPS_MAX * sizeof(*trace.steps));
}

void trace_returned(const void *task, uint32_t depth)
{
	if (task == trace.task && depth == trace.depth)
		trace.task = NULL;
}

void trace_step(struct block *block, uint32_t depth)
{
	if (trace.n_steps == STEPS_MAX)
		trace.lost++;
	else
		trace.steps[trace.n_steps++] = (struct step){ block, depth - trace.depth };
}
