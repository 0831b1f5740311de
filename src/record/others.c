// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/others.h"

#include <errno.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/plural.h"
#include "kernel/code/code.h"
#include "record/engine/engine.h"
#include "record/engine/features.h"

#define FAULT_FUNCTION "handle_mm_fault"

/* Probes that were missing during a part of a run, and the reason for this. */
struct finding {
	struct record_others *o;
	bool kprobes_off, unloads;
	uint32_t n; /* number of missing probes */
	const char *first; /* name of the first missing probe's function */
};

static bool is_loaded(const char *module)
{
	scoped_free char *path = alloc_printf("/sys/module/%s", module);

	return !access(path, F_OK);
}

/* Return whether the code TEXT leads to a probe. ORIGINAL is the code without the probe. */
static bool is_probed(uint32_t text, uint32_t original)
{
	return arch_patch_of(text) != ARCH_PATCH_NONE && (text & 0xff) != (original & 0xff);
}

/* Return whether the probe at ADDR was missing for a time. It counts as present if this run has unloaded its MODULE. */
static bool is_lost(struct finding *f, uint64_t addr, uint32_t original, const char *module)
{
	const struct record_watch *w = &f->o->watch;

	if (!is_probed(record_engine_text(f->o->e, addr), original)) {
		bool gone = module && !is_loaded(module);

		f->unloads |= gone;
		return !gone || f->o->unloaded;
	}
	for (uint32_t i = record_watch_from(w, addr);
	     i < w->n_changes && w->changes[i].addr == addr; i++)
		if (!is_probed(w->changes[i].text, original))
			return true;
	return false;
}

static void note(struct finding *f, const char *name)
{
	if (!f->n++)
		f->first = name;
}

/* Return the address of the probe on the function at ADDR. */
static uint64_t entry_of(const struct record_engine *e, uint64_t addr)
{
	return addr + arch_entry_mark_len(record_engine_text(e, addr));
}

static void check_functions(struct finding *f, bool mark)
{
	for (uint32_t i = 0; i < f->o->plan->sites.n_items; i++) {
		const struct record_site *rs = &f->o->plan->sites.items[i];
		struct profile_site *site = &f->o->p->sites[i + 1];

		if (!rs->attached || site->mech == PROFILE_UNTIMED)
			continue;
		if (!(f->kprobes_off && profile_mechanism(site->mech)->is_kprobe) &&
		    !is_lost(f, entry_of(f->o->e, rs->sym->addr), 0, rs->sym->module))
			continue;
		note(f, site->name);
		if (mark)
			site->mech = PROFILE_UNTIMED;
	}
}

static void check_ranges(struct finding *f, bool mark)
{
	const struct record_ranges *ranges = &f->o->plan->ranges;

	vec_each(const struct record_point, p, ranges, points) {
		const struct record_range *in =
			&ranges->items[p->actions[0].site - ranges->first_site];

		if (p->link < 0 || !is_lost(f, p->addr, p->text, in->in->module))
			continue;
		note(f, in->name);
		for (uint32_t k = 0; mark && k < p->n_actions; k++) {
			struct profile_site *site = &f->o->p->sites[p->actions[k].site];

			site->mech = PROFILE_UNTIMED;
			site->estimated = profile_intern(
				f->o->p, "its probes were removed or switched off in the run");
		}
	}
}

static void check_blocks(struct finding *f, bool mark)
{
	struct record_blocks *blocks = &f->o->plan->blocks;

	vec_each(const struct record_block_function, in, blocks, items)
		for (uint32_t k = 0; k < in->plan.n_probes; k++) {
			struct record_point *p = &blocks->points[in->first_point + k];

			if (p->link < 0 || p->lost || !is_lost(f, p->addr, p->text, in->in->module))
				continue;
			note(f, in->sym->name);
			p->lost = mark;
		}
}

static void check_faults(struct finding *f, bool mark)
{
	enum profile_mechanism mech = record_engine_fault_mechanism(f->o->e);
	const struct kernel_sym *const *named;
	size_t n;

	named = kernel_kallsyms_named(f->o->plan->symbols.ks, FAULT_FUNCTION, &n);
	if (mech == PROFILE_UNTIMED || n != 1 ||
	    (!(f->kprobes_off && profile_mechanism(mech)->is_kprobe) &&
	     !is_lost(f, entry_of(f->o->e, named[0]->addr), 0, NULL)))
		return;
	note(f, profile_context_name(PROFILE_CONTEXT_PAGE_FAULT));
	if (mark)
		record_engine_omit_faults(f->o->e);
}

static struct finding find_lost(struct record_others *o, bool mark)
{
	struct finding f = { .o = o, .kprobes_off = record_kprobes_are_off() };

	check_functions(&f, mark);
	check_ranges(&f, mark);
	check_blocks(&f, mark);
	check_faults(&f, mark);
	o->unloaded |= f.unloads;
	return f;
}

/* Return whether ADDR is in a probed function of a module. When a module is loaded again, the kernel writes our probes again. */
static bool is_own(uint64_t addr, const void *arg)
{
	const struct record_others *o = arg;

	vec_each(const struct record_site, rs, &o->plan->sites, items)
		if (rs->sym->module && addr - rs->sym->addr <= ARCH_MAX_FTRACE_OFFSET)
			return true;
	return false;
}

static void look(struct record_others *o, const char *static_keys)
{
	record_tracers_read(&o->tracers, kernel_tracefs_find(), RECORD_KPROBES_LIST, static_keys);
}

void record_others_before(struct record_others *o, struct record_plan *plan, struct profile *p)
{
	o->plan = plan;
	o->p = p;
	look(o, profile_env_get(p, PROFILE_ENV_STATIC_KEYS));
}

void record_others_watch(struct record_others *o, struct record_engine *e, bool detaches)
{
	o->e = e;
	o->detaches = detaches;
	record_watch_open(&o->watch);
}

int record_others_end(struct record_others *o, uint32_t run)
{
	bool is_first = !o->n_runs++;
	struct finding f;

	record_watch_read(&o->watch);
	if (o->detaches)
		o->watch.n_changes = 0;
	f = find_lost(o, is_first);
	o->p->runs[run].losses[PROFILE_LOSS_PROBES] = f.n;
	if (!f.n) {
		record_tracers_watch(&o->tracers, &o->watch, o->plan->symbols.ks, is_own, o);
		return 0;
	}
	log_warn("%u %s (of %s%s removed or switched off while the command ran%s: %s", f.n,
		 plural(f.n, "probe", "probes"), f.first, plural(f.n, ") was", ", ...) were"),
		 record_ftrace_is_off() ? " (kernel.ftrace_enabled is 0)" :
		 f.kprobes_off          ? " (kprobes are off in debugfs)" :
					  "",
		 !is_first ? "this run is not kept, and no other follows" :
			     plural(f.n, "what it measures is not counted",
				    "what they measure is not counted"));
	return is_first ? 0 : -ESHUTDOWN;
}

void record_others_after(struct record_others *o)
{
	struct record_symbols *symbols = &o->plan->symbols;
	scoped_free char *keys = kernel_static_keys_on(record_symbols_live(symbols), symbols->ks);

	look(o, keys);
	record_tracers_store(&o->tracers, o->p);
}

void record_others_deinit(struct record_others *o)
{
	record_watch_close(&o->watch);
	record_tracers_deinit(&o->tracers);
}
