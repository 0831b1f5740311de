// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/attach.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/plural.h"
#include "base/system/clock.h"
#include "base/system/interrupt.h"
#include "kprotperf/try.h"
#include "record/cost/calibrate.h"
#include "record/engine/engine.h"
#include "record/probe/choose.h"
#include "record/probe/links.h"
#include "record/probe/kprobe.h"
#include "record/probe/point.h"
#include "record/probe/probes.h"

struct attachment {
	struct record_probes *probes;
	struct record_plan *plan;
	struct record_calibration *calibration;
	struct profile *p;
	enum profile_mechanism how;
	struct record_empty empty; /* the empty functions that calibration times */
	bool recalibrate; /* calibrate again: a function gets a mechanism that was not planned */
};

/* Attach probes inside functions: probes at the entries and exits of inlined functions, and probes that count basic blocks. */

/* Called if the kernel refuses the probe P with the error ERR. */
typedef void (*refuse_fn)(struct attachment *a, const struct record_point *p, int err);

/* Stop timing each inlined function that needs the probe P, which the kernel refused. */
static void refuse_range(struct attachment *a, const struct record_point *p, int err)
{
	struct record_ranges *ranges = &a->plan->ranges;

	for (uint32_t k = 0; k < p->n_actions; k++) {
		uint32_t i = p->actions[k].site - ranges->first_site;
		const struct record_range *r = &ranges->items[i];

		record_range_give_up(ranges, i, "the kernel refuses the probe at +0x%lx: %s",
				     (unsigned long)(p->addr - r->in->base - r->into_addr),
				     log_strerror(err));
	}
}

/* Report that the kernel refused P, the probe of a block. This is no error: only the block's count stays unknown. */
static void refuse_block(struct attachment *a, const struct record_point *p, int err)
{
	uint64_t offset = 0;
	const struct kernel_sym *sym =
		kernel_kallsyms_covering(a->plan->symbols.ks, p->addr, &offset);

	log_verbose(1, "the kernel refuses the block probe at %s+0x%lx: %s", sym ? sym->name : "?",
		    (unsigned long)offset, log_strerror(err));
}

/* Place N probes, without programs yet. WHAT names their purpose. Call REFUSE for refused probes. Return -EINTR if interrupted. */
static int arm(struct attachment *a, struct record_point *items, uint32_t n, const char *what,
	       refuse_fn refuse)
{
	for (uint32_t i = 0; i < n; i++) {
		int err;

		log_progress("placing probes of %s: %u of %u", what, i + 1, n);
		if (interrupt_signal())
			return -EINTR;
		err = record_point_arm(a->probes, &items[i]);
		if (err)
			refuse(a, &items[i], err);
	}
	log_progress_end();
	return 0;
}

/* Wait for the kernel's optimizer. Then find for each of N probes whether the kernel uses a jump or a breakpoint. */
static void settle(const struct attachment *a, struct record_point *items, uint32_t n,
		   const char *what)
{
	uint64_t start = clock_ns();
	uint32_t left = record_points_settle(a->probes, items, n), jumps = 0;

	if (left)
		log_verbose(1,
			    "%u probes of %s remain breakpoints although the kernel's optimizer "
			    "could replace them",
			    left, what);
	for (uint32_t i = 0; i < n; i++)
		jumps += items[i].kind == ENGINE_RANGE_OPTIMIZED;
	log_verbose(1,
		    "%u probes of %s: %u use a jump, %u a breakpoint; this took %.1f ms to settle",
		    n, what, jumps, n - jumps, (clock_ns() - start) / 1e6);
}

static void say_point(const struct record_ranges *ranges, const struct record_point *p)
{
	static const char *const ops[] = { [ENGINE_RANGE_ENTER] = "enters",
					   [ENGINE_RANGE_LEAVE] = "leaves",
					   [ENGINE_RANGE_COUNT] = "counts" };
	static const char *const kinds[] = { [ENGINE_RANGE_OPTIMIZED] = "jump",
					     [ENGINE_RANGE_STEPPED] = "breakpoint",
					     [ENGINE_RANGE_EMULATED] = "breakpoint, emulated",
					     [ENGINE_RANGE_CALL_EMULATED] = "breakpoint, emulated",
					     [ENGINE_RANGE_JUMP_EMULATED] = "breakpoint, emulated",
					     [ENGINE_RANGE_PREPARED] =
						     "breakpoint, prepared for a jump" };

	vec_each(const struct record_action, a, p, actions) {
		const struct record_range *r = &ranges->items[a->site - ranges->first_site];

		log_verbose(2, "%s+0x%lx %s '%s'%s%s (%s)", r->into,
			    (unsigned long)(p->addr - r->in->base - r->into_addr), ops[a->op],
			    r->name, a->flags & ENGINE_RANGE_CALL ? ", a call" : "",
			    a->flags & ENGINE_RANGE_STRICT ? ", always" : "", kinds[p->kind]);
	}
}

