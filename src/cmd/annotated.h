/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function of a recording with its code: what annotate shows of one, and diff --annotate of two. */
#ifndef KPROTPERF_CMD_ANNOTATED_H
#define KPROTPERF_CMD_ANNOTATED_H

#include <argp.h>

#include "analyze/annotate.h"
#include "cmd/view.h"
#include "output/terminal.h"
#include "symbol/disasm.h"
#include "symbol/objects.h"
#include "symbol/source.h"

/* The options that both have: the input of annotated_argp. Zero is the default. */
struct annotated_options {
	const char *source; /* a folder */
	const char *context;
	const char *vmlinux_option; /* that names a vmlinux, for messages; NULL: --vmlinux */
	enum output_color color;
	bool all;
};

extern const struct argp annotated_argp;

struct annotated {
	const char *path; /* of the recording */
	char *name, *within; /* of FUNC or FUNC@FUNCTION */
	struct profile *p;
	struct symbol_image *image;
	struct symbol_index *index;
	struct symbol_kcore *kcore; /* NULL where the recorded kernel is not the running one */
	struct symbol_code *code;
	struct symbol_objects *objects;
	struct symbol_source *source;
	struct analyze_ranges ranges;
	struct analyze_annotation a;
	bool ready; /* the last two are */
};

/*
 * FUNC in the recording PATH. Returns CMD_DONE, or CMD_FAILED having said what to do; close it in either case.
 * That FUNC is not there, or has no samples, is no failure: ask annotated_check().
 */
int annotated_open(struct annotated *f, const char *path, const char *func, const char *vmlinux,
		   const struct annotated_options *o);
/* CMD_FAILED, having said so, where there is nothing to show. */
int annotated_check(const struct annotated *f, const struct annotated_options *o);
void annotated_close(struct annotated *f);

/* Are PLACE's instructions as the running kernel has them, or as the vmlinux? */
bool annotated_is_live(const struct annotated *f, const struct analyze_place *place);
/* Where an instruction lies: "+0x11e", or "allocate_slab.cold+0x5" out of the function's own symbol. For free(). */
char *annotated_address(const struct annotated *f, const struct analyze_place *place,
			const struct analyze_instruction *i);
/* Its text, with the names of what it calls or jumps to, and of data. For free(). */
char *annotated_text(const struct annotated *f, struct symbol_disasm *disasm,
		     const struct analyze_place *place, const struct analyze_instruction *i);
/* The source of LINE without blanks in front and what a terminal would obey; NULL where it is not at hand. For free(). */
char *annotated_source(const struct annotated *f, const struct analyze_line *line);
/* "mm/slub.c:1978", "?" where unknown. For free(). */
char *annotated_where(const struct analyze_line *line);

#endif
