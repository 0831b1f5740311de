// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/diff/conclusion.h"

#include <math.h>
#include <string.h>

/* Shares this close to the largest are taken for the same cost seen from further inside. */
#define INNERMOST_SHARE 0.9
/* Of its function's change an inlined body must have as much to be named. */
#define RANGE_SHARE 0.5
/* Of a syscall's change what was timed in it must have as much to say how sure that is. */
#define CARRIER_SHARE 0.5
/* From this share on what is outside of syscalls is worth a sentence. */
#define OUTSIDE_SHARE 0.5
/* Standard errors of a total that its calls' spread is taken to explain. */
#define CHANCE_ERRORS 2
/* Of the margin, where instructions are counted: docs/statistics.md, "One run per side". */
#define INSN_MARGIN 0.25

/*
 * The function that carries ROW's change: callers of a costly function carry its cost as well, so
 * of those with nearly the largest share, the one with the least cost of its own is named.
 */
static const struct analyze_diff_row *find_carrier(const struct analyze_diff *diff,
						   const struct analyze_diff_row *row)
{
	const struct analyze_diff_row *best = NULL;
	double largest = ANALYZE_LEAST_SHARE;

	vec_each(const struct analyze_diff_row, f, &diff->functions, rows) {
		if (!strcmp(f->context, row->name) && f->share > largest)
			largest = f->share;
	}
	vec_each(const struct analyze_diff_row, f, &diff->functions, rows) {
		if (strcmp(f->context, row->name) || !(f->share >= INNERMOST_SHARE * largest) ||
		    f->share < ANALYZE_LEAST_SHARE)
			continue;
		if (!best || fmax(f->sides[0].total, f->sides[1].total) <
				     fmax(best->sides[0].total, best->sides[1].total))
			best = f;
	}
	return best;
}

/* Whether the change of the total comes from more or fewer calls rather than from more expensive ones. */
static bool is_change_of_calls(const struct analyze_diff_row *row)
{
	double by_calls = (row->sides[1].calls - row->sides[0].calls) * row->sides[0].mean;
	double by_mean = row->sides[1].calls * row->delta;

	return fabs(by_calls) > fabs(by_mean);
}

static bool is_one_sided(const struct analyze_diff_range *r)
{
	return !r->sides[0].source != !r->sides[1].source;
}

static double range_total(const struct analyze_diff_range *r)
{
	return fmax(r->sides[0].source ? r->sides[0].figures.total : 0,
		    r->sides[1].source ? r->sides[1].figures.total : 0);
}

/*
 * Whether A says more than B of a change that both have in them: a measurement more than an estimate,
 * and what only one kernel has more than what both have. Of the former the outermost is what was put
 * there, with all that it needs; of the latter the innermost has least that did not change.
 */
static bool is_better_range(const struct analyze_diff_range *a, const struct analyze_diff_range *b)
{
	if (a->estimated != b->estimated)
		return b->estimated;
	if (is_one_sided(a) != is_one_sided(b))
		return is_one_sided(a);
	return is_one_sided(a) ? range_total(a) > range_total(b) : range_total(a) < range_total(b);
}

/*
 * The inlined body in F that carries most of its change, of all with nearly the largest share. NULL:
 * there is none with half of it.
 */
static const struct analyze_diff_range *find_range(const struct analyze_diff *diff,
						   const struct analyze_diff_row *f)
{
	const struct analyze_diff_range *best = NULL;
	double largest = RANGE_SHARE;

	for (uint32_t pass = 0; pass < 2; pass++) {
		vec_each(const struct analyze_diff_range, r, &diff->ranges, rows) {
			if (r->redundant || strcmp(r->body.function, f->name) ||
			    strcmp(r->context, f->context) || !(r->share >= RANGE_SHARE) ||
			    !strcmp(r->body.name, ANALYZE_RANGE_REST))
				continue;
			if (!pass)
				largest = fmax(largest, r->share);
			else if (r->share >= INNERMOST_SHARE * largest &&
				 (!best || is_better_range(r, best)))
				best = r;
		}
	}
	return best;
}

const struct analyze_diff_range *analyze_conclusion_body(const struct analyze_diff *diff,
							 const char *function, const char *context)
{
	vec_each(const struct analyze_diff_row, f, &diff->functions, rows)
		if (!strcmp(f->name, function) && !strcmp(f->context, context))
			return find_range(diff, f);
	return NULL;
}

/* OF_SYSCALL: its share is that of the syscall's change, not of the function's. */
static void set_body(struct analyze_conclusion *c, const struct analyze_diff_range *r,
		     bool of_syscall)
{
	if (!r)
		return;
	c->body.name = r->body.name;
	c->body.function = r->body.function;
	c->body.location = r->location;
	c->body.share = of_syscall ? r->syscall_share : r->share;
	c->body.delta_total = r->delta_total.value;
	c->body.estimated = analyze_diff_range_is_sampled(r);
}

