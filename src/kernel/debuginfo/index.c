// SPDX-License-Identifier: GPL-2.0-or-later
/* Look-ups in an index. Do not trust numbers in the index: if it is damaged, only answers may be missing. */
#include "base/map.h"
#include "kernel/debuginfo/index.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/debuginfo/index_impl.h"
#include "kernel/image/name.h"

static const size_t record_size[INDEX_N_SECTIONS] = {
	[INDEX_STRINGS] = 1,
	[INDEX_FUNCTIONS] = sizeof(struct index_function),
	[INDEX_BODIES] = sizeof(struct index_body),
	[INDEX_RANGES] = sizeof(struct kernel_range),
	[INDEX_NAMES] = sizeof(struct index_name),
	[INDEX_BY_NAME] = sizeof(uint32_t),
	[INDEX_ADDRESSES] = sizeof(struct index_address),
	[INDEX_SYMBOLS] = sizeof(struct index_symbol),
	[INDEX_LINE_BLOCKS] = sizeof(struct index_line_block),
	[INDEX_LINE_ROWS] = 1,
};

/*
 * Return a check sum of SIZE bytes, a multiple of 8. A change of a single word always changes the sum, because multiplication by
 * an odd number and rotation lose no information. The sum takes only three instructions per word, which matters: each recording
 * first checks an index of 22 MB.
 */
static uint64_t sum(const void *bytes, size_t size)
{
	const uint64_t *words = bytes;
	uint64_t sum = size;

#pragma GCC unroll 8
	for (size_t i = 0; i < size / sizeof(*words); i++) {
		sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15u;
		sum = sum << 32 | sum >> 32;
	}
	return sum;
}

static uint64_t body_sum(const struct index_header *h)
{
	return sum(h + 1, h->size - sizeof(*h));
}

static uint64_t header_sum(const struct index_header *h)
{
	return sum(h, offsetof(struct index_header, header_sum));
}

void kernel_index_seal(struct index_header *h)
{
	h->body_sum = body_sum(h);
	h->header_sum = header_sum(h);
}

static int attach_section(struct kernel_index *idx, enum index_section s)
{
	uint64_t offset = idx->header->sections[s].offset, size = idx->header->sections[s].size;

	if (offset % 8 || offset < sizeof(struct index_header) || offset > idx->size ||
	    size > idx->size - offset || size % record_size[s] || size > UINT32_MAX)
		return -EBADMSG;
	idx->sections[s] = idx->bytes + offset;
	idx->n[s] = (uint32_t)(size / record_size[s]);
	return 0;
}

int kernel_index_attach(struct kernel_index *idx, const struct kernel_build_id *id)
{
	const struct index_header *h = (const struct index_header *)idx->bytes;
	const char *strings;
	int err = 0;

	if (idx->size < sizeof(*h) || memcmp(h->magic, INDEX_MAGIC, sizeof(h->magic)))
		return -EBADMSG;
	if (h->version != INDEX_VERSION || h->byte_order != INDEX_BYTE_ORDER)
		return -ESTALE;
	if (h->header_sum != header_sum(h) || h->size != idx->size || h->size % 8 ||
	    h->id_len > sizeof(h->id))
		return -EBADMSG;
	idx->header = h;
	idx->id.len = h->id_len;
	memcpy(idx->id.bytes, h->id, h->id_len);
	if (id && !kernel_build_id_equal(id, &idx->id))
		return -ESTALE;
	for (unsigned int s = 0; s < INDEX_N_SECTIONS && !err; s++)
		err = attach_section(idx, s);
	if (err)
		return err;
	strings = idx->sections[INDEX_STRINGS];
	if (!idx->n[INDEX_STRINGS] || *strings || strings[idx->n[INDEX_STRINGS] - 1] ||
	    h->body_sum != body_sum(h))
		return -EBADMSG;
	return 0;
}

void kernel_index_destroy(struct kernel_index *idx)
{
	if (!idx)
		return;
	if (idx->is_mapped)
		map_release((void *)idx->bytes);
	else
		free((void *)idx->bytes);
	free(idx->path);
	free(idx);
}

