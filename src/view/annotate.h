/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of annotate, for a function of one recording, and of diff --annotate, for two. */
#pragma once

#include "analyze/code/annotate.h"
#include "arch/disasm.h"
#include "kernel/debuginfo/source.h"
#include "kernel/image/image.h"
#include "view/page/table.h"

/* A function of a recording with its code. */
struct annotated {
	const char *path; /* of the recording */
	char *name, *within; /* parts of FUNC or FUNC@FUNCTION */
	const char *module; /* of the function; NULL: the kernel's image */
	struct profile *p;
	struct kernel_image *image;
	struct kernel_index *index;
	struct kernel_kcore *kcore; /* NULL where the recorded kernel is not the running one */
	struct kernel_kallsyms *ks; /* NULL likewise */
	struct kernel_code *code;
	struct kernel_source *source;
	struct analyze_ranges ranges;
	struct analyze_annotation a;
	bool ready; /* RANGES and A are set */
};

/* The data of the tables. */
struct view_annotation {
	struct view_data common;
	const struct annotated *f;
	struct arch_disasm *disasm; /* needed for instructions only */
};

/* The tables, in the order of JSON: each is a struct view_table annotate_NAME. */
#define VIEW_ANNOTATE_TABLES(TABLE) \
	TABLE(instructions)         \
	TABLE(lines)                \
	TABLE(bodies)               \
	TABLE(places)

#define VIEW_ANNOTATE_DECLARE(name) extern const struct view_table annotate_##name;
VIEW_ANNOTATE_TABLES(VIEW_ANNOTATE_DECLARE)
#undef VIEW_ANNOTATE_DECLARE

extern const struct view_list view_annotate_list;

struct view_annotate_options {
	int top; /* as in struct view */
	int around; /* instructions shown before and after one with samples */
	bool all, color;
};

/* Write the page on stdout: the parts with most of the function's time, then its code. */
void view_annotate_page(const struct view_annotation *v, const struct view_annotate_options *o);

/* The same function in two recordings. */
struct view_annotate_diff {
	struct view_data common;
	struct annotated sides[2]; /* baseline, hardened */
	struct analyze_annotate_diff diff;
	const char *func, *context; /* as asked for; CONTEXT NULL: all */
};

/* The tables of a struct view_annotate_diff: bodies, and lines. */
extern const struct view_list view_annotate_diff_list;

/* ALL: include lines without samples. */
void view_annotate_diff_page(const struct view_annotate_diff *c, int top, bool all);

/* Return whether PLACE's instructions were read from the running kernel, and not from the vmlinux or module file. */
bool annotated_is_live(const struct annotated *f, const struct analyze_place *place);
/*
 * Return the place of an instruction, "+0x11e", or "allocate_slab.cold+0x5" outside of the function's own symbol; for free().
 */
char *annotated_address(const struct analyze_place *place, const struct analyze_instruction *i);
/* Return the instruction's text, with the names of its target and of data; for free(). */
char *annotated_text(const struct annotated *f, struct arch_disasm *disasm,
		     const struct analyze_place *place, const struct analyze_instruction *i);
/* Return LINE's source without leading blanks, safe on a terminal; for free(). NULL: not available. */
char *annotated_source(const struct annotated *f, const struct analyze_line *line);
/* Return "mm/slub.c:1978", or "?" if unknown; for free(). */
char *annotated_where(const struct analyze_line *line);

/* Return the heading of costs: "COST/CALL". */
const char *annotate_cost_header(enum profile_clock clock, bool is_of_call);
