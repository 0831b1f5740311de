/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output on a text page: paragraphs, named values, tables and warnings. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyze/figures/workload.h"
#include "analyze/figures/table.h"
#include "analyze/figures/warnings.h"
#include "output/section.h"
#include "output/table.h"
#include "profile/profile.h"

/* Number of lines of the page's first screen, without --all. */
#define VIEW_SCREEN_LINES 40

struct view {
	FILE *out;
	unsigned int width;
	int is_terminal;
	int top; /* maximum rows per table; 0: the table's default; -1: no limit */
	bool everything; /* write all warnings and tables, not only the first screen */
};

/* Begin a page on OUT. The page is as wide as the terminal OUT, or as $COLUMNS says. */
void view_init(struct view *view, FILE *out, int top);

/* Write a wrapped paragraph. Control characters, for example from names in a recording, are replaced. */
void view_text(const struct view *view, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Write each line of TEXT as a wrapped paragraph, indented by its leading spaces. */
void view_paragraphs(const struct view *view, const char *text);

/* Write a line "  NAME  VALUE", wrapped under VALUE. NAME and VALUE may contain control characters, which are escaped. */
void view_fact(const struct view *view, const char *name, const char *value);

/* Return options for a table with at most TOP rows (0: all rows). The option --top replaces TOP. */
struct output_table_options view_table_options(const struct view *view, unsigned int top);

/*
 * Write the warnings on the page after a blank line, and also on stderr if the page is no terminal. Leave out warnings that only
 * inform, unless VIEW has EVERYTHING.
 */
void view_warnings(const struct view *view, const struct analyze_warnings *warnings);
/* Write the warnings on stderr only, for output formats without warnings. */
void view_warnings_log(const struct analyze_warnings *warnings, bool everything);

/* Return a description of the times, such as "on-CPU time, less probe cost"; for free(). EXACT: do not mention probe cost. */
char *view_times(const struct analyze_options *figures, bool exact);

/* Return a sentence on the limits of instruction counts if CLOCK counts instructions, else NULL. */
const char *view_unit_note(enum profile_clock clock);

/* Return S, the kernel's share of the command's CPU time, as a new JSON object; null if the share is unknown. */
json_t *view_kernel_share_json(const struct analyze_kernel_share *s);

/* Return the recorded command line in shell syntax or, if no command was recorded, a description of the tasks; for free(). */
char *view_command(const struct profile *p);

/* Return P's kernel release, "6.1.0-13-amd64", or a text that it is unknown. */
const char *view_release(const struct profile *p);

/* Return a text such as "3 runs in 2 boots" or "1 run"; for free(). */
char *view_runs(uint32_t runs, uint32_t boots);