/* Where no timed function carries ROW's change: the timed inlined body that does, most of all; NULL: none has a tenth of it. */
static const struct analyze_diff_range *find_body(const struct analyze_diff *diff,
						  const struct analyze_diff_row *row)
{
	const struct analyze_diff_range *best = NULL;

	vec_each(const struct analyze_diff_range, r, &diff->ranges, rows) {
		if (r->redundant || r->estimated || r->is_partner ||
		    !strcmp(r->body.name, ANALYZE_RANGE_REST) || strcmp(r->context, row->name) ||
		    !(r->syscall_share >= ANALYZE_LEAST_SHARE) ||
		    r->syscall_share > ANALYZE_WHOLE_SHARE)
			continue;
		if (!best || r->syscall_share > best->syscall_share)
			best = r;
	}
	return best;
}

/* Where self times are asked for: the row that changed most, a sum over contexts being none. */
static const struct analyze_diff_row *largest_self(const struct analyze_diff *diff)
{
	const struct analyze_diff_row *best = diff->syscalls.rows;

	vec_each(const struct analyze_diff_row, f, &diff->functions, rows) {
		if (!analyze_is_sum(f->context) && fabs(f->delta_total) > fabs(best->delta_total))
			best = f;
	}
	return best;
}

/* What a run's total may differ by just by which calls were expensive; 0: not known. */
static double chance(const struct analyze_figures *f)
{
	return isnan(f->spread) ? 0 : f->calls * f->spread * f->spread;
}

static double by_spread(const struct analyze_figures *baseline,
			const struct analyze_figures *hardened)
{
	return CHANCE_ERRORS *
	       sqrt((baseline ? chance(baseline) : 0) + (hardened ? chance(hardened) : 0));
}

/* The same where a PART of ROW's calls was timed, whose total changed by DELTA: the rest may have changed by chance, and so may that. */
static double by_part(const struct analyze_diff_row *row, double delta, double part)
{
	return fabs(row->delta_total - delta) + part;
}

/*
 * What the spread of its calls explains of a change of ROW's total: of what is not in the function or body that was timed in
 * them and has most of it, if that is less. That is no test, since calls of one run are no repetitions; but where there are
 * no others it keeps a few calls that differ threefold among themselves from the headline.
 */
static double by_chance(const struct analyze_diff *diff, const struct analyze_diff_row *row)
{
	const struct analyze_diff_range *r = find_body(diff, row);
	const struct analyze_diff_row *f = find_carrier(diff, row);
	double least = by_spread(&row->sides[0], &row->sides[1]);

	if (f && f->share >= CARRIER_SHARE)
		least = fmin(least,
			     by_part(row, f->delta_total, by_spread(&f->sides[0], &f->sides[1])));
	if (r && r->syscall_share >= CARRIER_SHARE)
		least = fmin(least,
			     by_part(row, r->delta_total.value,
				     by_spread(r->sides[0].source ? &r->sides[0].figures : NULL,
					       r->sides[1].source ? &r->sides[1].figures : NULL)));
	return least;
}

/*
 * In percent, the least change of ROW that is worth a headline where there are no repetitions: what CHANCE
 * explains is none, nor is what is nothing of the command's time, or would be "same" with any number of them. Boots
 * whose instructions are counted differ by less beyond chance, where there are calls to tell that from.
 */
static double least_pct(const struct analyze_diff *diff, const struct analyze_diff_row *row,
			double chance_total)
{
	double least = diff->repetitions.margin_pct;

	if (diff->clock == PROFILE_CLOCK_INSN && chance(&row->sides[0]) > 0)
		least *= INSN_MARGIN;
	least = fmax(least, analyze_percent(chance_total, row->sides[0].total));
	return fmax(least, analyze_percent(ANALYZE_NEGLIGIBLE_SHARE * diff->kernel[0].command,
					   row->sides[0].total));
}

/* A change that may be the headline where there are no repetitions. */
struct candidate {
	const struct analyze_diff_row *row;
	double beyond; /* chance, of its total */
	double least_pct; /* that can be told */
	bool is_untold;
};

static struct candidate candidate_of(const struct analyze_diff *diff,
				     const struct analyze_diff_row *row)
{
	double chance_total = by_chance(diff, row);
	struct candidate c = {
		.row = row,
		.beyond = fabs(row->delta_total) - chance_total,
		.least_pct = least_pct(diff, row, chance_total),
	};

	c.is_untold = fabs(analyze_percent(row->delta_total, row->sides[0].total)) < c.least_pct;
	return c;
}

static bool is_better(const struct candidate *a, const struct candidate *b)
{
	return a->is_untold != b->is_untold ? b->is_untold : a->beyond > b->beyond;
}

