// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/figures/warnings.h"

#include <math.h>
#include <string.h>

#include "analyze/figures/accounting.h"
#include "analyze/figures/calibration.h"
#include "analyze/figures/table.h"
#include "base/alloc.h"
#include "base/number.h"
#include "base/sorted.h"

/* Warn of at most this many functions with missed returns. */
#define MISSED_SHOWN 3

void analyze_warnings_add(struct analyze_warnings *w, struct analyze_warning warning)
{
	struct analyze_warning *at;

	vec_push(w, rows, warning);
	if (warning.severity != ANALYZE_SEVERITY_INVALID)
		return;
	at = &w->rows[w->n_invalid++];
	memmove(at + 1, at, (w->n_rows - w->n_invalid) * sizeof(*at));
	*at = warning;
}

void analyze_warnings_deinit(struct analyze_warnings *w)
{
	while (w->n_rows)
		free(w->rows[--w->n_rows].own_text);
	free(w->rows);
	memset(w, 0, sizeof(*w));
}

/* A profile P to warn about. OUT receives the warnings. */
struct warning {
	struct analyze_warnings *out;
	const struct profile *p;
	enum analyze_side side;
	struct analyze_accounting accounting;
};

static enum analyze_severity severity_of(double n, double of)
{
	return n < NEGLIGIBLE * of ? ANALYZE_SEVERITY_INFO : ANALYZE_SEVERITY_ACT;
}

