/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of the running kernel's symbols, each source opened when first asked for: reading
 * the DWARF of a vmlinux costs a guest on a network file system seconds of its own time.
 */
#ifndef KPROTPERF_RECORD_TARGET_SYMBOLS_H
#define KPROTPERF_RECORD_TARGET_SYMBOLS_H

#include <stdbool.h>

#include "kernel/code/code.h"
#include "kernel/code/kcore.h"
#include "kernel/image/btf.h"
#include "kernel/image/image.h"
#include "kernel/debuginfo/index.h"
#include "kernel/image/kallsyms.h"
#include "kernel/image/tracing.h"

/* The BTF of a module; BTF is NULL and FD negative where it has none. */
struct record_module_btf {
	const char *module; /* as in kallsyms, the same pointer */
	struct kernel_btf *btf;
	int fd;
};

struct record_features;

struct record_symbols {
	struct kernel_kallsyms *ks;
	struct kernel_tracing *tracing; /* NULL until record_symbols_load_functions() */
	struct kernel_btf *btf; /* NULL: none */
	struct record_module_btf *modules; /* those asked for */
	uint32_t n_modules, cap_modules;
	struct kernel_image *image; /* by record_symbols_image() only */
	char *image_why_not;
	bool image_tried;
	struct kernel_index *index; /* by record_symbols_index() only */
	bool index_tried;
	const char *vmlinux; /* --vmlinux, or NULL */
	const char
		*kcore; /* where the running kernel's code is read; NULL: where the kernel has it */
	struct kernel_kcore *live; /* by record_symbols_live() only */
	bool live_tried;
	/* What came of trying a kprobe on a function without ftrace location, 0 or -errno; 1: not tried. */
	int notrace;
	char release[65];
	struct kernel_build_id build_id;
};

/* Reads kallsyms and the build-id. VMLINUX must outlive S. Reports its errors. */
int record_symbols_init(struct record_symbols *s, const char *vmlinux);
void record_symbols_deinit(struct record_symbols *s);

/* What is known of the running kernel: its symbols, and what it allows. */
struct record_kernel {
	struct record_symbols *symbols;
	struct record_features *features;
};

/* See record_features_try_multi(). */
int record_kernel_try_multi(const struct record_kernel *kernel);

/* The running kernel's memory, S's; NULL: it cannot be read. */
const struct kernel_kcore *record_symbols_live(struct record_symbols *s);

/* What is needed to choose functions to probe. Reports its errors. */
int record_symbols_load_functions(struct record_symbols *s);

/* Does the kernel refuse kprobes at ADDR, relative to _stext, as far as it says so? */
bool record_symbols_is_blacklisted(const struct record_symbols *s, uint64_t addr);

/* The code of the running kernel, as it is in memory where that can be read. */
struct record_code {
	struct kernel_kcore *kcore; /* NULL: it cannot */
	struct kernel_code *code; /* NULL: not open */
};

/* Loads the functions too. -errno, reported only where they cannot be; -ENODATA: there is no vmlinux. */
int record_code_open(struct record_symbols *s, struct record_code *out);
void record_code_close(struct record_code *c); /* accepts one that is not open */

/*
 * Is SYM a function that this kernel takes no kprobes in, for the lack of an ftrace location? Without
 * CONFIG_KPROBE_EVENTS_ON_NOTRACE its probe events refuse such, copies of functions that have one excepted. Tried on
 * the first that comes along.
 */
bool record_symbols_is_notrace(struct record_symbols *s, const struct kernel_sym *sym);

/*
 * The BTF that has SYM, of the kernel or of its module, or NULL where there is none. The descriptor of its object in *FD,
 * 0 for the kernel's. Valid until the next.
 */
const struct kernel_btf *record_symbols_btf(struct record_symbols *s, const struct kernel_sym *sym,
					    int *fd);

/*
 * The vmlinux of the running kernel in *IMAGE, or NULL where there is none. A negative errno only
 * for a file asked for by name that does not fit, which is reported.
 */
int record_symbols_image(struct record_symbols *s, struct kernel_image **image);

/*
 * The index of the running kernel in *INDEX: kept from another time, or made now from its vmlinux;
 * NULL where there is neither. Errors as above.
 */
int record_symbols_index(struct record_symbols *s, const struct kernel_index **index);

/* What an index is good for without the vmlinux that it was made of, and what not: a sentence. */
extern const char record_symbols_index_alone[];

#endif
