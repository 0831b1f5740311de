/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running kernel's symbols, each source opened on first use: reading
 * the DWARF of a vmlinux costs a guest on a network file system seconds of its own time.
 */
#pragma once

#include <stdbool.h>

#include "base/alloc.h"
#include "kernel/code/code.h"
#include "kernel/image/kcore.h"
#include "kernel/debuginfo/index.h"
#include "kernel/image/btf.h"
#include "kernel/image/image.h"
#include "kernel/image/kallsyms.h"
#include "kernel/image/tracing.h"

/* A code image, the kernel's or a module's, and its debug information. Its files are read on first use. */
struct record_image {
	const char *module; /* name, the same pointer as in kallsyms; NULL: the kernel's image */
	uint64_t base; /* load address: addresses in the image are relative to it */
	struct kernel_build_id build_id;
	bool image_tried, index_tried, btf_tried;
	struct kernel_image *image; /* its file, if found */
	char *why_not; /* why the file or its DWARF is missing; NULL: neither is, or unknown */
	struct kernel_index *index; /* set by record_image_index() */
	struct kernel_code *code; /* set by record_image_code() */
	struct kernel_btf *btf; /* a module's, set by record_symbols_btf() */
	int btf_fd;
};

struct record_features;

struct record_symbols {
	struct kernel_kallsyms *ks;
	struct kernel_tracing *tracing; /* NULL until record_symbols_load_functions() */
	struct kernel_livepatches livepatches; /* empty until record_symbols_load_functions() */
	struct kernel_btf *btf; /* NULL: none */
	struct record_image kernel;
	vec_of(struct record_image *, modules); /* added by record_symbols_image_of() */
	const char *vmlinux; /* --vmlinux, or NULL */
	const char *kcore; /* a file in place of /proc/kcore; NULL: /proc/kcore */
	struct kernel_kcore *live; /* set by record_symbols_live() */
	bool live_tried;
	struct decoder *decoder; /* made when first needed */
	/* Result of trying a kprobe on a function without ftrace location: 0 or -errno; 1: not tried. */
	int notrace;
	char release[65];
};

/*
 * Read kallsyms, the build-id and, if BTF is NULL, the kernel's BTF. S owns BTF, even after a failure. VMLINUX must outlive S.
 * Report errors.
 */
int record_symbols_init(struct record_symbols *s, const char *vmlinux, struct kernel_btf *btf);
void record_symbols_deinit(struct record_symbols *s);

/* The running kernel: its symbols, and the features that it allows. */
struct record_kernel {
	struct record_symbols *symbols;
	struct record_features *features;
};

/* Find the code of return_to_handler(), and try kprobe.multi on TRY_FUNCTION. Return as record_features_try_multi(). */
int record_kernel_try_multi(const struct record_kernel *kernel);

/* Return the running kernel's memory, which S owns; NULL: it cannot be read. */
const struct kernel_kcore *record_symbols_live(struct record_symbols *s);

/* Load what is needed to choose functions to probe. Report errors. */
int record_symbols_load_functions(struct record_symbols *s);

/* Return whether the kernel's kprobe blacklist has the absolute address ADDR; false if it cannot be read. */
bool record_symbols_is_blacklisted(const struct record_symbols *s, uint64_t addr);

/* Return why SYM's code must not be probed if a livepatch has replaced it; else NULL. */
const char *record_symbols_why_patched(const struct record_symbols *s,
				       const struct kernel_sym *sym);

/* Return the image that has SYM, one of S. */
struct record_image *record_symbols_image_of(struct record_symbols *s,
					     const struct kernel_sym *sym);

/*
 * Set IN's index, from the cache or from IN's file; NULL: there is neither. Return 0, or -errno, reported, if a file that the user
 * named does not fit the running kernel.
 */
int record_image_index(struct record_symbols *s, struct record_image *in);
/*
 * Open IN's code, from the running kernel's memory if that can be read. Load the functions, too. Return 0 or -errno,
 * reported only if the functions cannot be loaded; -ENODATA: there is no file.
 */
int record_image_code(struct record_symbols *s, struct record_image *in);

/* Return NAME in IN as kallsyms and perf print it, for free(). */
char *record_image_name(const struct record_image *in, const char *name);

/*
 * Return whether this kernel refuses kprobes in SYM because it has no ftrace location. A kernel without
 * CONFIG_KPROBE_EVENTS_ON_NOTRACE does, except in copies of functions that have one. Tried on the first such function.
 */
bool record_symbols_is_notrace(struct record_symbols *s, const struct kernel_sym *sym);

/*
 * Return the BTF that has SYM, the kernel's or its module's; NULL: none. Set *FD to the descriptor of the module's BTF
 * object, or to 0 for the kernel's.
 */
const struct kernel_btf *record_symbols_btf(struct record_symbols *s, const struct kernel_sym *sym,
					    int *fd);

/* Set *IMAGE to the kernel's own file; NULL: there is none. Return as record_image_index(). */
int record_symbols_image(struct record_symbols *s, struct kernel_image **image);

/* Set *INDEX to the index of the kernel itself. Return as record_image_index(). */
int record_symbols_index(struct record_symbols *s, const struct kernel_index **index);

/* Message that the index is there, but not its vmlinux, with what that allows and what it does not. */
extern const char record_symbols_vmlinux_missing[];

/*
 * Return whether the running kernel's function SYM reads an argument register beyond the first N. UNKNOWN: its code cannot
 * be read. Callees are assumed to read what BTF says.
 */

enum kernel_answer record_arguments_beyond(struct record_symbols *symbols,
					   const struct kernel_sym *sym, unsigned int n);
