/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations for commands that show recordings: options, reading recordings, and writing tables. */
#pragma once

#include <stdbool.h>

#include "base/alloc.h"
#include "cmd/options.h"
#include "view/page/page.h"
#include "view/page/writer.h"

/* Options for output. They are a struct view_request, whose LIST the command sets beforehand. */
extern const struct cmd_syntax view_syntax;

/* Options for output that shows recordings, part of a command's options. */
struct view_options {
	struct view_request request;
	struct analyze_options figures;
};

extern const struct cmd_syntax view_recordings_syntax;

/* Return the help of --format for commands without HTML, for free(). Set HELP_OF of a struct cmd_option to this. */
char *view_format_help(const void *o);

/* Return the table NAME of LIST. A NAME that LIST lacks is a usage error of --section, and ends the program. */
const struct view_table *view_table_parse(const struct argp_state *state,
					  const struct view_list *list, const char *name);

/* End the program with a message if FORMAT cannot be used for the tables of LIST (NULL: no tables). */
void view_check_format(uint32_t format, const struct view_list *list,
		       const struct argp_state *state);

/*
 * Read the recording PATH. Look up addresses without a name in VMLINUX or, if it is NULL, as profile_resolve() does. Return NULL,
 * after a message, on failure.
 */
struct profile *view_open(const char *path, const char *vmlinux);

/* Message on a recording without samples. */
#define VIEW_NO_SAMPLES "%s contains no samples: record with --freq=997, or for longer"

/* Message on a recording without a traced call. */
#define VIEW_NO_TRACE \
	"%s contains no trace of a call: lab run --exact --trace FUNC[:N] keeps the N-th"