const struct kernel_build_id *kernel_index_build_id(const struct kernel_index *idx)
{
	return &idx->id;
}

const char *kernel_index_path(const struct kernel_index *idx)
{
	return idx->path;
}

bool kernel_index_has_dwarf(const struct kernel_index *idx)
{
	return idx->header->has_dwarf;
}

static const void *record(const struct kernel_index *idx, enum index_section s, uint32_t i)
{
	if (i >= idx->n[s])
		return NULL;
	return (const unsigned char *)idx->sections[s] + i * record_size[s];
}

static const char *string(const struct kernel_index *idx, uint32_t offset)
{
	return offset ? record(idx, INDEX_STRINGS, offset) : NULL;
}

/* S has records that begin with an address, in ascending order. Return the last one with an address up to ADDR, or NULL. */
static const void *record_before(const struct kernel_index *idx, enum index_section s,
				 uint64_t addr)
{
	uint32_t next;

	if (addr > UINT32_MAX)
		return NULL;
	next = bisect(idx->n[s], i, *(const uint32_t *)record(idx, s, i) <= addr);
	return next ? record(idx, s, next - 1) : NULL;
}

/* Return N ranges of INDEX_RANGES, from index FIRST on. If the ranges are damaged, return NULL and set *N_OUT to 0. */
static const struct kernel_range *ranges(const struct kernel_index *idx, uint32_t first, uint32_t n,
					 size_t *n_out)
{
	const struct kernel_range *r = record(idx, INDEX_RANGES, first);
	uint64_t at = 0;

	*n_out = 0;
	if (!r || n > idx->n[INDEX_RANGES] - first)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		if (r[i].start < at || r[i].start >= r[i].end)
			return NULL;
		at = r[i].end;
	}
	*n_out = n;
	return r;
}

int kernel_index_function(const struct kernel_index *idx, uint32_t id, struct kernel_function *out)
{
	const struct index_function *f = record(idx, INDEX_FUNCTIONS, id);
	const char *name;

	if (!f)
		return -ENOENT;
	name = string(idx, f->name);
	*out = (struct kernel_function){
		.id = id,
		.name = name ? name : "[unknown]",
		.symbol = string(idx, f->symbol),
		.addr = f->entry,
		.file = string(idx, f->file),
		.line = f->line,
	};
	out->ranges = ranges(idx, f->first_range, f->n_ranges, &out->n_ranges);
	if (f->first_body <= idx->n[INDEX_BODIES] &&
	    f->n_bodies <= idx->n[INDEX_BODIES] - f->first_body) {
		out->first_body = f->first_body;
		out->n_bodies = f->n_bodies;
	}
	return 0;
}

int kernel_index_functions_each(const struct kernel_index *idx, const char *glob,
				kernel_function_fn fn, void *arg)
{
	int ret = 0;

	for (uint32_t id = 0; id < idx->n[INDEX_FUNCTIONS] && !ret; id++) {
		struct kernel_function f = { .name = "" };

		if (!kernel_index_function(idx, id, &f) && kernel_name_matches(glob, f.name))
			ret = fn(&f, arg);
	}
	return ret;
}

uint32_t kernel_index_n_bodies(const struct kernel_index *idx)
{
	return idx->n[INDEX_BODIES];
}

static const char *body_name(const struct kernel_index *idx, const struct index_body *b)
{
	const struct index_name *n = record(idx, INDEX_NAMES, b->name);
	const char *name = n ? string(idx, n->name) : NULL;

	return name ? name : "[inlined]";
}

/* Return the inlined function around B, or NULL. Refuse a result behind B: a walk outwards then always ends. */
static const struct index_body *body_parent(const struct kernel_index *idx,
					    const struct index_body *b)
{
	const struct index_body *parent = record(idx, INDEX_BODIES, b->parent);

	return parent && parent < b ? parent : NULL;
}

static const char *function_name(const struct kernel_index *idx, uint32_t id)
{
	const struct index_function *f = record(idx, INDEX_FUNCTIONS, id);

	return f ? string(idx, f->name) : NULL;
}

