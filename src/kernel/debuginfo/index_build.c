// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Make an index of a vmlinux.
 *
 * The index must give the same answers as a search through the DWARF. If units or functions overlap at an address, the search
 * takes the one with the latest start. At each level of inlining, it takes the first inlined function that contains the address.
 *
 * Cut the ranges of units and functions into pieces that do not overlap. Then paint the inlined functions over the pieces of their
 * function, outer ones first.
 */
#include "kernel/debuginfo/index_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/sorted.h"
#include "kernel/image/name.h"

/* Maximum number of overlapping ranges in a backward search. Ranges overlap only in damaged files and assembler code. */
#define MAX_OVERLAP 8

struct listed {
	struct dwarf_function *function;
	uint32_t order; /* number of functions found before this one */
};

/* The ranges of one function. For each range, the leaf is the innermost inlined function there or, without one, the function. */
struct canvas {
	vec_of(uint64_t, edges); /* starts and ends of the ranges, ascending, each once */
	uint32_t *leaves; /* leaves[I] is the leaf between edges[I] and edges[I + 1] */
	uint32_t *ids; /* ids of inlined functions, indexed as in dwarf_function.inlined */
};

struct build {
	struct kernel_image *img;
	struct dwarf *dwarf;
	uint64_t base;
	struct index_strings strings;
	struct index_lines lines;
	struct dwarf_spans units, functions; /* pieces */
	vec_of(struct listed, listed);
	struct dwarf_spans painted; /* each id is a LEAF of struct index_address */
	struct hash_index name_index; /* finds a name's index in NAMES */
	/* The contents of the index file. */
	vec_of(struct index_function, function_records);
	vec_of(struct index_body, bodies);
	vec_of(struct kernel_range, ranges);
	vec_of(struct index_name, names);
	uint32_t *by_name;
	vec_of(struct index_address, addresses);
	vec_of(struct index_symbol, symbols);
};

static bool is_in_text(const struct build *b, uint64_t start, uint64_t end)
{
	return start >= b->base && end > start && end - b->base <= UINT32_MAX;
}

define_compare(compare_piece, struct dwarf_span,
	       compare_values(a->id, b->id) ?: compare_values(a->start, b->start));

static void sort_pieces(struct dwarf_spans *p, compare_fn compare)
{
	sort_array(p->items, p->n_items, sizeof(*p->items), compare);
}

static void add_piece(struct dwarf_spans *p, uint64_t start, uint64_t end, uint32_t id)
{
	uint32_t n = p->n_items;

	if (n && p->items[n - 1].end == start && p->items[n - 1].id == id)
		p->items[n - 1].end = end;
	else
		vec_push(p, items, ((struct dwarf_span){ start, end, id }));
}

/* SPANS are sorted. Return the last one that contains ADDR, or NULL. */
static const struct dwarf_span *find_span(const struct dwarf_spans *spans, uint64_t addr)
{
	uint32_t at = bisect(spans->n_items, i, spans->items[i].start <= addr);

	for (uint32_t i = 0; i < MAX_OVERLAP && at-- > 0; i++)
		if (addr < spans->items[at].end)
			return &spans->items[at];
	return NULL;
}

/* Cut the sorted SPANS into pieces, and add these to OUT. A piece belongs to the last span that contains it. */
static void flatten(const struct dwarf_spans *spans, struct dwarf_spans *out)
{
	size_t n = 2 * (size_t)spans->n_items;
	scoped_free uint64_t *at = alloc_array(n, sizeof(*at));

	for (uint32_t i = 0; i < spans->n_items; i++) {
		at[2 * i] = spans->items[i].start;
		at[2 * i + 1] = spans->items[i].end;
	}
	sort_array(at, n, sizeof(*at), compare_u64);
	for (size_t i = 0; i + 1 < n; i++) {
		const struct dwarf_span *span = at[i] < at[i + 1] ? find_span(spans, at[i]) : NULL;

		if (span)
			add_piece(out, at[i], at[i + 1], span->id);
	}
}

static bool is_name(const void *names, uint32_t i, const void *key)
{
	const struct index_name *a = (const struct index_name *)names + i, *b = key;

	return a->name == b->name && a->file == b->file && a->line == b->line;
}

