// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the functions of two kernels and pair them by name, source file and code. */
#include <stdlib.h>
#include <string.h>

#include "analyze/changes/changes_impl.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/code/flow_function.h"
#include "kernel/image/image_elf.h"
#include "kernel/image/name.h"

/* Minimum size of a renamed function that may be paired by code alone. Unrelated smaller functions often have equal code. */
#define MIN_SHAPE_BYTES 16

define_compare(compare_symbols, struct changes_symbol,
	       compare_values(a->addr, b->addr) ?: compare_values(a->size, b->size));

static void add_symbol(const Elf64_Sym *sym, const char *name, void *arg)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);
	struct changes_symbol s = { sym->st_value, sym->st_size, name, type == STT_OBJECT };
	struct changes_side *side = arg;

	if (!*name || sym->st_shndx == SHN_UNDEF || type > STT_FUNC || *name == '.')
		return;
	vec_push(side, symbols, s);
	if (s.addr > side->end)
		side->end = s.addr;
	if (!strcmp(name, "__init_begin"))
		side->init_start = s.addr;
	else if (!strcmp(name, "__init_end"))
		side->init_end = s.addr;
	if (type == STT_FUNC && s.size && s.size <= KERNEL_FLOW_MAX && s.addr >= side->base &&
	    !kernel_name_is_padding(name))
		vec_push(side, functions,
			 ((struct changes_function){ .addr = s.addr - side->base,
						     .end = s.addr - side->base + s.size,
						     .name = name,
						     .pair = CHANGES_NONE,
						     .is_cold = kernel_name_is_cold(name) }));
}

/* The symbol that is first in this order becomes the name of the function at its address. */
define_compare(compare_functions, struct changes_function,
	       compare_values(a->addr, b->addr) ?: strcmp(a->name, b->name));

static int by_source_name(const struct changes_function *x, const struct changes_function *y)
{
	return kernel_name_compare(x->name, y->name) ?: compare_values(x->is_cold, y->is_cold);
}

define_compare(compare_names, struct changes_function, by_source_name(a, b));

static const char *file_of(const struct changes_side *side, uint64_t addr)
{
	const char *file;
	uint32_t line;

	return kernel_index_declaration(side->index, addr, &file, &line) ? NULL : file;
}

void changes_read_symbols(struct changes_side *side)
{
	uint32_t n = 0;

	side->base = side->code->base;
	kernel_image_elf_symbols_each(side->img, add_symbol, side);
	sort_array(side->symbols, side->n_symbols, sizeof(*side->symbols), compare_symbols);
	sort_array(side->functions, side->n_functions, sizeof(*side->functions), compare_functions);
	for (uint32_t i = 0; i < side->n_functions; i++)
		if (!n || side->functions[n - 1].addr != side->functions[i].addr)
			side->functions[n++] = side->functions[i];
	side->n_functions = n;
	for (uint32_t i = 0; i < n; i++)
		side->functions[i].file = file_of(side, side->functions[i].addr);
	side->by_name = pointers_sort(side->functions, n, sizeof(*side->functions), compare_names);
}

uint32_t changes_function_at(const struct changes_side *side, uint64_t addr)
{
	uint32_t i = bisect(side->n_functions, j, side->functions[j].addr <= addr);

	return i && addr < side->functions[i - 1].end ? i - 1 : CHANGES_NONE;
}

uint8_t *changes_bytes(const struct changes_side *side, const struct changes_function *f)
{
	uint8_t *bytes = alloc_array(f->end - f->addr, 1);

	if (kernel_code_read_file(side->code, f->addr, bytes, f->end - f->addr))
		return bytes;
	free(bytes);
	return NULL;
}

/*
 * Set the shape of F: a hash of its instructions without the symbols in them. Functions that differ only in the names of their
 * callees have the same shape.
 */
static void read_shape(const struct analyze_changes *c, const struct changes_side *side,
		       struct changes_function *f)
{
	scoped_free uint8_t *bytes = changes_bytes(side, f);
	uint64_t len = f->end - f->addr;
	struct decoded insn;

