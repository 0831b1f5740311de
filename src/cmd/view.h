/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What report and diff have in common: the options, and how a page of text is laid out. */
#ifndef KPROTPERF_CMD_VIEW_H
#define KPROTPERF_CMD_VIEW_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyze/losses.h"
#include "analyze/table.h"
#include "output/section.h"
#include "profile/profile.h"

enum view_format {
	VIEW_TABLE,
	VIEW_JSON,
	VIEW_CSV,
};

/* The input of view_argp, a child of the commands' own. Zero is the default. */
struct view_options {
	enum view_format format;
	struct analyze_options figures;
	int top; /* rows a table; 0: the table's own limit; -1: all */
};

extern const struct argp view_argp;

/* The argument of --format; a wrong one ends the program. */
enum view_format view_format_parse(const struct argp_state *state, const char *arg);

/*
 * The argument of --section: its place in NAMES, which NULL ends, plus 1. An ARG that is not among
 * them is a wrong usage, and ends the program.
 */
int view_section_parse(const struct argp_state *state, const char *arg, const char *const *names);

struct view {
	FILE *out;
	unsigned int width;
	int is_terminal;
	int top;
};

void view_init(struct view *view, FILE *out, const struct view_options *options);

/* A paragraph of text that is escaped already. */
void view_text(const struct view *view, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What times of calls are, as in "on-CPU time less probe cost". To be freed. */
char *view_times(const struct analyze_options *figures);

/* A line of a list, "  NAME  VALUE", wrapped under VALUE; both as they come out of the file. */
void view_fact(const struct view *view, const char *name, const char *value);

/* A table, TOP rows of it unless --top says otherwise; TOP 0: all. */
void view_section(const struct view *view, const struct output_section *section, unsigned int top);

/* The line that says what the unit means, where it is not what people expect. */
void view_unit_note(const struct view *view, enum profile_clock clock);

/*
 * The warnings on top of the page, so that they stay with the figures, and on stderr where the page
 * goes elsewhere.
 */
void view_warnings(const struct view *view, const struct analyze_warnings *warnings);
/* On stderr alone: for formats that have no place for them. */
void view_warnings_log(const struct analyze_warnings *warnings);

/* The workload's command line, as one could type it; "(system-wide)" for none. To be freed. */
char *view_command(const struct profile *p);

/* "3 runs in 2 boots", "1 run". To be freed. */
char *view_runs(uint32_t runs, uint32_t boots);

/*
 * Reads PATH, NULL for CMD_DEFAULT_FILE, and gives its addresses names where they have none yet,
 * from VMLINUX if that is not NULL. Returns the profile, or NULL, having said why.
 */
struct profile *view_open(const char *path, const char *vmlinux);

/* For a file, by its name, out of which no stacks can be folded. */
#define VIEW_NO_SAMPLES "%s holds no samples; record with --freq=997, or for longer, to get some"

/* Flushes stdout. Returns CMD_DONE or, having said so, CMD_FAILED: a full disk is no success. */
int view_finish(void);

#endif
