/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine code of a kernel's image: its bytes, as the running kernel has them or as the file
 * has them, and what the image says about single instructions: where code is patched at run time
 * (jump labels, static calls, ftrace locations), where a fault continues, which ud2 is a WARN.
 *
 * Addresses are relative to _stext. The file is not trusted: damage costs answers, nothing else.
 */
#ifndef KPROTPERF_SYMBOL_CODE_H
#define KPROTPERF_SYMBOL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_image;
struct symbol_kcore;

/* A jump at CODE that is either there or a nop, as a static key has it. */
struct symbol_jump_label {
	uint64_t code, target;
};

/* A fault of the instruction INSN continues at FIXUP. */
struct symbol_fixup {
	uint64_t insn, fixup;
};

struct symbol_bug {
	uint64_t addr;
	bool warning; /* execution goes on behind it */
};

/* Code that was replaced while the kernel booted, if the CPU is of a kind. */
struct symbol_alternative {
	uint64_t addr, len;
};

/* All ascending by their first address. */
struct symbol_code_tables {
	struct symbol_jump_label *labels;
	struct symbol_fixup *fixups;
	struct symbol_bug *bugs;
	struct symbol_alternative *alternatives;
	uint64_t *static_calls;
	uint64_t *ftrace; /* where the call of __fentry__ is */
	uint64_t *retpolines; /* indirect jumps and calls that were compiled as calls of thunks */
	uint32_t n_labels, cap_labels, n_fixups, cap_fixups, n_bugs, cap_bugs;
	uint32_t n_static_calls, cap_static_calls, n_ftrace, cap_ftrace;
	uint32_t n_retpolines, cap_retpolines, n_alternatives, cap_alternatives;
	bool has_bugs; /* the image has a table of them: a ud2 that is not in it is none of ours */
};

struct symbol_code;

/*
 * The code of IMG. KCORE (may be NULL) is the running kernel, of the same build as IMG, with its
 * _stext at STEXT: read it before probes of one's own are there. Both must outlive the result.
 * -ENOTSUP for machines other than x86-64, not reported.
 */
int symbol_code_create(struct symbol_image *img, const struct symbol_kcore *kcore, uint64_t stext,
		       struct symbol_code **out);
void symbol_code_destroy(struct symbol_code *code); /* accepts NULL */

struct symbol_image *symbol_code_image(const struct symbol_code *code);
/* The absolute address of _stext, in the file and in the running kernel (0 without one). */
uint64_t symbol_code_file_base(const struct symbol_code *code);
uint64_t symbol_code_live_base(const struct symbol_code *code);
const struct symbol_code_tables *symbol_code_tables(const struct symbol_code *code);

/*
 * LEN bytes at ADDR as the file has them; false where it has none. What alternatives, paravirt calls,
 * static calls, return thunks and jump labels make of them is not in there.
 */
bool symbol_code_read_file(const struct symbol_code *code, uint64_t addr, void *buf, size_t len);

/* The same of the running kernel; 0, -ENODATA without one, or -errno. */
int symbol_code_read_live(const struct symbol_code *code, uint64_t addr, void *buf, size_t len);

#endif
