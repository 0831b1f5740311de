/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options and opening of a function in a recording. `annotate` shows one recording of it, and `diff --annotate` two. */
#pragma once

#include "cmd/view.h"
#include "output/text.h"
#include "view/annotate.h"

/* The options that `annotate` and `diff --annotate` share, set by annotated_syntax. Zero is the default. */
struct annotated_options {
	const char *source; /* directory of the source tree, or NULL */
	const char *context;
	const char *vmlinux_option; /* name of the vmlinux option in messages; NULL: "--vmlinux" */
	enum output_color color;
	bool all;
};

extern const struct cmd_syntax annotated_syntax;

/*
 * Open the recording PATH and the code of FUNC. Return CMD_DONE, or CMD_FAILED after a message. Call annotated_close() in either
 * case. It is no failure if FUNC does not exist or has no samples: call annotated_check().
 */
int annotated_open(struct annotated *f, const char *path, const char *func, const char *vmlinux,
		   const struct annotated_options *o);
/* Return CMD_DONE or, if there is nothing to show, CMD_FAILED after a message. */
int annotated_check(const struct annotated *f, const struct annotated_options *o);
void annotated_close(struct annotated *f);

/* `diff --annotate FUNC`: return the exit status. Elements of VMLINUX may be NULL. */
int annotate_diff(const char *func, char *const files[2], const char *const vmlinux[2],
		  const struct annotated_options *o, const struct view_request *request);
