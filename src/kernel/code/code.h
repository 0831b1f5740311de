/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine code of a kernel image: its bytes in the file and in the running kernel, and the kernel's tables of instructions.
 * These tables tell where the kernel patches code at run time (jump labels, static calls, ftrace locations), where execution
 * continues after a fault, and which ud2 is a WARN.
 *
 * Addresses are relative to _stext. The file is not trusted: damage can only make results incomplete.
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
struct kernel_sym;

/* The running kernel that was booted from an image, or a loaded module. */
struct kernel_live {
	const struct kernel_kcore *kcore; /* NULL: the kernel's memory cannot be read */
	uint64_t base; /* address of _stext or, for a module, of its first function */
	const struct kernel_kallsyms *ks; /* symbols of functions that a module calls; or NULL */
};

struct kernel_code {
	struct kernel_image *img;
	struct kernel_live live;
	uint64_t base; /* address of _stext in the file */
	struct arch_tables tables;
};

/*
 * Open the code of IMG. LIVE is the running kernel, with the same build-id as IMG; it may be NULL. IMG and LIVE's objects must
 * outlive the result. Read the running code before this program places probes, because probes change the code. Return -ENOTSUP,
 * without a message, if IMG is of another architecture.
 */
int kernel_code_create(struct kernel_image *img, const struct kernel_live *live,
		       struct kernel_code **out);
void kernel_code_destroy(struct kernel_code *code); /* accepts NULL */

/* Like kernel_image_symbol_at(). If CODE is a module's, look up addresses outside of the module in the kernel's symbols. */
const char *kernel_code_symbol_at(const struct kernel_code *code, uint64_t addr, uint64_t *offset);

/*
 * Read LEN bytes at ADDR as they are in the file. Return false if the file does not have them. The running kernel has
 * other bytes where it has applied alternatives, paravirt calls, static calls, return thunks or jump labels.
 */
bool kernel_code_read_file(const struct kernel_code *code, uint64_t addr, void *buf, size_t len);

/* Read LEN bytes at ADDR as they are in the running kernel. Return 0, -ENODATA if CODE has no running kernel, or -errno. */
int kernel_code_read_live(const struct kernel_code *code, uint64_t addr, void *buf, size_t len);

/* Functions that livepatches have replaced. The kernel does not execute the original code of these functions. */

#define KERNEL_LIVEPATCH_DIR "/sys/kernel/livepatch"

struct kernel_livepatched {
	char *patch, *object, *function; /* a single allocation: free only PATCH */
};

struct kernel_livepatches {
	vec_of(struct kernel_livepatched, items);
};

/* Load the names of functions replaced by the livepatches below FOLDER. If FOLDER does not exist, there are none. */
void kernel_livepatches_load(const char *folder, struct kernel_livepatches *out);
void kernel_livepatches_deinit(struct kernel_livepatches *l);

/* Return the livepatch in L that has replaced SYM, or a namesake in the same module; NULL: none. */
const char *kernel_livepatch_of(const struct kernel_livepatches *l, const struct kernel_sym *sym);

/*
 * Static keys are the kernel's on/off switches. Where code depends on a key, it has a jump or a nop, which the kernel patches when
 * the key changes. Boot parameters, the CPU and the kernel's state (such as a seeded random generator) turn keys on.
 */

/*
 * Return the name of the static key that is OFFSET bytes into the variable NAME, such as "sched_feat_keys+0x10". Return NULL if
 * that name may differ in another build. The caller frees the result.
 */
char *kernel_static_key_name(const char *name, uint64_t offset);

/*
 * Return the names of the kernel's static keys that are on, such as "init_on_alloc rseq_debug_enabled". Return NULL if KCORE is
 * NULL, or if the kernel's table of jump labels cannot be found or read. The caller frees the result.
 */
char *kernel_static_keys_on(const struct kernel_kcore *kcore, const struct kernel_kallsyms *ks);

/*
 * Append to NAMES the static keys that the code at START (LEN bytes) depends on, each once, in the order of the code. Leave out
 * keys that are members of other variables (tracepoints) or static variables of functions.
 */
void kernel_static_keys_in(const struct kernel_kcore *kcore, const struct kernel_kallsyms *ks,
			   uint64_t start, uint64_t len, struct alloc_texts *names);
