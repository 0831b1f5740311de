// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/cost/measure.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "base/system/clock.h"
#include "kprotperf.skel.h"
#include "record/cost/cost.h"
#include "record/engine/kprobe_event.h"
#include "record/probe/links.h"

#define PAUSE_NS 1000000

/* Add SIGN times each reading's sum to the series at ROUND. With -1 before and 1 after the round, the series gets the growth. */
static void read_all(const struct record_engine *e, struct record_reading *readings, uint32_t n,
		     int round, int sign)
{
	for (uint32_t i = 0; i < n; i++) {
		struct record_reading *r = &readings[i];
		uint64_t value = r->is_time ? 0 : record_engine_sum(e, r->site, r->ctx, r->of);

		r->series.values[round] += sign < 0 ? -value : value;
	}
}

static void note_times(struct record_reading *readings, uint32_t n, int round, uint64_t start,
		       uint64_t end)
{
	for (uint32_t i = 0; i < n; i++) {
		struct record_reading *r = &readings[i];

		if (r->is_time)
			r->series.values[round] =
				end -
				(r->stamp ? __atomic_load_n(r->stamp, __ATOMIC_RELAXED) : start);
	}
}

int record_measure(const struct record_engine *e, const struct record_call *call,
		   struct record_reading *readings, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		readings[i].series = (struct record_series){};
	clock_settle();
	for (int round = 0; round < RECORD_ROUNDS; round++) {
		uint64_t start, end;
		int err;

		read_all(e, readings, n, round, -1);
		if (call->walk)
			record_walk(call->walk);
		start = clock_ns();
		err = call->once(call->arg);
		end = clock_ns();
		if (err)
			return err;
		read_all(e, readings, n, round, 1);
		note_times(readings, n, round, start, end);
	}
	return 0;
}

int record_round_run(void *arg)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(*(const int *)arg, &opts);
}

uint64_t record_series_median(struct record_series *s)
{
	sort_array(s->values, RECORD_ROUNDS, sizeof(*s->values), compare_u64);
	return s->values[RECORD_ROUNDS / 2];
}

uint64_t record_values_deviation(uint64_t *values, uint32_t n, uint64_t centre)
{
	for (uint32_t i = 0; i < n; i++)
		values[i] = values[i] > centre ? values[i] - centre : centre - values[i];
	sort_array(values, n, sizeof(*values), compare_u64);
	return values[n / 2];
}

uint64_t record_series_deviation(const struct record_series *s, uint64_t centre)
{
	struct record_series d = *s;

	return record_values_deviation(d.values, RECORD_ROUNDS, centre);
}

struct record_series record_series_of(const uint64_t medians[RECORD_REPEATS])
{
	struct record_series s;

	for (int i = 0; i < RECORD_ROUNDS; i++)
		s.values[i] = medians[i % RECORD_REPEATS];
	return s;
}

/* Let this process run only on CPU number I (modulo their number) among ALLOWED. */
static void move_to(const cpu_set_t *allowed, uint32_t i)
{
	uint32_t n = (uint32_t)CPU_COUNT(allowed);
	cpu_set_t one;

	CPU_ZERO(&one);
	for (int cpu = 0; n > 1 && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, allowed) && !(i-- % n)) {
			CPU_SET(cpu, &one);
			sched_setaffinity(0, sizeof(one), &one);
			return;
		}
}

int record_measure_repeated(const struct record_engine *e, bool real_clock,
			    const struct record_call *call, struct record_reading *readings,
			    uint32_t n)
{
	scoped_free uint64_t(*medians)[RECORD_REPEATS] = alloc_array(n, sizeof(*medians));
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	cpu_set_t allowed;
	bool moves;
	int err = 0;

	/* A clock that counts instructions needs no repeats. */
	if (!real_clock)
		return record_measure(e, call, readings, n);
	moves = !sched_getaffinity(0, sizeof(allowed), &allowed);
	for (uint32_t i = 0; i < RECORD_REPEATS && !err; i++) {
		if (moves)
			move_to(&allowed, i);
		nanosleep(&pause, NULL);
		err = record_measure(e, call, readings, n);
		for (uint32_t k = 0; k < n; k++)
			medians[k][i] = record_series_median(&readings[k].series);
	}
	if (moves)
		sched_setaffinity(0, sizeof(allowed), &allowed);
	for (uint32_t k = 0; k < n; k++)
		readings[k].series = record_series_of(medians[k]);
	return err;
}

/* Maximum number of functions counted at once: attaching each takes time, and counting slows down the command. */
#define COUNTED_MOST 12

static bool is_reached(const struct record_symbols *symbols, const struct kernel_sym *sym)
{
	return kernel_tracing_is_ftrace(symbols->tracing, sym) == KERNEL_YES &&
	       !record_symbols_is_blacklisted(symbols, sym->addr);
}

void record_count_begin(struct record_counts *counts, const struct record_engine *e,
			const struct record_symbols *symbols)
{
	int prog = bpf_program__fd(record_engine_programs(e)->progs.function_count);
	uint32_t counted = 0;

	for (uint32_t i = 0; i < counts->n_items && counted < COUNTED_MOST; i++) {
		struct record_count *c = &counts->items[i];
		const struct kernel_sym **syms;
		size_t n;

		syms = kernel_kallsyms_clones(symbols->ks, c->name, &n);
		for (size_t k = 0; k < n && c->n_links < RECORD_COUNTED_CLONES; k++) {
			int link = is_reached(symbols, syms[k]) ?
					   record_kprobe_attach(prog, syms[k]->addr, false, i) :
					   -1;

			if (link >= 0)
				c->links[c->n_links++] = link;
		}
		counted += c->n_links > 0;
		free(syms);
	}
}

static void detach(struct record_count *c)
{
	while (c->n_links)
		record_detach_deferred(c->links[--c->n_links]);
}

void record_count_look(struct record_counts *counts, const struct record_engine *e)
{
	const __u64 *counted = record_engine_programs(e)->bss->counted;

	for (uint32_t i = 0; i < counts->n_items; i++) {
		struct record_count *c = &counts->items[i];

		c->calls = __atomic_load_n(&counted[i], __ATOMIC_RELAXED);
		if (c->calls > c->most)
			detach(c);
	}
}

void record_count_end(struct record_counts *counts, const struct record_engine *e)
{
	record_count_look(counts, e);
	for (uint32_t i = 0; i < counts->n_items; i++)
		detach(&counts->items[i]);
	record_detach_wait();
}
