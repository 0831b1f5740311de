// SPDX-License-Identifier: GPL-2.0-or-later
/* `kprotperf why`: a comparison of the change in exact recordings with the change in recordings with probes. */
#include <math.h>

#include "base/alloc.h"
#include "output/number.h"
#include "output/text.h"
#include "view/why.h"

/* Return whether VALUES differ by at most NOISE plus the fraction WORTH_A_WORD of VALUES[0]. */
static bool is_near(const double values[2], double noise)
{
	return fabs(values[1] - values[0]) <= WORTH_A_WORD * fabs(values[0]) + noise;
}

/* Append VALUES[1], a change measured with probes, as "+2,478 instructions per call of clone, 0.6 % below the exact count". */
static void append_compared(char **text, const struct why *w, const double values[2], double noise,
			    const char *per, const char *of)
{
	double pct = values[0] != 0 ? 100 * (values[1] - values[0]) / fabs(values[0]) : NAN;

	view_why_append_delta(text, w, values[1], per);
	alloc_append(text, "%s", of);
	if (isnan(pct))
		return;
	if (fabs(values[1] - values[0]) < 0.5) {
		alloc_append(text, ", equal to the exact count");
		return;
	}
	alloc_append(text, ", %s %s the exact count", view_why_percent(pct),
		     pct < 0 ? "below" : "above");
	if (!is_near(values, 0) && is_near(values, noise))
		alloc_append(text, ", within the variation between runs");
}

static bool is_agreed(const double values[2], double noise)
{
	return isnan(values[0]) || isnan(values[1]) || is_near(values, isnan(noise) ? 0 : noise);
}

char *view_why_check(const struct why *w, const struct why_check *check, const char *context)
{
	bool has_context = !isnan(check->context[1]), has_function = !isnan(check->functions[1]);
	char *text = NULL, *name, *function;

	if (!check->function || (!has_context && !has_function))
		return alloc_strdup(
			"Not checked by probes: their recordings do not contain the function.");
	name = output_text_escape(context);
	function = output_text_escape(check->function);
	alloc_append(&text, "Probes %s (record --func=%s): ",
		     is_agreed(check->context, check->context_noise) &&
				     is_agreed(check->functions, check->function_noise) ?
			     "agree" :
			     "disagree",
		     function);
	if (has_context) {
		scoped_free char *of = alloc_printf(" of %s", name);

		append_compared(&text, w, check->context, check->context_noise, "call", of);
	}
	if (has_function) {
		scoped_free char *of = alloc_printf(" in %s", function);

		alloc_append(&text, "%s", has_context ? "; " : "");
		append_compared(&text, w, check->functions, check->function_noise, "run", of);
	}
	alloc_append(&text, ".");
	free(function);
	free(name);
	return text;
}
