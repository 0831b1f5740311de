// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/words.h"

#include <math.h>
#include <string.h>

#include "analyze/figures/environment.h"
#include "analyze/figures/table.h"
#include "base/alloc.h"
#include "base/plural.h"
#include "output/json.h"
#include "output/number.h"
#include "output/text.h"
#include "view/diff.h"
#include "view/names.h"

static const char *count(double n)
{
	return output_number(OUTPUT_COUNT, fabs(n), PROFILE_CLOCK_NS);
}

static void append_machine(char **text, const struct analyze_warning *w)
{
	/* Each row has a key of the environment, a warning, and a text for recordings without this key (NULL: "unknown"). */
	static const char *const words[][3] = {
		{ PROFILE_ENV_ARCH, "different architectures" },
		{ PROFILE_ENV_CPU, "different CPUs" },
		{ PROFILE_ENV_CPUS, "different numbers of CPUs" },
		{ PROFILE_ENV_GOVERNOR, "different frequency governors" },
		{ PROFILE_ENV_TURBO, "different turbo settings" },
		{ PROFILE_ENV_SMT, "different SMT settings" },
		{ PROFILE_ENV_MICROCODE, "different microcode" },
		{ PROFILE_ENV_CLOCKSOURCE, "different clock sources" },
		{ PROFILE_ENV_PINNED, "commands bound to different CPUs", "none" },
		{ PROFILE_ENV_SYSCALLS, "different syscalls were measured", "all" },
		{ PROFILE_ENV_TRACERS, "different tracing by other tools", "none" },
	};
	const char *what = w->names[2], *none = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i][0], w->names[2])) {
			what = words[i][1];
			none = words[i][2];
		}
	none = none ?: "unknown";
	alloc_append(text, "%s: %s and %s", what, w->names[0] ?: none, w->names[1] ?: none);
}

static void append_mechanisms(char **text, const struct analyze_warning *w)
{
	alloc_append(text,
		     "different probes, with different costs, on %.0f %s: %s by %s on the baseline "
		     "side, by %s on the hardened side (record both with the same --attach)",
		     w->values[0], plural(w->values[0], "function", "functions"), w->names[2],
		     w->names[0], w->names[1]);
}

static void append_load(char **text, const struct analyze_warning *w)
{
	static const struct {
		const char *what, *before;
	} words[ANALYZE_N_LOADS] = {
		[ANALYZE_LOAD_WAITING] = { "load: tasks waited for a CPU", " for" },
		[ANALYZE_LOAD_STOLEN] = { "load: the hypervisor ran other guests", " for" },
		[ANALYZE_LOAD_FREQUENCY] = { "CPU frequencies:", "" },
		[ANALYZE_LOAD_THROTTLING] = { "thermal throttling:", "" },
	};
	const char *before = words[w->code].before;
	scoped_free char *was = analyze_load_text(w->code, w->values[0]);
	scoped_free char *is = analyze_load_text(w->code, w->values[1]);

	alloc_append(text,
		     "different %s%s %s on the baseline side and%s %s on the hardened side, which "
		     "affects real-clock times (record both sides again, alternately)",
		     words[w->code].what, before, was, before, is);
}

static void append_pair(char **text, const struct analyze_warning *w)
{
	switch (w->kind) {
	case ANALYZE_WARNING_WORK:
		alloc_append(text,
			     "different work: argument %d is \"%s\" on the baseline side and "
			     "\"%s\" on the hardened side",
			     w->code, w->names[0], w->names[1]);
		break;
	case ANALYZE_WARNING_MACHINE:
		append_machine(text, w);
		break;
	case ANALYZE_WARNING_MECHANISMS:
		append_mechanisms(text, w);
		break;
	case ANALYZE_WARNING_FREQ:
		alloc_append(text,
			     "different sampling rates, which cost different amounts of time: %.0f "
			     "and %.0f samples per second",
			     w->values[0], w->values[1]);
		break;
	case ANALYZE_WARNING_CONFIG:
		alloc_append(text,
			     "unknown configuration of the %s kernel: options are not compared",
			     view_side_names[w->side]);
		break;
	case ANALYZE_WARNING_COST_ONE_SIDE:
		alloc_append(
			text,
			"the cost of %s probes is subtracted on the %s side only, so differences "
			"include it (--raw includes it on both sides)",
			w->names[0], view_side_names[w->side]);
		break;
	case ANALYZE_WARNING_CONTROL:
		alloc_append(text, "the control is not comparable with the baseline: %s",
			     w->own_text);
		break;
	case ANALYZE_WARNING_SLOWDOWN:
		alloc_append(
			text,
			"probes slowed down the kernel by %.0f %% on the baseline side and by %.0f "
			"%% on the hardened side: time-driven work such as RCU then runs at "
			"different points, which alone may explain changes outside the timed "
			"functions (record fewer functions at once)",
			w->values[0], w->values[1]);
		break;
	case ANALYZE_WARNING_LOAD:
		append_load(text, w);
		break;
	default:
		break;
	}
}

static void append_missed(char **text, const struct analyze_warning *w)
{
	alloc_append(text, "%s %s of %s not timed: %s missed the return%s", count(w->values[0]),
		     plural(w->values[0], "call", "calls"), w->names[0],
		     profile_mechanism_name(w->code),
		     profile_mechanism((enum profile_mechanism)w->code)->in_frame ?
			     "" :
			     ", as happens when many tasks sleep in a function (record "
			     "--attach=fentry does not miss them)");
}