/* Set *FILE and *LINE to the place in DIE's attributes FILE_NAME and LINE_NAME. *FILE is an offset in the strings. */
static void add_place(struct build *b, Dwarf_Die *die, unsigned int file_name,
		      unsigned int line_name, uint32_t *file, uint32_t *line)
{
	const char *raw;

	kernel_dwarf_place(die, file_name, line_name, &raw, line);
	*file = index_strings_add_file(&b->strings, b->dwarf->paths, raw);
}

/* Return the index in NAMES of the inlined function that DIE describes. Add the function if it is new. */
static uint32_t add_name(struct build *b, Dwarf_Die *die)
{
	struct index_name name = { .name = index_strings_add(&b->strings, dwarf_diename(die)) };
	uint32_t found;

	add_place(b, die, DW_AT_decl_file, DW_AT_decl_line, &name.file, &name.line);
	found = hash_find_or_add(&b->name_index,
				 hash_bytes(&name, offsetof(struct index_name, first)), is_name,
				 b->names, &name, b->n_names);
	if (found == b->n_names)
		vec_push(b, names, name);
	return found;
}

/* Return the index in NAMES of the function whose copy is BODY. DW_AT_abstract_origin of BODY leads to that function. */
static uint32_t add_body_name(struct build *b, Dwarf_Die *body)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;

	if (!dwarf_formref_die(dwarf_attr(body, DW_AT_abstract_origin, &attr), &origin))
		return add_name(b, body);
	return add_name(b, &origin);
}

static const char *strings_of_sort;

define_compare(compare_name, struct index_name,
	       strcmp(strings_of_sort + a->name, strings_of_sort + b->name)         ?:
		       strcmp(strings_of_sort + a->file, strings_of_sort + b->file) ?:
		       compare_values(a->line, b->line));

/* Sort NAMES, and sort the ids of inlined functions by name. */
static void sort_names(struct build *b)
{
	uint32_t *moved = alloc_array(b->n_names, sizeof(*moved)), at = 0;

	for (uint32_t i = 0; i < b->n_names; i++)
		b->names[i].first = i;
	strings_of_sort = b->strings.bytes;
	sort_array(b->names, b->n_names, sizeof(*b->names), compare_name);
	for (uint32_t i = 0; i < b->n_names; i++)
		moved[b->names[i].first] = i;
	for (uint32_t i = 0; i < b->n_bodies; i++) {
		b->bodies[i].name = moved[b->bodies[i].name];
		b->names[b->bodies[i].name].n++;
	}
	free(moved);
	for (uint32_t i = 0; i < b->n_names; i++) {
		b->names[i].first = at;
		at += b->names[i].n;
		b->names[i].n = 0;
	}
	b->by_name = alloc_array(b->n_bodies, sizeof(*b->by_name));
	for (uint32_t i = 0; i < b->n_bodies; i++) {
		struct index_name *n = &b->names[b->bodies[i].name];

		b->by_name[n->first + n->n++] = i;
	}
}

/* Add N ascending RANGES to the index. Join ranges that touch. Return the number of ranges added. */
static uint32_t add_ranges(struct build *b, const struct dwarf_span *ranges, uint32_t n)
{
	uint32_t first = b->n_ranges;

	for (uint32_t i = 0; i < n; i++) {
		struct kernel_range r = { ranges[i].start - b->base, ranges[i].end - b->base };

		if (!is_in_text(b, ranges[i].start, ranges[i].end))
			continue;
		if (b->n_ranges > first && r.start <= b->ranges[b->n_ranges - 1].end) {
			if (r.end > b->ranges[b->n_ranges - 1].end)
				b->ranges[b->n_ranges - 1].end = r.end;
		} else {
			vec_push(b, ranges, r);
		}
	}
	return b->n_ranges - first;
}

/* Add the inlined function INL and return its id, or KERNEL_NONE if INL has no instructions left. */
static uint32_t add_body(struct build *b, const struct canvas *canvas, struct dwarf_function *f,
			 struct dwarf_inlined *inl)
{
	const struct dwarf_span *ranges = &f->spans.items[inl->first_span];
	struct index_body body = {
		.name = add_body_name(b, &inl->die),
		.function = f->id,
		.parent = inl->parent == UINT32_MAX ? KERNEL_NONE : canvas->ids[inl->parent],
		.first_range = b->n_ranges,
	};
	uint64_t entry;

