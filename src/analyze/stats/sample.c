// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/stats/sample.h"

#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/sorted.h"

/* Number the boots that have runs of KIND as 0, 1, 2 etc. Store the numbers in NUMBER_OF, by boot. Return how many there are. */
static uint32_t number_boots(const struct profile *p, enum profile_run_kind kind,
			     uint32_t *number_of)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_runs; i++) {
		if (p->runs[i].kind != kind)
			continue;
		if (number_of[p->runs[i].boot] == ANALYZE_NO_REPETITION)
			number_of[p->runs[i].boot] = n++;
	}
	return n;
}

/*
 * Number the recordings that have runs of KIND as 0, 1, 2 etc. Store the number of each run's recording in OF_RUN, and return how
 * many recordings there are. If there is only one, or they are unknown, leave OF_RUN as it is and return 0.
 */
static uint32_t number_recordings(const struct profile *p, enum profile_run_kind kind,
				  uint32_t *of_run)
{
	const char *list = profile_env_get(p, PROFILE_ENV_RECORDINGS);
	uint32_t *found = alloc_array(p->n_runs, sizeof(*found)), run = 0, n = 0;
	uint64_t runs;

	while (list && number_scan(&list, &runs) && runs <= p->n_runs - run) {
		bool any = false;

		for (; runs; runs--, run++) {
			any |= p->runs[run].kind == kind;
			found[run] = p->runs[run].kind == kind ? n : ANALYZE_NO_REPETITION;
		}
		n += any;
		list = *list == ',' ? list + 1 : NULL;
	}
	if (run != p->n_runs || n < 2)
		n = 0;
	else
		memcpy(of_run, found, p->n_runs * sizeof(*found));
	free(found);
	return n;
}

void analyze_repetitions_init(struct analyze_repetitions *r, const struct profile *p,
			      enum profile_run_kind kind)
{
	uint32_t boots = 0, *number_of;

	memset(r, 0, sizeof(*r));
	for (uint32_t i = 0; i < p->n_runs; i++)
		if (p->runs[i].boot >= boots)
			boots = p->runs[i].boot + 1;
	number_of = alloc_array(boots, sizeof(*number_of));
	memset(number_of, 0xff, boots * sizeof(*number_of));
	r->of_run = alloc_array(p->n_runs, sizeof(*r->of_run));
	r->boots = number_boots(p, kind, number_of);
	r->unit = r->boots > 1 ? ANALYZE_UNIT_BOOT : ANALYZE_UNIT_RUN;
	for (uint32_t i = 0; i < p->n_runs; i++) {
		if (p->runs[i].kind != kind)
			r->of_run[i] = ANALYZE_NO_REPETITION;
		else if (r->unit == ANALYZE_UNIT_BOOT)
			r->of_run[i] = number_of[p->runs[i].boot];
		else
			r->of_run[i] = r->n++;
	}
	if (r->unit == ANALYZE_UNIT_BOOT) {
		r->n = r->boots;
	} else if (p->clock == PROFILE_CLOCK_NS) {
		uint32_t n = number_recordings(p, kind, r->of_run);

		r->unit = n ? ANALYZE_UNIT_RECORDING : ANALYZE_UNIT_RUN;
		r->n = n ?: r->n;
	}
	free(number_of);
}

void analyze_repetitions_deinit(struct analyze_repetitions *r)
{
	free(r->of_run);
	memset(r, 0, sizeof(*r));
}

/* A recording and the time AT which it was made, as sortable text. PLACE decides the order of recordings in the same second. */
struct made {
	const char *at;
	size_t n;
	uint32_t place; /* side + 2 * index of the recording in its profile */
};

define_compare(made_compare, struct made,
	       strncmp(a->at, b->at, a->n < b->n ? a->n : b->n) ?:
								  compare_values(a->place, b->place));

struct order {
	vec_of(struct made, items);
};

