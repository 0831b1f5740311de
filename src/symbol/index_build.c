// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes an index of a vmlinux.
 *
 * Its answers for an address are to be those of a search through the DWARF: of units that overlap, and of
 * functions, the one whose ranges begin last before the address; of inlined bodies the first whose ranges
 * hold it, level by level. So units and functions are cut into pieces that do not overlap, and within each
 * function its bodies are painted over it, outer ones first.
 */
#include "symbol/index_build.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/name.h"

/* Addresses between START and END, of the file, that belong to the unit or function ID. */
struct piece {
	uint64_t start, end;
	uint32_t id;
};

struct pieces {
	struct piece *items;
	uint32_t n_items, cap_items;
};

struct listed {
	struct dwarf_function *function;
	uint32_t order; /* as it was found */
};

/* Where what is painted changes, within a function. */
struct canvas {
	uint64_t *edges; /* ascending, each once */
	uint32_t n_edges, cap_edges;
	uint32_t *leaves; /* of the piece from the edge of the same index on */
	uint32_t *ids; /* of the function's bodies, by their place in its DWARF */
};

struct build {
	struct symbol_image *img;
	struct dwarf *dwarf;
	uint64_t base;
	struct build_strings strings;
	struct build_lines lines;
	struct pieces units, functions;
	struct listed *listed;
	uint32_t n_listed, cap_listed;
	struct pieces painted; /* with leaves for ids */
	struct build_cached origins[BUILD_CACHE]; /* of inlined bodies: names */
	uint32_t *name_slots; /* hash of names: index + 1, open addressing */
	uint32_t n_name_slots;
	/* What goes into the file. */
	struct index_function *function_records;
	uint32_t n_function_records, cap_function_records;
	struct index_body *bodies;
	uint32_t n_bodies, cap_bodies;
	struct symbol_range *ranges;
	uint32_t n_ranges, cap_ranges;
	struct index_name *names;
	uint32_t n_names, cap_names;
	uint32_t *by_name;
	struct index_spot *spots;
	uint32_t n_spots, cap_spots;
	struct index_symbol *symbols;
	uint32_t n_symbols, cap_symbols;
};

static bool is_told(const struct build *b, uint64_t start, uint64_t end)
{
	return start >= b->base && end > start && end - b->base <= UINT32_MAX;
}

