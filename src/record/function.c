// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/function.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kprotperf/engine.h"
#include "kprotperf.skel.h"
#include "record/calibrate.h"
#include "record/closer.h"
#include "record/copy.h"
#include "record/kprobe.h"
#include "record/misses.h"
#include "record/workload.h"

/*
 * Returns of calls in flight that a kprobe.multi link shall be able to keep, where the kernel's number
 * is fixed when it is attached: see struct record_multi. What lies in between sleeps, or is preempted.
 */
#define MULTI_CALLS 4096

/* Hash functions tried for a table of functions under kprobe.multi. */
#define MULTI_FACTORS 64

/* A site, or several by kprobe.multi (SITE 0): where their links are and, under fentry, the programs. */
struct attached {
	uint32_t site, entry, ret, progs;
	enum profile_mechanism mech;
};

/* The copies of the fentry pair for a site that is to be attached; -1: taken. */
struct prepared {
	uint32_t site;
	int entry, ret;
};

/* A kprobe on the entry of a function, whose return's is still to come. */
struct pending {
	uint32_t site;
	int link;
};

struct record_functions {
	struct kprotperf_bpf *skel;
	struct record_multi multi;
	struct record_cost fentry_cost;
	/* Links as bare descriptors: libbpf knows nothing of copies, and two for each would be too many. */
	int *fds;
	uint32_t n_fds, cap_fds;
	uint32_t *progs; /* the ids of the copies, which their links keep */
	uint32_t n_progs, cap_progs;
	struct pending *pending;
	uint32_t n_pending, cap_pending;
	struct prepared *prepared;
	uint32_t n_prepared, cap_prepared;
	uint64_t misses_gone; /* of copies that are no more */
	struct attached *attached;
	uint32_t n_attached, cap_attached;
	/* kprobe.multi: what the kernel has as the map multi_sites, and whose links there are */
	struct engine_multi *table;
	struct record_multi_site *items;
	uint32_t n_items, cap_items;
};

struct record_functions *record_functions_create(struct kprotperf_bpf *skel,
						 const struct record_multi *multi)
{
	struct record_functions *f = alloc_new(struct record_functions);

	f->skel = skel;
	f->multi = *multi;
	skel->bss->multi_factor = 1;
	f->table = alloc_array(bpf_map__max_entries(skel->maps.multi_sites), sizeof(*f->table));
	return f;
}

void record_functions_destroy(struct record_functions *f)
{
	if (!f)
		return;
	record_functions_detach(f);
	for (uint32_t i = 0; i < f->n_prepared; i++) {
		if (f->prepared[i].entry >= 0)
			close(f->prepared[i].entry);
		if (f->prepared[i].ret >= 0)
			close(f->prepared[i].ret);
	}
	free(f->prepared);
	free(f->pending);
	free(f->progs);
	free(f->fds);
	free(f->attached);
	free(f->items);
	free(f->table);
	free(f);
}

void record_functions_set_fentry_cost(struct record_functions *f, const struct record_cost *cost)
{
	f->fentry_cost = *cost;
}

static uint32_t program_id(int fd)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &len) ? 0 : info.id;
}

/* The last two links attached are undone. */
static void detach_pair(struct record_functions *f)
{
	close(f->fds[--f->n_fds]);
	close(f->fds[--f->n_fds]);
}

/* The last two links attached are those of SITE. */
static void note_attached(struct record_functions *f, uint32_t site, enum profile_mechanism mech)
{
	bool last = mech == PROFILE_MECH_FENTRY; /* whose entry is attached last */
	struct attached a = { .site = site,
			      .mech = mech,
			      .entry = f->n_fds - (last ? 1 : 2),
			      .ret = f->n_fds - (last ? 2 : 1) };

	if (mech == PROFILE_MECH_FENTRY)
		a.progs = f->n_progs - 2;
	vec_push(f, attached, a);
}