/* Add the times of a profile's recordings to ORDER. Return their number, or 0 if a time is unknown. */
static uint32_t add_made(struct order *order, const struct profile *p, uint32_t side)
{
	const char *at = profile_env_get(p, PROFILE_ENV_TIMES);
	uint32_t n = 0;

	for (; at; at = *at ? at + 1 : NULL) {
		struct made made = { at, strcspn(at, ","), side + 2 * n++ };

		if (!made.n)
			return 0;
		vec_push(order, items, made);
		at += made.n;
	}
	return n;
}

bool analyze_recordings_alternate(const struct profile *a, const struct profile *b)
{
	struct order order = { 0 };
	double n_a = add_made(&order, a, 0), n_b = add_made(&order, b, 1);
	/* A turn is a series of recordings of one profile. In random order, a and b recordings make 1 + 2ab / (a + b) turns. */
	uint32_t turns = 1;

	sort_array(order.items, order.n_items, sizeof(*order.items), made_compare);
	for (uint32_t i = 1; i < order.n_items; i++)
		turns += order.items[i].place % 2 != order.items[i - 1].place % 2;
	free(order.items);
	return n_a > 0 && n_b > 0 && turns > 2 && turns >= 2 * n_a * n_b / (n_a + n_b);
}

void analyze_sample_deinit(struct analyze_sample *s)
{
	free(s->sums);
	memset(s, 0, sizeof(*s));
}

void analyze_sample_add(struct analyze_sample *s, uint32_t repetition, double calls, double total)
{
	vec_push(s, sums, ((struct analyze_sums){ calls, total, repetition }));
}

void analyze_sample_merge(struct analyze_sample *s, const struct analyze_sample *part)
{
	vec_each(const struct analyze_sums, one, part, sums)
		vec_push(s, sums, *one);
	s->uncertainty += part->uncertainty;
}

define_compare(repetition_compare, struct analyze_sums,
	       compare_values(a->repetition, b->repetition));

static void sums_add(void *to, void *from)
{
	struct analyze_sums *a = to, *b = from;

	a->calls += b->calls;
	a->total += b->total;
}

/* Return the sums of calls and times over all repetitions with calls. Set *N to the number of these repetitions. */
static struct analyze_sums sums_of(const struct analyze_sample *s, uint32_t *n)
{
	struct analyze_sums all = { 0, 0 };

	*n = 0;
	for (uint32_t i = 0; i < s->n_sums; i++) {
		if (!(s->sums[i].calls > 0))
			continue;
		all.calls += s->sums[i].calls;
		all.total += s->sums[i].total;
		++*n;
	}
	return all;
}

/*
 * Set VALUES to a time per call for each repetition with calls. Return the number of values. The values are jackknife
 * pseudo-values, shifted so that their mean is total / calls. Their variance is the variance of this ratio (Efron and Tibshirani,
 * "An Introduction to the Bootstrap" (1993), section 11.5; for ratios Cochran, "Sampling Techniques" (1977), section 6.17). If all
 * repetitions have equally many calls, the values are the repetitions' means.
 */
static uint32_t values_of(const struct analyze_sample *s, double *values)
{
	uint32_t n, out = 0;
	struct analyze_sums all = sums_of(s, &n);
	double mean = all.total / all.calls, shift = 0;

	vec_each(const struct analyze_sums, one, s, sums) {
		if (!(one->calls > 0))
			continue;
		/* The value is n - 1 times the difference between the means with and without this repetition. */
		values[out] = n == 1 ? 0 :
				       (n - 1) * (one->total - mean * one->calls) /
					       (all.calls - one->calls);
		shift += values[out++] / n;
	}
	for (uint32_t i = 0; i < out; i++)
		values[i] += mean - shift;
	return out;
}

struct analyze_moments analyze_sample_moments(struct analyze_sample *s)
{
	scoped_free double *values = NULL;
	struct analyze_moments m;
	uint32_t n;

	s->n_sums = (uint32_t)unite_array(s->sums, s->n_sums, sizeof(*s->sums), repetition_compare,
					  sums_add);
	values = alloc_array(s->n_sums, sizeof(*values));
	m = analyze_moments_of(values, values_of(s, values));
	if (m.n)
		m.systematic = s->uncertainty / sums_of(s, &n).calls;
	return m;
}
