/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the commands that show recordings: options, reading files, writing tables. */
#pragma once

#include <stdbool.h>

#include "base/alloc.h"
#include "cmd/options.h"
#include "view/page/page.h"
#include "view/page/writer.h"

/* The options of the syntaxes below, a part of a command's options. Zero is the default, except for LIST. */
struct view_options {
	uint32_t format; /* index into view_writers */
	const struct view_list *list; /* the tables that the command can show */
	struct analyze_options figures;
	int top; /* see struct view */
	bool all;
	vec_of(const char *, sections); /* names of tables; to be freed */
};

extern const struct cmd_syntax view_syntax;
/* The options of view_syntax, and those for recordings. */
extern const struct cmd_syntax view_recordings_syntax;

/* Return the help of --format for commands without HTML, for free(). Used as help_of of a struct cmd_option. */
char *view_format_help(const void *o);

/* Return the table of LIST with NAME, which was given to --section; a wrong NAME ends the program. */
const struct view_table *view_table_parse(const struct argp_state *state,
					  const struct view_list *list, const char *name);

/* Check that the tables of LIST, NULL if there are none, can be written in FORMAT; if not, end the program. */
void view_check_format(uint32_t format, const struct view_list *list,
		       const struct argp_state *state);

/* Write DATA to stdout according to O. */
void view_write(const struct view_options *o, const void *data);

/*
 * Read the recording PATH and name its addresses that have no names yet,
 * from VMLINUX unless it is NULL. Return NULL, after a message, on failure.
 */
struct profile *view_open(const char *path, const char *vmlinux);

/* Open the file of P's kernel, found by build-id, for kernel_image_destroy(). Return NULL, not reported, if it is not found. */
struct kernel_image *view_open_image(const struct profile *p);

/* Message for a file without samples. */
#define VIEW_NO_SAMPLES "%s contains no samples: record with --freq=997, or for longer"

/* Message for a file without a complete call. */
#define VIEW_NO_TRACE \
	"%s contains no trace of a call: lab run --exact --trace FUNC[:N] keeps the N-th"
