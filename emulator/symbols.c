// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "exact.h"

struct function user_code;

static struct function *functions;
static uint32_t n_functions, cap_functions;

/* Roles by prefix of the function's name. The first match is used. */
static const struct {
	const char *prefix;
	enum role role;
} roles[] = {
	{ "entry_SYSCALL_", ROLE_ENTRY_SYSCALL },
	{ "entry_SYSENTER_", ROLE_ENTRY_SYSCALL },
	{ "entry_INT80_", ROLE_ENTRY_SYSCALL },
	{ "asm_int80_emulation", ROLE_ENTRY_SYSCALL },
	{ "asm_exc_", ROLE_ENTRY_FAULT },
	{ "asm_sysvec_", ROLE_ENTRY_IRQ },
	{ "irq_entries_start", ROLE_ENTRY_IRQ },
	{ "spurious_entries_start", ROLE_ENTRY_IRQ },
	{ "__pfx_", ROLE_PADDING },
	{ "__x86_indirect_", ROLE_THUNK },
	{ "__x86_return_thunk", ROLE_RETURNS },
	{ "its_return_thunk", ROLE_RETURNS },
	{ "retbleed_", ROLE_RETURNS },
	{ "srso_", ROLE_RETURNS },
	{ "call_depth_return_thunk", ROLE_RETURNS },
	{ "__x64_sys_", ROLE_SYSCALL },
	{ "__ia32_", ROLE_SYSCALL },
	{ "handle_mm_fault", ROLE_PAGE_FAULT },
	{ "__do_softirq", ROLE_SOFTIRQ },
	{ "handle_softirqs", ROLE_SOFTIRQ },
	{ "do_idle", ROLE_IDLE },
	{ "kthread", ROLE_KTHREAD },
	{ "call_rcu", ROLE_QUEUES_RCU },
	{ "__call_rcu_common", ROLE_QUEUES_RCU }, /* call_rcu() and call_rcu_hurry() call this */
	{ "rcu_do_batch", ROLE_RUNS_RCU },
	{ "__queue_work", ROLE_QUEUES_WORK },
	{ "__queue_delayed_work", ROLE_QUEUES_WORK },
	{ "process_one_work", ROLE_RUNS_WORK },
	{ "task_work_add", ROLE_QUEUES_TASK_WORK },
	{ "task_work_run", ROLE_RUNS_TASK_WORK },
	{ "raise_softirq", ROLE_RAISES },
	{ "raise_softirq_irqoff", ROLE_RAISES },
	{ "__raise_softirq_irqoff", ROLE_RAISES },
	{ "__tasklet_schedule", ROLE_RAISES }, /* raise_softirq_irqoff() is inlined into it */
	{ "copy_thread", ROLE_FORK },
	{ "do_task_dead", ROLE_DIES },
	{ "__switch_to_asm", ROLE_SWITCH_FROM },
	{ "__switch_to", ROLE_SWITCH },
};

static enum role role_of(const char *name)
{
	const char *suffix = strstr(name, ".cold");

	if (suffix && (!suffix[5] || suffix[5] == '.'))
		return ROLE_COLD;
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		size_t n = strlen(roles[i].prefix);
		bool whole = roles[i].role >= ROLE_PAGE_FAULT;

		if (strncmp(name, roles[i].prefix, n) == 0 && (!whole || !name[n]))
			return roles[i].role;
	}
	return ROLE_NONE;
}

/* Return the number of the soft interrupt that NAME handles or raises, or 0. Ticks and RCU give 0: no context causes them. */
static uint32_t softirq_of(const char *name)
{
	static const char *const handlers[] = {
		[2] = "net_tx_action",    [3] = "net_rx_action",  [4] = "blk_done_softirq",
		[5] = "irq_poll_softirq", [6] = "tasklet_action",
	};

	for (uint32_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++)
		if (handlers[i] && !strcmp(handlers[i], name))
			return i;
	return strcmp(name, "__tasklet_schedule") ? 0 : 6;
}

/* Return whether NAME is the traced function, or a variant that the compiler made of it. */
static bool is_traced(const char *name)
{
	size_t n = trace.name ? strlen(trace.name) : 0;

	return n && !strncmp(name, trace.name, n) &&
	       (!name[n] || !strncmp(name + n, ".isra.", 6) ||
		!strncmp(name + n, ".constprop.", 11));
}

static struct function *append(uint64_t start)
{
	if (n_functions == cap_functions) {
		struct function *more;

		cap_functions = cap_functions ? 2 * cap_functions : 1 << 17;
		more = get_memory(cap_functions * sizeof(*more));
		memcpy(more, functions, n_functions * sizeof(*more));
		functions = more;
	}
	functions[n_functions] = (struct function){ .start = start, .id = n_functions + 1 };
	return &functions[n_functions++];
}

bool symbols_read(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[1024], *name;

	if (!file)
		return false;
	/* A function without a name has the addresses before all symbols. */
	append(0);
	while (fgets(line, sizeof(line), file)) {
		uint64_t addr = strtoull(line, &name, 16);
		struct function *f = &functions[n_functions - 1];
		enum role role;

		line[strcspn(line, "\t\n")] = '\0';
		if (strlen(name) < 4)
			continue;
		role = role_of(name + 3); /* skip the type, such as " t " */
		/* If several names have this address, use the first name that has a role. */
		if (addr != f->start)
			f = append(addr);
		if (!f->role)
			f->role = role;
		f->code |= strchr("tTwW", name[1]) != NULL;
		if (!f->softirq)
			f->softirq = softirq_of(name + 3);
		f->traced |= is_traced(name + 3);
	}
	fclose(file);
	for (uint32_t i = 0; i < n_functions; i++) {
		bool more = i + 1 < n_functions;

		functions[i].end = more ? functions[i + 1].start : UINT64_MAX;
		if (more && functions[i].role == ROLE_PADDING)
			functions[i].whole = &functions[i + 1];
	}
	return n_functions > 1;
}

bool symbols_have(enum role role)
{
	for (uint32_t i = 0; i < n_functions; i++)
		if (functions[i].role == role)
			return true;
	return false;
}

struct function *symbols_at(uint64_t addr)
{
	uint32_t low = 0, high = n_functions;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (functions[mid].start <= addr)
			low = mid;
		else
			high = mid;
	}
	return functions[low].whole ?: &functions[low];
}
