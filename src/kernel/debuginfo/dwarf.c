// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read the DWARF data of which kernel_index_build() makes an index.
 *
 * Compilation units are found by the ranges in their root DIEs: .debug_aranges is incomplete if clang or several assemblers were
 * used. libdw never goes backwards among siblings, so a walk over damaged DWARF ends. MAX_DEPTH and MAX_RANGES limit the walk too.
 */
#include "kernel/debuginfo/dwarf.h"

#include <dwarf.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/sorted.h"

/* Maximum nesting of lexical blocks and inlined functions. Kernels have less than 40. */
#define MAX_DEPTH 100

/* Maximum number of address ranges in all units, functions and inlined functions. A distribution's kernel has about 3 million. */
#define MAX_RANGES 20000000u

/* If spans have the same start, sort the larger one first. A search from the end then finds the smaller one first. */
define_compare(compare_span, struct dwarf_span,
	       compare_values(a->start, b->start)     ?:
		       compare_values(b->end, a->end) ?:
							compare_values(a->id, b->id));

static void sort_spans(struct dwarf_spans *s)
{
	sort_array(s->items, s->n_items, sizeof(*s->items), compare_span);
}

void kernel_dwarf_ranges(struct dwarf *d, Dwarf_Die *die, uint32_t id, struct dwarf_spans *out)
{
	struct dwarf_span span = { .id = id };
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	while (d->range_budget) {
		d->range_budget--;
		at = dwarf_ranges(die, at, &base, &span.start, &span.end);
		if (at <= 0)
			return;
		if (span.start < span.end)
			vec_push(out, items, span);
	}
}

static void add_unit(struct dwarf *d, Dwarf_Die *die)
{
	struct dwarf_unit unit = { .die = *die };
	Dwarf_Attribute attr;

	kernel_paths_unit(d->paths, dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attr)),
			  dwarf_diename(die));
	kernel_dwarf_ranges(d, die, d->n_units, &d->spans);
	vec_push(d, units, unit);
}

static void list_units(struct dwarf *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	while (dwarf_get_units(d->dw, cu, &cu, NULL, NULL, &die, NULL) == 0)
		if (dwarf_tag(&die) == DW_TAG_compile_unit)
			add_unit(d, &die);
	sort_spans(&d->spans);
}

void kernel_dwarf_function_forget(struct dwarf_function *f)
{
	free(f->inlined);
	free(f->spans.items);
	f->inlined = NULL;
	f->n_inlined = f->cap_inlined = 0;
	f->spans = (struct dwarf_spans){ 0 };
}

void kernel_dwarf_destroy(struct dwarf *d)
{
	vec_each(struct dwarf_unit, unit, d, units) {
		for (uint32_t j = 0; j < unit->n_functions; j++)
			kernel_dwarf_function_forget(&unit->functions[j]);
		free(unit->functions);
		free(unit->inlines);
		free(unit->spans.items);
	}
	free(d->units);
	free(d->spans.items);
	kernel_paths_destroy(d->paths);
	dwarf_end(d->dw);
	free(d);
}

static void add_function(struct dwarf *d, struct dwarf_unit *unit, Dwarf_Die *die)
{
	struct dwarf_function function = { .die = *die };
	uint32_t first = unit->spans.n_items;

	kernel_dwarf_ranges(d, die, unit->n_functions, &unit->spans);
	/* The entry is in the first range. A .cold part follows in the list, often with lower addresses. */
	if (unit->spans.n_items > first)
		function.entry = unit->spans.items[first].start;
	/* A declaration or abstract instance (of an inlined function) has no code. */
	if (unit->spans.n_items > first)
		vec_push(unit, functions, function);
	else if (dwarf_func_inline(die))
		vec_push(unit, inlines, *die);
}

