// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/cost/calibrate.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/system/clock.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/sorted.h"
#include "kprotperf/engine.h"
#include "kprotperf.skel.h"
#include "record/cost/calibrate_impl.h"
#include "record/engine/kprobe_event.h"
#include "record/engine/saved_programs.h"
#include "record/probe/links.h"

#define SAMPLER_PERIODS 20

const uint64_t record_empty_insns[RECORD_N_TESTS] = { 3, 3, 5, 6, 7, 8 };

#define INTERRUPTS_NS 20000000

/*
 * The index of each mechanism's test function. Mechanisms do not share a test function, since two probes on one function would
 * change each other's cost. Probes stay attached, since detaching waits for the whole machine.
 */
enum {
	TEST_FENTRY = 0,
	TEST_KPROBE = 1,
	TEST_TRAMPOLINE = 2,
	TEST_CAPTURE = 3,
	TEST_CAPTURE_KPROBE = 4,
};

/*
 * Number of kprobes that are attached to time the return trampoline. The first two are on the entry, because the kernel handles a
 * single kprobe at an address differently from several.
 */
#define N_ON_ENTRY 2
#define N_TIMED    4

int record_calibrate_runner(struct record_engine *e, const struct record_empty *empty)
{
	const struct record_saved_programs *saved_programs = record_engine_saved_programs(e);
	const struct record_saved_program *saved =
		record_saved_find(saved_programs, record_engine_programs(e)->progs.call_empty);
	int btf_id = empty->tests[TEST_FENTRY].btf_id;

	if (!saved || btf_id <= 0)
		return -ENOENT;
	return record_saved_load(saved_programs, saved, BPF_TRACE_FENTRY, btf_id, 0);
}

int record_calibrator_measure(struct calibrator *c, const struct record_call *call, uint32_t site,
			      struct record_series *outer, struct record_series *inner)
{
	struct record_reading readings[] = {
		{ ENGINE_SITE_CONTEXT, call->ctx, RECORD_SUM_ONCPU },
		{ site, call->ctx, RECORD_SUM_ONCPU },
	};
	uint64_t before = site ? record_engine_sum(c->e, site, call->ctx, RECORD_SUM_CALLS) : 0;
	int err = record_measure_repeated(c->e, c->p->clock == PROFILE_CLOCK_NS, call, readings,
					  site ? 2 : 1);

	if (!err && site && record_engine_sum(c->e, site, call->ctx, RECORD_SUM_CALLS) == before)
		err = -ESHUTDOWN;

	*outer = readings[0].series;
	if (site)
		*inner = readings[1].series;
	return err;
}

void record_calibrator_detach_spares(struct calibrator *c)
{
	for (; c->n_left; c->n_left--)
		record_probes_detach_last(c->probes);
}

bool record_has_functions(const struct profile *p, enum profile_mechanism mech)
{
	for (uint32_t i = 1; i < p->n_sites; i++)
		if (p->sites[i].mech == mech)
			return true;
	return false;
}

static bool is_used(const struct calibrator *c, enum profile_mechanism mech)
{
	return record_engine_fault_mechanism(c->e) == mech || record_has_functions(c->p, mech);
}

/* Return whether calibrate_nested() must measure NESTED. If not, the calibration of kprobe.multi measures NESTED, less exactly. */
static bool needs_nested(const struct calibrator *c)
{
	return record_has_functions(c->p, PROFILE_MECH_FENTRY) ||
	       (record_has_functions(c->p, PROFILE_MECH_KPROBE) &&
		!record_has_functions(c->p, PROFILE_MECH_MULTI));
}

int record_calibrator_attach(struct calibrator *c, uint32_t spare, enum profile_mechanism mech,
			     const struct record_target *target)
{
	int err = target->addr ? record_probes_attach(c->probes, mech,
						      record_engine_spare(c->e, spare), target) :
				 -ENOENT;

	if (!err)
		c->n_left++;
	return err;
}

int record_calibrator_solve(struct calibrator *c, const struct record_call *call, uint32_t spare,
			    struct record_series *base, uint64_t insns, struct engine_cost *cost)
{
	struct record_series with, inner;
	int err =
		record_calibrator_measure(c, call, record_engine_spare(c->e, spare), &with, &inner);

