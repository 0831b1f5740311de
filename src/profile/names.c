// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of the enum constants of profile.h, for JSON and tables. */
#include "profile/names.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "profile/layout.h"
#include "profile/profile.h"

const char *profile_clock_unit(enum profile_clock clock)
{
	return clock == PROFILE_CLOCK_INSN ? "insn" : "ns";
}

const char *profile_clock_words(enum profile_clock clock)
{
	return clock == PROFILE_CLOCK_INSN ? "instructions" : "ns";
}

const char *profile_context_name(enum profile_context_kind kind)
{
	static const char *const names[] = {
		[PROFILE_CONTEXT_SYSCALL] = NULL,
		[PROFILE_CONTEXT_PAGE_FAULT] = "[page_fault]",
		[PROFILE_CONTEXT_IRQ] = "[irq]",
		[PROFILE_CONTEXT_NONE] = "[none]",
	};

	return names[kind];
}

const char *profile_variable_kind_name(enum profile_variable_kind kind)
{
	static const char *const names[PROFILE_VARIABLE_N_KINDS] = {
		[PROFILE_VARIABLE_ARGUMENT] = "argument",
		[PROFILE_VARIABLE_MEMBER] = "member",
		[PROFILE_VARIABLE_GLOBAL] = "global",
		[PROFILE_VARIABLE_RETURN] = "return",
		[PROFILE_VARIABLE_SYSCALL_ARGUMENT] = "syscall_argument",
		[PROFILE_VARIABLE_TASK] = "task",
		[PROFILE_VARIABLE_NAME] = "name",
		[PROFILE_VARIABLE_CONTEXT] = "context",
	};

	return names[kind];
}

static const struct {
	const char *name, *text;
} queued[PROFILE_N_QUEUED] = {
	[PROFILE_QUEUED_RCU] = { "[rcu]", "RCU callbacks queued by" },
	[PROFILE_QUEUED_WORK] = { "[workqueue]", "work queued by" },
	[PROFILE_QUEUED_TASK_WORK] = { "[task work]", "task work queued by" },
	[PROFILE_QUEUED_SOFTIRQ] = { "[softirq]", "soft interrupts raised by" },
};

const char *profile_queued_name(enum profile_queued kind)
{
	return queued[kind].name;
}

const char *profile_context_queued(const char *context, size_t *by)
{
	const char *name = strrchr(context, '[');

	*by = strlen(context);
	if (!name || name < context + 2 || name[-1] != ' ')
		return NULL;
	for (int i = 0; i < PROFILE_N_QUEUED; i++)
		if (!strcmp(name, queued[i].name)) {
			*by = (size_t)(name - context) - 1;
			return queued[i].text;
		}
	return NULL;
}

