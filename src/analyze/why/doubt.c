// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/why/doubt.h"

#include <math.h>

void why_doubt_judge(struct why_doubt *d, double delta, const uint32_t runs[2], double common,
		     double looked_at)
{
	struct analyze_moments sides[2];
	struct analyze_welch welch;

	for (int i = 0; i < 2; i++)
		sides[i] = (struct analyze_moments){
			.n = runs[i],
			.mean = i ? delta : 0,
			.variance = runs[i] > 1 ? d->squares[i] / (runs[i] - 1) : NAN,
			.systematic = hypot(common / sqrt(runs[i]), d->waits),
		};
	welch = analyze_welch_form(&sides[0], &sides[1]);
	d->p = welch.p * looked_at > 1 ? 1 : welch.p * looked_at;
	d->ci = analyze_welch_interval(&welch, 1 - ANALYZE_SIGNIFICANT / looked_at);
}

double why_doubt_noise(const struct why_doubt *d)
{
	return (d->ci.high - d->ci.low) / 2;
}

enum why_sureness why_doubt_sureness(const struct why_doubt *d)
{
	if (isnan(d->p))
		return WHY_LIKELY;
	if (d->p < ANALYZE_SIGNIFICANT)
		return WHY_SURE;
	return d->p < WHY_UNLIKELY ? WHY_LIKELY : WHY_CHANCE;
}