	body.n_ranges = add_ranges(b, ranges, inl->n_spans);
	if (!body.n_ranges) {
		b->names[body.name].n_empty++;
		return KERNEL_NONE;
	}
	entry = kernel_dwarf_entry(&inl->die, ranges->start);
	body.entry = is_in_text(b, entry, entry + 1) ? (uint32_t)(entry - b->base) :
						       (uint32_t)b->ranges[body.first_range].start;
	add_place(b, &inl->die, DW_AT_call_file, DW_AT_call_line, &body.call_file, &body.call_line);
	vec_push(b, bodies, body);
	return b->n_bodies - 1;
}

/* Return the index of the last of EDGES that is at or below ADDR; 0: there is none. */
static uint32_t edge_at(const struct canvas *c, uint64_t addr)
{
	uint32_t next = bisect(c->n_edges, i, c->edges[i] <= addr);

	return next ? next - 1 : 0;
}

static void paint(struct canvas *c, uint64_t start, uint64_t end, uint32_t over, uint32_t leaf)
{
	for (uint32_t i = edge_at(c, start); i < c->n_edges && c->edges[i] < end; i++)
		if (c->edges[i] >= start && c->leaves[i] == over)
			c->leaves[i] = leaf;
}

static void find_edges(struct canvas *c, const struct dwarf_function *f,
		       const struct dwarf_span *pieces, uint32_t n)
{
	c->n_edges = 0;
	for (uint32_t i = 0; i < n; i++) {
		vec_push(c, edges, pieces[i].start);
		vec_push(c, edges, pieces[i].end);
	}
	vec_each(const struct dwarf_span, span, &f->spans, items) {
		vec_push(c, edges, span->start);
		vec_push(c, edges, span->end);
	}
	vec_unite(c, edges, compare_u64, NULL);
}

/* Add the functions inlined into F, and the leaves in its N PIECES. PIECES have those addresses that belong to F alone. */
static void add_bodies(struct build *b, struct canvas *c, struct dwarf_function *f,
		       const struct dwarf_span *pieces, uint32_t n)
{
	uint32_t own = f->id | INDEX_LEAF_FUNCTION;

	find_edges(c, f, pieces, n);
	c->leaves = alloc_resize(c->leaves, c->n_edges, sizeof(*c->leaves));
	c->ids = alloc_resize(c->ids, f->n_inlined, sizeof(*c->ids));
	for (uint32_t i = 0; i < c->n_edges; i++)
		c->leaves[i] = KERNEL_NONE;
	for (uint32_t i = 0; i < n; i++)
		paint(c, pieces[i].start, pieces[i].end, KERNEL_NONE, own);
	for (uint32_t i = 0; i < f->n_inlined; i++) {
		struct dwarf_inlined *inl = &f->inlined[i];
		uint32_t id = add_body(b, c, f, inl);
		uint32_t over = id == KERNEL_NONE                   ? KERNEL_NONE :
				b->bodies[id].parent == KERNEL_NONE ? own :
								      b->bodies[id].parent;

		c->ids[i] = id;
		for (uint32_t j = 0; id != KERNEL_NONE && j < inl->n_spans; j++)
			paint(c, f->spans.items[inl->first_span + j].start,
			      f->spans.items[inl->first_span + j].end, over, id);
	}
	for (uint32_t i = 0; i + 1 < c->n_edges; i++)
		if (c->leaves[i] != KERNEL_NONE)
			add_piece(&b->painted, c->edges[i], c->edges[i + 1], c->leaves[i]);
}

/* Add all ranges of the function DIE, including addresses that another function claims as well. */
static void add_function_ranges(struct build *b, struct index_function *record, Dwarf_Die *die)
{
	struct dwarf_spans own = { 0 };

	kernel_dwarf_ranges(b->dwarf, die, 0, &own);
	sort_pieces(&own, compare_u64);
	record->first_range = b->n_ranges;
	record->n_ranges = add_ranges(b, own.items, own.n_items);
	free(own.items);
}

static void add_function(struct build *b, struct canvas *c, struct dwarf_function *f,
			 const struct dwarf_span *pieces, uint32_t n)
{
	struct index_function record = {
		.name = index_strings_add(&b->strings, dwarf_diename(&f->die)),
		.entry = (uint32_t)(f->entry - b->base),
		.first_body = b->n_bodies,
	};
	uint64_t offset;

	record.symbol = index_strings_add(&b->strings,
					  kernel_image_symbol_at(b->img, record.entry, &offset));
	if (!record.name)
		record.name = record.symbol;
	add_place(b, &f->die, DW_AT_decl_file, DW_AT_decl_line, &record.file, &record.line);
	add_function_ranges(b, &record, &f->die);
	kernel_dwarf_function_parse(b->dwarf, f);
	add_bodies(b, c, f, pieces, n);
	kernel_dwarf_function_forget(f);
	record.n_bodies = b->n_bodies - record.first_body;
	vec_push(b, function_records, record);
}

