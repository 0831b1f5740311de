/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of `kprotperf annotate`, for a function in one recording, and of `diff --annotate`, for a function in two. */
#pragma once

#include "analyze/code/annotate.h"
#include "arch/disasm.h"
#include "kernel/debuginfo/source.h"
#include "kernel/image/image.h"
#include "view/page/table.h"

/* A function in a recording, with its machine code and source code. */
struct annotated {
	const char *path; /* file name of the recording */
	char *name, *within; /* use only copies of NAME inlined into WITHIN; NULL: all copies */
	const char *module; /* the module that contains NAME; NULL: the kernel's image */
	struct profile *p;
	struct kernel_image *image;
	struct kernel_index *index;
	struct kernel_kcore *kcore; /* NULL if the recorded kernel is not the running one */
	struct kernel_kallsyms *ks; /* NULL if the recorded kernel is not the running one */
	struct kernel_code *code;
	struct kernel_source *source;
	struct analyze_ranges ranges;
	struct analyze_annotation a;
	bool ready; /* true after RANGES and A have been computed */
};

/* The data for the tables of `kprotperf annotate`. */
struct view_annotation {
	struct view_data common;
	const struct annotated *f;
	struct arch_disasm *disasm; /* used by the table of instructions and the page's code only */
	int around; /* number of instructions on the page before and after one with samples */
	bool color; /* of the page's code */
};

/* The tables, in the order of the JSON output. TABLE(NAME) stands for the struct view_table annotate_NAME. */
#define VIEW_ANNOTATE_TABLES(TABLE) \
	TABLE(instructions)         \
	TABLE(lines)                \
	TABLE(bodies)               \
	TABLE(places)

#define VIEW_ANNOTATE_DECLARE(name) extern const struct view_table annotate_##name;
VIEW_ANNOTATE_TABLES(VIEW_ANNOTATE_DECLARE)
#undef VIEW_ANNOTATE_DECLARE

extern const struct view_list view_annotate_list;

/* The same function in two recordings. */
struct view_annotate_diff {
	struct view_data common;
	struct annotated sides[2]; /* baseline recording, hardened recording */
	struct analyze_annotate_diff diff;
	const char *func, *context; /* CONTEXT: a syscall or other context; NULL: all */
};

/* Two tables of a struct view_annotate_diff: its inlined functions, and its source lines. */
extern const struct view_list view_annotate_diff_list;

/* Return whether PLACE's instructions were read from the running kernel, and not from the vmlinux or module file. */
bool annotated_is_live(const struct annotated *f, const struct analyze_place *place);
/* Return instruction I's address: "+0x11e" in PLACE's function, or with another symbol, "allocate_slab.cold+0x5"; for free(). */
char *annotated_address(const struct analyze_place *place, const struct analyze_instruction *i);
/* Return instruction I as assembly text, with names for its jump target and data; for free(). */
char *annotated_text(const struct annotated *f, struct arch_disasm *disasm,
		     const struct analyze_place *place, const struct analyze_instruction *i);
/* Return LINE's source code without leading blanks, escaped for terminals; for free(). NULL: not available. */
char *annotated_source(const struct annotated *f, const struct analyze_line *line);
/* Return the file name and line number of LINE, "mm/slub.c:1978", or "?" if unknown; for free(). */
char *annotated_where(const struct analyze_line *line);

/* Return the header of the column with costs per call (IS_OF_CALL) or per run, such as "TIME/CALL" or "COST/RUN". */
const char *annotate_cost_header(enum profile_clock clock, bool is_of_call);