	if (err)
		return err;
	record_cost_solve(cost, base, &with, &inner, empty_ticks(c, insns));
	*base = with;
	return 0;
}

void record_calibrator_finish(const struct calibrator *c, enum profile_mechanism mech)
{
	struct engine_cost *cost = &c->out->cost[mech];

	if (mech != PROFILE_MECH_FENTRY) {
		cost->trampoline = c->out->returns.trampoline;
		cost->after_handlers = c->out->returns.after_handlers;
	}
	record_cost_add_interrupts(cost, c->out->interrupts);
}

/* Measure the cost of probing TARGET, a function of INSNS instructions. The probes stay attached. */
static int calibrate_one(struct calibrator *c, uint32_t spare, enum profile_mechanism mech,
			 const struct record_target *target, uint64_t insns,
			 struct engine_cost *cost)
{
	return record_calibrator_attach(c, spare, mech, target) ?:
		       record_calibrator_solve(c, &c->empty_call, spare, &c->base, insns, cost);
}

/*
 * Measure the extra cost of closing a call that enclosed timed calls. A probe inside fentry's test function acts like a timed
 * callee of one tick. A real callee would need two trampolines, which cost the kernel 40 million instructions.
 */
static int calibrate_enclosing(struct calibrator *c, struct engine_cost *cost)
{
	struct kprotperf_bpf *skel = record_engine_programs(c->e);
	uint64_t addr = c->empty->tests[TEST_FENTRY].addr, times[2];
	int prog = record_saved_fd(record_engine_saved_programs(c->e), skel->progs.enclose), link,
	    err = 0;

	addr += arch_entry_mark_len(record_engine_text(c->e, addr)) + ARCH_JUMP_LEN;
	link = record_kprobe_attach(prog, addr, false, 0);
	if (link < 0)
		return link;
	for (int i = 0; i < 2 && !err; i++) {
		struct record_series s;

		skel->bss->enclosed = i;
		err = record_calibrator_measure(c, &c->empty_call, 0, &s, NULL);
		times[i] = record_series_median(&s);
	}
	skel->bss->enclosed = 0;
	close(link);
	if (!err)
		cost->nested = record_cost_less(times[1], times[0]);
	return err;
}

/*
 * Set NESTED of COST. NESTED is time of the BPF programs, which is equal for all mechanisms. If calibrate_enclosing() fails, or if
 * only kprobes are used, probe the outer function, whose call encloses the calls of the empty functions.
 */
static void calibrate_nested(struct calibrator *c, enum profile_mechanism mech,
			     struct engine_cost *cost)
{
	const struct engine_cost *fentry = &c->out->cost[PROFILE_MECH_FENTRY];
	struct engine_cost outer = {};
	int err;

	if (mech != PROFILE_MECH_FENTRY && fentry->known)
		cost->nested = fentry->nested;
	else if (!needs_nested(c) || (mech == PROFILE_MECH_FENTRY && !calibrate_enclosing(c, cost)))
		return;
	else if ((err = calibrate_one(c, SPARE_OUTER, mech, &c->empty->outer, 0, &outer)))
		log_verbose(1, "the extra cost of nested calls is unknown: %s", log_strerror(err));
	else
		record_cost_solve_nested(cost, &outer, c->empty->outer.n_args);
}

static int calibrate_by_test(struct calibrator *c, enum profile_mechanism mech, uint32_t spare,
			     uint32_t test)
{
	const struct record_target *tests = c->empty->tests;
	struct engine_cost *cost = &c->out->cost[mech];
	struct record_series counted[ENGINE_COUNTERS];
	uint64_t insns = record_empty_insns[test];
	int err;

	err = record_calibrate_counters_before(c, &c->empty_call, counted)     ?:
		      calibrate_one(c, spare, mech, &tests[test], insns, cost) ?:
		      record_calibrate_counters(c, &c->empty_call, record_engine_spare(c->e, spare),
						mech, insns, counted);
	if (err)
		return err;
	/* Set the cost of copying arguments. A real clock is too coarse to measure this cost. */
	if (mech == PROFILE_MECH_FENTRY && c->p->clock == PROFILE_CLOCK_INSN) {
		cost->full_args = ENGINE_COST_ARGS * ARCH_TRAMPOLINE_ARG_INSNS;
		/* The trampoline saves arguments before a call's first clock reading, and restores them before the second. */
		cost->inner_args = cost->full_args / 2;
	}
	calibrate_nested(c, mech, cost);
	record_calibrator_finish(c, mech);
	return 0;
}

