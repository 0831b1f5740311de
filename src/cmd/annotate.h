/* SPDX-License-Identifier: GPL-2.0-or-later */
/* annotate's rows, which are what its tables, JSON and CSV have in common, and its page. */
#ifndef KPROTPERF_CMD_ANNOTATE_H
#define KPROTPERF_CMD_ANNOTATE_H

#include "cmd/annotated.h"
#include "output/number.h"
#include "output/section.h"

enum annotate_section {
	ANNOTATE_INSTRUCTIONS, /* the default */
	ANNOTATE_LINES,
	ANNOTATE_BODIES,
	ANNOTATE_PLACES,
};

/* In that order; NULL ends them. */
extern const char *const annotate_section_names[];

struct annotate_options {
	struct view_options view;
	struct annotated_options annotated;
	enum annotate_section section;
	bool section_given, intel;
	int around; /* instructions shown before and after one with samples */
	const char *file, *func, *vmlinux;
};

/* Figures that all rows have. */
struct annotate_figures {
	double share, low, high, cost, self, below, late, executions, per_call;
};

struct annotate_row {
	struct annotate_figures figures;
	char *address, *text, *where, *source, *lines, *called;
	const char *path, *chain, *name, *function, *symbol, *file, *measured;
	double offset, addr, length, line, n_insns, first_line, last_line, depth, exact, calls,
		at_return;
	bool inlined;
};

struct annotate_rows {
	struct annotate_row *items;
	uint32_t n_items, cap_items;
};

/* DISASM is needed for instructions only. */
void annotate_rows_init(struct annotate_rows *rows, const struct annotated *f,
			struct symbol_disasm *disasm, enum annotate_section section);
void annotate_rows_deinit(struct annotate_rows *rows);
/* Drops those without samples and not executed either, and sorts the others, most samples first. */
void annotate_rows_rank(struct annotate_rows *rows);

struct output_section annotate_rows_section(const struct annotate_rows *rows,
					    const struct annotated *f,
					    enum annotate_section section);

/* What costs are of, as a column says it: "INSN/CALL". */
const char *annotate_cost_header(enum profile_clock clock, bool is_of_call);

/* "57.2 %": a share where there is no column to say what it is. */
const char *annotate_percent(char buf[OUTPUT_NUMBER_MAX], double share);

void annotate_page_write(const struct annotated *f, struct symbol_disasm *disasm,
			 const struct annotate_options *o);

/* Both sides of diff --annotate FUNC. VMLINUX may have NULLs. Returns an exit status. */
struct annotate_diff_options {
	const struct view_options *view;
	const struct annotated_options *annotated;
	const char *func;
	const char *files[2], *vmlinux[2];
};

int annotate_diff(const struct annotate_diff_options *o);

#endif