int kernel_index_body(const struct kernel_index *idx, uint32_t id, struct kernel_body *out)
{
	const struct index_body *b = record(idx, INDEX_BODIES, id), *parent;
	const struct index_name *n;

	if (!b)
		return -ENOENT;
	n = record(idx, INDEX_NAMES, b->name);
	*out = (struct kernel_body){
		.id = id,
		.name = body_name(idx, b),
		.file = n ? string(idx, n->file) : NULL,
		.line = n ? n->line : 0,
		.parent = KERNEL_NONE,
		.call_file = string(idx, b->call_file),
		.call_line = b->call_line,
		.entry = b->entry,
	};
	if (kernel_index_function(idx, b->function, &out->function))
		return -ENOENT;
	out->caller = out->function.name;
	parent = body_parent(idx, b);
	if (parent) {
		out->parent = b->parent;
		out->caller = body_name(idx, parent);
	}
	out->ranges = ranges(idx, b->first_range, b->n_ranges, &out->n_ranges);
	return 0;
}

static int bodies_of_name(const struct kernel_index *idx, const struct index_name *name,
			  kernel_body_fn fn, void *arg)
{
	int ret = 0;

	for (uint32_t i = 0; i < name->n && !ret; i++) {
		const uint32_t *id = record(idx, INDEX_BY_NAME, name->first + i);
		struct kernel_body body;

		if (!id || name->first + i < i)
			break;
		if (!kernel_index_body(idx, *id, &body))
			ret = fn(&body, arg);
	}
	return ret;
}

static bool is_name_before(const struct kernel_index *idx, uint32_t number, const char *text)
{
	const struct index_name *n = record(idx, INDEX_NAMES, number);
	const char *name = string(idx, n->name);

	return !name || strcmp(name, text) < 0;
}

/* Return the index of the first name that GLOB may match: 0 or, if GLOB is a plain name (IS_NAME), its place in the order. */
static uint32_t first_name(const struct kernel_index *idx, const char *glob, bool is_name)
{
	return is_name ? bisect(idx->n[INDEX_NAMES], i, is_name_before(idx, i, glob)) : 0;
}

int kernel_index_bodies_each(const struct kernel_index *idx, const char *glob, kernel_body_fn fn,
			     void *arg, uint32_t *empty)
{
	bool is_name = !kernel_name_is_pattern(glob), known = false;
	int ret = 0;

	if (empty)
		*empty = 0;
	for (uint32_t i = first_name(idx, glob, is_name); i < idx->n[INDEX_NAMES] && !ret; i++) {
		const struct index_name *n = record(idx, INDEX_NAMES, i);
		const char *name = string(idx, n->name);

		if (!name || !kernel_name_matches(glob, name)) {
			if (is_name)
				break;
			continue;
		}
		known = true;
		if (empty)
			*empty += n->n_empty;
		ret = bodies_of_name(idx, n, fn, arg);
	}
	return ret || known ? ret : -ENOENT;
}

char *kernel_index_chain(const struct kernel_index *idx, uint32_t id, const char *separator)
{
	const struct index_body *b = record(idx, INDEX_BODIES, id);
	char *chain = NULL;

	while (b && (b = body_parent(idx, b))) {
		char *longer = alloc_printf("%s%s%s", chain ? chain : "", chain ? separator : "",
					    body_name(idx, b));

		free(chain);
		chain = longer;
	}
	return chain;
}

/* Read a varint. Return false if END is reached or the bytes are not a varint. */
static bool get_varint(const unsigned char **at, const unsigned char *end, uint32_t *out)
{
	uint32_t v = 0;

	for (unsigned int shift = 0; shift < 35 && *at < end; shift += 7) {
		unsigned char byte = *(*at)++;

		v |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = v;
			return true;
		}
	}
	return false;
}

static uint32_t unzigzag(uint32_t v)
{
	return v & 1 ? ~(v >> 1) : v >> 1;
}