void record_calibrator_set_costs(struct record_engine *e, const struct engine_cost *costs)
{
	struct engine_cost all[PROFILE_N_COSTS];
	uint64_t nested = costs[PROFILE_MECH_KPROBE].nested ?: costs[PROFILE_MECH_FENTRY].nested;

	memcpy(all, costs, sizeof(all));
	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		all[mech].nested = all[mech].nested ?: nested;
	record_engine_set_costs(e, all);
}

/* Set costs of one tick per call: programs then take the longer path for enclosing calls, as in the recording. */
static void use_provisional_costs(struct calibrator *c)
{
	struct engine_cost costs[PROFILE_N_COSTS];

	memcpy(costs, c->out->cost, sizeof(costs));
	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		if (!costs[mech].known)
			costs[mech] = (struct engine_cost){ .full = 1 };
	record_calibrator_set_costs(c->e, costs);
}

void record_calibrator_note_unknown(const struct calibrator *c, enum profile_mechanism mech,
				    int err)
{
	c->out->is_silent[mech] = err == -ESHUTDOWN;
	if (err == -ESHUTDOWN)
		return;
	log_note("the cost of %s probes is unknown and not subtracted: %s",
		 profile_mechanism_name(mech),
		 c->run == -ENOENT ? "this kernel has no bpf_fentry_test1" : log_strerror(err));
}

static void calibrate_functions(struct calibrator *c)
{
	const struct {
		enum profile_mechanism mech;
		uint32_t spare, test;
	} by_test[] = {
		{ PROFILE_MECH_FENTRY, SPARE_FENTRY, TEST_FENTRY },
		{ PROFILE_MECH_KPROBE, SPARE_KPROBE, TEST_KPROBE },
	};
	int err = c->run < 0 ? c->run :
			       record_calibrator_measure(c, &c->empty_call, 0, &c->base, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(by_test); i++) {
		enum profile_mechanism mech = by_test[i].mech;

		if (c->out->cost[mech].known || !is_used(c, mech))
			continue;
		err = err ?: calibrate_by_test(c, mech, by_test[i].spare, by_test[i].test);
		if (err)
			record_calibrator_note_unknown(c, mech, err);
	}
}

static void calibrate_captures(struct calibrator *c)
{
	const struct record_calibration *out = c->out;
	const struct {
		enum profile_mechanism mech, capture;
		uint32_t test;
		bool wanted;
	} by[] = {
		{ PROFILE_MECH_FENTRY, PROFILE_COSTS_CAPTURE, TEST_CAPTURE, out->captures },
		{ PROFILE_MECH_KPROBE, PROFILE_COSTS_CAPTURE_KPROBE, TEST_CAPTURE_KPROBE,
		  out->saves },
	};

	for (size_t i = 0; i < ARRAY_SIZE(by); i++) {
		int err = 0;

		if (by[i].wanted && out->cost[by[i].mech].known && !out->cost[by[i].capture].known)
			err = record_calibrate_capture(c, by[i].mech, &c->empty->tests[by[i].test]);
		if (err)
			log_note("the cost of capturing values is not known exactly: %s",
				 log_strerror(err));
	}
}

