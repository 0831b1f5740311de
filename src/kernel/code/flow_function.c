// SPDX-License-Identifier: GPL-2.0-or-later
/* From a function's entry to all of its code: the parts split off it are found by the jumps to them. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "kernel/code/flow_impl.h"
#include "kernel/image/name.h"

#define MAX_FOUND 64 /* parts of one function */

/* Bytes and instructions of a piece of code that is outside of any function. */
#define SNIPPET_BYTES 64
#define SNIPPET_INSNS 8

struct kernel_flow *kernel_flow_create(const struct kernel_flow_input *input)
{
	struct flow_builder b = { .in = input, .decoder = decoder_create() };

	if (!b.decoder)
		return NULL;
	b.flow = alloc_new(struct kernel_flow);
	b.flow->entry = input->entry;
	flow_decode(&b);
	flow_connect(&b);
	flow_find_hidden(&b);
	decoder_destroy(b.decoder);
	return b.flow;
}

void kernel_flow_destroy(struct kernel_flow *flow)
{
	if (!flow)
		return;
	free(flow->parts);
	free(flow->insns);
	free(flow->blocks);
	free(flow->edges);
	free(flow);
}

struct function {
	const struct kernel_code *code;
	struct kernel_range ranges[MAX_FOUND];
	struct kernel_flow_part parts[MAX_FOUND];
	size_t n;
	bool live, cut;
};

static enum kernel_callee callee(uint64_t addr, void *arg)
{
	const struct function *f = arg;
	uint64_t offset;
	const char *name = kernel_code_symbol_at(f->code, addr, &offset);

	if (!name) {
		uint8_t byte;

		return kernel_code_read_file(f->code, addr, &byte, 1) ? KERNEL_CALLEE_ORDINARY :
									KERNEL_CALLEE_UNKNOWN;
	}
	return offset ? KERNEL_CALLEE_ORDINARY : kernel_callee_of_name(name);
}

static bool read_file(uint64_t addr, void *buf, size_t len, void *arg)
{
	const struct function *f = arg;

	return kernel_code_read_file(f->code, addr, buf, len);
}

/* Adds RANGE, keeping the order. */
static void add_range(struct function *f, struct kernel_range range)
{
	size_t at = 0;

	if (f->n == MAX_FOUND) {
		f->cut = true;
		return;
	}
	while (at < f->n && f->ranges[at].start < range.start)
		at++;
	memmove(&f->ranges[at + 1], &f->ranges[at], (f->n - at) * sizeof(*f->ranges));
	f->ranges[at] = range;
	f->n++;
}

static void free_parts(struct function *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free((void *)f->parts[i].bytes);
		free((void *)f->parts[i].file);
	}
	memset(f->parts, 0, sizeof(f->parts));
}

static bool read_parts(struct function *f)
{
	bool ok = true;

	f->live = true;
	for (size_t i = 0; i < f->n && ok; i++) {
		struct kernel_flow_part *p = &f->parts[i];
		uint64_t start = f->ranges[i].start, len = f->ranges[i].end - start;
		uint8_t *file = alloc_array(len, 1), *live = alloc_array(len, 1);

		*p = (struct kernel_flow_part){ start, f->ranges[i].end, live, file };
		ok = kernel_code_read_file(f->code, start, file, len);
		if (kernel_code_read_live(f->code, start, live, len))
			f->live = false;
	}
	/* A mixture would have jumps from one to the other that fit neither. */
	for (size_t i = 0; i < f->n && !f->live; i++) {
		struct kernel_flow_part *p = &f->parts[i];

		free((void *)p->bytes);
		p->bytes = p->file;
		p->file = NULL;
	}
	return ok;
}

/*
 * A few instructions at ADDR, in no function, that jump back into FLOW's: static_cpu_has() goes
 * through such before alternatives are applied, and faults were fixed up there before 5.16.
 */
static bool find_snippet(struct function *f, const struct kernel_flow *flow, uint64_t addr,
			 struct kernel_range *range)
{
	struct decoder *decoder = decoder_create();
	uint8_t bytes[SNIPPET_BYTES];
	bool back = false, ended = false;
	struct decoded dec;
	size_t len = 0;

	if (!decoder)
		return false;
	if (!kernel_code_read_file(f->code, addr, bytes, sizeof(bytes)))
		ended = true;
	for (int n = 0; n < SNIPPET_INSNS && !ended; n++) {
		if (!decode(decoder, bytes + len, sizeof(bytes) - len, addr + len, &dec))
			break;
		len += dec.len;
		ended = dec.kind == DECODE_JUMP;
		if (ended || dec.kind == DECODE_COND)
			back |= flow_part_of(flow, dec.target) != NULL;
	}
	decoder_destroy(decoder);
	*range = (struct kernel_range){ addr, addr + len };
	return ended && back;
}

/* The code at ADDR, out of FLOW, that belongs to its function all the same. */
static bool find_part(struct function *f, const struct kernel_flow *flow, uint64_t addr,
		      struct kernel_range *range)
{
	const char *name = kernel_image_extent(f->code->img, addr, range);

	if (!name)
		return find_snippet(f, flow, addr, range);
	return kernel_name_is_cold(name) && range->end - range->start <= KERNEL_FLOW_MAX;
}

/* Adds the parts elsewhere that FLOW's code jumps to. True if there are any. */
static bool find_parts(struct function *f, const struct kernel_flow *flow)
{
	size_t before = f->n;

	vec_each(const struct kernel_edge, e, flow, edges) {
		struct kernel_range range;
		bool known = false;

		if (e->to != KERNEL_FLOW_OUT || !e->target ||
		    !find_part(f, flow, e->target, &range))
			continue;
		for (size_t k = 0; k < f->n; k++)
			known |= f->ranges[k].start < range.end && range.start < f->ranges[k].end;
		if (!known)
			add_range(f, range);
	}
	return f->n > before;
}

static int create(struct function *f, uint64_t entry, struct kernel_flow **out)
{
	bool live = f->code->live.base != 0;
	struct kernel_flow_input in = {
		.parts = f->parts,
		.n_parts = f->n,
		.entry = entry,
		.tables = &f->code->tables,
		.callee = callee,
		.read = read_file,
		.file_base = f->code->base,
		.arg = f,
	};
	bool ok = read_parts(f);

	in.base = live && f->live ? f->code->live.base : in.file_base;
	*out = ok ? kernel_flow_create(&in) : NULL;
	free_parts(f);
	if (!ok)
		return -ENODATA;
	if (!*out)
		return -ENOTSUP;
	if (!f->live)
		(*out)->problems |= KERNEL_FLOW_NOT_LIVE;
	return 0;
}

int kernel_flow_of(const struct kernel_code *code, uint64_t addr, struct kernel_flow **out)
{
	struct function f = { .code = code };
	struct kernel_range range;
	int err;

	*out = NULL;
	if (!kernel_image_extent(code->img, addr, &range) || range.start != addr)
		return -ENOENT;
	if (range.end - range.start > KERNEL_FLOW_MAX)
		return -EFBIG;
	add_range(&f, range);
	for (;;) {
		err = create(&f, addr, out);
		if (err || !find_parts(&f, *out))
			break;
		kernel_flow_destroy(*out);
	}
	if (!err && f.cut)
		(*out)->problems |= KERNEL_FLOW_CUT;
	if (err)
		*out = NULL;
	return err;
}
