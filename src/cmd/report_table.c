// SPDX-License-Identifier: GPL-2.0-or-later
/* report for people. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cmd/report_impl.h"
#include "output/text.h"
#include "profile/resolve.h"

/* Rows that tables show unless --top says otherwise: the answer belongs on the first screen. */
#define TOP_SYSCALLS  10
#define TOP_FUNCTIONS 20
#define TOP_RANGES    10
#define TOP_LEAVES    10
#define TOP_BLOCKS    10
#define TOP_PATHS     8

/* TEXT, which is freed, with WORD behind it. */
static char *append_word(char *text, const char *separator, const char *word)
{
	char *longer = alloc_printf("%s%s%s", text, *text ? separator : "", word);

	free(text);
	return longer;
}

static void write_title(const struct view *v, const struct report *r)
{
	const char *release = profile_env_get(r->p, PROFILE_ENV_RELEASE);
	char *command = view_command(r->p), *runs = view_runs(r->table.runs, r->table.boots);
	char *kernel = output_text_escape(release ? release : "of unknown release");

	view_text(v, "%s", command);
	view_text(v, "%s, kernel %s, times in %s", runs, kernel, profile_clock_unit(r->p->clock));
	view_unit_note(v, r->p->clock);
	free(kernel);
	free(runs);
	free(command);
}

static void write_losses_line(const struct view *v, const struct report *r)
{
	char *unknown = alloc_strdup("");
	bool any_counted = false;
	uint32_t i;

	for (i = 0; i < PROFILE_N_LOSSES; i++) {
		if (profile_loss_is_info(i))
			continue;
		if (r->losses.counts[i] == PROFILE_NOT_COUNTED)
			unknown = append_word(unknown, ", ", profile_loss_key(i));
		else
			any_counted = true;
	}
	if (!any_counted)
		view_text(v, "losses: not counted");
	else
		view_text(v, "losses: %s%s%s%s",
			  analyze_losses_any(&r->losses) ? "see the warnings above" : "none",
			  *unknown ? " (not counted: " : "", unknown, *unknown ? ")" : "");
	free(unknown);
}

static void write_calls(const struct view *v, const struct report *r,
			const struct analyze_options *figures)
{
	struct output_section section;
	char *what = view_times(figures);

	fputc('\n', v->out);
	if (!r->table.syscalls.n_rows) {
		view_text(v, "Syscalls: none were recorded.");
	} else {
		view_text(v, "Syscalls, by total %s:", what);
		section = columns_report_syscalls(&r->table);
		view_section(v, &section, TOP_SYSCALLS);
	}
	fputc('\n', v->out);
	if (!r->table.functions.n_rows) {
		view_text(v, "Functions: none were recorded (record --func NAME).");
	} else {
		view_text(v, "Functions, by total %s, that of %s:", what,
			  figures->time == ANALYZE_TIME_SELF ?
				  "timed functions they call left out" :
				  "what they call included");
		section = columns_report_functions(&r->table);
		view_section(v, &section, TOP_FUNCTIONS);
	}
	free(what);
}

/* A call that was timed where it is made, since what it calls cannot be: record --callees. */
static bool is_call(const struct analyze_range *row)
{
	size_t len = strlen(row->body.name);

	return len > 2 && !strcmp(row->body.name + len - 2, "()");
}

/* The rows of calls, or those of inlined bodies. Returns whether there are any to show. */
static bool write_range_rows(const struct view *v, const struct report *r, bool calls,
			     const char *title)
{
	struct output_section section = columns_report_ranges(&r->ranges, &r->table);
	struct analyze_range *rows = alloc_array(r->ranges.n_rows, sizeof(*rows));
	uint32_t n = 0, shown = 0;

	for (uint32_t i = 0; i < r->ranges.n_rows; i++) {
		const struct analyze_range *row = &r->ranges.rows[i];

		if (is_call(row) != calls)
			continue;
		shown += !row->redundant;
		rows[n++] = *row;
	}
	section.rows = rows;
	section.n_rows = n;
	if (shown) {
		view_text(v, "%s", title);
		view_section(v, &section, TOP_RANGES);
	}
	free(rows);
	return shown;
}

