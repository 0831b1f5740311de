/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of the running kernel's symbols, each source opened when first asked for: reading
 * the DWARF of a vmlinux costs a guest on a network file system seconds of its own time.
 */
#ifndef KPROTPERF_RECORD_SYMBOLS_H
#define KPROTPERF_RECORD_SYMBOLS_H

#include "symbol/btf.h"
#include "symbol/image.h"
#include "symbol/index.h"
#include "symbol/kallsyms.h"
#include "symbol/tracing.h"

/* The BTF of a module; BTF is NULL and FD negative where it has none. */
struct record_module_btf {
	const char *module; /* as in kallsyms, the same pointer */
	struct symbol_btf *btf;
	int fd;
};

struct record_symbols {
	struct symbol_kallsyms *ks;
	struct symbol_tracing *tracing; /* NULL until record_symbols_load_functions() */
	struct symbol_btf *btf; /* NULL: none */
	struct record_module_btf *modules; /* those asked for */
	uint32_t n_modules, cap_modules;
	struct symbol_image *image; /* by record_symbols_image() only */
	char *image_why_not;
	bool image_tried;
	struct symbol_index *index; /* by record_symbols_index() only */
	bool index_tried;
	const char *vmlinux; /* --vmlinux, or NULL */
	const char
		*kcore; /* where the running kernel's code is read; NULL: where the kernel has it */
	char release[65];
	struct symbol_build_id build_id;
};

/* Reads kallsyms and the build-id. VMLINUX must outlive S. Reports its errors. */
int record_symbols_init(struct record_symbols *s, const char *vmlinux);
void record_symbols_deinit(struct record_symbols *s);

/* What is needed to choose functions to probe. Reports its errors. */
int record_symbols_load_functions(struct record_symbols *s);

/* The BTF for functions of MODULE of the kallsyms table; NULL where there is none. Valid until the next. */
const struct record_module_btf *record_symbols_module_btf(struct record_symbols *s,
							  const char *module);

/*
 * The vmlinux of the running kernel in *IMAGE, or NULL where there is none. A negative errno only
 * for a file asked for by name that does not fit, which is reported.
 */
int record_symbols_image(struct record_symbols *s, struct symbol_image **image);

/*
 * The index of the running kernel in *INDEX: kept from another time, or made now from its vmlinux;
 * NULL where there is neither. Errors as above.
 */
int record_symbols_index(struct record_symbols *s, const struct symbol_index **index);

#endif
