/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the commands that show recordings: options, reading a file, ending. */
#pragma once

#include <stdbool.h>

#include "base/alloc.h"
#include "cmd/options.h"
#include "view/page/page.h"
#include "view/page/writer.h"

/* The options of one of the syntaxes below, a part of the commands' own. Zero is the default, but for LIST. */
struct view_options {
	uint32_t format; /* in view_writers */
	const struct view_list *list; /* the command's */
	struct analyze_options figures;
	int top; /* as in struct view */
	bool all;
	vec_of(const char *, sections); /* names of tables; to be freed */
};

extern const struct cmd_syntax view_syntax;
/* The same, and what only recordings have. */
extern const struct cmd_syntax view_recordings_syntax;

/* The help of --format where there is no HTML, for cmd_option.help_of; for free(). */
char *view_format_help(const void *o);

/* A name given to --section: its table in LIST; a wrong one ends the program. */
const struct view_table *view_table_parse(const struct argp_state *state,
					  const struct view_list *list, const char *name);

/* Check that the tables of LIST, NULL if there are none, can be written in FORMAT; if not, end the program. */
void view_check_format(uint32_t format, const struct view_list *list,
		       const struct argp_state *state);

/* Writes DATA to stdout, as O says. */
void view_write(const struct view_options *o, const void *data);

/*
 * Reads PATH, and gives its addresses names where they have none yet,
 * from VMLINUX if that is not NULL. Returns the profile, or NULL, having said why.
 */
struct profile *view_open(const char *path, const char *vmlinux);

/* The file of P's kernel, by its build-id, for kernel_image_destroy(); NULL: it is not at hand, not reported. */
struct kernel_image *view_open_image(const struct profile *p);

/* For a file, by its name, out of which no stacks can be folded. */
#define VIEW_NO_SAMPLES "%s contains no samples: record with --freq=997, or for longer"

/* For a file, by its name, without a call that was kept whole. */
#define VIEW_NO_TRACE \
	"%s contains no trace of a call: lab run --exact --trace FUNC[:N] keeps the N-th"