static void write_ranges(const struct view *v, const struct report *r)
{
	fputc('\n', v->out);
	if (!write_range_rows(
		    v, r, false,
		    "Inlined bodies, what they called included; SHARE is of the context's time. "
		    "~: estimated from samples, between LOW and HIGH with 95 % confidence (record "
		    "--range NAME times them). ?: its samples came late, with interrupts off:"))
		view_text(v, "Inlined bodies: none were timed (record --range NAME)%s.",
			  !r->leaves.n_leaves ? "" :
			  profile_is_resolved(r->p) ?
						", and samples show none" :
						", and where samples lie is not known without "
						"the kernel's vmlinux (--vmlinux)");
}

/* Of functions that cannot be probed, and through pointers. */
static void write_range_calls(const struct view *v, const struct report *r)
{
	uint32_t i;

	for (i = 0; i < r->ranges.n_rows && !is_call(&r->ranges.rows[i]); i++)
		;
	if (i == r->ranges.n_rows)
		return;
	fputc('\n', v->out);
	write_range_rows(v, r, true,
			 "Calls that cannot be timed at what they call, timed where they are made; "
			 "(*)(): through a pointer:");
}

/* The paths of each function over all contexts, and its loops. */
static void write_paths(const struct view *v, const struct report *r)
{
	struct output_section section;
	uint32_t i, n;

	for (i = 0; i < r->paths.n_rows; i += n) {
		const struct analyze_path *first = &r->paths.rows[i];
		char *name;

		for (n = 1; i + n < r->paths.n_rows && first[n].function == first->function &&
			    first[n].context == first->context;)
			n++;
		if (strcmp(first->context, "*"))
			continue;
		name = output_text_escape(first->function);
		section = columns_report_paths(first, n, r->p->clock);
		fputc('\n', v->out);
		view_text(
			v,
			"Paths of %s, by calls; DOES: what most calls on other paths do not (of a "
			"path that nearly all go: what it calls):",
			name);
		view_section(v, &section, TOP_PATHS);
		free(name);
	}
	if (!r->paths.n_loops)
		return;
	section = columns_report_loops(r->paths.loops, r->paths.n_loops);
	fputc('\n', v->out);
	view_text(v, "Loops, those in them included:");
	view_section(v, &section, TOP_BLOCKS);
	if (!r->paths.n_turns)
		return;
	section = columns_report_spreads(r->paths.loops, r->paths.n_loops);
	fputc('\n', v->out);
	view_text(
		v,
		"How often they turn in a call: the number of turns, and in which share of the calls:");
	view_section(v, &section, TOP_BLOCKS);
}

/* Where blocks were counted; nothing is said where they were not asked for. */
static void write_blocks(const struct view *v, const struct report *r)
{
	struct output_section section = columns_report_block_functions(&r->blocks);
	uint32_t i;

	if (!r->blocks.n_functions)
		return;
	fputc('\n', v->out);
	view_text(v, "Blocks: instructions a call, by counting; SELF TIME is that of a call, with "
		     "what it called unless that was timed too (record --callees):");
	view_section(v, &section, 0);
	for (i = 0; i < r->blocks.n_functions; i++) {
		const struct analyze_block_function *f = &r->blocks.functions[i];
		struct analyze_block *rows;
		char *name;

		if (strcmp(f->context, "*"))
			continue;
		name = output_text_escape(f->function);
		rows = analyze_blocks_hottest(&r->blocks, f);
		section = columns_report_blocks(rows, f->n);
		fputc('\n', v->out);
		view_text(v, "Blocks of %s, by instructions a call:", name);
		view_section(v, &section, TOP_BLOCKS);
		free(rows);
		free(name);
	}
}