static void attach_ranges(struct attachment *a)
{
	struct record_ranges *ranges = &a->plan->ranges;

	settle(a, ranges->points, ranges->n_points, "ranges");
	for (uint32_t i = 0; i < ranges->n_points; i++) {
		int err = record_point_link(a->probes, &ranges->points[i]);

		if (err)
			refuse_range(a, &ranges->points[i], err);
	}
	record_ranges_prune(ranges, record_point_disarm);
	for (uint32_t i = 0; i < ranges->n_items; i++) {
		struct profile_site *site = &a->p->sites[ranges->first_site + i];

		if (!ranges->items[i].why_not)
			continue;
		site->mech = PROFILE_UNTIMED;
		site->estimated = profile_intern(a->p, ranges->items[i].why_not);
	}
	for (uint32_t i = 0; i < ranges->n_points; i++)
		say_point(ranges, &ranges->points[i]);
}

/* Link block probe I to its BPF program. First tell the engine the probe's cost and the function F, which contains the block. */
static int link_block(struct record_blocks *blocks, struct record_probes *probes,
		      const struct record_block_function *f, uint32_t i,
		      const struct record_range_costs *costs)
{
	struct record_point *p = &blocks->points[i];
	double cost = record_range_cost_block(costs, p->kind);
	struct engine_block block = {
		.key = ENGINE_KEY(f->site, 0),
		.cost = (uint32_t)cost,
		.fraction = (uint32_t)((cost - (uint32_t)cost) * (1 << ENGINE_BLOCK_FRACTION)),
		.per_frame = costs->kinds[ENGINE_RANGE_OPTIMIZED].per_frame,
	};

	blocks->hit_costs[i] = cost;
	if (p->event < 0)
		return -ENOENT;
	return record_engine_set_block(record_probes_engine(probes), i, &block) ?:
		       record_point_link(probes, p);
}

/* Attach the block probes. If a probe cannot be linked to its program, remove that probe. */
static void attach_blocks(struct attachment *a)
{
	struct record_blocks *blocks = &a->plan->blocks;
	uint32_t refused = 0;

	free(blocks->hit_costs);
	blocks->hit_costs = alloc_array(blocks->n_points, sizeof(*blocks->hit_costs));
	settle(a, blocks->points, blocks->n_points, "blocks");
	vec_each(const struct record_block_function, f, blocks, items) {
		for (uint32_t k = f->first_point; k < f->first_point + f->plan.n_probes; k++) {
			if (!link_block(blocks, a->probes, f, k, &a->calibration->ranges))
				continue;
			record_point_disarm(&blocks->points[k]);
			refused++;
		}
	}
	if (refused)
		log_note("the kernel refuses %u of %u block %s: some counts are unknown (-v "
			 "lists them)",
			 refused, blocks->n_points, plural(blocks->n_points, "probe", "probes"));
}

/*
 * Attach the probes of ranges and blocks. Put all probes into the kernel before the first probe gets its program: a probe's cost
 * depends on the probes beside it, and on those before it in the kernel's lists. A refused probe is no error: its inlined function
 * is not timed, or its block not counted. Return -EINTR, not reported, if the user has interrupted.
 */
static int attach_inside(struct attachment *a)
{
	int err = arm(a, a->plan->ranges.points, a->plan->ranges.n_points, "ranges", refuse_range);

	if (!err)
		record_ranges_prune(&a->plan->ranges, record_point_disarm);
	err = err   ?:
		      arm(a, a->plan->blocks.points, a->plan->blocks.n_points, "blocks",
			  refuse_block);
	if (err)
		return err;
	if (a->plan->ranges.n_points)
		attach_ranges(a);
	if (a->plan->blocks.n_points)
		attach_blocks(a);
	return 0;
}

static void detach(struct record_point *items, uint32_t n, const char *what)
{
	for (uint32_t i = 0; i < n; i++) {
		log_progress("detaching probes of %s: %u of %u", what, i + 1, n);
		record_point_disarm(&items[i]);
	}
}

