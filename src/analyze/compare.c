// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cost.h"
#include "analyze/sort.h"
#include "base/alloc.h"

/* So many times longer on one side than on the other, the kernel's work is not done in the same order any more. */
#define UNLIKE_SLOWDOWN 1.25

/* What must be the same, or the machines are compared and not the kernels. */
static const struct {
	const char *key, *what;
} machine_keys[] = {
	{ PROFILE_ENV_ARCH, "machines of different architecture" },
	{ PROFILE_ENV_CPU, "different CPUs" },
	{ PROFILE_ENV_CPUS, "different numbers of CPUs" },
	{ PROFILE_ENV_GOVERNOR, "different frequency governors" },
	{ PROFILE_ENV_TURBO, "different turbo settings" },
	{ PROFILE_ENV_SMT, "different SMT settings" },
	{ PROFILE_ENV_MICROCODE, "different microcode" },
	{ PROFILE_ENV_CLOCKSOURCE, "different clock sources" },
};

static void warn_machine(struct analyze_warnings *w, const struct profile *a,
			 const struct profile *b)
{
	size_t i;

	for (i = 0; i < sizeof(machine_keys) / sizeof(*machine_keys); i++) {
		const char *va = profile_env_get(a, machine_keys[i].key);
		const char *vb = profile_env_get(b, machine_keys[i].key);

		if (!va && !vb)
			continue;
		if (!va || !vb || strcmp(va, vb))
			analyze_warnings_add(w, "%s: %s against %s", machine_keys[i].what,
					     va ? va : "unknown", vb ? vb : "unknown");
	}
}

static void warn_args(struct analyze_warnings *w, const struct profile *a, const struct profile *b)
{
	uint32_t i;

	for (i = 0; i < a->n_args && i < b->n_args; i++)
		if (strcmp(a->args[i], b->args[i]))
			break;
	if (i == a->n_args && i == b->n_args)
		return;
	analyze_warnings_add(w, "different work: argument %u is \"%s\" against \"%s\"", i,
			     i < a->n_args ? a->args[i] : "", i < b->n_args ? b->args[i] : "");
}

static void warn_freq(struct analyze_warnings *w, const struct profile *a, const struct profile *b)
{
	if (a->freq != b->freq)
		analyze_warnings_add(
			w,
			"different sampling rates, which cost time: %u against %u samples "
			"a second",
			a->freq, b->freq);
}

/* The sites of a profile in the order of their names. */
struct sites {
	const struct profile_site **sites;
	uint32_t n_sites, cap_sites;
};

static int site_compare(const void *left, const void *right)
{
	const struct profile_site *const *a = left, *const *b = right;
	int diff = strcmp((*a)->name, (*b)->name);

	return diff ? diff : (int)(*a)->mech - (int)(*b)->mech;
}

static void sites_collect(struct sites *list, const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->n_sites; i++)
		if (p->sites[i].kind == PROFILE_SITE_FUNCTION)
			vec_push(list, sites, &p->sites[i]);
	analyze_sort(list->sites, list->n_sites, sizeof(*list->sites), site_compare);
}

/*
 * Names on both sides whose mechanisms are not the same. Of namesakes, which have the same mechanism
 * nearly always, the first speaks for all.
 */