static void append_unaccounted(char **text, const struct analyze_warning *w)
{
	double n = w->values[0];

	if (n > 0)
		alloc_append(
			text,
			"%s of %s calls entered %s not accounted for: counts and totals may be "
			"too low by that many",
			count(n), count(w->values[1]), plural(n, "is", "are"));
	else
		alloc_append(text,
			     "%s more %s accounted for than the %s that were entered: counts and "
			     "totals may be too high by that many",
			     count(n), plural(n, "call was", "calls were"), count(w->values[1]));
}

static void append_unknown_cost(char **text, const struct analyze_warning *w)
{
	alloc_append(text, "the cost of %s probes is unknown and included in the times of ",
		     w->names[0]);
	if (w->values[0] > 0)
		alloc_append(text, "%.0f %s (%s%s) and of everything that calls %s", w->values[0],
			     plural(w->values[0], "function", "functions"), w->names[1],
			     plural(w->values[0], "", ", ..."), plural(w->values[0], "it", "them"));
	else
		alloc_append(text, "syscalls and page faults");
}

/* Texts of warnings whose only parameter is a name, printed by "%s". */
static const char *const sentences[] = {
	[ANALYZE_WARNING_EMPTY] = "the file contains no runs",
	[ANALYZE_WARNING_SYSCALLS] = "only these syscalls were measured: %s",
	[ANALYZE_WARNING_INLINED] =
		"calls that the compiler inlined are not in the figures of %s (--range=NAME times them)",
	[ANALYZE_WARNING_DRIFT] =
		"the cost of a probe changed while recording (%s): what is subtracted may be off by as much, and intervals are wider (record again)",
	[ANALYZE_WARNING_NO_FAULTS] = "page faults are not counted",
	[ANALYZE_WARNING_TRACERS] =
		"other tools traced the kernel, and what that costs is in the times of what they traced: %s (record again without them)",
	[ANALYZE_WARNING_PROGRAMS] =
		"others loaded %s while the command ran: times may contain what that costs",
	[ANALYZE_WARNING_UNFINISHED] =
		"the recorder was killed: the last run is incomplete, and its counts were read while they kept changing",
	[ANALYZE_WARNING_PREEMPT_RT] =
		"PREEMPT_RT: too much probe cost is subtracted for calls made while a lock is held, so times of functions that run under locks, and of their callers, are too low (--raw shows uncorrected figures)",
};

static void append_failed(char **text, const struct analyze_warning *w)
{
	scoped_free char *how = profile_run_end_text(w->run);

	if (w->values[1] == 1)
		alloc_append(text, "the command %s", how);
	else
		alloc_append(text, "%.0f of %.0f runs failed: in run %.0f the command %s",
			     w->values[0], w->values[1], w->values[2], how);
}

/* Append a warning about the figures of one recording. */
static void append_one(char **text, const struct analyze_warning *w)
{
	scoped_free char *loss = NULL;

	switch (w->kind) {
	case ANALYZE_WARNING_LOSS:
		loss = profile_loss_text(w->code, w->values[0]);
		alloc_append(text, "%s %s", count(w->values[0]), loss);
		break;
	case ANALYZE_WARNING_MISSED:
		append_missed(text, w);
		break;
	case ANALYZE_WARNING_UNACCOUNTED:
		append_unaccounted(text, w);
		break;
	case ANALYZE_WARNING_FAILED_RUNS:
		append_failed(text, w);
		break;
	case ANALYZE_WARNING_TASKS_LEFT:
		alloc_append(
			text,
			"%s %s outlived the command: what %s did after it ended was not measured",
			count(w->values[0]), plural(w->values[0], "task", "tasks"),
			plural(w->values[0], "it", "they"));
		break;
	case ANALYZE_WARNING_NEGATIVE:
		alloc_append(
			text,
			"the calibration subtracts more than the probes cost in %.0f %s, above "
			"all from the %s of %s%s%s: negative values are shown as they are and "
			"are too low; --raw shows uncorrected figures",
			w->values[0], plural(w->values[0], "row", "rows"), view_time_texts[w->code],
			w->names[0], w->names[1] ? " in " : "", w->names[1] ? w->names[1] : "");
		break;
	case ANALYZE_WARNING_COST_UNKNOWN:
		append_unknown_cost(text, w);
		break;
	case ANALYZE_WARNING_CLOCK:
		alloc_append(text,
			     "the clock (%s) advanced in steps of %.1f ms, and so do all times and "
			     "probe costs: do not compare times (boot with another clock; dmesg | "
			     "grep -i tsc shows why this one is used)",
			     w->names[0] ? w->names[0] : "unknown", w->values[0] / 1e6);
		break;
	default:
		alloc_append(text, sentences[w->kind], w->names[0]);
		break;
	}
}

char *view_warning(const struct analyze_warning *w)
{
	scoped_free char *text = NULL;

	if (w->kind < ANALYZE_WARNING_EMPTY) {
		append_pair(&text, w);
	} else {
		if (w->side != ANALYZE_SIDE_NONE)
			alloc_append(&text, "%s: ", view_side_names[w->side]);
		append_one(&text, w);
	}
	return output_text_escape(text);
}

json_t *view_warnings_json(const struct analyze_warnings *warnings)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < warnings->n_rows; i++) {
		scoped_free char *text = view_warning(&warnings->rows[i]);

		json_array_append_new(list, output_json_text(text));
	}
	return list;
}