/* The one execve() that starts the command: it is the first to read the command's files. */
bool analyze_is_start(const char *context, double baseline_calls, double hardened_calls)
{
	return !strcmp(context, "execve") && !(baseline_calls > 1) && !(hardened_calls > 1);
}

/*
 * The syscall that changed most, of those that significantly did if there are any; of those that nothing can
 * be said about, the one that changed most beyond chance, and by more than can be told if there is any. The start of the command
 * is no headline unless nothing else changed.
 */
static const struct analyze_diff_row *headline(const struct analyze_diff *diff)
{
	const struct analyze_diff_row *largest = NULL;
	struct candidate best = { 0 };

	vec_each(const struct analyze_diff_row, row, &diff->syscalls, rows) {
		struct candidate c;

		if (analyze_is_start(row->name, row->sides[0].calls, row->sides[1].calls))
			continue;
		largest = largest ?: row;
		/* However little: what is "same" may differ significantly. */
		if (row->change.p < ANALYZE_SIGNIFICANT)
			return row;
		if (diff->repetitions.rows)
			continue;
		c = candidate_of(diff, row);
		if (!best.row || is_better(&c, &best))
			best = c;
	}
	if (best.row)
		largest = best.row;
	return largest && largest->delta_total != 0 ? largest : diff->syscalls.rows;
}

static bool is_significant(enum analyze_verdict verdict)
{
	return verdict == ANALYZE_VERDICT_SLOWER || verdict == ANALYZE_VERDICT_FASTER;
}

/* Iterations of W per run; the unprobed runs are the iterations of the command as a whole. NAN: not known. */
static double iterations_per_run(const struct analyze_diff *diff,
				 const struct analyze_diff_workload_row *w)
{
	vec_each(const struct analyze_diff_workload_row, command, diff, workload) {
		if (!command->probed && !strcmp(command->name, ANALYZE_COMMAND))
			return (double)w->sides[0].iterations / command->sides[0].iterations;
	}
	return NAN;
}

/* Whether some syscall changed significantly, by LEAST per run or more. */
static bool has_significant_syscall(const struct analyze_diff *diff, double least)
{
	vec_each(const struct analyze_diff_row, row, &diff->syscalls, rows) {
		if (is_significant(row->change.verdict) && fabs(row->delta_total) >= least)
			return true;
	}
	return false;
}

/* Whether ROW changed significantly, but by nothing beside what W times. */
static bool is_negligible(const struct analyze_diff *diff, const struct analyze_diff_row *row,
			  const struct analyze_diff_workload_row *w)
{
	return row->change.p < ANALYZE_SIGNIFICANT &&
	       fabs(row->delta_total) <
		       ANALYZE_NEGLIGIBLE_SHARE * w->sides[0].mean * iterations_per_run(diff, w);
}

/*
 * What the command reports of itself, unprobed, where no syscall says more: it changed significantly and no
 * syscall carries that, as with what acts outside sys_enter...sys_exit; or it did not, and the syscalls'
 * headline, ROW, is not significant either, or negligible. NULL: a syscall says more.
 */
static const struct analyze_diff_workload_row *own_headline(const struct analyze_diff *diff,
							    const struct analyze_diff_row *row)
{
	const struct analyze_diff_workload_row *unchanged = NULL;

	vec_each(const struct analyze_diff_workload_row, w, diff, workload) {
		enum analyze_verdict verdict = w->change.verdict;

		if (w->probed || !strcmp(w->name, ANALYZE_COMMAND) ||
		    !strcmp(w->name, ANALYZE_COMMAND_CPU))
			continue;
		if (is_significant(verdict) &&
		    !has_significant_syscall(diff, ANALYZE_LEAST_SHARE * fabs(w->delta) *
							   iterations_per_run(diff, w)))
			return w;
		if (unchanged || !row)
			continue;
		if ((verdict == ANALYZE_VERDICT_SAME && !(row->change.p < ANALYZE_SIGNIFICANT)) ||
		    (verdict != ANALYZE_VERDICT_NONE && is_negligible(diff, row, w)))
			unchanged = w;
	}
	return unchanged;
}

/* The change of ROW's mean or calls, and what carries it. */
static void conclude_syscall(struct analyze_conclusion *c, const struct analyze_diff *diff,
			     const struct analyze_diff_row *row)
{
	const struct analyze_diff_row *carrier = find_carrier(diff, row);

	c->kind = isnan(row->delta)       ? ANALYZE_CONCLUSION_ONE_SIDE :
		  is_change_of_calls(row) ? ANALYZE_CONCLUSION_CALLS :
					    ANALYZE_CONCLUSION_MEAN;
	if (carrier) {
		c->where = ANALYZE_WHERE_FUNCTION;
		c->function = carrier->name;
		c->function_share = carrier->share;
		set_body(c, find_range(diff, carrier), false);
	} else {
		c->where = diff->functions.n_rows ? ANALYZE_WHERE_NONE : ANALYZE_WHERE_NOT_RECORDED;
		set_body(c, find_body(diff, row), true);
	}
}

