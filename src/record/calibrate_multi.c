// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kprobe.multi: attached and calibrated in one, since all functions are in one link, those that are called for
 * the calibration among them.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/log.h"
#include "record/calibrate_impl.h"

/* The functions in a link of kprobe.multi. */
struct multi {
	struct calibrator *c;
	const struct record_multi_site *items;
	uint32_t n;
};

/* The function at ADDR, if it is attached. */
static const struct record_multi_site *multi_find(const struct multi *m, uint64_t addr)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->items[i].addr == addr)
			return m->items[i].err ? NULL : &m->items[i];
	return NULL;
}

/* Calls in the system call that runs the empty functions, and what they cost by their functions' places. */
struct multi_calls {
	uint64_t n, extra;
};

static struct multi_calls multi_count(const struct multi *m)
{
	struct multi_calls sum = {};

	for (uint32_t i = 0; i < m->n; i++) {
		uint64_t calls = m->items[i].err ?
					 0 :
					 record_engine_calls(m->c->e, m->items[i].site, SYS_bpf);

		sum.n += calls;
		sum.extra += calls * m->items[i].extra;
	}
	return sum;
}

/* The time of the system call while calls of that function go untimed. */
static int multi_time_without(const struct multi *m, const struct record_multi_site *item,
			      uint64_t *time)
{
	struct record_series s;
	int err;

	err = record_engine_show_multi(m->c->e, item, false);
	err = err ?: record_calibrator_measure(m->c, 0, &s, NULL);
	if (!err)
		*time = record_series_median(&s);
	return record_engine_show_multi(m->c->e, item, true) ?: err;
}

/*
 * What it costs more to time a call that encloses others: the function that calls the empty ones against
 * TEST, one of those.
 */
static uint64_t multi_nested(const struct multi *m, const struct record_multi_site *test)
{
	const struct record_multi_site *outer = multi_find(m, m->c->empty->outer.addr);
	uint64_t without_outer, without_test;

	if (!outer || multi_time_without(m, outer, &without_outer) ||
	    multi_time_without(m, test, &without_test))
		return 0;
	return less(without_test, without_outer);
}

/* The mean of what lies between the two readings of the empty functions; the last of those. */
static const struct record_multi_site *multi_measure_inner(const struct multi *m,
							   struct record_cost *cost)
{
	const struct record_multi_site *last = NULL;
	uint64_t inner = 0, spread = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < RECORD_N_TESTS; i++) {
		const struct record_multi_site *test = multi_find(m, m->c->empty->tests[i].addr);
		struct record_series all, one;
		uint64_t median;

		if (!test || record_calibrator_measure(m->c, test->site, &all, &one))
			continue;
		median = record_series_median(&one);
		inner += less(median, m->c->clock == PROFILE_CLOCK_INSN ?
					      record_calibrator_insns[i] :
					      EMPTY_NS);
		spread += record_series_deviation(&one, median);
		last = test;
		n++;
	}
	if (n) {
		cost->inner = (inner + n / 2) / n;
		cost->inner_spread = spread / n;
	}
	return last;
}

/*
 * Sets aside about what a call costs, of which all that enclose others would be too long for the path
 * that most calls take through the distribution.
 */
static int set_estimate(const struct multi *m, uint64_t base)
{
	struct record_cost costs[PROFILE_N_MECHANISMS];
	struct multi_calls before = multi_count(m), after;
	struct record_series with;
	int err = record_calibrator_measure(m->c, 0, &with, NULL);

	after = multi_count(m);
	if (err || after.n == before.n)
		return err ?: -ENODATA;
	memcpy(costs, m->c->out->cost, sizeof(costs));
	costs[PROFILE_MECH_MULTI].full =
		RECORD_ROUNDS * less(record_series_median(&with), base) / (after.n - before.n);
	record_engine_set_costs(m->c->e, costs);
	return 0;
}

/*
 * What a call costs that is found at once. With many functions in the link those are not only the empty ones
 * that their system call comes by, so calls are counted; they become *CALLS.
 */
