/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page of text: the layout of its lines, facts and tables. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyze/figures/workload.h"
#include "analyze/figures/table.h"
#include "analyze/figures/warnings.h"
#include "output/section.h"
#include "profile/profile.h"

/* The size of the first screen. */
#define VIEW_SCREEN_LINES 40

struct view {
	FILE *out;
	unsigned int width;
	int is_terminal;
	int top; /* rows per table; 0: the table's own limit; -1: all */
	bool everything; /* more than the first screen: all warnings, all tables */
};

/* Begin a page on OUT, as wide as OUT or $COLUMNS says. */
void view_init(struct view *view, FILE *out, int top);

/* Write a paragraph. Control characters, for example in names of the file, are made harmless. */
void view_text(const struct view *view, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Write TEXT. Each line is a paragraph, indented by its leading spaces. */
void view_paragraphs(const struct view *view, const char *text);

/* Write a line of a list, "  NAME  VALUE", wrapped under VALUE. Both may come from the file as they are. */
void view_fact(const struct view *view, const char *name, const char *value);

/* Write a table with TOP rows, unless --top says otherwise; TOP 0: all. */
void view_section(const struct view *view, const struct output_section *section, unsigned int top);

/*
 * Write the warnings on the page below a blank line, and on stderr if the page goes elsewhere: warnings that ask something of
 * the reader, or all if VIEW has EVERYTHING.
 */
void view_warnings(const struct view *view, const struct analyze_warnings *warnings);
/* Write the warnings on stderr only, for formats without a place for them. */
void view_warnings_log(const struct analyze_warnings *warnings, bool everything);

/* Return a phrase for the times of calls, "on-CPU time, less probe cost"; EXACT: without the probes' part. For free(). */
char *view_times(const struct analyze_options *figures, bool exact);

/* Return a sentence on CLOCK's unit if readers may misunderstand it, else NULL. */
const char *view_unit_note(enum profile_clock clock);

/* Return " instructions" or " instruction", for N of them; "" for times in ns, since output_number() appends their unit. */
const char *view_unit(enum profile_clock clock, double n);

/* Return S as JSON; null if nothing is known. */
json_t *view_kernel_share_json(const struct analyze_kernel_share *s);

/* Return the workload's command line as one could type it; without one, the recorded tasks. For free(). */
char *view_command(const struct profile *p);

/* Return the kernel of P, "6.1.0-13-amd64", or that it is unknown. */
const char *view_release(const struct profile *p);

/* Return "3 runs in 2 boots", "1 run"; for free(). */
char *view_runs(uint32_t runs, uint32_t boots);