	f->shape = len;
	for (uint64_t at = 0; bytes && at < len; at += insn.len) {
		struct arch_operation op;

		if (!decode(c->decoder, bytes + at, len - at, f->addr + at, &insn))
			break;
		arch_operation_of(c->decoder, bytes + at, insn.len, f->addr + at, &op);
		f->shape = (f->shape ^ op.shape ^ op.registers) * 0x100000001b3u;
	}
	f->shape |= 1;
}

static int by_name(const struct changes_function *x, const struct changes_function *y)
{
	return strcmp(x->name, y->name);
}

/* Return the last folder and the file name of a path. The folders before them depend on the build directory. */
static const char *end_of_path(const char *file)
{
	const char *end = file ? strrchr(file, '/') : NULL;

	while (end && end > file && end[-1] != '/')
		end--;
	return end ? end : file;
}

int changes_compare_files(const char *x, const char *y)
{
	return compare_text(end_of_path(x), end_of_path(y));
}

static int by_file(const struct changes_function *x, const struct changes_function *y)
{
	return changes_compare_files(x->file, y->file);
}

static int by_shape(const struct changes_function *x, const struct changes_function *y)
{
	return compare_values(x->shape, y->shape);
}

/* A pass that pairs functions of the two kernels. Two functions become a pair if all KEYS of the pass are equal. */
struct pass {
	int (*keys[3])(const struct changes_function *x, const struct changes_function *y);
	bool all; /* match only if both kernels have equally many functions with these keys */
};

/* Passes in the order of their use. An earlier pass makes fewer wrong pairs. */
static const struct pass passes[] = {
	{ { by_name, by_file }, true },
	{ { by_name, by_file, by_shape } },
	{ { by_name, by_file } },
	{ { by_name }, true },
	{ { by_source_name, by_file }, true },
	{ { by_file, by_shape }, true }, /* renamed functions */
};

struct item {
	struct changes_function *function;
	const struct pass *pass;
};

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = 0;

	for (int i = 0; i < 3 && x->pass->keys[i] && !order; i++)
		order = x->pass->keys[i](x->function, y->function);
	return order;
}

define_compare(compare_items_placed, struct item,
	       compare_items(a, b) ?: compare_values(a->function->addr, b->function->addr));

static bool has_key(const struct pass *pass,
		    int (*key)(const struct changes_function *, const struct changes_function *))
{
	return pass->keys[0] == key || pass->keys[1] == key || pass->keys[2] == key;
}

/* Return the functions without a pair that PASS may match, sorted by the keys of PASS. The caller frees the array. */
static struct item *unpaired(const struct analyze_changes *c, struct changes_side *side,
			     const struct pass *pass, size_t *n)
{
	struct item *items = alloc_array(side->n_functions, sizeof(*items));
	bool renamed = !has_key(pass, by_name) && !has_key(pass, by_source_name);

	*n = 0;
	vec_each(struct changes_function, f, side, functions) {
		if (f->pair != CHANGES_NONE ||
		    (renamed && (f->is_cold || !f->file || f->end - f->addr < MIN_SHAPE_BYTES)))
			continue;
		if (!f->shape && has_key(pass, by_shape))
			read_shape(c, side, f);
		items[(*n)++] = (struct item){ f, pass };
	}
	sort_array(items, *n, sizeof(*items), compare_items_placed);
	return items;
}

void changes_match(struct analyze_changes *c)
{
	for (const struct pass *pass = passes; pass < passes + ARRAY_SIZE(passes); pass++) {
		size_t n[2];
		struct item *items[2] = { unpaired(c, &c->sides[0], pass, &n[0]),
					  unpaired(c, &c->sides[1], pass, &n[1]) };
		struct join j = join_sorted(items[0], n[0], items[1], n[1], sizeof(struct item),
					    compare_items);

		while (join_next(&j)) {
			const struct item *a = j.a, *b = j.b;

			for (size_t i = 0; (!pass->all || j.n_a == j.n_b) && i < j.n_a && i < j.n_b;
			     i++) {
				a[i].function->pair =
					(uint32_t)(b[i].function - c->sides[1].functions);
				b[i].function->pair =
					(uint32_t)(a[i].function - c->sides[0].functions);
			}
		}
		free(items[0]);
		free(items[1]);
	}
}