int record_functions_prepare(struct record_functions *f, uint32_t site,
			     const struct record_target *target)
{
	struct prepared p = { .site = site };

	p.ret = record_copy_load(f->skel->progs.function_fexit, site, target, &f->fentry_cost);
	if (p.ret < 0)
		return p.ret;
	p.entry = record_copy_load(f->skel->progs.function_fentry, site, target, &f->fentry_cost);
	if (p.entry < 0) {
		close(p.ret);
		return p.entry;
	}
	vec_push(f, prepared, p);
	return 0;
}

/* The copy of PROG that was prepared for SITE, the caller's from now on; -1: none. */
static int take_prepared(struct record_functions *f, const struct bpf_program *prog, uint32_t site)
{
	for (uint32_t i = 0; i < f->n_prepared; i++) {
		struct prepared *p = &f->prepared[i];
		int *copy = prog == f->skel->progs.function_fentry ? &p->entry : &p->ret;
		int fd = *copy;

		if (p->site != site)
			continue;
		*copy = -1;
		return fd;
	}
	return -1;
}

/* Loads, unless that has been done, and attaches one half of the pair. */
static int fentry_attach_half(struct record_functions *f, const struct bpf_program *prog,
			      uint32_t site, const struct record_target *target)
{
	int fd = take_prepared(f, prog, site), link;

	if (fd < 0)
		fd = record_copy_load(prog, site, target, &f->fentry_cost);
	if (fd < 0)
		return fd;
	link = bpf_raw_tracepoint_open(NULL, fd);
	if (link < 0) {
		link = -errno;
	} else {
		vec_push(f, progs, program_id(fd));
		vec_push(f, fds, link);
	}
	close(fd);
	return link < 0 ? link : 0;
}

static int fentry_attach(struct record_functions *f, uint32_t site,
			 const struct record_target *target)
{
	int err;

	err = fentry_attach_half(f, f->skel->progs.function_fexit, site, target);
	if (err)
		return err;
	err = fentry_attach_half(f, f->skel->progs.function_fentry, site, target);
	if (err) {
		close(f->fds[--f->n_fds]);
		f->n_progs--;
	}
	return err;
}

/* The link, or -errno. */
static int kprobe_link(const struct bpf_program *prog, bool on_return, uint32_t site,
		       const struct record_target *target)
{
	/* The return's program takes the upper half for what this place costs more. */
	uint64_t cookie = (uint64_t)target->extra << 32 | ENGINE_KEY(site, 0);
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	int event = record_kprobe_open(target->addr, on_return), link;

	if (event < 0)
		return event;
	/* The link keeps the event. */
	link = bpf_link_create(bpf_program__fd(prog), event, BPF_PERF_EVENT, &opts);
	if (link >= 0 && ioctl(event, PERF_EVENT_IOC_ENABLE, 0)) {
		close(link);
		link = -1;
	}
	if (link < 0)
		link = -errno;
	close(event);
	return link;
}

static const struct bpf_program *return_program(const struct record_functions *f,
						enum profile_mechanism mech)
{
	switch (mech) {
	case PROFILE_MECH_KPROBE_OPTIMIZED:
		return f->skel->progs.function_kretprobe_optimized;
	case PROFILE_MECH_KPROBE_INT3:
		return f->skel->progs.function_kretprobe_int3;
	default:
		return f->skel->progs.function_kretprobe;
	}
}

int record_functions_attach_entry(struct record_functions *f, uint32_t site,
				  const struct record_target *target)
{
	int link = kprobe_link(f->skel->progs.function_kprobe, false, site, target);
	struct pending pending = { site, link };

	if (link < 0)
		return link;
	vec_push(f, pending, pending);
	return 0;
}

/* The link of SITE's entry, which is pending no longer. */
static int take_pending(struct record_functions *f, uint32_t site)
{
	for (uint32_t i = 0; i < f->n_pending; i++) {
		int link = f->pending[i].link;

		if (f->pending[i].site != site)
			continue;
		f->pending[i] = f->pending[--f->n_pending];
		return link;
	}
	return -ENOENT;
}