/* Time the function at ADDR N_TIMED times. Attach one more probe to the function each time. */
static int time_probes(struct calibrator *c, uint64_t addr, struct record_timed *timed)
{
	const struct kprotperf_bpf *skel = record_engine_programs(c->e);
	int prog = bpf_program__fd(skel->progs.stamp_trampoline), links[N_TIMED], n, err = 0;

	for (n = 0; n < N_TIMED && !err; n++) {
		struct record_reading times[] = {
			{ .is_time = true },
			{ .is_time = true,
			  .stamp = (const uint64_t *)&skel->bss->trampoline_stamp },
		};

		links[n] = record_kprobe_attach(prog, addr, n >= N_ON_ENTRY, 0);
		if (links[n] < 0) {
			err = links[n];
			break;
		}
		err = record_measure(c->e, &c->empty_call, times, ARRAY_SIZE(times));
		if (!err)
			timed[n] = (struct record_timed){ record_series_median(&times[0].series),
							  record_series_median(&times[1].series) };
	}
	/* Detach the probes, because kprobe.multi would cost more with them. */
	while (n-- > 0)
		record_detach_deferred(links[n]);
	return err;
}

/* Measure the kernel's return trampoline, which kprobes and kprobe.multi share. The probes stay until record_detach_wait(). */
static void calibrate_trampoline(struct calibrator *c)
{
	struct engine_cost *returns = &c->out->returns;
	struct record_timed timed[N_TIMED];
	int err;

	if (c->run < 0 || returns->known)
		return;
	if (!is_used(c, PROFILE_MECH_KPROBE) && !is_used(c, PROFILE_MECH_MULTI))
		return;
	err = time_probes(c, c->empty->tests[TEST_TRAMPOLINE].addr, timed);
	err = err   ?:
		      record_cost_solve_trampoline(returns, &timed[N_ON_ENTRY - 1],
						   &timed[N_ON_ENTRY], &timed[N_ON_ENTRY + 1]);
	returns->known = !err;
	if (err)
		log_verbose(1,
			    "functions that end in a tail call to another timed function will read "
			    "too low: %s",
			    err == -ERANGE ? "the clock is too coarse" : log_strerror(err));
}

int record_calibrator_open(struct calibrator *c, struct record_probes *probes,
			   const struct profile *p, const struct record_empty *empty,
			   struct record_calibration *out)
{
	struct record_engine *e = record_probes_engine(probes);

	*c = (struct calibrator){
		.probes = probes,
		.e = e,
		.p = p,
		.run = -ENOENT,
		.empty_call = { record_round_run, &c->run, SYS_bpf },
		.empty = empty,
		.out = out,
	};
	if (empty) {
		c->run = record_calibrate_runner(e, empty);
		calibrate_trampoline(c);
	}
	use_provisional_costs(c);
	if (empty)
		record_detach_wait();
	return record_engine_follow_caller(e, true);
}

void record_calibrator_close(struct calibrator *c)
{
	record_engine_follow_caller(c->e, false);
	record_calibrator_set_costs(c->e, c->out->cost);
	if (c->run < 0)
		return;
	/* Keep the program for record_calibrate_again(). */
	if (c->p->clock == PROFILE_CLOCK_NS && c->out->run < 0)
		c->out->run = c->run;
	else
		close(c->run);
}

void record_calibrate(struct record_probes *probes, const struct profile *p,
		      const struct record_empty *empty, struct record_calibration *out)
{
	uint64_t start = clock_ns();
	uint32_t left = UINT32_MAX;
	struct calibrator c;
	int err;

	err = record_calibrator_open(&c, probes, p, empty, out);
	if (err) {
		log_note("probe cost is unknown and not subtracted: %s", log_strerror(err));
	} else {
		if (!out->cost[PROFILE_MECH_TRACEPOINT].known) {
			out->interrupts = record_engine_watch_interrupts(c.e, INTERRUPTS_NS);
			record_calibrate_syscall(&c);
		}
		calibrate_functions(&c);
		calibrate_captures(&c);
		left = c.n_left;
	}
	record_calibrator_close(&c);
	for (; c.n_left > left; c.n_left--)
		record_probes_detach_last(c.probes);
	/* Detach spare probes: in calls timed by kprobe.multi, each existing trampoline takes some 50 instructions more. */
	if (is_used(&c, PROFILE_MECH_MULTI))
		record_calibrator_detach_spares(&c);
	log_verbose(1, "calibrated in %.3f s; %.2f %% of the time is spent in interrupts",
		    (clock_ns() - start) / 1e9, 100 * out->interrupts);
}

