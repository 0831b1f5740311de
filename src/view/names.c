// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/names.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyze/why/attribution.h"
#include "analyze/diff/renames.h"
#include "base/alloc.h"
#include "base/plural.h"
#include "output/text.h"

const char *const view_time_keys[] = {
	[ANALYZE_TIME_ONCPU] = "oncpu",
	[ANALYZE_TIME_WALL] = "wall",
	[ANALYZE_TIME_SELF] = "self",
	NULL,
};

const char *const view_time_texts[] = {
	[ANALYZE_TIME_ONCPU] = "on-CPU time",
	[ANALYZE_TIME_WALL] = "wall time",
	[ANALYZE_TIME_SELF] = "self time",
};

const char *const view_time_headers[] = {
	[ANALYZE_TIME_ONCPU] = "CPU",
	[ANALYZE_TIME_WALL] = "WALL",
	[ANALYZE_TIME_SELF] = "SELF",
};

const char *const view_call_kinds[] = {
	[ANALYZE_CALL_SYSCALL] = "syscall",
	[ANALYZE_CALL_FUNCTION] = "function",
};

const char *const view_units[] = {
	[ANALYZE_UNIT_RUN] = "run",
	[ANALYZE_UNIT_BOOT] = "boot",
	[ANALYZE_UNIT_RECORDING] = "recording",
};

const char *const view_verdicts[] = {
	[ANALYZE_VERDICT_NONE] = NULL,         [ANALYZE_VERDICT_SAME] = "same",
	[ANALYZE_VERDICT_SLOWER] = "slower",   [ANALYZE_VERDICT_FASTER] = "faster",
	[ANALYZE_VERDICT_UNCLEAR] = "unclear",
};

const char *const view_sources[] = {
	[ANALYZE_SOURCE_NONE] = NULL,
	[ANALYZE_SOURCE_EXACT] = "exact",
	[ANALYZE_SOURCE_ESTIMATED] = "estimated",
	[ANALYZE_SOURCE_COUNTED] = "counted",
};

const char *const view_caveats[] = {
	[ANALYZE_CAVEAT_NONE] = NULL,
	[ANALYZE_CAVEAT_IRQS_OFF] = "interrupts off",
};

const char *const view_hows[] = {
	[ANALYZE_HOW_NONE] = NULL,
	[ANALYZE_HOW_UNPROBED] = "unprobed",
	[ANALYZE_HOW_PROBED] = "probed",
	[ANALYZE_HOW_ESTIMATED] = "estimated",
};

const char *const view_parts[] = {
	[WHY_ATTRIBUTED_COMMAND] = "command",   [WHY_ATTRIBUTED_CONTEXT] = "syscall",
	[WHY_ATTRIBUTED_OUTSIDE] = "outside",   [WHY_ATTRIBUTED_MOVED] = "moved",
	[WHY_ATTRIBUTED_FUNCTION] = "function", [WHY_ATTRIBUTED_UNTIMED] = "untimed",
	[WHY_ATTRIBUTED_BODY] = "range",        [WHY_ATTRIBUTED_REST] = "rest",
	[WHY_ATTRIBUTED_OTHERS] = "others",
};

const char *const view_env_kinds[] = {
	[ANALYZE_ENV_STATE] = "protection",      [ANALYZE_ENV_PROTECTION] = "protection",
	[ANALYZE_ENV_CONFIG] = "config",         [ANALYZE_ENV_CMDLINE] = "cmdline",
	[ANALYZE_ENV_STATIC_KEY] = "static key", [ANALYZE_ENV_OTHER] = "environment",
	[ANALYZE_ENV_KERNEL] = "kernel",
};

const char *const view_renamings[] = {
	[ANALYZE_RENAMING_KNOWN] = "known",
	[ANALYZE_RENAMING_INFERRED] = "inferred",
	[ANALYZE_RENAMING_TOLD] = "given",
};

const char *const view_notes[] = {
	[ANALYZE_NOTE_NONE] = NULL,
	[ANALYZE_NOTE_NOT_TIMED_BASELINE] =
		"not timed on the baseline side (no such function there, or not recorded)",
	[ANALYZE_NOTE_NOT_TIMED_HARDENED] =
		"not timed on the hardened side (no such function there, or not recorded)",
	[ANALYZE_NOTE_INLINED_BASELINE] = "not timed on the baseline side, which inlines it",
	[ANALYZE_NOTE_INLINED_HARDENED] = "not timed on the hardened side, which inlines it",
	[ANALYZE_NOTE_BODIES_BASELINE] = "inlined on the baseline side: figures are those of its "
					 "bodies",
	[ANALYZE_NOTE_BODIES_HARDENED] = "inlined on the hardened side: figures are those of its "
					 "bodies",
	[ANALYZE_NOTE_CALLED_BASELINE] = "called on the baseline side only",
	[ANALYZE_NOTE_CALLED_HARDENED] = "called on the hardened side only",
	[ANALYZE_NOTE_FEW] = "called in too few repetitions",
	[ANALYZE_NOTE_NEAR_ZERO] = "mean not significantly above 0: no percentages",
	[ANALYZE_NOTE_NO_NUMBER] =
		"no number of boots would settle it: probe cost is not known accurately enough",
};