/* clang-format off */
/* "|" precedes the plural's ending. */
static const struct {
	const char *key, *text;
} losses[PROFILE_N_LOSSES] = {
	[PROFILE_LOSS_ENTRY_WITHOUT_RETURN] = { "entry_without_return",
		"call|s not timed: the return was missed" },
	[PROFILE_LOSS_RETURN_WITHOUT_ENTRY] = { "return_without_entry",
		"call|s not timed: the entry was missed" },
	[PROFILE_LOSS_DEPTH_EXCEEDED] = { "depth_exceeded",
		"call|s not timed: too many timed functions nested (time fewer functions)" },
	[PROFILE_LOSS_CELLS_FULL] = { "cells_full",
		"call|s not counted: the table of functions and contexts was full (time fewer "
			"functions, or --syscall=NAME only)" },
	[PROFILE_LOSS_DETACHED] = { "probe_detached",
		"call|s not timed: their probe was removed or switched off" },
	[PROFILE_LOSS_PROBES] = { "probes_lost",
		"probe|s removed or switched off by others while the command ran: what they measure is "
			"not counted" },
	[PROFILE_LOSS_TASKS_FULL] = { "tasks_full",
		"task|s not followed: no task slot left (raise --max-tasks)" },
	[PROFILE_LOSS_SWITCHES] = { "switches_missed",
		"task switch|es not reported by the kernel: calls in between are missing or "
		"attributed to another task" },
	[PROFILE_LOSS_PROBE_RECURSION] = { "probe_recursion",
		"probe program|s skipped by the kernel because one was already running" },
	[PROFILE_LOSS_PROBE_MISSED] = { "probe_missed",
		"probe hit|s missed by the kernel" },
	[PROFILE_LOSS_STACKS_FULL] = { "stacks_full",
		"sample|s without a stack: the stack table was full (lower --freq)" },
	[PROFILE_LOSS_STACK_NOT_FETCHED] = { "stack_not_fetched",
		"sample|s without a stack: the kernel could not walk it" },
	[PROFILE_LOSS_SAMPLES_NOT_RECEIVED] = { "samples_not_received",
		"sample|s missed while a task of the workload ran (lower --freq)" },
	[PROFILE_LOSS_BLOCK_WITHOUT_CALL] = { "block_without_call",
		"block execution|s not counted: the entry of the call was not seen" },
	[PROFILE_LOSS_CAPTURES_FULL] = { "captures_full",
		"call|s whose captured values are known only from a sample, if at all: the table "
			"was full (--capture fewer values)" },
	[PROFILE_LOSS_COUNTERS] = { "counters_stopped",
		"reading|s of events that had no counter: counts are too low (fewer --event)" },
	[PROFILE_INFO_ENTRIES] = { "entries",
		"calls and contexts entered" },
	[PROFILE_INFO_OPEN_AT_START] = { "open_at_start",
		"call|s entered before recording started, not timed" },
	[PROFILE_INFO_OPEN_AT_END] = { "open_at_end",
		"call|s that had not returned when recording ended, not timed" },
	[PROFILE_INFO_CLOSED_BY_EXIT] = { "closed_by_exit",
		"call|s ended by the exit of their task, timed until then" },
	[PROFILE_INFO_TASKS_LEFT] = { "tasks_left",
		"task|s of the workload that outlived it" },
	[PROFILE_INFO_BLOCK_HITS] = { "block_hits",
		"execution|s of blocks with a probe" },
	[PROFILE_INFO_BLOCK_COST] = { "block_cost",
		"clock tick|s taken by these probes, subtracted" },
	[PROFILE_INFO_CAPTURES] = { "captures",
		"call|s whose values were captured" },
	[PROFILE_INFO_CAPTURE_COST] = { "capture_cost",
		"clock tick|s taken by capturing them, subtracted" },
	[PROFILE_INFO_OVERCORRECTED] = { "overcorrected",
		"call|s that took less than the estimated cost of their probes: lowest in "
		"percentiles and min" },
	[PROFILE_INFO_WAITED] = { "waited",
		"ns in which a runnable task waited for a CPU" },
	[PROFILE_INFO_STOLEN] = { "stolen",
		"ns of CPU time stolen by the hypervisor" },
	[PROFILE_INFO_THROTTLED] = { "throttled",
		"time|s that CPUs were throttled because of heat" },
	[PROFILE_INFO_APERF] = { "aperf",
		"cycle|s of all CPUs that were not halted" },
	[PROFILE_INFO_MPERF] = { "mperf",
		"cycle|s of these CPUs at the nominal frequency" },
};
/* clang-format on */

const char *profile_loss_key(enum profile_loss loss)
{
	return losses[loss].key;
}

char *profile_loss_text(enum profile_loss loss, double n)
{
	const char *text = losses[loss].text, *mark = strchr(text, '|');

	return mark ? alloc_printf("%.*s%s", (int)(mark - text), text,
				   plural(n, strchr(mark, ' '), mark + 1)) :
		      alloc_strdup(text);
}

bool profile_loss_is_info(enum profile_loss loss)
{
	return loss >= PROFILE_INFO_ENTRIES;
}

void profile_value_append(char **text, const struct profile *p, const struct profile_variable *v,
			  uint64_t value, bool bits)
{
	const char *name = profile_variable_is_name(v) ? profile_name_of(p, value) : NULL;

	if (!name)
		alloc_append(text, bits || v->is_flags ? "0x%" PRIx64 : "%" PRId64, value);
	for (const char *c = name; c && *c; c++)
		alloc_append(text, *c == ' ' || *c == '\\' ? "\\x%02x" : "%c", *c);
}

char *profile_run_signal(const struct profile_run *run)
{
	const char *name = sigabbrev_np(run->status - 128);

	if (run->end == PROFILE_END_EXIT)
		return NULL;
	return name ? alloc_printf("SIG%s", name) : alloc_printf("signal %d", run->status - 128);
}

char *profile_run_end_text(const struct profile_run *run)
{
	scoped_free char *name = profile_run_signal(run);

	if (!name)
		return alloc_printf("exited with status %d", run->status);
	return run->end == PROFILE_END_SIGNAL ?
		       alloc_printf("was killed by %s", name) :
		       alloc_printf("went on when %s ended the recording", name);
}

/* ---- costs ---- */