void record_detach_inside(struct record_ranges *ranges, struct record_blocks *blocks)
{
	detach(ranges->points, ranges->n_points, "ranges");
	detach(blocks->points, blocks->n_points, "blocks");
	record_detach_wait();
	log_progress_end();
}

static void set_mechanism(struct attachment *a, uint32_t i, enum profile_mechanism mech)
{
	a->plan->sites.items[i].mech = mech;
	a->p->sites[i + 1].mech = mech;
}

/* Mark function I as untimed, since the kernel refused its probe with ERR. This is an error if the user named the function. */
static int note_refused(struct attachment *a, uint32_t i, int err)
{
	const struct record_site *rs = &a->plan->sites.items[i];

	set_mechanism(a, i, PROFILE_UNTIMED);
	if (err == -EINTR)
		return err;
	if (rs->named) {
		log_error("cannot probe '%s': %s", rs->sym->name, log_strerror(err));
		return err;
	}
	log_verbose(1, "skipped %s: the kernel refuses the probe: %s", rs->sym->name,
		    log_strerror(err));
	a->plan->sites.skipped[RECORD_SKIP_MECHANISM]++;
	return 0;
}

/* Choose the next mechanism for function I, since the kernel refused the present one with ERR. */
static int fall_back(struct attachment *a, uint32_t i, int err)
{
	enum profile_mechanism refused = a->plan->sites.items[i].mech, next;

	next = record_choose_after(&a->plan->features, refused);
	if (err == -EINTR || a->how != PROFILE_UNTIMED || next == PROFILE_UNTIMED)
		return note_refused(a, i, err);
	log_verbose(1, "%s: %s: %s", a->plan->sites.items[i].name, profile_mechanism_name(refused),
		    log_strerror(err));
	a->recalibrate |=
		!profile_mechanism(next)->costs_by_number && !a->calibration->cost[next].known;
	set_mechanism(a, i, next);
	return 0;
}

/* Return the function called NAME; all members are 0 if no function, or several functions, have this name. */
static struct record_target find_target(const struct attachment *a, const char *name)
{
	struct record_target target = {};
	const struct kernel_sym *const *named;
	size_t n;

	named = kernel_kallsyms_named(a->plan->symbols.ks, name, &n);
	if (n != 1)
		return target;
	target.addr = named[0]->addr;
	target.btf_id =
		a->plan->symbols.btf ? kernel_btf_function(a->plan->symbols.btf, name) : -ENOENT;
	if (target.btf_id > 0)
		target.n_args = kernel_btf_function_registers(a->plan->symbols.btf, target.btf_id);
	return target;
}

/* Return the address of the function NAME; 0: there is no such function, or the recording times it. */
static uint64_t spare_function(const struct attachment *a, const char *name)
{
	uint64_t addr = find_target(a, name).addr;

	for (uint32_t i = 0; i < a->plan->sites.n_items; i++)
		if (a->plan->sites.items[i].sym->addr == addr)
			return 0;
	return addr;
}

/* Find the kernel's empty functions, which calibration calls. */
static void find_empty(struct attachment *a)
{
	if (record_symbols_load_functions(&a->plan->symbols))
		return;
	for (int i = 0; i < RECORD_N_TESTS; i++) {
		char name[] = TRY_FUNCTION; /* bpf_fentry_test1 */

		name[sizeof(name) - 2] += i;
		a->empty.tests[i] = find_target(a, name);
	}
	a->empty.outer = find_target(a, RECORD_EMPTY_OUTER);
}

/* Probes that the kernel does not run would count 0 calls. So fail if a function needs such probes, and omit page faults. */
static int check_silent(const struct attachment *a)
{
	struct record_engine *e = record_probes_engine(a->probes);

	for (enum profile_mechanism mech = 0; mech < PROFILE_N_MECHANISMS; mech++) {
		if (!a->calibration->is_silent[mech])
			continue;
		if (record_has_functions(a->p, mech)) {
			log_error("%s probes can be attached, but the kernel does not run them "
				  "(kprotperf doctor shows what is switched off)",
				  profile_mechanism_name(mech));
			return -ESHUTDOWN;
		}
		if (record_engine_fault_mechanism(e) == mech)
			record_engine_omit_faults(e);
	}
	return 0;
}

static int calibrate(struct attachment *a)
{
	record_calibrate(a->probes, a->p, &a->empty, a->calibration);
	return check_silent(a);
}

