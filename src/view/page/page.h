/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page of text under way: how its lines, facts and tables are laid out. */
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
	int top; /* rows a table shows; 0: the table's own limit; -1: all */
	bool everything; /* more than the first screen: all warnings, all tables */
};

/* A page on OUT, as wide as OUT or $COLUMNS says. */
void view_init(struct view *view, FILE *out, int top);

/* A paragraph. What a terminal would obey in names of the file and the like is made harmless. */
void view_text(const struct view *view, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* TEXT, whose lines are paragraphs; one that begins with spaces is indented by as many. */
void view_paragraphs(const struct view *view, const char *text);

/* A line of a list, "  NAME  VALUE", wrapped under VALUE; both as they come out of the file. */
void view_fact(const struct view *view, const char *name, const char *value);

/* A table, TOP rows of it unless --top says otherwise; TOP 0: all. */
void view_section(const struct view *view, const struct output_section *section, unsigned int top);

/*
 * The warnings on the page, below a blank line, and on stderr where the page goes elsewhere: those that ask
 * something of the reader, or all where VIEW has everything.
 */
void view_warnings(const struct view *view, const struct analyze_warnings *warnings);
/* On stderr alone: for formats that have no place for them. */
void view_warnings_log(const struct analyze_warnings *warnings, bool everything);

/* Return a phrase for the times of calls, as "on-CPU time less probe cost"; EXACT: of recordings without probes. For free(). */
char *view_times(const struct analyze_options *figures, bool exact);

/* Return a sentence on the unit if people expect another meaning, else NULL. */
const char *view_unit_note(enum profile_clock clock);

/* " instructions", to be put behind a number N of them; "" where times are in ns, which numbers have with them. */
const char *view_unit(enum profile_clock clock, double n);

/* Null where nothing is known of it. */
json_t *view_kernel_share_json(const struct analyze_kernel_share *s);

/* The workload's command line, as one could type it; without one whose tasks were recorded. To be freed. */
char *view_command(const struct profile *p);

/* "6.1.0-13-amd64": the kernel of P, or that it is not known. */
const char *view_release(const struct profile *p);

/* "3 runs in 2 boots", "1 run". To be freed. */
char *view_runs(uint32_t runs, uint32_t boots);
