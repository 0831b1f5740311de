// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kprobe.multi. All functions share one pair of programs and one pair of links. The programs look up the function that was hit in
 * a hash table.
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
 * Number of open calls for which a link needs memory, on kernels that allocate memory when the link is attached: see struct
 * record_multi_behaviour. A call stays open while its task sleeps or is preempted.
 */
#define MULTI_CALLS 4096

/* Number of hash functions to try for the table of functions. */
#define MULTI_FACTORS 64

struct record_multi {
	struct kprotperf_bpf *skel;
	struct record_multi_behaviour is;
	struct engine_multi *table; /* copy of the BPF map multi_sites */
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
	/* If FTRACE is KERNEL_UNKNOWN, let the kernel decide, which refuses functions without an ftrace location. */
	if (ftrace == KERNEL_NO || (ftrace == KERNEL_UNKNOWN && !site->named))
		return "kprobe.multi cannot reach it (no ftrace location)";
	why_patched = record_symbols_why_patched(kernel->symbols, site->sym);
	if (why_patched)
		return why_patched;
	record_kernel_try_multi(kernel);
	return record_features_why_not_multi(kernel->features);
}

/* Enter TARGET into TABLE. Return the distance from its first slot; -ENOSPC: other functions have all slots that are searched. */
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

/* Fill the table with TARGETS. Return the number of targets that are not in the first slot of their hash. */
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
 * Publish the table, by which the programs find a function's number. Try some factors for the hash, and take the best one: a
 * function costs more than was calibrated if it is not in its first slot. No function may be attached by kprobe.multi yet.
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

/* Return the table entry of the function at ADDR; NULL: the table lacks the function. */
static struct engine_multi *table_find(const struct record_multi *m, uint64_t addr)
{
	uint32_t slot = engine_multi_slot(addr, m->skel->bss->multi_factor);

	for (int i = 0; i < ENGINE_MULTI_PROBES; i++, slot++)
		if (m->table[slot & (m->size - 1)].addr == (uint32_t)addr)
			return &m->table[slot & (m->size - 1)];
	return NULL;
}

/* Attach PROG to the N functions at ADDRS. Return the link's descriptor, or -errno. */
static int link_half(const struct bpf_program *prog, uint32_t flags, const unsigned long *addrs,
		     size_t n)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .kprobe_multi.addrs = addrs, .kprobe_multi.cnt = n,
		    .kprobe_multi.flags = flags);
	int link = bpf_link_create(bpf_program__fd(prog), 0, BPF_TRACE_KPROBE_MULTI, &opts);

	return link < 0 ? -errno : link;
}

/*
 * Attach both programs to all N functions, or to none. Attach the entry program first, because ftrace runs the latest program
 * first: at each entry, the kernel looks up the function for the return program, which takes a different time for each function.
 * This must happen before the entry program starts the call's time. No task is followed yet, so no return is missed.
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

/* If a single function cannot be traced, the kernel refuses the whole link. Then attach each half of the functions separately. */
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

#define MEMORY 256u /* bytes for a function in hash tables of the kernel, for two links */

/* Up to 6.13, add memory of a link for open calls. Later kernels store returns on a stack of the task, which exists anyway. */
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