static int compare_piece(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static int compare_start(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void sort_pieces(struct pieces *p, int (*compare)(const void *, const void *))
{
	if (p->n_items)
		qsort(p->items, p->n_items, sizeof(*p->items), compare);
}

static void add_piece(uint64_t start, uint64_t end, uint32_t id, void *arg)
{
	struct pieces *p = arg;
	struct piece *last = p->n_items ? &p->items[p->n_items - 1] : NULL;
	struct piece piece = { start, end, id };

	if (last && last->end == start && last->id == id)
		last->end = end;
	else
		vec_push(p, items, piece);
}

/* --- names ---------------------------------------------------------------------------------- */

static uint32_t *name_slot(const struct build *b, const struct index_name *name)
{
	uint32_t i = name->name * 2654435761u ^ name->file * 40503u ^ name->line * 2246822519u;

	for (;; i++) {
		uint32_t *slot = &b->name_slots[i & (b->n_name_slots - 1)];
		const struct index_name *n = *slot ? &b->names[*slot - 1] : NULL;

		if (!n || (n->name == name->name && n->file == name->file && n->line == name->line))
			return slot;
	}
}

static void grow_names(struct build *b)
{
	b->n_name_slots = b->n_name_slots ? b->n_name_slots * 2 : 1 << 12;
	free(b->name_slots);
	b->name_slots = alloc_array(b->n_name_slots, sizeof(*b->name_slots));
	for (uint32_t i = 0; i < b->n_names; i++)
		*name_slot(b, &b->names[i]) = i + 1;
}

static uint32_t find_file(struct build *b, const char *raw)
{
	return build_file(&b->strings, b->dwarf->paths, raw);
}

/* The index of the name of the inlined function DIE. */
static uint32_t add_name(struct build *b, Dwarf_Die *die)
{
	struct index_name name = { .name = build_string(&b->strings, dwarf_diename(die)) };
	const char *file;
	uint32_t *slot;

	symbol_dwarf_declaration(die, &file, &name.line);
	name.file = find_file(b, file);
	if (b->n_names * 2 >= b->n_name_slots)
		grow_names(b);
	slot = name_slot(b, &name);
	if (!*slot) {
		vec_push(b, names, name);
		*slot = b->n_names;
	}
	return *slot - 1;
}

/* The same for a body of it, whose DIE most often has its origin in a place that another had before. */
static uint32_t add_body_name(struct build *b, Dwarf_Die *body)
{
	Dwarf_Attribute attr;
	struct build_cached *c;
	Dwarf_Die origin;

	if (!dwarf_formref_die(dwarf_attr(body, DW_AT_abstract_origin, &attr), &origin))
		return add_name(b, body);
	c = build_cached(b->origins, origin.addr);
	if (c->key != origin.addr) {
		c->key = origin.addr;
		c->value = add_name(b, &origin);
	}
	return c->value;
}

static const char *strings_of_sort;

static int compare_name(const void *a, const void *b)
{
	const struct index_name *x = a, *y = b;
	int diff = strcmp(strings_of_sort + x->name, strings_of_sort + y->name);

	if (!diff)
		diff = strcmp(strings_of_sort + x->file, strings_of_sort + y->file);
	return diff ? diff : (x->line > y->line) - (x->line < y->line);
}

/* Puts names in order, and the bodies' ids in that of their names. */
static void sort_names(struct build *b)
{
	uint32_t *moved = alloc_array(b->n_names, sizeof(*moved)), at = 0;

	for (uint32_t i = 0; i < b->n_names; i++)
		b->names[i].first = i;
	strings_of_sort = b->strings.bytes;
	if (b->n_names)
		qsort(b->names, b->n_names, sizeof(*b->names), compare_name);
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

/* --- functions and bodies ------------------------------------------------------------------- */

/* N ascending ranges, those that touch joined, into the index; how many became of them. */
static uint32_t add_ranges(struct build *b, const struct symbol_range *ranges, uint32_t n)
{
	uint32_t first = b->n_ranges;

	for (uint32_t i = 0; i < n; i++) {
		struct symbol_range r = { ranges[i].start - b->base, ranges[i].end - b->base };

		if (!is_told(b, ranges[i].start, ranges[i].end))
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

/* The id of the body, or SYMBOL_NONE where nothing is left of it. */
static uint32_t add_body(struct build *b, const struct canvas *canvas, struct dwarf_function *f,
			 struct dwarf_inlined *inl)
{
	const struct symbol_range *ranges = &f->ranges[inl->first_range];
	struct index_body body = {
		.name = add_body_name(b, &inl->die),
		.function = f->id,
		.parent = inl->parent == UINT32_MAX ? SYMBOL_NONE : canvas->ids[inl->parent],
		.first_range = b->n_ranges,
	};
	const char *file;
	uint64_t entry;

	body.n_ranges = add_ranges(b, ranges, inl->n_ranges);
	if (!body.n_ranges) {
		b->names[body.name].n_empty++;
		return SYMBOL_NONE;
	}
	entry = symbol_dwarf_entry(&inl->die, ranges);
	body.entry = is_told(b, entry, entry + 1) ? (uint32_t)(entry - b->base) :
						    (uint32_t)b->ranges[body.first_range].start;
	symbol_dwarf_call_place(&inl->die, &file, &body.call_line);
	body.call_file = find_file(b, file);
	vec_push(b, bodies, body);
	return b->n_bodies - 1;
}

static int compare_edge(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The index of the last edge at or before ADDR, which is not before the first. */
static uint32_t edge_at(const struct canvas *c, uint64_t addr)
{
	uint32_t lo = 0, hi = c->n_edges;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->edges[mid] <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : 0;
}

static void paint(struct canvas *c, uint64_t start, uint64_t end, uint32_t over, uint32_t leaf)
{
	for (uint32_t i = edge_at(c, start); i < c->n_edges && c->edges[i] < end; i++)
		if (c->edges[i] >= start && c->leaves[i] == over)
			c->leaves[i] = leaf;
}

static void find_edges(struct canvas *c, const struct dwarf_function *f, const struct piece *pieces,
		       uint32_t n)
{
	uint32_t unique = 0;

	c->n_edges = 0;
	for (uint32_t i = 0; i < n; i++) {
		vec_push(c, edges, pieces[i].start);
		vec_push(c, edges, pieces[i].end);
	}
	for (uint32_t i = 0; i < f->n_ranges; i++) {
		vec_push(c, edges, f->ranges[i].start);
		vec_push(c, edges, f->ranges[i].end);
	}
	if (c->n_edges)
		qsort(c->edges, c->n_edges, sizeof(*c->edges), compare_edge);
	for (uint32_t i = 0; i < c->n_edges; i++)
		if (!unique || c->edges[unique - 1] != c->edges[i])
			c->edges[unique++] = c->edges[i];
	c->n_edges = unique;
}

/* Adds the bodies of F, whose visible pieces are the N of PIECES, and who has which address. */
static void add_bodies(struct build *b, struct canvas *c, struct dwarf_function *f,
		       const struct piece *pieces, uint32_t n)
{
	uint32_t own = f->id | INDEX_LEAF_FUNCTION;

	find_edges(c, f, pieces, n);
	c->leaves = alloc_resize(c->leaves, c->n_edges, sizeof(*c->leaves));
	c->ids = alloc_resize(c->ids, f->n_inlined, sizeof(*c->ids));
	for (uint32_t i = 0; i < c->n_edges; i++)
		c->leaves[i] = SYMBOL_NONE;
	for (uint32_t i = 0; i < n; i++)
		paint(c, pieces[i].start, pieces[i].end, SYMBOL_NONE, own);
	for (uint32_t i = 0; i < f->n_inlined; i++) {
		struct dwarf_inlined *inl = &f->inlined[i];
		uint32_t id = add_body(b, c, f, inl);
		uint32_t over = id == SYMBOL_NONE                   ? SYMBOL_NONE :
				b->bodies[id].parent == SYMBOL_NONE ? own :
								      b->bodies[id].parent;

		c->ids[i] = id;
		for (uint32_t j = 0; id != SYMBOL_NONE && j < inl->n_ranges; j++)
			paint(c, f->ranges[inl->first_range + j].start,
			      f->ranges[inl->first_range + j].end, over, id);
	}
	for (uint32_t i = 0; i + 1 < c->n_edges; i++)
		if (c->leaves[i] != SYMBOL_NONE)
			add_piece(c->edges[i], c->edges[i + 1], c->leaves[i], &b->painted);
}

static int compare_range(const void *a, const void *b)
{
	const struct symbol_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* The function's own ranges, all of them, whoever else claims some. */
static void add_function_ranges(struct build *b, struct index_function *record, Dwarf_Die *die)
{
	struct {
		struct symbol_range *items;
		uint32_t n_items, cap_items;
	} own = { 0 };
	struct symbol_range range;
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	while ((at = symbol_dwarf_next_range(b->dwarf, die, at, &base, &range)) > 0)
		vec_push(&own, items, range);
	if (own.n_items)
		qsort(own.items, own.n_items, sizeof(range), compare_range);
	record->first_range = b->n_ranges;
	record->n_ranges = add_ranges(b, own.items, own.n_items);
	free(own.items);
}

static void add_function(struct build *b, struct canvas *c, struct dwarf_function *f,
			 const struct piece *pieces, uint32_t n)
{
	struct index_function record = {
		.name = build_string(&b->strings, dwarf_diename(&f->die)),
		.entry = (uint32_t)(f->entry - b->base),
		.first_body = b->n_bodies,
	};
	const char *file;
	uint64_t offset;

	record.symbol =
		build_string(&b->strings, symbol_image_symbol_at(b->img, record.entry, &offset));
	if (!record.name)
		record.name = record.symbol;
	symbol_dwarf_declaration(&f->die, &file, &record.line);
	record.file = find_file(b, file);
	add_function_ranges(b, &record, &f->die);
	symbol_dwarf_function_parse(b->dwarf, f);
	add_bodies(b, c, f, pieces, n);
	symbol_dwarf_function_forget(f);
	record.n_bodies = b->n_bodies - record.first_body;
	vec_push(b, function_records, record);
}

static int compare_listed(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->function->entry != y->function->entry)
		return x->function->entry < y->function->entry ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* So that a name is known too of which no body is left. */
static void add_inlines(struct build *b)
{
	for (uint32_t i = 0; i < b->dwarf->n_units; i++)
		for (uint32_t j = 0; j < b->dwarf->units[i].n_inlines; j++)
			add_name(b, &b->dwarf->units[i].inlines[j]);
}

/* Gives the functions of all units their ids. */
static void list_functions(struct build *b)
{
	for (uint32_t i = 0; i < b->dwarf->n_units; i++) {
		struct dwarf_unit *unit = &b->dwarf->units[i];

		for (uint32_t j = 0; j < unit->n_functions; j++) {
			struct listed listed = { &unit->functions[j], b->n_listed };

			unit->functions[j].id = SYMBOL_NONE;
			if (is_told(b, unit->functions[j].entry, unit->functions[j].entry + 1))
				vec_push(b, listed, listed);
		}
	}
	if (b->n_listed)
		qsort(b->listed, b->n_listed, sizeof(*b->listed), compare_listed);
	for (uint32_t i = 0; i < b->n_listed; i++)
		b->listed[i].function->id = i;
}

/* The pieces of the UNIT's functions, as far as the N pieces that are the unit's reach. */
static void add_function_pieces(struct build *b, struct dwarf_unit *unit, const struct piece *whole,
				uint32_t n)
{
	struct pieces pieces = { 0 };
	uint32_t w = 0;

	symbol_dwarf_flatten(unit->spans, unit->n_spans, add_piece, &pieces);
	for (uint32_t i = 0; i < pieces.n_items; i++) {
		const struct piece *p = &pieces.items[i];
		uint32_t id = unit->functions[p->id].id;

		while (w < n && whole[w].end <= p->start)
			w++;
		for (uint32_t j = w; id != SYMBOL_NONE && j < n && whole[j].start < p->end; j++) {
			uint64_t start = whole[j].start > p->start ? whole[j].start : p->start;
			uint64_t end = whole[j].end < p->end ? whole[j].end : p->end;

			if (is_told(b, start, end))
				add_piece(start, end, id, &b->functions);
		}
	}
	free(pieces.items);
}

/* How many of the pieces from FIRST on have the same id. */
static uint32_t same_id(const struct pieces *p, uint32_t first)
{
	uint32_t n = 1;

	while (first + n < p->n_items && p->items[first + n].id == p->items[first].id)
		n++;
	return n;
}

static void add_functions(struct build *b)
{
	struct canvas canvas = { 0 };
	uint32_t at = 0, n;

	sort_pieces(&b->units, compare_piece);
	for (uint32_t i = 0; i < b->units.n_items; i += n) {
		n = same_id(&b->units, i);
		add_function_pieces(b, &b->dwarf->units[b->units.items[i].id], &b->units.items[i],
				    n);
	}
	sort_pieces(&b->functions, compare_piece);
	for (uint32_t i = 0; i < b->n_listed; i++) {
		n = at < b->functions.n_items && b->functions.items[at].id == i ?
			    same_id(&b->functions, at) :
			    0;
		add_function(b, &canvas, b->listed[i].function, &b->functions.items[at], n);
		at += n;
	}
	free(canvas.edges);
	free(canvas.leaves);
	free(canvas.ids);
}

/* --- addresses ------------------------------------------------------------------------------ */

static void add_lines(struct build *b)
{
	for (uint32_t i = 0; i < b->units.n_items; i++) {
		const struct piece *p = &b->units.items[i];

		build_lines_add(&b->lines, &b->strings, b->dwarf, &b->dwarf->units[p->id], p->start,
				p->end, b->base);
	}
	build_lines_end(&b->lines, b->base);
}

static void add_spot(struct build *b, uint64_t addr, uint32_t leaf)
{
	struct index_spot spot = { (uint32_t)addr, leaf };

	if (b->n_spots ? b->spots[b->n_spots - 1].leaf != leaf : leaf != SYMBOL_NONE)
		vec_push(b, spots, spot);
}

static void add_spots(struct build *b)
{
	uint64_t end = 0;

	sort_pieces(&b->painted, compare_start);
	for (uint32_t i = 0; i < b->painted.n_items; i++) {
		const struct piece *p = &b->painted.items[i];

		if (p->start - b->base > end)
			add_spot(b, end, SYMBOL_NONE);
		add_spot(b, p->start - b->base, p->id);
		end = p->end - b->base;
	}
	add_spot(b, end, SYMBOL_NONE);
}

static void add_symbol(uint64_t addr, const char *name, uint64_t offset, void *arg)
{
	struct build *b = arg;
	struct index_symbol symbol = { .addr = (uint32_t)addr }, *last;
	char *base;

	if (addr > UINT32_MAX || offset > addr)
		return;
	if (name) {
		base = alloc_strndup(name, symbol_name_base_len(name));
		symbol.start = (uint32_t)(addr - offset);
		symbol.name = build_string(&b->strings, name);
		symbol.base = build_string_copy(&b->strings, base);
		free(base);
	}
	last = b->n_symbols ? &b->symbols[b->n_symbols - 1] : NULL;
	if (!last || last->name != symbol.name || last->start != symbol.start)
		vec_push(b, symbols, symbol);
}

/* --- the whole ------------------------------------------------------------------------------ */

/* Puts SIZE bytes of RECORDS into section S; BYTES is NULL where only room is to be made. */
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
	PUT(INDEX_SPOTS, b, spots);
	PUT(INDEX_SYMBOLS, b, symbols);
	PUT(INDEX_LINE_BLOCKS, &b->lines, blocks);
	PUT(INDEX_LINE_ROWS, &b->lines, bytes);
}

static int assemble(struct build *b, struct symbol_index **out)
{
	struct symbol_index *idx = alloc_new(struct symbol_index);
	const struct symbol_build_id *id = symbol_image_build_id(b->img);
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
	symbol_index_seal((struct index_header *)bytes);
	/* Fails where a section has outgrown the numbers of the file. */
	err = symbol_index_attach(idx, NULL);
	if (err) {
		symbol_index_destroy(idx);
		return -EFBIG;
	}
	*out = idx;
	return 0;
}

static void build_deinit(struct build *b)
{
	symbol_dwarf_destroy(b->dwarf);
	build_strings_deinit(&b->strings);
	build_lines_deinit(&b->lines);
	free(b->units.items);
	free(b->functions.items);
	free(b->listed);
	free(b->painted.items);
	free(b->name_slots);
	free(b->function_records);
	free(b->bodies);
	free(b->ranges);
	free(b->names);
	free(b->by_name);
	free(b->spots);
	free(b->symbols);
}

int symbol_index_build(struct symbol_image *img, struct symbol_index **out)
{
	struct build *b = alloc_new(struct build);
	int err;

	*out = NULL;
	b->img = img;
	b->dwarf = symbol_dwarf_create(img);
	b->base = symbol_image_base(img);
	build_strings_init(&b->strings);
	symbol_dwarf_flatten(b->dwarf->spans, b->dwarf->n_spans, add_piece, &b->units);
	add_lines(b);
	list_functions(b);
	add_functions(b);
	add_inlines(b);
	sort_names(b);
	add_spots(b);
	symbol_image_symbols_each(img, add_symbol, b);
	err = assemble(b, out);
	build_deinit(b);
	free(b);
	return err;
}
