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

/*
 * An image of code: the kernel's or a module's, and its debug information. All but the names is read on first
 * use.
 */
struct record_image {
	const char *module; /* as in kallsyms, the same pointer; NULL: the kernel's image */
	uint64_t base; /* addresses in it are relative to this: record_symbols_image_of() */
	struct kernel_build_id build_id;
	bool image_tried, index_tried, btf_tried;
	struct kernel_image *image; /* its file, once looked for; NULL: there is none */
	char *why_not; /* there is no image; NULL: there is, or it is not known why */
	struct kernel_index *index; /* by record_image_index() */
	struct kernel_code *code; /* by record_image_code() */
	struct kernel_btf *btf; /* a module's, by record_symbols_btf() */
	int btf_fd;
};

struct record_features;

struct record_symbols {
	struct kernel_kallsyms *ks;
	struct kernel_tracing *tracing; /* NULL until record_symbols_load_functions() */
	struct kernel_livepatches livepatches; /* likewise */
	struct kernel_btf *btf; /* NULL: none */
	struct record_image kernel;
	vec_of(struct record_image *, modules); /* modules that have a function asked for */
	const char *vmlinux; /* --vmlinux, or NULL */
	const char *kcore; /* a file in place of /proc/kcore; NULL: /proc/kcore */
	struct kernel_kcore *live; /* by record_symbols_live() only */
	bool live_tried;
	struct decoder *decoder; /* made when first needed */
	/* The result of trying a kprobe on a function without ftrace location, 0 or -errno; 1: not tried. */
	int notrace;
	char release[65];
};

/*
 * Reads kallsyms and the build-id, and the kernel's types unless they are BTF, which is taken over also on failure. VMLINUX must
 * outlive S. Reports its errors.
 */
int record_symbols_init(struct record_symbols *s, const char *vmlinux, struct kernel_btf *btf);
void record_symbols_deinit(struct record_symbols *s);

/* The running kernel: its symbols, and the features that it allows. */
struct record_kernel {
	struct record_symbols *symbols;
	struct record_features *features;
};

/* See record_features_try_multi(). */
int record_kernel_try_multi(const struct record_kernel *kernel);

/* The running kernel's memory, S's; NULL: it cannot be read. */
const struct kernel_kcore *record_symbols_live(struct record_symbols *s);

/* Load all that choosing functions to probe needs. Reports its errors. */
int record_symbols_load_functions(struct record_symbols *s);

/* Return whether the kernel refuses kprobes at the absolute address ADDR, as far as it says so. */
bool record_symbols_is_blacklisted(const struct record_symbols *s, uint64_t addr);

/* Why SYM's own code is not to be probed; NULL: no livepatch has replaced it. */
const char *record_symbols_why_patched(const struct record_symbols *s,
				       const struct kernel_sym *sym);

/* Return the image that has SYM, one of S. */
struct record_image *record_symbols_image_of(struct record_symbols *s,
					     const struct kernel_sym *sym);

/*
 * Gets the index of IN: kept from another time, or made now from its file. NULL where there is neither. A negative errno
 * only for a file asked for by name that does not fit, which is reported.
 */
int record_image_index(struct record_symbols *s, struct record_image *in);
/*
 * Opens IN's code, as it is in the running kernel's memory where that can be read. Loads the functions too. -errno,
 * reported only where they cannot be; -ENODATA: there is no file.
 */
int record_image_code(struct record_symbols *s, struct record_image *in);

/* NAME in IN as kallsyms and perf print it. For free(). */
char *record_image_name(const struct record_image *in, const char *name);

/*
 * Is SYM a function that this kernel takes no kprobes in, for the lack of an ftrace location? Without
 * CONFIG_KPROBE_EVENTS_ON_NOTRACE its probe events refuse such, copies of functions that have one excepted. Tried on
 * the first that comes along.
 */
bool record_symbols_is_notrace(struct record_symbols *s, const struct kernel_sym *sym);

/*
 * The BTF that has SYM, of the kernel or of its module, or NULL where there is none. The descriptor of its object in *FD,
 * 0 for the kernel's.
 */
const struct kernel_btf *record_symbols_btf(struct record_symbols *s, const struct kernel_sym *sym,
					    int *fd);

/* The file of the kernel itself, with NULL and errors as for an index. */
int record_symbols_image(struct record_symbols *s, struct kernel_image **image);

/* record_image_index() of the kernel itself. */
int record_symbols_index(struct record_symbols *s, const struct kernel_index **index);

/* A sentence about the use and the limits of an index without the vmlinux that it was made of. */
extern const char record_symbols_vmlinux_missing[];

/*
 * Does the running kernel's function SYM read an argument register beyond the first N? UNKNOWN where its code cannot be
 * read either. BTF is believed about its callees.
 */

enum kernel_answer record_arguments_beyond(struct record_symbols *symbols,
					   const struct kernel_sym *sym, unsigned int n);
