/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of analyze's enums in JSON, CSV and tables, indexed by value; NULL: nothing is printed. */
#pragma once

#include "analyze/code/trace.h"
#include "analyze/inline/stacks.h"
#include "profile/profile.h"

extern const char *const view_time_keys[]; /* enum analyze_time: "oncpu"; ended by NULL */
extern const char *const view_time_texts[]; /* "on-CPU time" */
extern const char *const view_time_headers[]; /* "CPU" */
extern const char *const view_call_kinds[]; /* enum analyze_call_kind: "syscall" */
extern const char *const view_units[]; /* enum analyze_unit: "run" */
extern const char *const view_verdicts[]; /* enum analyze_verdict: "same" */
extern const char *const view_sources[]; /* enum analyze_source: "exact" */
extern const char *const view_caveats[]; /* enum analyze_caveat: "interrupts off" */
extern const char *const view_trace_kinds[]; /* enum profile_trace_kind */
extern const char *const view_trace_changes[]; /* enum analyze_trace_change */
extern const char *const view_hows[]; /* enum analyze_how: "unprobed" */
extern const char *const view_parts[]; /* enum analyze_part: "syscall" */
extern const char *const view_env_kinds[]; /* enum analyze_env_kind: "protection" */
extern const char *const view_renamings[]; /* enum analyze_renaming_how: "known" */
extern const char *const view_notes[]; /* enum analyze_note */

/* Return "[elapsed time]" or the like if NAME stands for a measure of the whole command; otherwise return NAME. */
const char *view_workload_label(const char *name);
void view_append_name(char **text, const char *name); /* escaped: names come from files */
/* Append VALUE of V: a name as in P, escaped (blanks too, so that it is one word); or a number, hexadecimal with BITS. */
void view_append_value(char **text, const struct profile *p, const struct profile_variable *v,
		       uint64_t value, bool bits);
/* Append the values of calls of SITE, "n=4096 flags=0xcc0", with "-" for ABSENT ones. Only variables in SHOWN (bits) appear. */
void view_append_values(char **text, const struct profile *p, uint32_t site, const uint64_t *values,
			uint32_t absent, uint32_t shown);
/* Append an explanation of CONTEXT, "RCU callbacks queued by close, "; nothing for a syscall. */
void view_append_context(char **text, const char *context);
/* Return FRAMES for people, without the suffixes of folded stacks: "extract_entropy [irqs_off]". For free(). */
char *view_frames(const struct analyze_frame *frames, size_t n);
/* Append "a", "a and b", "a, b and c". */
void view_append_list(char **text, const char *const *names, size_t n);
/* Return whether SHARE of a change is more than 100 %, as printed: something else offsets a part of it. */
bool view_is_more_than_all(double share);
/* Append BEFORE, then "97 % of WHOLE" or "more than all of WHOLE, partly offset elsewhere,". */
void view_append_share(char **text, const char *before, double share, const char *whole);
/* Append the number of repetitions of both sides: "3 boots per side", "3 and 4 boots"; UNIT is "boot". */
void view_append_sides(char **text, const uint32_t n[2], const char *unit);