int record_functions_attach_return(struct record_functions *f, uint32_t site,
				   enum profile_mechanism mech, const struct record_target *target)
{
	int entry = take_pending(f, site), link;

	if (entry < 0)
		return entry;
	link = kprobe_link(return_program(f, mech), true, site, target);
	if (link < 0) {
		close(entry);
		return link;
	}
	vec_push(f, fds, entry);
	vec_push(f, fds, link);
	note_attached(f, site, mech);
	return 0;
}

/*
 * The entry's first: the kernel calls the latest first, and what it does at an entry for the return's
 * probe is not in the call then. No task is followed yet whose return would be missed.
 */
static int kprobe_attach(struct record_functions *f, uint32_t site, enum profile_mechanism mech,
			 const struct record_target *target)
{
	return record_functions_attach_entry(f, site, target) ?:
		       record_functions_attach_return(f, site, mech, target);
}

/* Enters the function at ADDR into TABLE, at how many slots from its first; -ENOSPC: too many. */
static int table_enter(struct engine_multi *table, uint32_t size, uint64_t factor, uint64_t addr,
		       uint32_t site)
{
	struct engine_multi entry = { .addr = addr, .site = site };

	for (int i = 0; i < ENGINE_MULTI_PROBES; i++) {
		uint32_t slot = (engine_multi_slot(entry.addr, factor) + i) & (size - 1);

		if (table[slot].addr && table[slot].addr != entry.addr)
			continue;
		table[slot] = entry;
		return i;
	}
	return -ENOSPC;
}

/* Fills TABLE with the items; how many are not where they are looked for first. */
static uint32_t table_fill(struct engine_multi *table, uint32_t size, uint64_t factor,
			   struct record_multi_site *items, uint32_t n)
{
	uint32_t displaced = 0;

	memset(table, 0, size * sizeof(*table));
	for (uint32_t i = 0; i < n; i++) {
		int at = table_enter(table, size, factor, items[i].addr, items[i].site);

		items[i].err = at < 0 ? at : 0;
		displaced += at != 0;
	}
	return displaced;
}

static int table_publish(const struct record_functions *f, uint32_t slot,
			 const struct engine_multi *entry)
{
	return bpf_map__update_elem(f->skel->maps.multi_sites, &slot, sizeof(slot), entry,
				    sizeof(*entry), BPF_ANY) ?
		       -errno :
		       0;
}

/*
 * Tells the programs which site each item is. Of some factors the best: a function that is found only
 * at a second look costs more than was calibrated. Nothing must be attached by kprobe.multi yet.
 */
static int multi_enter(struct record_functions *f, struct record_multi_site *items, uint32_t n)
{
	uint32_t size = bpf_map__max_entries(f->skel->maps.multi_sites), least = UINT32_MAX;
	uint64_t factor = 0x9e3779b97f4a7c15, best = factor;
	struct engine_multi *table = f->table;
	int err = 0;

	for (int i = 0; i < MULTI_FACTORS && least; i++, factor += 0x3c6ef372fe94f82a) {
		uint32_t displaced = table_fill(table, size, factor, items, n);

		if (displaced < least) {
			least = displaced;
			best = factor;
		}
	}
	table_fill(table, size, best, items, n);
	if (least)
		log_verbose(1, "%u of %u functions under kprobe.multi take a second look each",
			    least, n);
	f->skel->bss->multi_factor = best;
	for (uint32_t slot = 0; slot < size && !err; slot++)
		err = table_publish(f, slot, &table[slot]);
	return err;
}