void record_calibrate_sampler(struct record_engine *e, const struct profile *p,
			      struct record_calibration *out)
{
	struct engine_cost *cost = &out->cost[PROFILE_COSTS_SAMPLE];
	uint64_t full[ENGINE_WATCHED], latency = 0, late = 0;
	uint32_t n = 0;

	if (!record_engine_follow_caller(e, true)) {
		n = record_engine_watch_sampler(e, SAMPLER_PERIODS * p->sample_period, &latency,
						&late, full);
		record_engine_follow_caller(e, false);
	}
	/*
	 * If the sampler's latency is unknown, set PENDING to a whole period: return programs then take no sample of the sampler.
	 */
	if (out->step)
		cost->pending = !n ? p->sample_period : late > cost->pending ? late : cost->pending;
	if (!n) {
		record_calibrator_set_costs(e, out->cost);
		log_note("the cost of samples is unknown, and only partly subtracted");
		return;
	}
	/*
	 * Take the lower quartile, since some of the sampler's interrupts also did other work. On a clock of instructions take the
	 * minimum: three in ten interrupts of the lab take 367 instructions more. The cost must not exceed that of any interrupt.
	 */
	sort_array(full, n, sizeof(*full), compare_u64);
	cost->known = true;
	cost->latency = latency;
	cost->full = full[p->clock == PROFILE_CLOCK_INSN ? 0 : n / 4];
	cost->full_spread = record_values_deviation(full, n, cost->full);
	record_calibrator_set_costs(e, out->cost);
}

/* The kernel keeps kprobes in a hash table of LISTS lists. Each step through a list takes STEP_INSNS instructions. */
#define LISTS      64
#define STEP_INSNS 5

void record_calibration_add_kprobes(struct record_probes *probes, uint32_t n,
				    struct record_calibration *out)
{
	struct record_engine *e = record_probes_engine(probes);
	struct engine_cost *kprobe = &out->cost[PROFILE_MECH_KPROBE];
	uint64_t more = (uint64_t)STEP_INSNS * n / (2 * LISTS);
	/*
	 * Assume that the number of other kprobes in a list is Poisson distributed, and the probe's position among them random.
	 * The real numbers vary more: in 8 boots, callers of three timed functions were up to 12 instructions off per function.
	 */
	double others = (double)n / LISTS, variance = 1 + others / 2 + others * others / 12;

	if (kprobe->known)
		kprobe->full += more;
	out->place_spread = llround(STEP_INSNS * sqrt(variance) / DEVIATIONS_PER_SPREAD);
	record_calibrator_set_costs(e, out->cost);
	if (!out->ranges.known)
		return;
	record_range_costs_add(&out->ranges, more);
	/* A breakpoint inside a function makes the kernel search one more list per hit. */
	out->ranges.place_spread = STEP_INSNS * sqrt(variance + others) / DEVIATIONS_PER_SPREAD;
	record_engine_set_range_costs(e, out->ranges.kinds);
}

static void store_ranges(const struct record_range_costs *costs, struct profile *p)
{
	const struct engine_range_cost *jump = &costs->kinds[ENGINE_RANGE_OPTIMIZED];
	const double *beyond = costs->beyond;
	double full = (double)(int64_t)(jump->open + jump->close);
	/* A relative uncertainty is known for breakpoints only. Assume that jumps have the same. */
	double stepped = full + 2 * beyond[ENGINE_RANGE_STEPPED];
	const struct {
		enum profile_cost_kind kind;
		double value;
	} numbers[] = {
		{ PROFILE_COST_OPEN, (double)(int64_t)jump->open },
		{ PROFILE_COST_INSIDE, (double)(int64_t)jump->idle_enter },
		{ PROFILE_COST_OUTSIDE, (double)(int64_t)jump->idle_leave },
		{ PROFILE_COST_LIST, (double)(int64_t)jump->list },
		{ PROFILE_COST_FRAME, (double)(int64_t)jump->per_frame },
		{ PROFILE_COST_STEPPED, beyond[ENGINE_RANGE_STEPPED] },
		{ PROFILE_COST_PREPARED, beyond[ENGINE_RANGE_PREPARED] },
		{ PROFILE_COST_EMULATED, beyond[ENGINE_RANGE_EMULATED] },
		{ PROFILE_COST_CALL, beyond[ENGINE_RANGE_CALL_EMULATED] },
		{ PROFILE_COST_JUMP, beyond[ENGINE_RANGE_JUMP_EMULATED] },
		{ PROFILE_COST_BLOCK, costs->block },
	};

	profile_cost_set(p, PROFILE_MECH_RANGE, PROFILE_COST_INNER, costs->inner,
			 costs->trials.spread + costs->place_spread);
	profile_cost_set(p, PROFILE_MECH_RANGE, PROFILE_COST_FULL, full,
			 costs->trials.spread + M_SQRT2 * costs->place_spread * full / stepped);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		profile_cost_set(p, PROFILE_MECH_RANGE, numbers[i].kind, numbers[i].value, NAN);
}