define_compare(compare_listed, struct listed,
	       compare_values(a->function->entry, b->function->entry) ?:
		       compare_values(a->order, b->order));

/* Add the names of all inlined functions, including those that left no code. */
static void add_inlines(struct build *b)
{
	for (uint32_t i = 0; i < b->dwarf->n_units; i++)
		for (uint32_t j = 0; j < b->dwarf->units[i].n_inlines; j++)
			add_name(b, &b->dwarf->units[i].inlines[j]);
}

/* Give an id to each function of all units, by ascending entry. */
static void list_functions(struct build *b)
{
	vec_each(struct dwarf_unit, unit, b->dwarf, units) {
		for (uint32_t j = 0; j < unit->n_functions; j++) {
			struct listed listed = { &unit->functions[j], b->n_listed };

			unit->functions[j].id = KERNEL_NONE;
			if (is_in_text(b, unit->functions[j].entry, unit->functions[j].entry + 1))
				vec_push(b, listed, listed);
		}
	}
	sort_array(b->listed, b->n_listed, sizeof(*b->listed), compare_listed);
	for (uint32_t i = 0; i < b->n_listed; i++)
		b->listed[i].function->id = i;
}

/* Cut the ranges of UNIT's functions into pieces, and add these. Leave out addresses outside of the unit's N pieces WHOLE. */
static void add_function_pieces(struct build *b, struct dwarf_unit *unit,
				const struct dwarf_span *whole, uint32_t n)
{
	struct dwarf_spans pieces = { 0 };
	uint32_t w = 0;

	flatten(&unit->spans, &pieces);
	vec_each(const struct dwarf_span, p, &pieces, items) {
		uint32_t id = unit->functions[p->id].id;

		while (w < n && whole[w].end <= p->start)
			w++;
		for (uint32_t j = w; id != KERNEL_NONE && j < n && whole[j].start < p->end; j++) {
			uint64_t start = whole[j].start > p->start ? whole[j].start : p->start;
			uint64_t end = whole[j].end < p->end ? whole[j].end : p->end;

			if (is_in_text(b, start, end))
				add_piece(&b->functions, start, end, id);
		}
	}
	free(pieces.items);
}

static void add_functions(struct build *b)
{
	const struct dwarf_span *units = b->units.items, *pieces;
	struct canvas canvas = { 0 };
	uint32_t at = 0, n;

	sort_pieces(&b->units, compare_piece);
	for_each_run(i, j, b->units.n_items, units[i].id == units[j].id)
		add_function_pieces(b, &b->dwarf->units[units[i].id], &units[i], j - i);
	sort_pieces(&b->functions, compare_piece);
	pieces = b->functions.items;
	for (uint32_t i = 0; i < b->n_listed; i++) {
		for (n = 0; at + n < b->functions.n_items && pieces[at + n].id == i;)
			n++;
		add_function(b, &canvas, b->listed[i].function, &pieces[at], n);
		at += n;
		if (log_progress_due())
			log_progress("looking for inlined functions in %u of %u", i, b->n_listed);
	}
	log_progress_end();
	free(canvas.edges);
	free(canvas.leaves);
	free(canvas.ids);
}

static void add_lines(struct build *b)
{
	vec_each(const struct dwarf_span, p, &b->units, items) {
		index_lines_add(&b->lines, &b->strings, b->dwarf, &b->dwarf->units[p->id], p->start,
				p->end, b->base);
	}
	index_lines_end(&b->lines, b->base);
}

static void map_address(struct build *b, uint64_t addr, uint32_t leaf)
{
	struct index_address entry = { (uint32_t)addr, leaf };

	if (b->n_addresses ? b->addresses[b->n_addresses - 1].leaf != leaf : leaf != KERNEL_NONE)
		vec_push(b, addresses, entry);
}

static void map_addresses(struct build *b)
{
	uint64_t end = 0;

	sort_pieces(&b->painted, compare_u64);
	vec_each(const struct dwarf_span, p, &b->painted, items) {
		if (p->start - b->base > end)
			map_address(b, end, KERNEL_NONE);
		map_address(b, p->start - b->base, p->id);
		end = p->end - b->base;
	}
	map_address(b, end, KERNEL_NONE);
}

