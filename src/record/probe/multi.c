// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kprobe.multi: one pair of programs and one pair of links for all functions. The programs look up which
 * function was hit in a hash table of ours.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/system/interrupt.h"
#include "base/log.h"
#include "record/engine/features.h"
#include "record/probe/choose.h"
#include "record/probe/multi.h"
#include "record/probe/probes_impl.h"

/*
 * Number of calls in flight that a link must be able to hold, on kernels that fix it when the link is attached: see
 * struct record_multi_behaviour. Such calls are those of tasks that sleep or are preempted in the function.
 */
#define MULTI_CALLS 4096

/* Number of hash functions tried for a table of functions. */
#define MULTI_FACTORS 64

struct record_multi {
	struct kprotperf_bpf *skel;
	struct record_multi_behaviour is;
	struct engine_multi *table; /* entries of the map multi_sites */
	uint32_t size;
};

struct record_multi *record_multi_create(struct kprotperf_bpf *skel,
					 const struct record_features *features)
{
	struct record_multi *m = alloc_new(struct record_multi);

	m->skel = skel;
	m->is = features->multi_is;
	m->size = bpf_map__max_entries(skel->maps.multi_sites);
	m->table = alloc_array(m->size, sizeof(*m->table));
	skel->bss->multi_factor = 1;
	return m;
}

void record_multi_destroy(struct record_multi *m)
{
	free(m->table);
	free(m);
}

static const char *refuse(const struct record_kernel *kernel, struct record_site *site,
			  enum record_skip *skip)
{
	enum kernel_answer ftrace = kernel_tracing_is_ftrace(kernel->symbols->tracing, site->sym);
	const char *why_patched;

	*skip = RECORD_SKIP_MECHANISM;
	/* If FTRACE is unknown, the kernel decides: it refuses addresses that are no ftrace locations. */
	if (ftrace == KERNEL_NO || (ftrace == KERNEL_UNKNOWN && !site->named))
		return "kprobe.multi cannot reach it (no ftrace location)";
	why_patched = record_symbols_why_patched(kernel->symbols, site->sym);
	if (why_patched)
		return why_patched;
	record_kernel_try_multi(kernel);
	return record_features_why_not_multi(kernel->features);
}

/* Enter TARGET into TABLE. Return the distance from the slot of its hash; -ENOSPC: all slots in reach are taken. */
static int table_enter(struct engine_multi *table, uint32_t size, uint64_t factor,
		       const struct record_target *target)
{
	struct engine_multi entry = { .addr = target->addr, .site = target->site };

	for (int i = 0; i < ENGINE_MULTI_PROBES; i++) {
		uint32_t slot = (engine_multi_slot(entry.addr, factor) + i) & (size - 1);

		if (table[slot].addr && table[slot].addr != entry.addr)
			continue;
		table[slot] = entry;
		return i;
	}
	return -ENOSPC;
}

/* Fill the table with the targets. Return how many are not in their first slot. */
static uint32_t table_fill(struct record_multi *m, uint64_t factor, struct record_target *targets,
			   uint32_t n)
{
	uint32_t displaced = 0;

	memset(m->table, 0, m->size * sizeof(*m->table));
	for (uint32_t i = 0; i < n; i++) {
		int at = table_enter(m->table, m->size, factor, &targets[i]);

		targets[i].err = at < 0 ? at : 0;
		displaced += at != 0;
	}
	return displaced;
}

static int table_publish(const struct record_multi *m, uint32_t slot,
			 const struct engine_multi *entry)
{
	return bpf_map__update_elem(m->skel->maps.multi_sites, &slot, sizeof(slot), entry,
				    sizeof(*entry), BPF_ANY) ?
		       -errno :
		       0;
}

/*
 * Tell the programs the site of each target. Take the best of some factors: a function that is not found in its
 * first slot costs more than was calibrated. Nothing must be attached by kprobe.multi yet.
 */
static int table_make(struct record_multi *m, struct record_target *targets, uint32_t n)
{
	uint64_t factor = 0x9e3779b97f4a7c15, best = factor;
	uint32_t least = UINT32_MAX;
	int err = 0;

	for (int i = 0; i < MULTI_FACTORS && least; i++, factor += 0x3c6ef372fe94f82a) {
		uint32_t displaced = table_fill(m, factor, targets, n);

		if (displaced < least) {
			least = displaced;
			best = factor;
		}
	}
	table_fill(m, best, targets, n);
	if (least)
		log_verbose(1,
			    "%u of %u functions under kprobe.multi are not in their first hash "
			    "slot",
			    least, n);
	m->skel->bss->multi_factor = best;
	for (uint32_t slot = 0; slot < m->size && !err; slot++)
		err = table_publish(m, slot, &m->table[slot]);
	return err;
}