static void store_cost(const struct record_calibration *c, struct profile *p,
		       enum profile_mechanism mech)
{
	const struct engine_cost *cost = &c->cost[mech];
	/* Recorded kprobes have other positions in the hash table than calibration's: add that spread. Jumps need no look-up. */
	bool by_place = profile_mechanism(mech)->is_kprobe && mech != PROFILE_MECH_KPROBE_OPTIMIZED;
	double spread = (double)(cost->full_spread + (by_place ? c->place_spread : 0));

	profile_cost_set(p, mech, PROFILE_COST_INNER, cost->inner, cost->inner_spread);
	if (cost->full)
		profile_cost_set(p, mech, PROFILE_COST_FULL, cost->full, spread);
	if (!cost->nested && !cost->trampoline)
		return;
	profile_cost_set(p, mech, PROFILE_COST_NESTED, cost->nested, NAN);
	profile_cost_set(p, mech, PROFILE_COST_TRAMPOLINE, cost->trampoline, NAN);
	profile_cost_set(p, mech, PROFILE_COST_ARGS, cost->full_args, NAN);
}

static void store_counted(const struct record_calibration *c, struct profile *p,
			  enum profile_mechanism mech)
{
	for (uint32_t i = 0; i < c->n_counters; i++) {
		const struct engine_cost *cost = &c->counted[mech][i];
		const struct profile_counter_cost of = {
			i, mech, cost->inner, cost->inner_spread, cost->full, cost->full_spread,
		};

		if (!cost->known)
			continue;
		profile_counter_cost_set(p, &of);
		log_verbose(1, "cost of %s in %s: inner=%.0f+-%.0f full=%.0f+-%.0f",
			    profile_mechanism_name(mech), c->counters[i].name, of.inner,
			    of.inner_spread, of.full, of.full_spread);
	}
}

static void store_drift(const struct record_calibration *c, struct profile *p)
{
	scoped_free char *text = NULL;

	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		if (c->drift[mech].after)
			alloc_append(&text, "%s%s %" PRIu64 " ns, then %" PRIu64, text ? "; " : "",
				     profile_mechanism_name(mech), c->drift[mech].before,
				     c->drift[mech].after);
	if (text)
		profile_env_set(p, PROFILE_ENV_DRIFT, text);
}

void record_calibration_store(const struct record_calibration *c, struct profile *p)
{
	const struct engine_cost *sample = &c->cost[PROFILE_COSTS_SAMPLE];

	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		if (c->cost[mech].known) {
			store_cost(c, p, mech);
			store_counted(c, p, mech);
		}
	if (c->ranges.known)
		store_ranges(&c->ranges, p);
	if (sample->known) {
		profile_cost_set(p, PROFILE_COSTS_SAMPLE, PROFILE_COST_LATENCY, sample->latency,
				 NAN);
		profile_cost_set(p, PROFILE_COSTS_SAMPLE, PROFILE_COST_INTERRUPT, sample->full,
				 sample->full_spread);
	}
	store_drift(c, p);
	for (int mech = 0; mech < PROFILE_N_COSTS; mech++) {
		scoped_free char *text = profile_cost_text(p, mech);

		if (text)
			log_verbose(1, "cost of %s: %s %s", profile_mechanism_name(mech), text,
				    profile_clock_words(p->clock));
	}
}