/* List the functions below PARENT. Functions in namespaces (Rust) are included. */
static void list_functions(struct dwarf *d, struct dwarf_unit *unit, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			add_function(d, unit, &die);
		else if (tag == DW_TAG_namespace || tag == DW_TAG_module)
			list_functions(d, unit, &die, depth + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

struct dwarf *kernel_dwarf_create(struct kernel_image *img)
{
	struct dwarf *d = alloc_new(struct dwarf);

	d->paths = kernel_paths_create();
	d->range_budget = MAX_RANGES;
	/* Open a separate handle, and close it after use, since libdw keeps hundreds of MiB of data about the units. */
	if (kernel_image_has_dwarf(img))
		d->dw = dwarf_begin_elf(kernel_image_dwarf_elf(img), DWARF_C_READ, NULL);
	if (d->dw)
		list_units(d);
	for (uint32_t i = 0; i < d->n_units; i++) {
		struct dwarf_unit *unit = &d->units[i];

		list_functions(d, unit, &unit->die, 0);
		sort_spans(&unit->spans);
		if (log_progress_due())
			log_progress("reading debug symbols: unit %u of %u", i, d->n_units);
	}
	log_progress_end();
	return d;
}

/* Add the inlined function DIE, and return its index. If DIE has no code, return PARENT. */
static uint32_t add_inlined(struct dwarf *d, struct dwarf_function *f, Dwarf_Die *die,
			    uint32_t parent)
{
	struct dwarf_inlined inl = { .die = *die,
				     .parent = parent,
				     .first_span = f->spans.n_items };

	kernel_dwarf_ranges(d, die, f->n_inlined, &f->spans);
	inl.n_spans = f->spans.n_items - inl.first_span;
	sort_array(f->spans.items + inl.first_span, inl.n_spans, sizeof(*f->spans.items),
		   compare_u64);
	vec_push(f, inlined, inl);
	return inl.n_spans ? f->n_inlined - 1 : parent;
}

static void list_inlined(struct dwarf *d, struct dwarf_function *f, Dwarf_Die *parent_die,
			 uint32_t parent, int depth)
{
	Dwarf_Die die;

	if (depth > MAX_DEPTH || dwarf_child(parent_die, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_inlined_subroutine)
			list_inlined(d, f, &die, add_inlined(d, f, &die, parent), depth + 1);
		else if (tag == DW_TAG_lexical_block)
			list_inlined(d, f, &die, parent, depth + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

void kernel_dwarf_function_parse(struct dwarf *d, struct dwarf_function *function)
{
	list_inlined(d, function, &function->die, UINT32_MAX, 0);
}

/* Return the name of file number INDEX in the line table of ATTR's unit. */
static const char *name_of_file(Dwarf_Attribute *attr, Dwarf_Word index)
{
	Dwarf_Files *files;
	Dwarf_Die unit;
	size_t n;

	if (!dwarf_cu_die(attr->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &files, &n) || index >= n)
		return NULL;
	return dwarf_filesrc(files, index, NULL, NULL);
}

void kernel_dwarf_place(Dwarf_Die *die, unsigned int file_name, unsigned int line_name,
			const char **file, uint32_t *line)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	*file = NULL;
	*line = 0;
	if (dwarf_formudata(dwarf_attr_integrate(die, file_name, &attr), &value))
		return;
	*file = name_of_file(&attr, value);
	if (!dwarf_formudata(dwarf_attr_integrate(die, line_name, &attr), &value) &&
	    value <= UINT32_MAX)
		*line = (uint32_t)value;
}

uint64_t kernel_dwarf_entry(Dwarf_Die *die, uint64_t start)
{
	Dwarf_Attribute attr;
	Dwarf_Addr addr;
	Dwarf_Word offset;

	if (!dwarf_attr(die, DW_AT_entry_pc, &attr))
		return start;
	if (!dwarf_formaddr(&attr, &addr))
		return addr;
	/* In DWARF 5, DW_AT_entry_pc may be a constant: an offset from the start of the inlined function's code. */
	return start + (dwarf_formudata(&attr, &offset) ? 0 : offset);
}