static void write_samples(const struct view *v, const struct report *r)
{
	char received[OUTPUT_NUMBER_MAX], expected[OUTPUT_NUMBER_MAX], used[OUTPUT_NUMBER_MAX];
	struct output_section section;

	fputc('\n', v->out);
	if (!r->p->freq && !r->leaves.n_leaves) {
		view_text(v, "Samples: none were asked for (record --freq HZ).");
		return;
	}
	output_number(used, OUTPUT_COUNT, r->leaves.samples, r->p->clock);
	strcpy(received, "not counted");
	strcpy(expected, "not counted");
	if (r->losses.samples_received != PROFILE_NOT_COUNTED)
		output_number(received, OUTPUT_COUNT, (double)r->losses.samples_received,
			      r->p->clock);
	if (r->losses.samples_expected != PROFILE_NOT_COUNTED)
		output_number(expected, OUTPUT_COUNT, (double)r->losses.samples_expected,
			      r->p->clock);
	view_text(v,
		  "Samples at %u Hz: %s of the workload; on all CPUs %s received, %s expected. "
		  "kprotperf fold gives the stacks.",
		  r->p->freq, used, received, expected);
	if (!r->leaves.n_leaves)
		return;
	section = columns_report_leaves(&r->leaves);
	view_section(v, &section, TOP_LEAVES);
}

/* What a table of inner and full costs does not say: of the sampler, for one. */
static void write_other_calibrations(const struct view *v, const struct analyze_costs *costs)
{
	uint32_t i;

	for (i = 0; i < costs->n_rows; i++) {
		const struct analyze_cost *row = &costs->rows[i];

		if (row->calibration && isnan(row->inner))
			view_fact(v, row->name, row->calibration);
		else if (!row->calibration && !row->is_of_hits)
			view_fact(v, row->name, "cost not known: nothing subtracted");
	}
}

/* "big-fork +40.4 %, [command] +16.5 %": what took part in both kinds of runs. To be freed. */
static char *measured_slowdown(const struct analyze_workload *w, enum profile_clock clock)
{
	char *text = alloc_strdup(""), percent[OUTPUT_NUMBER_MAX];
	uint32_t i;

	for (i = 1; i < w->n_rows; i++) {
		const struct analyze_workload_row *with = &w->rows[i], *without = with - 1;
		char *name, *word;

		if (!with->probed || without->probed || strcmp(with->name, without->name))
			continue;
		output_number(percent, OUTPUT_PERCENT,
			      analyze_percent(with->figures.mean - without->figures.mean,
					      without->figures.mean),
			      clock);
		name = output_text_escape(with->name);
		word = alloc_printf("%s %s", name, percent);
		text = append_word(text, ", ", word);
		free(word);
		free(name);
	}
	return text;
}

static void write_slowdown(const struct view *v, const struct report *r)
{
	const struct analyze_costs *costs = &r->costs;
	char kernel[OUTPUT_NUMBER_MAX], all[OUTPUT_NUMBER_MAX];
	char *measured = measured_slowdown(&r->workload, costs->clock);

	output_number(kernel, OUTPUT_PERCENT, costs->estimated_kernel_pct, costs->clock);
	output_number(all, OUTPUT_PERCENT, costs->estimated_pct, costs->clock);
	view_text(
		v,
		"Slowdown by the probes, estimated (calibration x calls): %s in syscalls and page "
		"faults, %s of [command] if one CPU did all. Measured, by the means above: %s.",
		kernel, all, *measured ? measured : "not asked for (record --control-run)");
	free(measured);
}

