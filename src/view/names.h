/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of enum values in JSON, CSV and tables. Each array is indexed by its enum; a NULL name prints nothing. */
#pragma once

#include "analyze/code/trace.h"
#include "analyze/inline/stacks.h"
#include "profile/profile.h"

extern const char *const view_time_keys[]; /* enum analyze_time: "oncpu", ...; ends with NULL */
extern const char *const view_time_texts[]; /* for enum analyze_time: "on-CPU time", ... */
extern const char *const view_time_headers[]; /* for enum analyze_time: "CPU", ... */
extern const char *const view_call_kinds[]; /* for enum analyze_call_kind: "syscall", ... */
extern const char *const view_units[]; /* for enum analyze_unit: "run", ... */
extern const char *const view_verdicts[]; /* for enum analyze_verdict: "same", ... */
extern const char *const view_sources[]; /* for enum analyze_source: "exact", ... */
extern const char *const view_caveats[]; /* for enum analyze_caveat: "interrupts off", ... */
extern const char *const view_trace_kinds[]; /* for enum profile_trace_kind */
extern const char *const view_trace_changes[]; /* for enum analyze_trace_change */
extern const char *const view_hows[]; /* for enum analyze_how: "unprobed", ... */
extern const char *const view_parts[]; /* for enum analyze_part: "syscall", ... */
extern const char *const view_env_kinds[]; /* for enum analyze_env_kind: "protection", ... */
extern const char *const view_renamings[]; /* for enum analyze_renaming_how: "known", ... */
extern const char *const view_notes[]; /* for enum analyze_note */

/* Return NAME or, for the two keys of the whole command's times, "[elapsed time]" or "[cpu time]". */
const char *view_workload_label(const char *name);
/* Append formatted text, and escape it, since names in it are untrusted. FMT consists of printable ASCII characters. */
void view_append(char **text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Append VALUE of variable V as a number, or as the name recorded for it, with blanks escaped. BITS: use hexadecimal numbers. */
void view_append_value(char **text, const struct profile *p, const struct profile_variable *v,
		       uint64_t value, bool bits);
/* Append the VALUES of SITE's variables that have a bit in SHOWN, such as "n=4096 flags=-". A bit in ABSENT makes a value "-". */
void view_append_values(char **text, const struct profile *p, uint32_t site, const uint64_t *values,
			uint32_t absent, uint32_t shown);
/* Append an explanation of the context, such as "RCU callbacks queued by close, "; append nothing for a syscall. */
void view_append_context(char **text, const char *context);
/* Return FRAMES as text for people, such as "extract_entropy [irqs_off]" or "ksize (inlined)"; for free(). */
char *view_frames(const struct analyze_frame *frames, size_t n);
/* Append NAMES as "a", "a and b" or "a, b and c". */
void view_append_list(char **text, const char *const *names, size_t n);
/* Return whether SHARE, a cause's fraction of a change, rounds to more than 100 %. Other causes then offset a part of this one. */
bool view_is_more_than_all(double share);
/* Append BEFORE, then SHARE as "97 % of WHOLE" or, above 100 %, as "more than all of WHOLE, partly offset elsewhere,". */
void view_append_share(char **text, const char *before, double share, const char *whole);
/* Append the numbers of repetitions on both sides, N, such as "3 boots per side" or "3 and 4 boots". UNIT is "boot" or "run". */
void view_append_sides(char **text, const uint32_t n[2], const char *unit);