static const char *const kind_names[PROFILE_N_COST_KINDS] = {
	[PROFILE_COST_INNER] = "inner",       [PROFILE_COST_FULL] = "full",
	[PROFILE_COST_NESTED] = "nested",     [PROFILE_COST_TRAMPOLINE] = "trampoline",
	[PROFILE_COST_ARGS] = "args",         [PROFILE_COST_OPEN] = "open",
	[PROFILE_COST_INSIDE] = "inside",     [PROFILE_COST_OUTSIDE] = "outside",
	[PROFILE_COST_LIST] = "list",         [PROFILE_COST_FRAME] = "frame",
	[PROFILE_COST_STEPPED] = "stepped",   [PROFILE_COST_PREPARED] = "prepared",
	[PROFILE_COST_EMULATED] = "emulated", [PROFILE_COST_CALL] = "call",
	[PROFILE_COST_JUMP] = "jump",         [PROFILE_COST_BLOCK] = "block",
	[PROFILE_COST_LATENCY] = "latency",   [PROFILE_COST_INTERRUPT] = "interrupt",
};

void profile_cost_set(struct profile *p, enum profile_mechanism mech, enum profile_cost_kind kind,
		      double value, double spread)
{
	struct profile_cost cost = { .mech = mech, .kind = kind };
	uint32_t found = section_find_or_add(p, SECTION_COSTS, &cost);

	p->costs[found].value = value;
	p->costs[found].spread = spread;
}

static void append(char **text, const char *name, double value, double spread)
{
	alloc_append(text, "%s%s=%.*f", *text ? " " : "", name, value == floor(value) ? 0 : 2,
		     value);
	if (!isnan(spread))
		alloc_append(text, "+-%.0f", spread);
}

char *profile_cost_text(const struct profile *p, enum profile_mechanism mech)
{
	char *text = NULL;

	for (uint32_t i = 0; i < p->n_costs; i++)
		if (p->costs[i].mech == mech)
			append(&text, kind_names[p->costs[i].kind], p->costs[i].value,
			       p->costs[i].spread);
	return text;
}

/* ---- mechanism ---- */

static const struct profile_mechanism_traits mechanisms[PROFILE_N_COSTS] = {
	[PROFILE_UNTIMED] = { .name = "none" },
	[PROFILE_MECH_TRACEPOINT] = { .name = "tracepoint", .counted = true, .cold = true },
	[PROFILE_MECH_FENTRY] = { .name = "fentry",
				  .in_frame = true,
				  .counted = true,
				  .holds_module = true,
				  .arguments = PROFILE_ARGUMENTS_ALL },
	[PROFILE_MECH_KPROBE] = { .name = "kprobe",
				  .is_kprobe = true,
				  .arguments = PROFILE_ARGUMENTS_IN_REGISTERS },
	/* Only some kernels keep a module loaded while kprobe.multi is attached to one of its functions. */
	[PROFILE_MECH_MULTI] = { .name = "kprobe.multi",
				 .holds_module = true,
				 .costs_by_number = true },
	[PROFILE_MECH_KPROBE_OPTIMIZED] = { .name = "kprobe-optimized",
					    .is_kprobe = true,
					    .arguments = PROFILE_ARGUMENTS_IN_REGISTERS },
	[PROFILE_MECH_KPROBE_INT3] = { .name = "kprobe-int3",
				       .is_kprobe = true,
				       .arguments = PROFILE_ARGUMENTS_IN_REGISTERS },
	[PROFILE_MECH_RANGE] = { .name = "kprobe-range", .is_kprobe = true },
	[PROFILE_COSTS_BLOCK] = { .name = "block" },
	[PROFILE_COSTS_SAMPLE] = { .name = "sample" },
	[PROFILE_COSTS_FAULT] = { .name = "page_fault" },
	[PROFILE_COSTS_CAPTURE] = { .name = "capture" },
	[PROFILE_COSTS_CAPTURE_KPROBE] = { .name = "capture-kprobe" },
};

enum profile_mechanism profile_mechanism_of_ranges(void)
{
	return PROFILE_MECH_RANGE;
}

const struct profile_mechanism_traits *profile_mechanism(enum profile_mechanism mech)
{
	return &mechanisms[mech < PROFILE_N_COSTS ? mech : PROFILE_UNTIMED];
}

const char *profile_mechanism_name(enum profile_mechanism mech)
{
	return mech < PROFILE_N_COSTS ? mechanisms[mech].name : "unknown";
}

enum profile_mechanism profile_mechanism_by_name(const char *name)
{
	enum profile_mechanism mech;

	for (mech = 0; mech < PROFILE_N_COSTS; mech++)
		if (name && !strcmp(mechanisms[mech].name, name))
			break;
	return mech;
}
