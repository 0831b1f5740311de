// SPDX-License-Identifier: GPL-2.0-or-later

#include <math.h>
#include <string.h>

#include "analyze/diff/diff.h"
#include "analyze/figures/calibration.h"
#include "analyze/figures/environment.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "profile/merge.h"

/* If one of these settings differs between two profiles, a comparison shows differences of machines, not of kernels. */
static const char *const machine_keys[] = {
	PROFILE_ENV_ARCH,   PROFILE_ENV_CPU,      PROFILE_ENV_CPUS,      PROFILE_ENV_GOVERNOR,
	PROFILE_ENV_TURBO,  PROFILE_ENV_SMT,      PROFILE_ENV_MICROCODE, PROFILE_ENV_CLOCKSOURCE,
	PROFILE_ENV_PINNED, PROFILE_ENV_SYSCALLS, PROFILE_ENV_TRACERS,
};

/* Add a warning that the comparison is invalid. SIDE_ is the profile at fault. Further arguments set its other members. */
#define invalidate(w, kind_, side_, ...)                                                        \
	analyze_warnings_add(w, (struct analyze_warning){ .kind = ANALYZE_WARNING_##kind_,      \
							  .severity = ANALYZE_SEVERITY_INVALID, \
							  .side = side_,                        \
							  ##__VA_ARGS__ })

static void warn_machine(struct analyze_warnings *w, const struct profile *a,
			 const struct profile *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(machine_keys); i++) {
		const char *va = profile_env_get(a, machine_keys[i]);
		const char *vb = profile_env_get(b, machine_keys[i]);

		if (!same_text(va, vb))
			invalidate(w, MACHINE, ANALYZE_SIDE_NONE,
				   .names = { va, vb, machine_keys[i] });
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
	invalidate(w, WORK, ANALYZE_SIDE_NONE, .code = (int)i,
		   .names = { i < a->n_args ? a->args[i] : "", i < b->n_args ? b->args[i] : "" });
}

static void warn_freq(struct analyze_warnings *w, const struct profile *a, const struct profile *b)
{
	if (a->freq != b->freq)
		invalidate(w, FREQ, ANALYZE_SIDE_NONE, .values = { a->freq, b->freq });
}

/* The timed functions of a profile, sorted by name. */
struct sites {
	vec_of(const struct profile_site *, sites);
};

define_compare(name_compare, struct profile_site *const, strcmp((*a)->name, (*b)->name));

define_compare(site_compare, struct profile_site *const,
	       name_compare(a, b) ?: (int)(*a)->mech - (int)(*b)->mech);

static struct sites sites_collect(const struct profile *p)
{
	struct sites list = { 0 };

	for (uint32_t i = 0; i < p->n_sites; i++)
		if (p->sites[i].kind == PROFILE_SITE_FUNCTION &&
		    profile_site_is_counted(p, &p->sites[i]))
			vec_push(&list, sites, &p->sites[i]);
	sort_array(list.sites, list.n_sites, sizeof(*list.sites), site_compare);
	return list;
}

/*
 * Warn of functions with different types of probes (such as fentry) in the two profiles. Compare only the first function of each
 * name: functions of one name nearly always have the same type.
 */
static void warn_mechanisms(struct analyze_warnings *w, const struct profile *a,
			    const struct profile *b)
{
	const struct profile_site *example_a = NULL, *example_b = NULL;
	struct sites sa = sites_collect(a), sb = sites_collect(b);
	struct join j = join_sorted(sa.sites, sa.n_sites, sb.sites, sb.n_sites, sizeof(*sa.sites),
				    name_compare);
	uint32_t n = 0;

	while (join_next(&j)) {
		const struct profile_site *in_a = j.n_a ? *(struct profile_site *const *)j.a : NULL;
		const struct profile_site *in_b = j.n_b ? *(struct profile_site *const *)j.b : NULL;

		if (!in_a || !in_b || in_a->mech == in_b->mech || n++)
			continue;
		example_a = in_a;
		example_b = in_b;
	}
	if (n)
		invalidate(w, MECHANISMS, ANALYZE_SIDE_NONE,
			   .names = { profile_mechanism_name(example_a->mech),
				      profile_mechanism_name(example_b->mech), example_a->name },
			   .values = { n });
	free(sa.sites);
	free(sb.sites);
}

/* Warn if the probes' cost is subtracted in one profile only: the cost then looks like a difference of kernels. */
static void warn_costs(struct analyze_warnings *w, const struct analyze_costs *a,
		       const struct analyze_costs *b)
{
	vec_each(const struct analyze_cost, row, a, rows) {
		const struct analyze_cost *other = analyze_cost_find(b, row->name);
		bool unknown = analyze_cost_is_unknown(row);

		if (other && row->calls > 0 && other->calls > 0 &&
		    unknown != analyze_cost_is_unknown(other))
			invalidate(w, COST_ONE_SIDE,
				   unknown ? ANALYZE_SIDE_HARDENED : ANALYZE_SIDE_BASELINE,
				   .names = { row->name });
	}
}

/*
 * Warn if probes slow down one kernel much more than the other. Probe cost is subtracted, but the slowdown also moves work that
 * waits for a time. An example is memory that the kernel frees after an RCU grace period.
 */
static void warn_slowdown(struct analyze_warnings *w, const struct analyze_costs *a,
			  const struct analyze_costs *b)
{
	double slow_a = a->estimated_kernel_pct, slow_b = b->estimated_kernel_pct;

	if (isnan(slow_a) || isnan(slow_b) ||
	    100 + fmax(slow_a, slow_b) <= (1 + QUARTER) * (100 + fmin(slow_a, slow_b)))
		return;
	analyze_warnings_add(w, (struct analyze_warning){ .kind = ANALYZE_WARNING_SLOWDOWN,
							  .severity = ANALYZE_SEVERITY_ACT,
							  .side = ANALYZE_SIDE_NONE,
							  .values = { slow_a, slow_b } });
}

/* Warn if the machine had different loads. Code takes longer on a busy or hot machine, as if the kernels differed. */
static void warn_load(struct analyze_warnings *w, const struct profile *a, const struct profile *b)
{
	for (int load = 0; load < ANALYZE_N_LOADS; load++) {
		double in_a = analyze_load_of(a, load), in_b = analyze_load_of(b, load);

		if (analyze_load_unlike(load, in_a, in_b))
			analyze_warnings_add(
				w, (struct analyze_warning){ .kind = ANALYZE_WARNING_LOAD,
							     .severity = ANALYZE_SEVERITY_ACT,
							     .side = ANALYZE_SIDE_NONE,
							     .code = load,
							     .values = { in_a, in_b } });
	}
}

static void warn_config(struct analyze_warnings *w, const struct profile *a,
			const struct profile *b)
{
	bool known_a = profile_env_get(a, PROFILE_ENV_CONFIG);
	bool known_b = profile_env_get(b, PROFILE_ENV_CONFIG);

	if (known_a != known_b)
		invalidate(w, CONFIG, known_a ? ANALYZE_SIDE_HARDENED : ANALYZE_SIDE_BASELINE);
}

void analyze_warnings_of_pair(struct analyze_warnings *w, const struct profile *baseline,
			      const struct profile *hardened, const struct analyze_table *tables,
			      bool raw)
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
	warn_slowdown(w, &costs[0], &costs[1]);
	warn_load(w, baseline, hardened);
	analyze_warnings_of_profile(w, baseline, tables, ANALYZE_SIDE_BASELINE, raw);
	analyze_warnings_of_profile(w, hardened, tables ? tables + 1 : NULL, ANALYZE_SIDE_HARDENED,
				    raw);
	analyze_costs_deinit(&costs[0]);
	analyze_costs_deinit(&costs[1]);
}

/* ---- noise: differences between two recordings of one kernel ---- */

define_compare(workload_compare, struct analyze_diff_workload_row,
	       compare_text(a->name, b->name) ?: compare_values(a->probed, b->probed));

/* A row changed by DELTA between the kernels, and by CONTROL_DELTA between two recordings of the baseline. Set CHANGE's noise. */
static void set_noise(const struct analyze_diff *diff, struct analyze_change *change, double delta,
		      const struct analyze_change *control, double control_delta)
{
	const struct analyze_interval *ci = &control->ci;

	change->noise = isnan(ci->low) ? fabs(control_delta) : fmax(fabs(ci->low), fabs(ci->high));
	change->under_noise = fabs(delta) <= change->noise;
	if (diff->repetitions.controlled && change->verdict_of_runs && fabs(delta) > change->noise)
		change->verdict = change->verdict_of_runs;
}

static void rows_set(const struct analyze_diff *diff, struct analyze_diff_rows *rows,
		     struct analyze_diff_rows *control)
{
	const struct analyze_diff_row *found;

	sort_array(control->rows, control->n_rows, sizeof(*control->rows),
		   analyze_diff_row_compare);
	vec_each(struct analyze_diff_row, row, rows, rows) {
		found = analyze_diff_rows_find(control, row->name, row->context);
		if (found)
			set_noise(diff, &row->change, row->delta, &found->change, found->delta);
	}
}

static void workload_set(struct analyze_diff *diff, struct analyze_diff *control)
{
	const struct analyze_diff_workload_row *found;

	sort_array(control->workload, control->n_workload, sizeof(*control->workload),
		   workload_compare);
	vec_each(struct analyze_diff_workload_row, row, diff, workload) {
		found = search_array(row, control->workload, control->n_workload, sizeof(*row),
				     workload_compare);
		if (found)
			set_noise(diff, &row->change, row->delta, &found->change, found->delta);
	}
}

int analyze_diff_control(struct analyze_diff *diff, const struct profile *baseline,
			 const struct profile *control, const struct analyze_options *options)
{
	struct analyze_diff noise;
	char *conflict;
	int err = analyze_diff_init(&noise, baseline, control, options);

	if (err)
		return err;
	conflict = profile_merge_conflict(baseline, control);
	if (conflict)
		analyze_warnings_add(&diff->warnings,
				     (struct analyze_warning){ .kind = ANALYZE_WARNING_CONTROL,
							       .severity = ANALYZE_SEVERITY_INVALID,
							       .side = ANALYZE_SIDE_NONE,
							       .own_text = conflict });
	diff->repetitions.controlled =
		diff->repetitions.note != ANALYZE_REPETITIONS_ONE_RECORDING &&
		noise.repetitions.note != ANALYZE_REPETITIONS_ONE_RECORDING;
	rows_set(diff, &diff->syscalls, &noise.syscalls);
	rows_set(diff, &diff->functions, &noise.functions);
	workload_set(diff, &noise);
	diff->has_control = true;
	analyze_diff_deinit(&noise);
	return 0;
}
