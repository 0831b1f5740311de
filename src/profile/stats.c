// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kprotperf/hist.h"
#include "profile/layout.h"
#include "profile/profile.h"

void profile_stats_init(struct profile_stats *s)
{
	*s = (struct profile_stats){ .entries = PROFILE_NOT_COUNTED,
				     .errors = PROFILE_NOT_COUNTED };
}

void profile_stats_deinit(struct profile_stats *s)
{
	free(s->buckets);
	profile_stats_init(s);
}

void profile_count_add(uint64_t *sum, uint64_t n)
{
	if (n == PROFILE_NOT_COUNTED)
		return;
	*sum = *sum == PROFILE_NOT_COUNTED ? n : *sum + n;
}

uint64_t profile_stats_observed(const struct profile_stats *s)
{
	return s->entries == PROFILE_NOT_COUNTED ? s->calls : s->entries;
}

define_compare(compare_slot, struct profile_bucket, compare_values(a->slot, b->slot));

/* Merge the lists of buckets, sorted by slot. Allocate only the memory needed, since a profile has many small cells. */
static void buckets_merge(struct profile_stats *dst, const struct profile_stats *src)
{
	struct join j = join_sorted(dst->buckets, dst->n_buckets, src->buckets, src->n_buckets,
				    sizeof(*dst->buckets), compare_slot);
	struct profile_bucket *merged;
	uint32_t n = 0;

	if (!src->n_buckets)
		return;
	merged = alloc_array((size_t)dst->n_buckets + src->n_buckets, sizeof(*merged));
	for (; join_next(&j); n++) {
		merged[n] = *(const struct profile_bucket *)(j.n_a ? j.a : j.b);
		if (j.n_a && j.n_b)
			merged[n].count += ((const struct profile_bucket *)j.b)->count;
	}
	free(dst->buckets);
	dst->n_buckets = dst->cap_buckets = n;
	dst->buckets = alloc_resize(merged, n, sizeof(*merged));
}

void profile_stats_merge(struct profile_stats *dst, const struct profile_stats *src)
{
	if (profile_stats_observed(src)) {
		bool first = !profile_stats_observed(dst);

		if (first || src->min < dst->min)
			dst->min = src->min;
		if (first || src->max > dst->max)
			dst->max = src->max;
	}
	layout_merge(&layout_stats, dst, src);
	buckets_merge(dst, src);
}

void profile_stats_bucket_add(struct profile_stats *s, uint32_t slot, uint64_t count)
{
	uint32_t low = s->n_buckets;

	if (!count)
		return;
	/* BPF maps are read in ascending order, so a new slot usually belongs at the end. */
	if (low && s->buckets[low - 1].slot >= slot)
		low = bisect(s->n_buckets, i, s->buckets[i].slot < slot);
	if (low < s->n_buckets && s->buckets[low].slot == slot) {
		s->buckets[low].count += count;
		return;
	}
	vec_push(s, buckets, ((struct profile_bucket){ 0 }));
	memmove(&s->buckets[low + 1], &s->buckets[low],
		(s->n_buckets - 1 - low) * sizeof(*s->buckets));
	s->buckets[low] = (struct profile_bucket){ .slot = slot, .count = count };
}

/* Return the value at FRACTION of SLOT's width. Clamp the slot's bounds to min and max first. */
static double slot_value(const struct profile_stats *s, uint32_t slot, double fraction)
{
	uint64_t low = hist_slot_low(slot), high = low + hist_slot_width(slot) - 1;

	if (slot == HIST_SLOTS - 1 && s->max > high)
		high = s->max;
	if (low < s->min)
		low = s->min;
	if (high > s->max)
		high = s->max;
	if (high < low)
		return low > s->max ? s->max : low;
	return (double)low + (double)(high - low) * fraction;
}

double profile_stats_quantile(const struct profile_stats *s, double q)
{
	double total = 0, before = 0, rank;
	uint32_t i;

	for (i = 0; i < s->n_buckets; i++)
		total += (double)s->buckets[i].count;
	if (!profile_stats_observed(s) || total == 0 || isnan(q))
		return NAN;
	rank = fmin(fmax(q, 0), 1) * total;
	for (i = 0; i < s->n_buckets - 1; i++) {
		double count = (double)s->buckets[i].count;

		if (before + count >= rank)
			break;
		before += count;
	}
	return slot_value(s, s->buckets[i].slot,
			  fmin((rank - before) / (double)s->buckets[i].count, 1));
}
