/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine code of a kernel's image: its bytes, as the running kernel has them or as the file
 * has them, and what the image says about single instructions: where code is patched at run time
 * (jump labels, static calls, ftrace locations), where a fault continues, which ud2 is a WARN.
 *
 * Addresses are relative to _stext. The file is not trusted: damage costs answers, nothing else.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/alloc.h"

struct kernel_image;
struct kernel_kallsyms;
struct kernel_kcore;

/* The running kernel that has an image. */
struct kernel_live {
	const struct kernel_kcore *kcore; /* NULL: the kernel's memory cannot be read */
	uint64_t base; /* address of _stext, or of a module's first function */
	const struct kernel_kallsyms *ks; /* symbols of what a module calls; NULL: unknown */
};

struct kernel_code {
	struct kernel_image *img;
	struct kernel_live live;
	uint64_t base; /* the file's address of _stext */
	struct arch_tables tables;
};

/*
 * Open the code of IMG. LIVE (may be NULL) is the running kernel, of the same build as IMG: read its code before this
 * program places probes. IMG and LIVE must outlive the result. -ENOTSUP: IMG is of another architecture; not reported.
 */
int kernel_code_create(struct kernel_image *img, const struct kernel_live *live,
		       struct kernel_code **out);
void kernel_code_destroy(struct kernel_code *code); /* accepts NULL */

/* Like kernel_image_symbol_at(); for an address outside of a module use the kernel's symbols. */
const char *kernel_code_symbol_at(const struct kernel_code *code, uint64_t addr, uint64_t *offset);

/*
 * LEN bytes at ADDR as the file has them; false where it has none. The running kernel has other bytes where it
 * applied alternatives, paravirt calls, static calls, return thunks and jump labels.
 */
bool kernel_code_read_file(const struct kernel_code *code, uint64_t addr, void *buf, size_t len);

/* Likewise read the running kernel's bytes. Return 0, -ENODATA if there is no running kernel, or -errno. */
int kernel_code_read_live(const struct kernel_code *code, uint64_t addr, void *buf, size_t len);

/*
 * Functions that a livepatch has replaced: their own code is not executed any more.
 */

#define KERNEL_LIVEPATCH_DIR "/sys/kernel/livepatch"

struct kernel_sym;

struct kernel_livepatches {
	struct kernel_livepatched {
		char *patch, *object, *function; /* one allocation, PATCH's */
	} * items;
	uint32_t n_items, cap_items;
};

/* Load the functions that the patches below FOLDER have replaced; none if there is no such folder. */
void kernel_livepatches_load(const char *folder, struct kernel_livepatches *out);
void kernel_livepatches_deinit(struct kernel_livepatches *l);

/* Return L's patch that has replaced SYM, or another function of its name and module; NULL: none. */
const char *kernel_livepatch_of(const struct kernel_livepatches *l, const struct kernel_sym *sym);

/*
 * Static keys: the kernel's switches that are jumps in its code, which the running kernel patches in or out. The set of keys
 * that are on depends on parameters, the CPU and the kernel's state (such as a seeded random generator), not on the image.
 */

struct kernel_kallsyms;
struct kernel_kcore;

/* Return the name of the key OFFSET bytes into the variable NAME: "sched_feat_keys+0x10". For free(); NULL: another build has no such name. */
char *kernel_static_key_name(const char *name, uint64_t offset);

/*
 * Return the names of the image's keys that are on now, with blanks between: "init_on_alloc rseq_debug_enabled"; for free(). NULL:
 * neither the kernel's memory nor KS tells them.
 */
char *kernel_static_keys_on(const struct kernel_kcore *kcore, const struct kernel_kallsyms *ks);

/*
 * Append to NAMES the image's variables that are keys of jumps in the LEN bytes of code at START, each once, in the order of the code.
 * Leave out keys that are members of other variables (tracepoints), and static variables of functions.
 */
void kernel_static_keys_in(const struct kernel_kcore *kcore, const struct kernel_kallsyms *ks,
			   uint64_t start, uint64_t len, struct alloc_texts *names);