static int measure_multi(const struct multi *m, struct record_cost *cost, uint64_t *calls)
{
	const struct record_multi_site *test = multi_measure_inner(m, cost);
	uint64_t base = record_series_median(&m->c->base), probed, all;
	struct multi_calls before, after;
	struct record_series with;
	int err;

	if (!test)
		return -ENOENT;
	err = set_estimate(m, base);
	if (err)
		return err;
	before = multi_count(m);
	err = record_calibrator_measure(m->c, 0, &with, NULL);
	if (err)
		return err;
	after = multi_count(m);
	*calls = after.n - before.n;
	if (!*calls)
		return -ENODATA;
	probed = record_series_median(&with);
	cost->nested = multi_nested(m, test);
	all = less(RECORD_ROUNDS * less(probed, base + cost->nested), after.extra - before.extra);
	cost->full = (all + *calls / 2) / *calls;
	cost->full_spread = (record_series_deviation(&with, probed) +
			     record_series_deviation(&m->c->base, base)) *
			    RECORD_ROUNDS / *calls;
	cost->known = true;
	return 0;
}

/* What the return's probes cost without those on entries, which are attached again then. */
static int measure_multi_half(const struct multi *m, uint64_t calls, struct record_cost *cost)
{
	struct record_series half;
	int err;

	record_engine_halve_multi(m->c->e);
	err = record_calibrator_measure(m->c, 0, &half, NULL);
	if (!err)
		cost->half = RECORD_ROUNDS *
			     less(record_series_median(&half), record_series_median(&m->c->base)) /
			     calls;
	return record_engine_restore_multi(m->c->e) ?: err;
}

/* Adds the function at ADDR, unless it is one of the workload's or there is none. */
static void multi_add(struct record_multi_site *items, uint32_t *n, uint32_t site, uint64_t addr)
{
	for (uint32_t i = 0; i < *n; i++)
		if (items[i].addr == addr)
			return;
	if (addr)
		items[(*n)++] = (struct record_multi_site){ .site = site, .addr = addr };
}

/* Those that no probe of their own mechanism has found it for. */
static void set_nested(struct record_calibration *out, uint64_t nested)
{
	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		if (mech != PROFILE_MECH_TRACEPOINT && out->cost[mech].known)
			out->cost[mech].nested = out->cost[mech].nested ?: nested;
}

void record_calibrate_multi(struct record_engine *e, const struct profile *p,
			    const struct record_empty *empty, struct record_multi_site *items,
			    uint32_t n, struct record_calibration *out)
{
	struct record_cost *cost = &out->cost[PROFILE_MECH_MULTI];
	struct multi m = { .items = items, .n = n };
	uint64_t start = clock_ns(), calls;
	struct calibrator c;
	int err;

	err = record_calibrator_open(&c, e, p, empty, out);
	err = err ?: c.run < 0 ? c.run : record_calibrator_measure(&c, 0, &c.base, NULL);
	m.c = &c;
	for (uint32_t i = 0; !err && i < RECORD_N_TESTS; i++)
		multi_add(items, &m.n, record_engine_spare(e, SPARE_MULTI + i),
			  empty->tests[i].addr);
	if (!err)
		multi_add(items, &m.n, record_engine_spare(e, SPARE_OUTER), empty->outer.addr);
	record_engine_attach_multi(e, items, m.n);
	err = err ?: measure_multi(&m, cost, &calls);
	if (!err && out->halves)
		err = measure_multi_half(&m, calls, cost);
	if (err) {
		record_calibrator_note_unknown(&c, PROFILE_MECH_MULTI, err);
	} else {
		set_nested(out, cost->nested);
		cost->trip = out->trip;
		record_calibrator_add_interrupts(out, cost);
	}
	record_calibrator_close(&c);
	log_verbose(1, "attached and calibrated kprobe.multi in %.3f s",
		    (clock_ns() - start) / 1e9);
}
