/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running kernel's symbols, as /proc/kallsyms lists them.
 *
 * Functions are text symbols (types t, T, w, W); of the others the image's are kept. Everything returned belongs to the table and
 * lives as long as it. Addresses are absolute, those of this boot; less kernel_kallsyms_base()
 * they are what profiles store, and less STEXT what kernel_image_*() take.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

#define KERNEL_KALLSYMS_PATH "/proc/kallsyms"

struct kernel_sym {
	uint64_t addr;
	const char *name;
	const char *module; /* NULL: the kernel's image. Equal modules have equal pointers. */
	uint32_t size; /* 0: unknown; /proc/kallsyms does not tell it */
	char type;
};

struct btf;
struct kallsyms_module;
struct kallsyms_bucket;
struct kernel_kcore;

struct kernel_kallsyms {
	struct kernel_sym *syms; /* sorted by address, then as in the file */
	size_t n_syms, cap_syms;
	uint64_t stext, etext; /* the image's text; ETEXT 0: there is no such symbol */
	/* private */
	struct alloc_texts names;
	bool any_addr; /* some address is not 0; else the kernel hides addresses */
	struct kallsyms_module *modules;
	size_t n_modules, cap_modules;
	uint64_t init_start, init_end;
	struct kernel_sym *variables; /* variables of the image, sorted by address */
	size_t n_variables, cap_variables;
	/* Symbols, grouped by bucket; a bucket is sorted by name, then address, on first use. */
	const struct kernel_sym **by_base;
	struct kallsyms_bucket *buckets;
	size_t n_buckets;
};

/*
 * Reads PATH. Reports its own errors: -EPERM where the kernel hides addresses from this process
 * (all are zero), -EINVAL where the file has no usable line or no _stext, or what open() and read()
 * give. Lines that are not symbols are skipped.
 */
int kernel_kallsyms_load(const char *path, struct kernel_kallsyms **out);

/*
 * The same table from the kernel's memory, for a hundredth of the instructions; BTF is its types' and may be NULL. -errno, not
 * reported, where the kernel is older than 6.0, or its memory or types do not tell: its list does.
 */
int kernel_kallsyms_read(const struct kernel_kcore *kcore, const struct btf *btf,
			 struct kernel_kallsyms **out);
/* The same, of modules and code made at run time alone, as they are now. IMAGE is a table of this kernel. */
int kernel_kallsyms_read_dynamic(const struct kernel_kcore *kcore, const struct btf *btf,
				 const struct kernel_kallsyms *image, struct kernel_kallsyms **out);
/* A table of the N symbols at SYMS, all of code made at run time; their texts are copied. */
struct kernel_kallsyms *kernel_kallsyms_of(const struct kernel_sym *syms, size_t n);
void kernel_kallsyms_destroy(struct kernel_kallsyms *ks); /* accepts NULL */
define_scoped(kernel_kallsyms_destroy, struct kernel_kallsyms);

/* The address of a variable of the image; 0 where it is not listed. */
uint64_t kernel_kallsyms_variable(const struct kernel_kallsyms *ks, const char *name);

/* Return the last variable of the image at or before ADDR; *OFFSET becomes ADDR less its address. NULL: none. */
const char *kernel_kallsyms_variable_at(const struct kernel_kallsyms *ks, uint64_t addr,
					uint64_t *offset);

/* SYM is a BPF program or trampoline; it is code that ftrace or kprobes made. */
bool kernel_kallsyms_is_bpf(const struct kernel_sym *sym);
bool kernel_kallsyms_is_probe(const struct kernel_sym *sym);

/* Return the address to which addresses in SYM are relative: _stext, or the first function of SYM's module. */
uint64_t kernel_kallsyms_base(const struct kernel_kallsyms *ks, const struct kernel_sym *sym);

/* All symbols of exactly this NAME, by ascending address: an array of *N; NULL and 0 if none. */
const struct kernel_sym *const *kernel_kallsyms_named(const struct kernel_kallsyms *ks,
						      const char *name, size_t *n);

/*
 * Return the length of the part of the symbol NAME that reports show: without clone suffixes (kernel_name_base_len()). If NAME is a
 * split-off part (.part.0) and its function has a symbol too, return all of it: a call that goes through both counts for each.
 */
size_t kernel_kallsyms_reported_len(const struct kernel_kallsyms *ks, const char *name);

/*
 * All symbols whose name less its clone suffixes (kernel_name_base_len()) is BASE, by ascending
 * address; .cold parts, which are no functions, are left out. An array of *N for free().
 */
const struct kernel_sym **kernel_kallsyms_clones(const struct kernel_kallsyms *ks, const char *base,
						 size_t *n);

/*
 * The symbol that covers ADDR, and in *OFFSET (may be NULL) how far in; NULL if none does. If several
 * have one address it is the first global one, else the first.
 */
const struct kernel_sym *kernel_kallsyms_covering(const struct kernel_kallsyms *ks, uint64_t addr,
						  uint64_t *offset);

/* Bytes from SYM to the next text symbol of the same module; 0 for its last one. */
uint64_t kernel_kallsyms_size(const struct kernel_kallsyms *ks, const struct kernel_sym *sym);

/* Return the end of SYM, as far as it is known. */
uint64_t kernel_kallsyms_end(const struct kernel_kallsyms *ks, const struct kernel_sym *sym);

/* Return whether SYM is in the image's init text, which is freed after boot. */
bool kernel_kallsyms_is_init(const struct kernel_kallsyms *ks, const struct kernel_sym *sym);

/* ADDR lies in the kernel's image (not in a module, not in BPF code). */
bool kernel_kallsyms_in_image(const struct kernel_kallsyms *ks, uint64_t addr);

/*
 * Up to MAX names that NAME may have been meant for, best first: near ones by edit distance, then
 * those that contain it. The names belong to KS; returns how many.
 */
size_t kernel_kallsyms_suggest(const struct kernel_kallsyms *ks, const char *name,
			       const char **names, size_t max);
