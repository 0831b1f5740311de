/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running kernel's symbols. Each source of symbols is opened on first use: reading the DWARF of a vmlinux takes seconds in a
 * guest whose files are on a network file system.
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
	const char *module; /* module's name, the same pointer as in kallsyms; NULL: the kernel */
	uint64_t base; /* load address, to which addresses in the image are relative */
	struct kernel_build_id build_id;
	bool image_tried, index_tried, btf_tried;
	struct kernel_image *image; /* the image's file; NULL: not found */
	char *why_not; /* reason why the file or its DWARF is missing; NULL: none known */
	struct kernel_index *index; /* set by record_image_index() */
	struct kernel_code *code; /* set by record_image_code() */
	struct kernel_btf *btf; /* BTF of a module, set by record_symbols_btf() */
	int btf_fd;
};

struct record_features;

struct record_symbols {
	struct kernel_kallsyms *ks;
	struct kernel_tracing *tracing; /* NULL until record_symbols_load_functions() is called */
	struct kernel_livepatches livepatches; /* empty until record_symbols_load_functions() */
	struct kernel_btf *btf; /* the kernel's BTF; NULL: none */
	struct record_image kernel;
	vec_of(struct record_image *, modules); /* filled by record_symbols_image_of() */
	const char *vmlinux; /* argument of --vmlinux, or NULL */
	const char *kcore; /* file to read instead of /proc/kcore; NULL: /proc/kcore */
	struct kernel_kcore *live; /* set by record_symbols_live() */
	bool live_tried;
	struct decoder *decoder; /* created on first use */
	/* 0 or -errno from trying a kprobe on a function without ftrace location; 1: not tried yet. */
	int notrace;
	char release[65];
};

/*
 * Read kallsyms, the build-id and, if BTF is NULL, the kernel's BTF. S owns BTF, even after a failure. VMLINUX must outlive S.
 * Report errors.
 */
int record_symbols_init(struct record_symbols *s, const char *vmlinux, struct kernel_btf *btf);
void record_symbols_deinit(struct record_symbols *s);

/* The running kernel: its symbols and features. */
struct record_kernel {
	struct record_symbols *symbols;
	struct record_features *features;
};

/* Find the code of return_to_handler(). Then call record_features_try_multi() with the address of TRY_FUNCTION. */
int record_kernel_try_multi(const struct record_kernel *kernel);

/* Return the running kernel's memory, which S owns; NULL: it cannot be read. */
const struct kernel_kcore *record_symbols_live(struct record_symbols *s);

/* Load the tables of ftrace locations, kprobe blacklist and livepatches, which tell the functions to probe. Report errors. */
int record_symbols_load_functions(struct record_symbols *s);

/* Return whether the absolute address ADDR is on the kernel's kprobe blacklist; false if the blacklist cannot be read. */
bool record_symbols_is_blacklisted(const struct record_symbols *s, uint64_t addr);

/* Return the reason why SYM's code must not be probed if a livepatch has replaced it; else NULL. */
const char *record_symbols_why_patched(const struct record_symbols *s,
				       const struct kernel_sym *sym);

/* Return the image that has SYM. S owns the image. */
struct record_image *record_symbols_image_of(struct record_symbols *s,
					     const struct kernel_sym *sym);

/*
 * Set IN->index by the cache or the file of IN; NULL: there is neither. Return 0, or -errno, reported, if a file that the user
 * named does not fit the running kernel.
 */
int record_image_index(struct record_symbols *s, struct record_image *in);
/*
 * Open IN's code, in the running kernel's memory if that can be read. Call record_symbols_load_functions(), too. Return 0 or
 * -errno; errors in the code itself are not reported. -ENODATA: IN has no file.
 */
int record_image_code(struct record_symbols *s, struct record_image *in);

/* Return NAME with a suffix "[MODULE]" if IN is a module, like kallsyms and perf. The caller frees the result. */
char *record_image_name(const struct record_image *in, const char *name);

/*
 * Return whether this kernel refuses kprobes in SYM because SYM has no ftrace location. Without CONFIG_KPROBE_EVENTS_ON_NOTRACE
 * the kernel refuses all such functions, except clones of functions that have a location. The first call tries one function.
 */
bool record_symbols_is_notrace(struct record_symbols *s, const struct kernel_sym *sym);

/*
 * Return the BTF that has SYM, the kernel's or a module's; NULL: none. Set *FD to the descriptor of the module's BTF object, or to
 * 0 for the kernel's BTF.
 */
const struct kernel_btf *record_symbols_btf(struct record_symbols *s, const struct kernel_sym *sym,
					    int *fd);

/* Set *IMAGE to the kernel's own file; NULL: there is none. Return like record_image_index(). */
int record_symbols_image(struct record_symbols *s, struct kernel_image **image);

/* Set *INDEX to the index of the kernel itself. Return like record_image_index(). */
int record_symbols_index(struct record_symbols *s, const struct kernel_index **index);

/* Message that an index was found without its vmlinux, and which features this allows. */
extern const char record_symbols_vmlinux_missing[];

/*
 * Return whether SYM, a function of the running kernel, reads an argument register beyond the first N; KERNEL_UNKNOWN if its code
 * cannot be read. For functions that SYM calls, believe BTF.
 */

enum kernel_answer record_arguments_beyond(struct record_symbols *symbols,
					   const struct kernel_sym *sym, unsigned int n);