static void set_row(struct analyze_conclusion *c, const struct analyze_diff *diff,
		    const struct analyze_diff_row *row)
{
	c->what = row->name;
	c->context = row->context;
	c->delta = row->delta;
	c->delta_pct = row->delta_pct;
	c->delta_total = row->delta_total;
	c->share = row->share;
	if (diff->time == ANALYZE_TIME_ONCPU)
		c->cpu_pct = analyze_percent(row->delta_total, diff->kernel[0].command);
	c->calls[0] = row->sides[0].calls;
	c->calls[1] = row->sides[1].calls;
	c->totals[0] = row->sides[0].total;
	c->totals[1] = row->sides[1].total;
	c->change = row->change;
}

/* What of the command's CPU time changed that no syscall has: most of it, where it did change. */
static void set_outside(struct analyze_conclusion *c, const struct analyze_diff *diff)
{
	double kernel = diff->kernel[1].kernel - diff->kernel[0].kernel;

	vec_each(const struct analyze_diff_workload_row, w, diff, workload) {
		double share = 1 - kernel / w->delta;

		if (w->probed || strcmp(w->name, ANALYZE_COMMAND_CPU) != 0 ||
		    w->change.verdict == ANALYZE_VERDICT_UNCLEAR ||
		    !(fabs(w->delta_pct) >= diff->repetitions.margin_pct) ||
		    !(share >= OUTSIDE_SHARE))
			continue;
		c->outside_share = share;
		c->command_pct = w->delta_pct;
	}
}

/* ROW is the syscalls' headline. */
static void conclude_workload(struct analyze_conclusion *c, const struct analyze_diff *diff,
			      const struct analyze_diff_workload_row *w,
			      const struct analyze_diff_row *row)
{
	c->kind = ANALYZE_CONCLUSION_WORKLOAD;
	c->what = w->name;
	c->delta = w->delta;
	c->delta_pct = w->delta_pct;
	c->change = w->change;
	c->syscalls = is_significant(w->change.verdict) ? ANALYZE_SYSCALLS_NOT_IT :
		      is_negligible(diff, row, w)       ? ANALYZE_SYSCALLS_NEGLIGIBLE :
							  ANALYZE_SYSCALLS_UNCHANGED;
}

void analyze_diff_conclude(struct analyze_conclusion *c, const struct analyze_diff *diff)
{
	const struct analyze_diff_repetitions *r = &diff->repetitions;
	const struct analyze_diff_row *row, *self;
	const struct analyze_diff_workload_row *own;

	*c = (struct analyze_conclusion){
		.clock = diff->clock,
		.time = diff->time,
		.delta = NAN,
		.delta_pct = NAN,
		.delta_total = NAN,
		.share = NAN,
		.cpu_pct = NAN,
		.outside_share = NAN,
		.command_pct = NAN,
		.least_pct = NAN,
		.change = analyze_change_none,
		.margin_pct = r->margin_pct,
		.unit = r->unit,
		.repeated = r->rows,
		.repetitions = { r->n[0], r->n[1] },
		.runs = { diff->runs[0], diff->runs[1] },
	};
	if (!diff->syscalls.n_rows)
		return;
	row = headline(diff);
	self = diff->time == ANALYZE_TIME_SELF ? largest_self(diff) : NULL;
	own = own_headline(diff, row);
	if (self && self->delta_total != 0) {
		c->kind = ANALYZE_CONCLUSION_SELF;
		set_row(c, diff, self);
	} else if (own) {
		conclude_workload(c, diff, own, row);
	} else if (row->delta_total == 0) {
		c->kind = ANALYZE_CONCLUSION_EQUAL;
	} else if (!r->rows && candidate_of(diff, row).is_untold) {
		c->kind = ANALYZE_CONCLUSION_UNTOLD;
		set_row(c, diff, row);
		c->least_pct = candidate_of(diff, row).least_pct;
	} else {
		set_row(c, diff, row);
		conclude_syscall(c, diff, row);
	}
	if (diff->time == ANALYZE_TIME_ONCPU)
		set_outside(c, diff);
	analyze_change_work_out(&c->change);
	if (analyze_repetitions_undecided(r->note) &&
	    (c->kind == ANALYZE_CONCLUSION_MEAN || c->kind == ANALYZE_CONCLUSION_WORKLOAD ||
	     c->kind == ANALYZE_CONCLUSION_SELF) &&
	    !(r->controlled && fabs(c->delta) > c->change.noise))
		c->undecided = r->note;
}