static int multi_attach_half(struct record_functions *f, const struct bpf_program *prog,
			     uint32_t flags, const unsigned long *addrs, size_t n)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .kprobe_multi.addrs = addrs, .kprobe_multi.cnt = n,
		    .kprobe_multi.flags = flags);
	int link = bpf_link_create(bpf_program__fd(prog), 0, BPF_TRACE_KPROBE_MULTI, &opts);

	if (link < 0)
		return -errno;
	vec_push(f, fds, link);
	return 0;
}

/*
 * Attaches both halves to all N, or neither to any. The entry's first: ftrace goes through what is
 * attached from the latest on, and finding the function again for the return's would take a time that
 * differs from one to the next, within the call if it came after the entry's program. No task is
 * followed yet whose return would be missed.
 */
static int multi_attach_pair(struct record_functions *f, const struct record_multi_site *items,
			     uint32_t n)
{
	uint32_t kept = 2 * n * libbpf_num_possible_cpus();
	uint32_t repeat = f->multi.repeats ? (MULTI_CALLS + kept - 1) / kept : 1;
	unsigned long *addrs = alloc_array((size_t)n * repeat, sizeof(*addrs));
	int err;

	for (uint32_t i = 0; i < n * repeat; i++)
		addrs[i] = items[i % n].addr;
	err = multi_attach_half(f, f->skel->progs.function_multi, 0, addrs, n);
	if (!err) {
		err = multi_attach_half(f, f->skel->progs.function_ret_multi,
					BPF_F_KPROBE_MULTI_RETURN, addrs, n * repeat);
		if (err)
			close(f->fds[--f->n_fds]);
	}
	free(addrs);
	if (!err)
		note_attached(f, 0, PROFILE_MECH_MULTI);
	return err;
}

/* The entry of the function at ADDR; NULL: it has none. */
static struct engine_multi *table_find(const struct record_functions *f, uint64_t addr)
{
	uint32_t mask = bpf_map__max_entries(f->skel->maps.multi_sites) - 1;
	uint32_t slot = engine_multi_slot(addr, f->skel->bss->multi_factor);

	for (int i = 0; i < ENGINE_MULTI_PROBES; i++, slot++)
		if (f->table[slot & mask].addr == (uint32_t)addr)
			return &f->table[slot & mask];
	return NULL;
}

/* What each of the N that a pair of links has costs more by its place in the kernel's hashes. */
static void multi_find_extra(struct record_functions *f, struct record_multi_site *items,
			     uint32_t n)
{
	uint64_t *addrs = alloc_array(n, sizeof(*addrs));
	uint32_t *hops = alloc_array(n, sizeof(*hops));

	for (uint32_t i = 0; i < n; i++)
		addrs[i] = items[i].addr;
	record_multi_hops(addrs, n, hops);
	for (uint32_t i = 0; i < n; i++) {
		struct engine_multi *entry = table_find(f, items[i].addr);

		items[i].extra = hops[i] * f->multi.hop;
		if (!entry)
			continue;
		entry->extra = items[i].extra;
		table_publish(f, entry - f->table, entry);
	}
	free(addrs);
	free(hops);
}