/* Return the functions of MECH that are not attached yet, in an array that has room for RECORD_MULTI_MORE more. */
static struct record_target *find_targets(const struct attachment *a, enum profile_mechanism mech,
					  uint32_t *n)
{
	struct record_target *targets =
		alloc_array(a->plan->sites.n_items + RECORD_MULTI_MORE, sizeof(*targets));

	*n = 0;
	for (uint32_t i = 0; i < a->plan->sites.n_items; i++)
		if (a->plan->sites.items[i].mech == mech && !a->plan->sites.items[i].attached)
			targets[(*n)++] = a->plan->sites.items[i].target;
	return targets;
}

/* Attach all functions of MECH. A function that the kernel refuses may get another mechanism. */
static int attach_by(struct attachment *a, enum profile_mechanism mech)
{
	uint32_t n;
	scoped_free struct record_target *targets = find_targets(a, mech, &n);
	int err = 0;

	if (n && profile_mechanism(mech)->costs_by_number) {
		log_progress("attaching %u %s at once", n, plural(n, "function", "functions"));
		record_calibrate_multi(a->probes, a->p, &a->empty, targets, n, a->calibration);
	} else if (n) {
		record_mechanism(mech)->attach(a->probes, targets, n);
	}
	for (uint32_t i = 0; i < n && err != -EINTR; i++) {
		uint32_t site = targets[i].site - 1;

		a->plan->sites.items[site].target = targets[i];
		a->plan->sites.items[site].attached = !targets[i].err;
		err = (targets[i].err ? fall_back(a, site, targets[i].err) : 0) ?: err;
	}
	return err;
}

/* Calibrate kprobes on functions without an ftrace location. Then wait until the kernel's optimizer has handled LAST, too. */
static void calibrate_kprobes(struct attachment *a, const struct record_site *last)
{
	uint64_t addrs[RECORD_N_UNTRACED];

	for (size_t i = 0; i < ARRAY_SIZE(addrs); i++)
		addrs[i] = spare_function(a, record_untraced[i].function);
	if (!record_calibrate_kprobes(a->probes, a->p, addrs, a->calibration))
		record_optimizer_await(record_probes_engine(a->probes), last->sym->addr);
}

static void say_unknown(const struct attachment *a)
{
	for (size_t i = 0; i < RECORD_N_UNTRACED; i++) {
		enum profile_mechanism mech = record_untraced[i].mech;

		if (record_has_functions(a->p, mech) && !a->calibration->cost[mech].known)
			log_note("the cost of %s probes is unknown and not subtracted: cannot "
				 "probe %s, which is needed for calibration",
				 profile_mechanism_name(mech), record_untraced[i].function);
	}
}

static bool is_on_ftrace(const struct attachment *a, const struct record_site *rs)
{
	return kernel_tracing_is_ftrace(a->plan->symbols.tracing, rs->sym) == KERNEL_YES;
}

/* Attach the remaining probes of function I. These depend on how the kernel reaches the function's first probe. */
static int complete(struct attachment *a, uint32_t i)
{
	struct record_site *rs = &a->plan->sites.items[i];
	enum profile_mechanism reached = PROFILE_UNTIMED;
	bool is_known;
	int err;

	if (!is_on_ftrace(a, rs))
		reached = record_optimizer_look(record_probes_engine(a->probes), rs->target.addr);
	is_known = reached != PROFILE_UNTIMED;
	reached = is_known ? reached : rs->mech;
	err = record_mechanism(rs->mech)->complete(a->probes, &rs->target, reached);
	if (err)
		return note_refused(a, i, err);
	/* If it is unknown how the kernel reaches the probe, assume an ftrace location. */
	if (!is_known && kernel_tracing_is_ftrace(a->plan->symbols.tracing, rs->sym) == KERNEL_NO)
		log_warn("'%s' has no ftrace location: the probe cost subtracted from it is an "
			 "estimate",
			 rs->name);
	set_mechanism(a, i, reached);
	return 0;
}

static bool is_to_complete(const struct record_site *rs)
{
	const struct record_mechanism *m = record_mechanism(rs->mech);

	return rs->attached && m && m->complete;
}

