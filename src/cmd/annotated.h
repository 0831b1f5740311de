/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function of a recording, with its code: annotate shows one, diff --annotate one per side. */
#pragma once

#include "cmd/view.h"
#include "output/text.h"
#include "view/annotate.h"

/* The options that both commands have, filled in by annotated_syntax. Zero is the default. */
struct annotated_options {
	const char *source; /* folder of the source tree, or NULL */
	const char *context;
	const char *vmlinux_option; /* name of the option, for messages; NULL: --vmlinux */
	enum output_color color;
	bool all;
};

extern const struct cmd_syntax annotated_syntax;

/*
 * Open FUNC of the recording PATH. Return CMD_DONE, or CMD_FAILED after a message; call annotated_close() in either case.
 * A FUNC that does not exist or has no samples is not a failure: call annotated_check().
 */
int annotated_open(struct annotated *f, const char *path, const char *func, const char *vmlinux,
		   const struct annotated_options *o);
/* Return CMD_DONE, or CMD_FAILED after a message if there is nothing to show. */
int annotated_check(const struct annotated *f, const struct annotated_options *o);
void annotated_close(struct annotated *f);

/* Both sides of diff --annotate FUNC. VMLINUX may have NULLs. Returns an exit status. */
struct annotate_diff_options {
	const struct view_options *view;
	const struct annotated_options *annotated;
	const char *func;
	const char *files[2], *vmlinux[2];
};

int annotate_diff(const struct annotate_diff_options *o);