static void warn_mechanisms(struct analyze_warnings *w, const struct profile *a,
			    const struct profile *b)
{
	const struct profile_site *example_a = NULL, *example_b = NULL;
	struct sites sa = { 0 }, sb = { 0 };
	uint32_t i = 0, j = 0, n = 0;

	sites_collect(&sa, a);
	sites_collect(&sb, b);
	while (i < sa.n_sites && j < sb.n_sites) {
		int order = strcmp(sa.sites[i]->name, sb.sites[j]->name);

		if (!order && sa.sites[i]->mech != sb.sites[j]->mech && !n++) {
			example_a = sa.sites[i];
			example_b = sb.sites[j];
		}
		if (order <= 0)
			for (i++; i < sa.n_sites; i++)
				if (strcmp(sa.sites[i]->name, sa.sites[i - 1]->name))
					break;
		if (order >= 0)
			for (j++; j < sb.n_sites; j++)
				if (strcmp(sb.sites[j]->name, sb.sites[j - 1]->name))
					break;
	}
	if (n)
		analyze_warnings_add(
			w,
			"different probes on the same function, which cost differently, "
			"for %u of them: %s by %s against %s (use the same --attach)",
			n, example_a->name, profile_mechanism_name(example_a->mech),
			profile_mechanism_name(example_b->mech));
	free(sa.sites);
	free(sb.sites);
}

/* Corrected on one side and not on the other: the difference is that of the probes, if nothing else. */
static void warn_costs(struct analyze_warnings *w, const struct analyze_costs *a,
		       const struct analyze_costs *b)
{
	uint32_t i;

	for (i = 0; i < a->n_rows; i++) {
		const struct analyze_cost *row = &a->rows[i];
		const struct analyze_cost *other = analyze_cost_find(b, row->name);
		bool unknown = analyze_cost_is_unknown(row);

		if (other && row->calls > 0 && other->calls > 0 &&
		    unknown != analyze_cost_is_unknown(other))
			analyze_warnings_add(
				w,
				"what %s probes cost is subtracted on the %s side only: the "
				"differences hold it (--raw leaves it in on both)",
				row->name, unknown ? "hardened" : "baseline");
	}
}

/*
 * Slowed down by probes on one side much more than on the other. What that cost is subtracted; but what goes by time,
 * as grace periods of RCU and with them what is freed when, comes at other places in the work.
 */
static void warn_slowdown(struct analyze_warnings *w, const struct analyze_costs *a,
			  const struct analyze_costs *b)
{
	double slow_a = a->estimated_kernel_pct, slow_b = b->estimated_kernel_pct;

	if (isnan(slow_a) || isnan(slow_b) ||
	    100 + fmax(slow_a, slow_b) <= UNLIKE_SLOWDOWN * (100 + fmin(slow_a, slow_b)))
		return;
	analyze_warnings_add(
		w,
		"probes slowed the kernel's work down by %.0f %% on the baseline side and by "
		"%.0f %% on the hardened side: what goes by time, as RCU does, comes at other "
		"places, and that may be what changed outside of what is timed (record less "
		"at once)",
		slow_a, slow_b);
}

static void warn_config(struct analyze_warnings *w, const struct profile *a,
			const struct profile *b)
{
	bool known_a = profile_env_get(a, PROFILE_ENV_CONFIG);
	bool known_b = profile_env_get(b, PROFILE_ENV_CONFIG);

	if (known_a != known_b)
		analyze_warnings_add(
			w, "the %s kernel's configuration is not known: options are not compared",
			known_a ? "hardened" : "baseline");
}

void analyze_warnings_of_pair(struct analyze_warnings *w, const struct profile *baseline,
			      const struct profile *hardened, bool raw)
{
	struct analyze_costs costs[2];

	analyze_costs_init(&costs[0], baseline);
	analyze_costs_init(&costs[1], hardened);
	warn_args(w, baseline, hardened);
	warn_machine(w, baseline, hardened);
	warn_mechanisms(w, baseline, hardened);
	warn_freq(w, baseline, hardened);
	warn_config(w, baseline, hardened);
	if (!raw)
		warn_costs(w, &costs[0], &costs[1]);
	w->n_invalidating = w->n_texts;
	warn_slowdown(w, &costs[0], &costs[1]);
	analyze_warnings_of_profile(w, baseline, "baseline: ", raw);
	analyze_warnings_of_profile(w, hardened, "hardened: ", raw);
	analyze_costs_deinit(&costs[0]);
	analyze_costs_deinit(&costs[1]);
}