static void find_line(const struct kernel_index *idx, uint64_t addr, struct kernel_place *out)
{
	const struct index_line_block *b = record_before(idx, INDEX_LINE_BLOCKS, addr);
	const unsigned char *rows = idx->sections[INDEX_LINE_ROWS], *at, *end;
	uint32_t here, file = 0, line = 0;

	if (!b || b->offset > idx->n[INDEX_LINE_ROWS])
		return;
	here = b->addr;
	at = rows + b->offset;
	end = rows + idx->n[INDEX_LINE_ROWS];
	for (uint32_t i = 0; i < b->n_rows; i++) {
		uint32_t step, file_step, line_step;

		if (!get_varint(&at, end, &step) || !get_varint(&at, end, &file_step) ||
		    !get_varint(&at, end, &line_step) || addr - here < step)
			break;
		here += step;
		file += unzigzag(file_step);
		line += unzigzag(line_step);
	}
	out->file = string(idx, file);
	out->line = out->file ? line : 0;
}

/* Find the innermost inlined function at ADDR: set *BODY to its id, *FUNCTION to that of its function. Return *BODY's record. */
static const struct index_body *find_leaf(const struct kernel_index *idx, uint64_t addr,
					  uint32_t *function, uint32_t *body)
{
	const struct index_address *entry = record_before(idx, INDEX_ADDRESSES, addr);
	const struct index_body *b;

	*function = *body = KERNEL_NONE;
	if (!entry || entry->leaf == KERNEL_NONE)
		return NULL;
	if (entry->leaf & INDEX_LEAF_FUNCTION) {
		uint32_t id = entry->leaf & ~INDEX_LEAF_FUNCTION;

		if (id < idx->n[INDEX_FUNCTIONS])
			*function = id;
		return NULL;
	}
	b = record(idx, INDEX_BODIES, entry->leaf);
	if (!b || b->function >= idx->n[INDEX_FUNCTIONS])
		return NULL;
	*body = entry->leaf;
	*function = b->function;
	return b;
}

static const struct index_symbol *find_symbol(const struct kernel_index *idx, uint64_t addr)
{
	const struct index_symbol *s = record_before(idx, INDEX_SYMBOLS, addr);

	return s && s->name && s->start <= addr ? s : NULL;
}

int kernel_index_at(const struct kernel_index *idx, uint64_t addr, struct kernel_place *out)
{
	const struct index_symbol *symbol = find_symbol(idx, addr);

	*out = (struct kernel_place){ 0 };
	find_leaf(idx, addr, &out->function, &out->body);
	find_line(idx, addr, out);
	if (symbol) {
		out->symbol = string(idx, symbol->name);
		out->offset = addr - symbol->start;
	}
	return out->function != KERNEL_NONE || out->file || out->symbol ? 0 : -ENOENT;
}

int kernel_index_frames(const struct kernel_index *idx, uint64_t addr, kernel_frame_fn fn,
			void *arg)
{
	struct kernel_place place = { 0 };
	struct kernel_frame frame = { 0 };
	const struct index_symbol *symbol = find_symbol(idx, addr);
	const struct index_body *b = find_leaf(idx, addr, &place.function, &place.body);

	find_line(idx, addr, &place);
	frame.file = place.file;
	frame.line = place.line;
	for (; b; b = body_parent(idx, b)) {
		int ret;

		frame.name = body_name(idx, b);
		frame.inlined = true;
		ret = fn(&frame, arg);
		if (ret)
			return ret;
		frame.file = string(idx, b->call_file);
		frame.line = b->call_line;
	}
	frame.inlined = false;
	frame.symbol = symbol ? string(idx, symbol->name) : NULL;
	frame.name = function_name(idx, place.function);
	if (!frame.name && symbol)
		frame.name = string(idx, symbol->base);
	return frame.name ? fn(&frame, arg) : -ENOENT;
}

int kernel_index_declaration(const struct kernel_index *idx, uint64_t addr, const char **file,
			     uint32_t *line)
{
	struct kernel_place place = { 0 };
	const struct index_function *f;

	find_leaf(idx, addr, &place.function, &place.body);
	f = record(idx, INDEX_FUNCTIONS, place.function);
	*file = f ? string(idx, f->file) : NULL;
	*line = f ? f->line : 0;
	/* A function in assembler has no declaration. Return the source line of the instruction at ADDR instead. */
	if (!*file) {
		find_line(idx, addr, &place);
		*file = place.file;
		*line = place.line;
	}
	return *file ? 0 : -ENOENT;
}
