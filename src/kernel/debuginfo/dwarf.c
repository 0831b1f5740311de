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

/* Maximum number of overlapping ranges in a backward search. Ranges overlap only in damaged files and assembler code. */
#define MAX_OVERLAP 8

/* If spans have the same start, sort the larger one first. A search from the end then finds the smaller one first. */
define_compare(compare_span, struct dwarf_span,
	       compare_values(a->start, b->start)     ?:
		       compare_values(b->end, a->end) ?:
							compare_values(a->index, b->index));

ptrdiff_t kernel_dwarf_next_range(struct dwarf *d, Dwarf_Die *die, ptrdiff_t offset,
				  Dwarf_Addr *base, struct kernel_range *range)
{
	Dwarf_Addr start, end;

	for (;;) {
		if (!d->range_budget)
			return 0;
		d->range_budget--;
		offset = dwarf_ranges(die, offset, base, &start, &end);
		if (offset <= 0)
			return 0;
		if (start < end) {
			range->start = start;
			range->end = end;
			return offset;
		}
	}
}

/* SPANS are sorted. Return the last one that contains ADDR, or NULL. */
static const struct dwarf_span *find_span(const struct dwarf_span *spans, uint32_t n, uint64_t addr)
{
	uint32_t at = bisect(n, i, spans[i].start <= addr);

	for (uint32_t i = 0; i < MAX_OVERLAP && at-- > 0; i++)
		if (addr < spans[at].end)
			return &spans[at];
	return NULL;
}

void kernel_dwarf_flatten(const struct dwarf_span *spans, uint32_t n, kernel_dwarf_piece_fn fn,
			  void *arg)
{
	scoped_free uint64_t *at = alloc_array(2 * (size_t)n, sizeof(*at));
	size_t n_at = 2 * (size_t)n;

	for (uint32_t i = 0; i < n; i++) {
		at[2 * i] = spans[i].start;
		at[2 * i + 1] = spans[i].end;
	}
	sort_array(at, n_at, sizeof(*at), compare_u64);
	for (size_t i = 0; i + 1 < n_at; i++) {
		const struct dwarf_span *span =
			at[i] < at[i + 1] ? find_span(spans, n, at[i]) : NULL;

		if (span)
			fn(at[i], at[i + 1], span->index, arg);
	}
}

static void add_unit(struct dwarf *d, Dwarf_Die *die)
{
	struct dwarf_unit unit = { .die = *die };
	struct dwarf_span span = { .index = d->n_units };
	struct kernel_range range;
	Dwarf_Attribute attr;
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	kernel_paths_unit(d->paths, dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attr)),
			  dwarf_diename(die));
	vec_push(d, units, unit);
	while ((at = kernel_dwarf_next_range(d, die, at, &base, &range)) > 0) {
		span.start = range.start;
		span.end = range.end;
		vec_push(d, spans, span);
	}
}

static void list_units(struct dwarf *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	while (dwarf_get_units(d->dw, cu, &cu, NULL, NULL, &die, NULL) == 0)
		if (dwarf_tag(&die) == DW_TAG_compile_unit)
			add_unit(d, &die);
	sort_array(d->spans, d->n_spans, sizeof(*d->spans), compare_span);
}

void kernel_dwarf_function_forget(struct dwarf_function *f)
{
	free(f->inlined);
	free(f->ranges);
	f->inlined = NULL;
	f->ranges = NULL;
	f->n_inlined = f->cap_inlined = f->n_ranges = f->cap_ranges = 0;
}

void kernel_dwarf_destroy(struct dwarf *d)
{
	vec_each(struct dwarf_unit, unit, d, units) {
		for (uint32_t j = 0; j < unit->n_functions; j++)
			kernel_dwarf_function_forget(&unit->functions[j]);
		free(unit->functions);
		free(unit->inlines);
		free(unit->spans);
	}
	free(d->units);
	free(d->spans);
	kernel_paths_destroy(d->paths);
	dwarf_end(d->dw);
	free(d);
}

static void add_function(struct dwarf *d, struct dwarf_unit *unit, Dwarf_Die *die)
{
	struct dwarf_function function = { .die = *die };
	struct dwarf_span span = { .index = unit->n_functions };
	struct kernel_range range;
	Dwarf_Addr base;
	ptrdiff_t at = 0;
	bool any = false;

	while ((at = kernel_dwarf_next_range(d, die, at, &base, &range)) > 0) {
		span.start = range.start;
		span.end = range.end;
		vec_push(unit, spans, span);
		/* The entry is in the first range. A .cold part follows in the list, often with lower addresses. */
		if (!any)
			function.entry = range.start;
		any = true;
	}
	/* A declaration or abstract instance (of an inlined function) has no code. */
	if (any)
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
		sort_array(unit->spans, unit->n_spans, sizeof(*unit->spans), compare_span);
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
	struct dwarf_inlined inl = { .die = *die, .parent = parent, .first_range = f->n_ranges };
	struct kernel_range range;
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	while ((at = kernel_dwarf_next_range(d, die, at, &base, &range)) > 0)
		vec_push(f, ranges, range);
	inl.n_ranges = f->n_ranges - inl.first_range;
	sort_array(f->ranges + inl.first_range, inl.n_ranges, sizeof(range), compare_u64);
	vec_push(f, inlined, inl);
	return inl.n_ranges ? f->n_inlined - 1 : parent;
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
static const char *file_name(Dwarf_Attribute *attr, Dwarf_Word index)
{
	Dwarf_Files *files;
	Dwarf_Die unit;
	size_t n;

	if (!dwarf_cu_die(attr->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &files, &n) || index >= n)
		return NULL;
	return dwarf_filesrc(files, index, NULL, NULL);
}

static void place(Dwarf_Attribute *file_attr, Dwarf_Attribute *line_attr, const char **file,
		  uint32_t *line)
{
	Dwarf_Word value;

	*file = NULL;
	*line = 0;
	if (!file_attr || dwarf_formudata(file_attr, &value))
		return;
	*file = file_name(file_attr, value);
	if (line_attr && !dwarf_formudata(line_attr, &value) && value <= UINT32_MAX)
		*line = (uint32_t)value;
}

void kernel_dwarf_declaration(Dwarf_Die *die, const char **file, uint32_t *line)
{
	Dwarf_Attribute file_attr, line_attr;

	place(dwarf_attr_integrate(die, DW_AT_decl_file, &file_attr),
	      dwarf_attr_integrate(die, DW_AT_decl_line, &line_attr), file, line);
}

uint64_t kernel_dwarf_entry(Dwarf_Die *die, const struct kernel_range *ranges)
{
	Dwarf_Attribute attr;
	Dwarf_Addr addr;
	Dwarf_Word offset;

	if (!dwarf_attr(die, DW_AT_entry_pc, &attr))
		return ranges[0].start;
	if (!dwarf_formaddr(&attr, &addr))
		return addr;
	/* In DWARF 5, DW_AT_entry_pc may be a constant: an offset from the start of the inlined function's code. */
	return ranges[0].start + (dwarf_formudata(&attr, &offset) ? 0 : offset);
}

void kernel_dwarf_call_place(Dwarf_Die *die, const char **file, uint32_t *line)
{
	Dwarf_Attribute file_attr, line_attr;

	place(dwarf_attr(die, DW_AT_call_file, &file_attr),
	      dwarf_attr(die, DW_AT_call_line, &line_attr), file, line);
}