/* Attach the remaining probes of functions with an ftrace location (FTRACE) or without one (!FTRACE). */
static int complete_all(struct attachment *a, bool ftrace)
{
	uint32_t n = a->plan->sites.n_items;
	int err = 0;

	for (uint32_t i = 0; i < n && !err; i++) {
		const struct record_site *rs = &a->plan->sites.items[i];

		if (!is_to_complete(rs) || is_on_ftrace(a, rs) != ftrace)
			continue;
		log_progress("attaching to returns by kprobe: %u of %u", i + 1, n);
		err = interrupt_signal() ? -EINTR : complete(a, i);
	}
	return err;
}

/*
 * Attach the return probes of kprobes. In functions without an ftrace location these depend on whether the kernel's optimizer has
 * replaced the entry probe by a jump. So wait for the optimizer, which must not write jumps during the workload, either.
 */
static int settle_kprobes(struct attachment *a)
{
	const struct record_site *last = NULL;
	int err = complete_all(a, true);

	for (uint32_t i = 0; i < a->plan->sites.n_items; i++)
		if (is_to_complete(&a->plan->sites.items[i]) &&
		    !is_on_ftrace(a, &a->plan->sites.items[i]))
			last = &a->plan->sites.items[i];
	if (err || !last)
		return err;
	calibrate_kprobes(a, last);
	err = complete_all(a, false);
	say_unknown(a);
	return err;
}

/* Attach functions by mechanisms with a fixed cost or, if BY_NUMBER, with a cost that depends on the number of functions. */
static int attach_by_all(struct attachment *a, bool by_number)
{
	int err = 0;

	for (enum profile_mechanism mech = PROFILE_UNTIMED + 1; mech < PROFILE_N_MECHANISMS && !err;
	     mech++)
		if (profile_mechanism(mech)->costs_by_number == by_number)
			err = attach_by(a, mech);
	return err;
}

static int attach_all(struct attachment *a)
{
	uint64_t start = clock_ns();
	int err = 0;

	for (uint32_t i = 0; i < a->plan->sites.n_items; i++)
		a->plan->sites.items[i].target.site = i + 1;
	err = attach_by_all(a, false);
	err = err ?: attach_by_all(a, true);
	/* Some mechanisms were refused above. Attach the affected functions by their next mechanism. */
	err = err ?: attach_by_all(a, false);
	err = err ?: settle_kprobes(a);
	log_progress_end();
	if (a->plan->sites.n_items)
		log_verbose(1, "attaching took %.1f ms", (clock_ns() - start) / 1e6);
	return err;
}

/* Tell the user which modules cannot be unloaded because of this recording's probes. */
static void say_kept_modules(const struct attachment *a)
{
	const char *last = NULL;

	vec_each(const struct record_site, rs, &a->plan->sites, items) {
		const char *module = rs->sym->module;
		scoped_free char *path =
			module ? alloc_printf("/sys/module/%s/refcnt", module) : NULL;
		char users[16];

		if (!path || module == last || !profile_mechanism(rs->mech)->holds_module ||
		    !file_read_line(path, users, sizeof(users)) || !strcmp(users, "0"))
			continue;
		log_note("module %s cannot be unloaded while it is recorded: %s holds it "
			 "(--attach=kprobe does not)",
			 module, profile_mechanism_name(rs->mech));
		last = module;
	}
}

/* Return the number of kprobes that this recording will add to the kernel's hash table. */
static uint32_t count_kprobes(const struct attachment *a)
{
	uint32_t n = a->plan->ranges.n_points + a->plan->blocks.n_points;

	vec_each(const struct record_site, rs, &a->plan->sites, items)
		n += profile_mechanism(rs->mech)->is_kprobe;
	return n;
}

int record_attach(struct record_probes *probes, struct record_plan *plan,
		  struct record_calibration *calibration, struct profile *p,
		  enum profile_mechanism how)
{
	struct attachment a = { probes, plan, calibration, p, how };
	int err;

	find_empty(&a);
	err = calibrate(&a);
	if (err)
		return err;
	if (a.plan->ranges.n_points || a.plan->blocks.n_points) {
		record_detach_wait();
		record_calibrate_ranges(a.probes, a.p, &a.empty, a.plan->blocks.n_points,
					a.calibration);
	}
	if (a.p->clock == PROFILE_CLOCK_INSN)
		record_calibration_add_kprobes(a.probes, count_kprobes(&a), a.calibration);
	err = attach_all(&a);
	err = err ?: attach_inside(&a);
	if (!err && a.recalibrate)
		err = calibrate(&a);
	err = err ?: check_silent(&a);
	record_detach_wait();
	if (!err)
		say_kept_modules(&a);
	return err;
}