static void add_symbol(uint64_t addr, const char *name, uint64_t offset, void *arg)
{
	struct build *b = arg;
	struct index_symbol symbol = { .addr = (uint32_t)addr };
	uint32_t n = b->n_symbols;
	char *base;

	if (addr > UINT32_MAX || offset > addr)
		return;
	if (name) {
		base = alloc_strndup(name, kernel_name_base_len(name));
		symbol.start = (uint32_t)(addr - offset);
		symbol.name = index_strings_add(&b->strings, name);
		symbol.base = index_strings_add(&b->strings, base);
		free(base);
	}
	if (!n || b->symbols[n - 1].name != symbol.name || b->symbols[n - 1].start != symbol.start)
		vec_push(b, symbols, symbol);
}

/* Append SIZE bytes of RECORDS as section S to the file in BYTES. If BYTES is NULL, only add the sizes to H. */
static void put_section(unsigned char *bytes, struct index_header *h, enum index_section s,
			const void *records, size_t size)
{
	h->sections[s].offset = h->size;
	h->sections[s].size = size;
	if (bytes && size)
		memcpy(bytes + h->size, records, size);
	h->size += (size + 7) & ~(size_t)7;
}

#define PUT(s, b, items) put_section(bytes, h, s, (b)->items, (b)->n_##items * sizeof(*(b)->items))

static void put_sections(struct build *b, unsigned char *bytes, struct index_header *h)
{
	h->size = sizeof(*h);
	put_section(bytes, h, INDEX_STRINGS, b->strings.bytes, b->strings.n_bytes);
	PUT(INDEX_FUNCTIONS, b, function_records);
	PUT(INDEX_BODIES, b, bodies);
	PUT(INDEX_RANGES, b, ranges);
	PUT(INDEX_NAMES, b, names);
	put_section(bytes, h, INDEX_BY_NAME, b->by_name, b->n_bodies * sizeof(*b->by_name));
	PUT(INDEX_ADDRESSES, b, addresses);
	PUT(INDEX_SYMBOLS, b, symbols);
	PUT(INDEX_LINE_BLOCKS, &b->lines, blocks);
	PUT(INDEX_LINE_ROWS, &b->lines, bytes);
}

static int assemble(struct build *b, struct kernel_index **out)
{
	struct kernel_index *idx = alloc_new(struct kernel_index);
	const struct kernel_build_id *id = kernel_image_build_id(b->img);
	struct index_header header = {
		.magic = INDEX_MAGIC,
		.version = INDEX_VERSION,
		.byte_order = INDEX_BYTE_ORDER,
		.has_dwarf = b->dwarf->n_units > 0,
		.id_len = (uint32_t)id->len,
	};
	unsigned char *bytes;
	int err;

	memcpy(header.id, id->bytes, id->len);
	put_sections(b, NULL, &header);
	idx->size = header.size;
	idx->bytes = bytes = alloc_array(idx->size, 1);
	put_sections(b, bytes, &header);
	memcpy(bytes, &header, sizeof(header));
	kernel_index_seal((struct index_header *)bytes);
	/* kernel_index_attach() refuses sections that are too large for the 32-bit numbers in the file. */
	err = kernel_index_attach(idx, NULL);
	if (err) {
		kernel_index_destroy(idx);
		return -EFBIG;
	}
	*out = idx;
	return 0;
}

static void build_deinit(struct build *b)
{
	kernel_dwarf_destroy(b->dwarf);
	index_strings_deinit(&b->strings);
	index_lines_deinit(&b->lines);
	free(b->units.items);
	free(b->functions.items);
	free(b->listed);
	free(b->painted.items);
	hash_deinit(&b->name_index);
	free(b->function_records);
	free(b->bodies);
	free(b->ranges);
	free(b->names);
	free(b->by_name);
	free(b->addresses);
	free(b->symbols);
}

int kernel_index_build(struct kernel_image *img, struct kernel_index **out)
{
	scoped_free struct build *b = alloc_new(struct build);
	int err;

	*out = NULL;
	b->img = img;
	b->dwarf = kernel_dwarf_create(img);
	b->base = kernel_image_base(img);
	index_strings_init(&b->strings);
	flatten(&b->dwarf->spans, &b->units);
	add_lines(b);
	list_functions(b);
	add_functions(b);
	add_inlines(b);
	sort_names(b);
	map_addresses(b);
	kernel_image_symbols_each(img, add_symbol, b);
	err = assemble(b, out);
	build_deinit(b);
	return err;
}
