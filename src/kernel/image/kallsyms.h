/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running kernel's symbols, as listed in /proc/kallsyms.
 *
 * Functions are text symbols (types t, T, w, W). Other symbols are kept only for the kernel's image, not for modules. All results
 * belong to the table and are valid as long as it exists. Addresses are absolute, those of this boot. Recordings store an address
 * minus kernel_kallsyms_base(). Functions kernel_image_*() expect an absolute address minus STEXT.
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
	uint32_t size; /* 0: unknown, as in /proc/kallsyms */
	char type;
};

struct btf;
struct kallsyms_module;
struct kallsyms_bucket;
struct kernel_kcore;

struct kernel_kallsyms {
	vec_of(struct kernel_sym, syms); /* sorted by address */
	uint64_t stext, etext; /* bounds of the image's text; ETEXT 0: unknown */
	/* The members below are private. */
	struct alloc_texts names;
	bool any_addr; /* at least one address is not 0: the kernel does not hide addresses */
	vec_of(struct kallsyms_module, modules);
	uint64_t init_start, init_end;
	vec_of(struct kernel_sym, variables); /* variables of the image, sorted by address */
	/* All symbols, grouped by hash bucket. The first use of a bucket sorts it by name, then by address. */
	const struct kernel_sym **by_base;
	struct kallsyms_bucket *buckets;
	size_t n_buckets;
};

/*
 * Read the file PATH, and report errors. Return -EPERM if the kernel hides addresses from this process (all are zero), -EINVAL if
 * the file has no usable line or no _stext, or the error of open() or read(). Skip lines that are not symbols.
 */
int kernel_kallsyms_load(const char *path, struct kernel_kallsyms **out);

/*
 * Make the same table as kernel_kallsyms_load(), but from the kernel's memory, which takes a hundredth of the instructions. BTF
 * has the kernel's types, and may be NULL. Return -errno without a message if the kernel is older than 6.0, or if a variable or
 * type that is needed cannot be found or read. Then call kernel_kallsyms_load().
 */
int kernel_kallsyms_read(const struct kernel_kcore *kcore, const struct btf *btf,
			 struct kernel_kallsyms **out);
/* Like kernel_kallsyms_read(), for symbols of modules and of code made at run time only. IMAGE has the symbols of the image. */
int kernel_kallsyms_read_dynamic(const struct kernel_kcore *kcore, const struct btf *btf,
				 const struct kernel_kallsyms *image, struct kernel_kallsyms **out);
/* Make a table with copies of N symbols SYMS, which belong to code made at run time. */
struct kernel_kallsyms *kernel_kallsyms_of(const struct kernel_sym *syms, size_t n);
void kernel_kallsyms_destroy(struct kernel_kallsyms *ks); /* accepts NULL */
define_scoped(kernel_kallsyms_destroy, struct kernel_kallsyms);

/* Return the address of a variable of the image, or 0 if it is not listed. */
uint64_t kernel_kallsyms_variable(const struct kernel_kallsyms *ks, const char *name);

/* Return the last variable of the image at or before ADDR, or NULL. Set *OFFSET to ADDR minus the variable's address. */
const char *kernel_kallsyms_variable_at(const struct kernel_kallsyms *ks, uint64_t addr,
					uint64_t *offset);

/* is_bpf: return whether SYM is a BPF program or trampoline. is_probe: return whether ftrace or kprobes made the code of SYM. */
bool kernel_kallsyms_is_bpf(const struct kernel_sym *sym);
bool kernel_kallsyms_is_probe(const struct kernel_sym *sym);

/* Return the base to which recordings relate addresses in SYM: _stext, or the first function of SYM's module. */
uint64_t kernel_kallsyms_base(const struct kernel_kallsyms *ks, const struct kernel_sym *sym);

/* Return all symbols with exactly this NAME, by ascending address, and set *N to their number. Return NULL if there are none. */
const struct kernel_sym *const *kernel_kallsyms_named(const struct kernel_kallsyms *ks,
						      const char *name, size_t *n);

/*
 * Return the length of the part of the symbol NAME that reports show: the name without clone suffixes (kernel_name_base_len()).
 * But the whole NAME is shown if it is a split-off part (.part.0) and its function has a symbol, too: a call that goes through
 * both would count twice under one name.
 */
size_t kernel_kallsyms_reported_len(const struct kernel_kallsyms *ks, const char *name);

/*
 * Return all symbols whose name without clone suffixes (kernel_name_base_len()) is BASE, by ascending address. Leave out .cold
 * parts, which are not functions. Set *N to the number of symbols. The caller frees the array.
 */
const struct kernel_sym **kernel_kallsyms_clones(const struct kernel_kallsyms *ks, const char *base,
						 size_t *n);

/*
 * Return the symbol that covers ADDR, or NULL. Set *OFFSET (may be NULL) to ADDR minus the symbol's address. Of several symbols at
 * its address, return the first global one or, without global ones, the first. A linker script's symbol (_stext) comes last.
 */
const struct kernel_sym *kernel_kallsyms_covering(const struct kernel_kallsyms *ks, uint64_t addr,
						  uint64_t *offset);

/* Return the number of bytes from SYM to the next text symbol; 0: the next one is not in SYM's module, or there is none. */
uint64_t kernel_kallsyms_size(const struct kernel_kallsyms *ks, const struct kernel_sym *sym);

/* Return the address behind SYM's last byte. If that is unknown, return the end of the page with SYM's first byte. */
uint64_t kernel_kallsyms_end(const struct kernel_kallsyms *ks, const struct kernel_sym *sym);

/* Return whether SYM is in the image's init text, which is freed after boot. */
bool kernel_kallsyms_is_init(const struct kernel_kallsyms *ks, const struct kernel_sym *sym);

/* Return whether ADDR is in the kernel's image, not in a module or in BPF code. */
bool kernel_kallsyms_in_image(const struct kernel_kallsyms *ks, uint64_t addr);

/*
 * Find up to MAX names that the user may have meant by NAME, best first: names with a small edit distance to NAME, then names that
 * contain NAME. Return the number of names found. KS owns the names.
 */
size_t kernel_kallsyms_suggest(const struct kernel_kallsyms *ks, const char *name,
			       const char **names, size_t max);