const char *const view_trace_kinds[] = {
	[PROFILE_TRACE_CALL] = "call",
	[PROFILE_TRACE_LINE] = "line",
	[PROFILE_TRACE_LOOP] = "loop",
	[PROFILE_TRACE_LOST] = "lost",
};

const char *const view_trace_changes[] = {
	[ANALYZE_TRACE_SAME] = "same",
	[ANALYZE_TRACE_DIFFERS] = "differs",
	[ANALYZE_TRACE_BASELINE_ONLY] = "baseline",
	[ANALYZE_TRACE_HARDENED_ONLY] = "hardened",
	[ANALYZE_TRACE_MOVED] = "moved",
};

const char *view_workload_label(const char *name)
{
	if (!strcmp(name, ANALYZE_COMMAND))
		return "[elapsed time]";
	return strcmp(name, ANALYZE_COMMAND_CPU) ? name : "[cpu time]";
}

void view_append(char **text, const char *fmt, ...)
{
	scoped_free char *plain = NULL, *escaped = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&plain, fmt, args) < 0)
		plain = alloc_strdup("out of memory");
	va_end(args);
	escaped = output_text_escape(plain);
	alloc_append(text, "%s", escaped);
}

void view_append_value(char **text, const struct profile *p, const struct profile_variable *v,
		       uint64_t value, bool bits)
{
	scoped_free char *raw = NULL, *escaped = NULL;

	profile_value_append(&raw, p, v, value, bits);
	escaped = output_text_escape(raw ?: "");
	alloc_append(text, "%s", escaped);
}

void view_append_values(char **text, const struct profile *p, uint32_t site, const uint64_t *values,
			uint32_t absent, uint32_t shown)
{
	uint32_t place = 0;

	vec_each(const struct profile_variable, v, p, variables) {
		uint32_t at = place;

		if (v->site != site)
			continue;
		place++;
		if (!(shown >> at & 1))
			continue;
		alloc_append(text, "%s%s=", *text ? " " : "", v->name);
		if (absent >> at & 1)
			alloc_append(text, "-");
		else
			view_append_value(text, p, v, values[at], values[at] >> 63 > v->is_signed);
	}
}

void view_append_context(char **text, const char *context)
{
	size_t by;
	const char *what = profile_context_queued(context, &by);
	scoped_free char *whose = output_text_escape(context);

	/* WHOSE is CONTEXT with escapes, such as "close [rcu]". Its suffix " [rcu]" is as long as in CONTEXT. Do not print it. */
	if (what)
		alloc_append(text, "%s %.*s, ", what, (int)(strlen(whose) - (strlen(context) - by)),
			     whose);
	else if (!strcmp(context, profile_context_name(PROFILE_CONTEXT_IRQ)))
		alloc_append(text, "interrupts, ");
	else if (!strcmp(context, profile_context_name(PROFILE_CONTEXT_NONE)))
		alloc_append(text, "user code, entry code, exceptions and signals, ");
}

char *view_frames(const struct analyze_frame *frames, size_t n)
{
	char *text = NULL;

	for (size_t i = 0; i < n; i++)
		view_append(&text, "%s%s%s", i ? " " : "", frames[i].name,
			    frames[i].kind == ANALYZE_FRAME_INLINED ? " (inlined)" : "");
	return text;
}

void view_append_list(char **text, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		view_append(text, "%s%s", !i ? "" : i + 1 < n ? ", " : " and ", names[i]);
}

bool view_is_more_than_all(double share)
{
	return round(100 * share) > 100;
}

void view_append_share(char **text, const char *before, double share, const char *whole)
{
	if (view_is_more_than_all(share))
		alloc_append(text, "%s%core than all of %s, partly offset elsewhere,", before,
			     strchr(before, ',') || strchr(before, ';') ? 'm' : 'M', whole);
	else
		alloc_append(text, "%s%.0f %% of %s", before, 100 * share, whole);
}

void view_append_sides(char **text, const uint32_t n[2], const char *unit)
{
	if (n[0] == n[1])
		alloc_append(text, "%u %s%s per side", n[0], unit, plural(n[0], "", "s"));
	else
		alloc_append(text, "%u and %u %ss", n[0], n[1], unit);
}