/* One function that cannot be traced makes the kernel refuse all: what is refused is tried in halves. */
static void multi_attach_range(struct record_functions *f, struct record_multi_site *items,
			       uint32_t n)
{
	int err = record_workload_interrupted() ? -EINTR : multi_attach_pair(f, items, n);

	if (err && err != -EINTR && n > 1) {
		multi_attach_range(f, items, n / 2);
		multi_attach_range(f, items + n / 2, n - n / 2);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		items[i].err = err;
	if (!err && f->multi.hop)
		multi_find_extra(f, items, n);
	if (!err)
		for (uint32_t i = 0; i < n; i++)
			vec_push(f, items, items[i]);
}

void record_functions_attach_multi(struct record_functions *f, struct record_multi_site *items,
				   uint32_t n)
{
	struct record_multi_site *usable = alloc_array(n, sizeof(*usable));
	uint32_t n_usable = 0, taken = 0;
	int err = multi_enter(f, items, n);

	for (uint32_t i = 0; i < n; i++) {
		items[i].err = err ?: items[i].err;
		if (!items[i].err)
			usable[n_usable++] = items[i];
	}
	if (n_usable)
		multi_attach_range(f, usable, n_usable);
	for (uint32_t i = 0; i < n; i++)
		if (!items[i].err)
			items[i] = usable[taken++];
	free(usable);
}

int record_functions_show_multi(struct record_functions *f, const struct record_multi_site *item,
				bool show)
{
	struct engine_multi hidden = {};
	struct engine_multi *entry = table_find(f, item->addr);

	return entry ? table_publish(f, entry - f->table, show ? entry : &hidden) : -ENOENT;
}

int record_functions_attach(struct record_functions *f, uint32_t site, enum profile_mechanism mech,
			    const struct record_target *target)
{
	int err;

	switch (mech) {
	case PROFILE_MECH_FENTRY:
		err = fentry_attach(f, site, target);
		if (!err)
			note_attached(f, site, mech);
		return err;
	case PROFILE_MECH_KPROBE:
	case PROFILE_MECH_KPROBE_OPTIMIZED:
	case PROFILE_MECH_KPROBE_INT3:
		return kprobe_attach(f, site, mech, target);
	default:
		return -EINVAL;
	}
}

static void detach_entry(struct record_functions *f, const struct attached *a)
{
	if (f->fds[a->entry] >= 0)
		close(f->fds[a->entry]);
	f->fds[a->entry] = -1;
}

/* Entries first: whoever asks about returns without one can know why. */
static void detach_attached(struct record_functions *f, const struct attached *a)
{
	detach_entry(f, a);
	close(f->fds[a->ret]);
	f->fds[a->ret] = -1;
}

static uint64_t copy_misses(uint32_t id, uint64_t (*misses)(int prog_fd))
{
	int fd = id ? bpf_prog_get_fd_by_id(id) : -1;
	uint64_t n;

	if (fd < 0)
		return 0;
	n = misses(fd);
	close(fd);
	return n;
}

/* What the copies of A missed is kept: they end with their links. */
static void keep_misses(struct record_functions *f, const struct attached *a,
			uint64_t (*misses)(int prog_fd))
{
	for (int half = 0; half < 2; half++) {
		f->misses_gone += copy_misses(f->progs[a->progs + half], misses);
		f->progs[a->progs + half] = 0;
	}
}

static bool is_among(uint32_t site, const uint32_t *sites, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (sites[i] == site)
			return true;
	return false;
}

/* Detaches what is attached of SITES one by one. */
static void detach_single(struct record_functions *f, const uint32_t *sites, uint32_t n,
			  uint64_t (*misses)(int prog_fd))
{
	for (uint32_t i = 0; i < f->n_attached; i++) {
		struct attached *a = &f->attached[i];

		if (!a->site || !is_among(a->site, sites, n))
			continue;
		if (a->mech == PROFILE_MECH_FENTRY)
			keep_misses(f, a, misses);
		detach_attached(f, a);
		*a = f->attached[--f->n_attached];
		i--;
	}
}

static void set_state(const struct record_functions *f, uint32_t site, enum engine_site_state state)
{
	__atomic_store_n(&f->skel->bss->site_states[site & (ENGINE_MAX_SITES - 1)], state,
			 __ATOMIC_SEQ_CST);
}

/* The programs find no site where SHOW is false, and do nothing. */
static void multi_show(const struct record_functions *f, bool show)
{
	uint32_t size = bpf_map__max_entries(f->skel->maps.multi_sites);

	for (uint32_t slot = 0; slot < size; slot++) {
		struct engine_multi entry = f->table[slot];

		if (!entry.addr)
			continue;
		if (!show)
			entry.addr = 0;
		table_publish(f, slot, &entry);
	}
}

/* Takes all links of kprobe.multi away, and makes new ones for the N that are to STAY, which it frees. */
static int multi_renew(struct record_functions *f, struct record_multi_site *stay, uint32_t n)
{
	int err = 0;

	for (uint32_t i = 0; i < n; i++)
		set_state(f, stay[i].site, ENGINE_SITE_DETACHED);
	for (uint32_t i = 0; i < f->n_attached; i++)
		if (f->attached[i].mech == PROFILE_MECH_MULTI) {
			detach_attached(f, &f->attached[i]);
			f->attached[i--] = f->attached[--f->n_attached];
		}
	f->items = NULL;
	f->n_items = f->cap_items = 0;
	multi_show(f, false);
	if (n)
		multi_attach_range(f, stay, n);
	multi_show(f, true);
	for (uint32_t i = 0; i < n; i++) {
		set_state(f, stay[i].site, ENGINE_SITE_ATTACHED);
		err = err ?: stay[i].err;
	}
	free(stay);
	return err;
}

/* A link of kprobe.multi is as it is: there must be new ones if any of SITES is in them. */
static int detach_multi(struct record_functions *f, const uint32_t *sites, uint32_t n)
{
	uint32_t n_stay = 0;

	for (uint32_t i = 0; i < f->n_items; i++)
		if (!is_among(f->items[i].site, sites, n))
			f->items[n_stay++] = f->items[i];
	return n_stay == f->n_items ? 0 : multi_renew(f, f->items, n_stay);
}

int record_functions_detach_sites(struct record_functions *f, const uint32_t *sites, uint32_t n,
				  uint64_t (*misses)(int prog_fd))
{
	for (uint32_t i = 0; i < n; i++)
		set_state(f, sites[i], ENGINE_SITE_DETACHED);
	detach_single(f, sites, n, misses);
	return detach_multi(f, sites, n);
}

void record_functions_halve(struct record_functions *f, uint32_t site)
{
	set_state(f, site, ENGINE_SITE_DETACHED);
	for (uint32_t i = 0; i < f->n_attached; i++)
		if (f->attached[i].site == site)
			detach_entry(f, &f->attached[i]);
}

void record_functions_halve_multi(struct record_functions *f)
{
	for (uint32_t i = 0; i < f->n_items; i++)
		set_state(f, f->items[i].site, ENGINE_SITE_DETACHED);
	for (uint32_t i = 0; i < f->n_attached; i++)
		if (f->attached[i].mech == PROFILE_MECH_MULTI)
			detach_entry(f, &f->attached[i]);
}

int record_functions_restore_multi(struct record_functions *f)
{
	return multi_renew(f, f->items, f->n_items);
}

void record_functions_detach_last(struct record_functions *f, enum profile_mechanism mech)
{
	record_closer_add(f->fds[--f->n_fds]);
	record_closer_add(f->fds[--f->n_fds]);
	f->n_attached--;
	if (mech == PROFILE_MECH_FENTRY)
		f->n_progs -= 2;
}

void record_functions_detach(struct record_functions *f)
{
	if (!f)
		return;
	while (f->n_pending)
		close(f->pending[--f->n_pending].link);
	for (uint32_t n = f->n_fds; f->n_fds; detach_pair(f))
		log_progress("detaching %u of %u probes", n - f->n_fds, n);
	f->n_progs = f->n_attached = f->n_items = 0;
	log_progress_end();
}

uint64_t record_functions_misses(const struct record_functions *f, uint64_t (*misses)(int prog_fd))
{
	uint64_t sum = f ? f->misses_gone : 0;

	for (uint32_t i = 0; f && i < f->n_progs; i++)
		sum += copy_misses(f->progs[i], misses);
	return sum;
}

uint64_t record_functions_probe_misses(const struct record_functions *f)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; f && i < f->n_fds; i++) {
		uint64_t one = record_link_misses(f->fds[i]);

		if (one == PROFILE_NOT_COUNTED)
			return one;
		sum += one;
	}
	return sum;
}