/* Return the table entry of the function at ADDR; NULL: none. */
static struct engine_multi *table_find(const struct record_multi *m, uint64_t addr)
{
	uint32_t slot = engine_multi_slot(addr, m->skel->bss->multi_factor);

	for (int i = 0; i < ENGINE_MULTI_PROBES; i++, slot++)
		if (m->table[slot & (m->size - 1)].addr == (uint32_t)addr)
			return &m->table[slot & (m->size - 1)];
	return NULL;
}

/* Attach PROG to the N functions at ADDRS. Return the link, or -errno. */
static int link_half(const struct bpf_program *prog, uint32_t flags, const unsigned long *addrs,
		     size_t n)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .kprobe_multi.addrs = addrs, .kprobe_multi.cnt = n,
		    .kprobe_multi.flags = flags);
	int link = bpf_link_create(bpf_program__fd(prog), 0, BPF_TRACE_KPROBE_MULTI, &opts);

	return link < 0 ? -errno : link;
}

/*
 * Attach both programs to all N functions, or neither to any. Attach the entry's program first: ftrace runs the latest one first.
 * At each entry, the kernel looks the function up for the return's program, which takes a time that varies by function. That time
 * must not follow the entry's program, where it would be in the call's time. No task is followed yet, so no return is missed.
 */
static int attach_pair(struct record_probes *probes, const struct record_target *targets,
		       uint32_t n)
{
	const struct record_multi *m = probes->multi;
	uint32_t kept = 2 * n * libbpf_num_possible_cpus();
	uint32_t repeat = m->is.repeats ? (MULTI_CALLS + kept - 1) / kept : 1;
	scoped_free unsigned long *addrs = alloc_array((size_t)n * repeat, sizeof(*addrs));
	struct record_attached a = {};
	int err = 0;

	for (uint32_t i = 0; i < n * repeat; i++)
		addrs[i] = targets[i % n].addr;
	a.entry = link_half(m->skel->progs.function_multi, 0, addrs, n);
	a.ret = a.entry < 0 ? a.entry :
			      link_half(m->skel->progs.function_ret_multi,
					BPF_F_KPROBE_MULTI_RETURN, addrs, n * repeat);
	if (a.ret < 0) {
		err = a.ret;
		if (a.entry >= 0)
			close(a.entry);
	} else {
		vec_push(probes, attached, a);
	}
	return err;
}

/* If one function cannot be traced, the kernel refuses all. Then try to attach to each half of them. */
static void attach_range(struct record_probes *probes, struct record_target *targets, uint32_t n)
{
	int err = interrupt_signal() ? -EINTR : attach_pair(probes, targets, n);

	if (err && err != -EINTR && n > 1) {
		attach_range(probes, targets, n / 2);
		attach_range(probes, targets + n / 2, n - n / 2);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		targets[i].err = err;
}

static void attach(struct record_probes *probes, struct record_target *targets, uint32_t n)
{
	scoped_free struct record_target *usable = alloc_array(n, sizeof(*usable));
	uint32_t n_usable = 0, taken = 0;
	int err = table_make(probes->multi, targets, n);

	for (uint32_t i = 0; i < n; i++) {
		targets[i].err = err ?: targets[i].err;
		if (!targets[i].err)
			usable[n_usable++] = targets[i];
	}
	if (n_usable)
		attach_range(probes, usable, n_usable);
	for (uint32_t i = 0; i < n; i++)
		if (!targets[i].err)
			targets[i] = usable[taken++];
}

#define MEMORY 256u /* bytes of a function's entries in the hash tables of two links */

/* Include calls in flight up to 6.13. Later kernels put returns on a stack that each task has. */
static size_t memory(const struct record_machine *machine)
{
	return MEMORY + 2ul * machine->n_cpus * record_call_memory(machine, "fprobe_rethook_node");
}

const struct record_mechanism record_multi_mechanism = {
	.mech = PROFILE_MECH_MULTI,
	.why_not = record_features_why_not_multi,
	.memory = memory,
	.refuse = refuse,
	.attach = attach,
};

int record_multi_show(struct record_probes *probes, const struct record_target *target, bool show)
{
	const struct record_multi *m = probes->multi;
	struct engine_multi hidden = {};
	struct engine_multi *entry = table_find(m, target->addr);

	return entry ? table_publish(m, entry - m->table, show ? entry : &hidden) : -ENOENT;
}