/* Add a warning of KIND about W's profile. Further arguments set other members of the warning. */
#define warn(w, kind_, severity_, ...)                                                            \
	analyze_warnings_add((w)->out, (struct analyze_warning){ .kind = ANALYZE_WARNING_##kind_, \
								 .severity = severity_,           \
								 .side = (w)->side,               \
								 ##__VA_ARGS__ })

static void warn_losses(const struct warning *w)
{
	struct analyze_losses losses;

	analyze_losses_sum(&losses, w->p);
	for (int i = 0; i < PROFILE_N_LOSSES; i++) {
		double n = (double)losses.counts[i], of = (double)w->accounting.calls;

		if (profile_loss_is_info(i) || !losses.counts[i] ||
		    losses.counts[i] == PROFILE_NOT_COUNTED)
			continue;
		if (i == PROFILE_LOSS_STACKS_FULL || i == PROFILE_LOSS_STACK_NOT_FETCHED ||
		    i == PROFILE_LOSS_SAMPLES_NOT_RECEIVED)
			of = losses.samples_expected == PROFILE_NOT_COUNTED ?
				     0 :
				     (double)losses.samples_expected;
		if (i == PROFILE_LOSS_PROBES)
			of = 0;
		warn(w, LOSS, severity_of(n, of), .code = i, .values = { n });
	}
}

define_compare(by_missed, struct profile_site, compare_values(b->missed, a->missed));

static double calls_of(const struct profile *p, const struct profile_site *site)
{
	double calls = 0;

	for (uint32_t i = 0; i < p->n_cells; i++)
		if (&p->sites[p->cells[i].site] == site)
			calls += (double)p->cells[i].stats.calls;
	return calls;
}

/* Warn of missed returns: a kprobe misses a return if too many tasks sleep in the function. An fentry probe never misses one. */
static void warn_missed(const struct warning *w)
{
	struct pointers sites =
		pointers_sort(w->p->sites, w->p->n_sites, sizeof(*w->p->sites), by_missed);

	for (uint32_t i = 0; i < MISSED_SHOWN && i < sites.n_items; i++) {
		const struct profile_site *site = sites.items[i];
		double n = (double)site->missed;

		if (site->missed)
			warn(w, MISSED, severity_of(n, calls_of(w->p, site)),
			     .code = (int)site->mech, .names = { site->name }, .values = { n });
	}
	free(sites.items);
}

static void warn_unaccounted(const struct warning *w)
{
	const struct analyze_accounting *a = &w->accounting;
	double n = (double)a->unaccounted, of = (double)a->entries;

	if (a->known && a->unaccounted)
		warn(w, UNACCOUNTED, severity_of(fabs(n), of), .values = { n, of });
}

static void warn_failed_runs(const struct warning *w)
{
	uint32_t failed = 0, first = 0;

	for (uint32_t i = 0; i < w->p->n_runs; i++)
		if (w->p->runs[i].status && !failed++)
			first = i;
	if (failed)
		warn(w, FAILED_RUNS, ANALYZE_SEVERITY_ACT, .run = &w->p->runs[first],
		     .values = { failed, w->p->n_runs, first + 1 });
}

/* Warn of tasks that outlive the command. Skip recordings of a whole process or machine: their tasks always remain. */
static void warn_tasks_left(const struct warning *w)
{
	struct analyze_losses losses;
	uint64_t n;

	if (w->p->n_runs && w->p->runs[w->p->n_runs - 1].end == PROFILE_END_NONE)
		return;
	analyze_losses_sum(&losses, w->p);
	n = losses.counts[PROFILE_INFO_TASKS_LEFT];
	if (n && n != PROFILE_NOT_COUNTED && !profile_env_get(w->p, PROFILE_ENV_TASKS) &&
	    !profile_env_get(w->p, PROFILE_ENV_UNFINISHED))
		warn(w, TASKS_LEFT, ANALYZE_SEVERITY_ACT, .values = { (double)n });
}

/* Return the first kind of time (enum analyze_time) that is negative in ROW, or -1. */
static int negative_time(const struct analyze_row *row)
{
	for (int time = 0; time < ANALYZE_N_TIMES; time++)
		if (row->figures.totals[time] < 0)
			return time;
	return -1;
}

struct negatives {
	uint32_t n;
	const struct analyze_row *worst;
	int time; /* the kind of time that is negative in WORST */
};

static void find_negatives(struct negatives *found, const struct analyze_rows *rows)
{
	vec_each(const struct analyze_row, row, rows, rows) {
		int time = negative_time(row);

		/* Skip rows of all contexts. If such a row is negative, so is the row of one of the contexts. */
		if (time < 0 || (analyze_is_sum(row->context)))
			continue;
		found->n++;
		if (!found->worst ||
		    row->figures.totals[time] < found->worst->figures.totals[found->time]) {
			found->worst = row;
			found->time = time;
		}
	}
}

/* Add one warning for all negative times, since they have the same cause. */
static void warn_negative(const struct warning *w, const struct analyze_table *table)
{
	struct negatives found = { 0 };

	find_negatives(&found, &table->syscalls);
	find_negatives(&found, &table->functions);
	if (found.n)
		warn(w, NEGATIVE,
		     severity_of(-found.worst->figures.totals[found.time], table->oncpu),
		     .code = found.time, .names = { found.worst->name, found.worst->context },
		     .values = { found.n });
}

static void warn_unknown_cost(const struct warning *w)
{
	struct analyze_costs costs;

	if (profile_is_exact(w->p))
		return;
	analyze_costs_init(&costs, w->p);
	vec_each(const struct analyze_cost, row, &costs, rows)
		if (analyze_cost_is_unknown(row))
			warn(w, COST_UNKNOWN, ANALYZE_SEVERITY_ACT,
			     .names = { row->name, row->example },
			     .values = { row->functions > 0 ? row->functions : 0 });
	analyze_costs_deinit(&costs);
}

static void warn_clock(const struct warning *w)
{
	const char *step = profile_env_get(w->p, PROFILE_ENV_CLOCK_STEP);
	double ns;

	if (step && number_double(step, 0, INFINITY, &ns))
		warn(w, CLOCK, ANALYZE_SEVERITY_ACT,
		     .names = { profile_env_get(w->p, PROFILE_ENV_CLOCKSOURCE) }, .values = { ns });
}

static void warn_drift(const struct warning *w)
{
	const char *drift = profile_env_get(w->p, PROFILE_ENV_DRIFT);

	if (drift)
		warn(w, DRIFT, ANALYZE_SEVERITY_ACT, .names = { drift });
}

static void warn_preempt_rt(const struct warning *w)
{
	const char *version = profile_env_get(w->p, PROFILE_ENV_VERSION);
	bool timed = false;

	if (!version || !strstr(version, "PREEMPT_RT"))
		return;
	for (uint32_t i = 1; i < w->p->n_sites; i++)
		timed |= w->p->sites[i].mech != PROFILE_UNTIMED;
	if (timed)
		warn(w, PREEMPT_RT, ANALYZE_SEVERITY_ACT);
}

void analyze_warnings_of_profile(struct analyze_warnings *out, const struct profile *p,
				 const struct analyze_table *table, enum analyze_side side,
				 bool raw)
{
	struct warning w = { .out = out, .p = p, .side = side };

	analyze_accounting_init(&w.accounting, p);
	if (!p->n_runs)
		warn(&w, EMPTY, ANALYZE_SEVERITY_ACT);
	if (profile_env_get(p, PROFILE_ENV_SYSCALLS))
		warn(&w, SYSCALLS, ANALYZE_SEVERITY_INFO,
		     .names = { profile_env_get(p, PROFILE_ENV_SYSCALLS) });
	if (profile_env_get(p, PROFILE_ENV_UNFINISHED))
		warn(&w, UNFINISHED, ANALYZE_SEVERITY_ACT);
	warn_losses(&w);
	warn_missed(&w);
	warn_unaccounted(&w);
	warn_failed_runs(&w);
	warn_tasks_left(&w);
	if (profile_env_get(p, PROFILE_ENV_INLINED))
		warn(&w, INLINED, ANALYZE_SEVERITY_ACT,
		     .names = { profile_env_get(p, PROFILE_ENV_INLINED) });
	if (same_text(profile_env_get(p, PROFILE_ENV_PAGE_FAULTS),
		      profile_mechanism_name(PROFILE_UNTIMED)))
		warn(&w, NO_FAULTS, ANALYZE_SEVERITY_ACT);
	if (profile_env_get(p, PROFILE_ENV_TRACERS))
		warn(&w, TRACERS, ANALYZE_SEVERITY_ACT,
		     .names = { profile_env_get(p, PROFILE_ENV_TRACERS) });
	if (profile_env_get(p, PROFILE_ENV_PROGRAMS))
		warn(&w, PROGRAMS, ANALYZE_SEVERITY_ACT,
		     .names = { profile_env_get(p, PROFILE_ENV_PROGRAMS) });
	warn_clock(&w);
	warn_drift(&w);
	if (raw)
		return;
	if (table)
		warn_negative(&w, table);
	warn_unknown_cost(&w);
	warn_preempt_rt(&w);
}