static void write_costs(const struct view *v, const struct report *r, bool raw)
{
	const struct analyze_costs *costs = &r->costs;
	struct output_section section = columns_report_costs(costs);
	char subtracted[OUTPUT_NUMBER_MAX], percent[OUTPUT_NUMBER_MAX];
	struct view all = *v;

	fputc('\n', v->out);
	if (!costs->n_rows) {
		view_text(v, "Probe cost: nothing was timed.");
		return;
	}
	view_text(
		v,
		"Probe cost, calibrated %s; SHARE is of the syscalls' and page faults' on-CPU time:",
		costs->boots > 1 ? "in the first of the boots" : "before the first run");
	all.top = -1;
	view_section(&all, &section, 0);
	write_other_calibrations(v, costs);
	output_number(subtracted, OUTPUT_TIME, costs->subtracted, costs->clock);
	output_number(percent, OUTPUT_FRACTION, costs->subtracted / costs->oncpu, costs->clock);
	if (costs->subtracted > 0)
		view_text(v,
			  "%s syscalls and page faults, samples included: %s%s, %s of what was "
			  "measured.",
			  raw ? "Left in the times (--raw) of" : "Subtracted from", subtracted,
			  costs->clock == PROFILE_CLOCK_INSN ? " insn" : "", percent);
	else
		view_text(v, "Nothing was known to subtract.");
	write_slowdown(v, r);
}

static void write_losses(const struct view *v, const struct report *r)
{
	char texts[PROFILE_N_LOSSES][OUTPUT_NUMBER_MAX], *balance;
	struct columns_loss rows[PROFILE_N_LOSSES];
	struct output_section section;
	struct view all = *v;

	report_losses_form(rows, texts, r);
	section = columns_report_losses(rows, PROFILE_N_LOSSES);
	all.top = -1;
	fputc('\n', v->out);
	view_text(v, "Losses and accounting:");
	view_section(&all, &section, 0);
	balance = analyze_accounting_text(&r->accounting);
	view_text(v, "Calls: %s.", balance);
	free(balance);
}

static int env_compare(const void *left, const void *right)
{
	const struct profile_env *a = left, *b = right;

	return strcmp(a->key, b->key);
}

/* What a CPU is not affected by fills a screen and says nothing: one line for all of it. */
static void write_environment(const struct view *v, const struct report *r)
{
	struct profile_env *envs = alloc_array(r->p->n_envs, sizeof(*envs));
	char *unaffected = alloc_strdup(""), *protections = alloc_strdup("");
	size_t prefix = strlen(PROFILE_ENV_MITIGATION);
	uint32_t i;

	if (r->p->n_envs) {
		fputc('\n', v->out);
		view_text(v, "Environment:");
		memcpy(envs, r->p->envs, r->p->n_envs * sizeof(*envs));
		qsort(envs, r->p->n_envs, sizeof(*envs), env_compare);
	}
	for (i = 0; i < r->p->n_envs; i++) {
		if (!strncmp(envs[i].key, PROFILE_ENV_MITIGATION, prefix) &&
		    !strcmp(envs[i].value, "Not affected"))
			unaffected = append_word(unaffected, " ", envs[i].key + prefix);
		else if (strcmp(envs[i].key, PROFILE_ENV_CONFIG))
			view_fact(v, envs[i].key, envs[i].value);
	}
	if (*unaffected)
		view_fact(v, "not affected by", unaffected);
	for (i = 0; i < r->protections.n_rows; i++)
		protections = append_word(protections, " ", r->protections.rows[i].name);
	if (profile_env_get(r->p, PROFILE_ENV_CONFIG))
		view_fact(v, "protections built in",
			  *protections ? protections : "none known to this tool");
	free(protections);
	free(unaffected);
	free(envs);
}

void report_write_table(const struct report *r, const struct report_options *o)
{
	struct output_section section;
	struct view v;

	view_init(&v, stdout, &o->view);
	view_warnings(&v, &r->warnings);
	write_title(&v, r);
	if (r->workload.n_rows) {
		fputc('\n', v.out);
		section = columns_report_workload(&r->workload, r->p->clock);
		view_section(&v, &section, 0);
	}
	fputc('\n', v.out);
	write_losses_line(&v, r);
	write_calls(&v, r, &o->view.figures);
	write_ranges(&v, r);
	write_range_calls(&v, r);
	write_blocks(&v, r);
	write_paths(&v, r);
	write_samples(&v, r);
	write_losses(&v, r);
	write_costs(&v, r, o->view.figures.raw);
	write_environment(&v, r);
}
