// SPDX-License-Identifier: GPL-2.0-or-later
/* Find all code of a function, starting at its entry. Jumps lead to the parts that the compiler split off. */
#include "kernel/code/flow_function.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/code/flow_impl.h"
#include "kernel/image/name.h"

#define MAX_FOUND 64 /* maximum number of parts of a function */

/* Maximum length of code that belongs to a function but lies outside of all symbols, in bytes and in instructions. */
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
	struct kernel_flow_part parts[MAX_FOUND]; /* sorted by address */
	size_t n;
	bool live, cut;
};

static enum arch_symbol callee(uint64_t addr, void *arg)
{
	const struct function *f = arg;
	uint64_t offset;
	const char *name = kernel_code_symbol_at(f->code, addr, &offset);

	if (!name) {
		uint8_t byte;

		return kernel_code_read_file(f->code, addr, &byte, 1) ? ARCH_SYMBOL_ORDINARY :
									ARCH_SYMBOL_NONE;
	}
	return offset                        ? ARCH_SYMBOL_ORDINARY :
	       kernel_name_is_noreturn(name) ? ARCH_SYMBOL_NORETURN :
					       arch_symbol_of_name(name);
}

static bool read_file(uint64_t addr, void *buf, size_t len, void *arg)
{
	const struct function *f = arg;

	return kernel_code_read_file(f->code, addr, buf, len);
}

static void add_part(struct function *f, struct kernel_range range)
{
	size_t at = 0;

	if (f->n == MAX_FOUND) {
		f->cut = true;
		return;
	}
	while (at < f->n && f->parts[at].start < range.start)
		at++;
	memmove(&f->parts[at + 1], &f->parts[at], (f->n - at) * sizeof(*f->parts));
	f->parts[at] = (struct kernel_flow_part){ range.start, range.end };
	f->n++;
}

static void free_bytes(struct function *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free((void *)f->parts[i].bytes);
		free((void *)f->parts[i].file);
		f->parts[i].bytes = f->parts[i].file = NULL;
	}
}

static bool read_parts(struct function *f)
{
	bool ok = true;

	f->live = true;
	for (size_t i = 0; i < f->n && ok; i++) {
		struct kernel_flow_part *p = &f->parts[i];
		size_t len = (size_t)(p->end - p->start);
		uint8_t *file = alloc_array(len, 1), *live = alloc_array(len, 1);

		p->bytes = live;
		p->file = file;
		ok = kernel_code_read_file(f->code, p->start, file, len);
		if (kernel_code_read_live(f->code, p->start, live, len))
			f->live = false;
	}
	/*
	 * If the running code of one part cannot be read, use the file's code for all parts: jumps in the running code may lead
	 * into the middle of instructions in the file.
	 */
	for (size_t i = 0; i < f->n && !f->live; i++) {
		struct kernel_flow_part *p = &f->parts[i];

		free((void *)p->bytes);
		p->bytes = p->file;
		p->file = NULL;
	}
	return ok;
}

/*
 * Set *RANGE to a few instructions at ADDR, outside of all functions, that jump back into FLOW's code. static_cpu_has() uses such
 * code until alternatives are applied. Before Linux 5.16 it also handled faults. Return false if there is no such code.
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

/* Find code of FLOW's function at ADDR, which is outside of the parts in FLOW. Set *RANGE to this code. */
static bool find_part(struct function *f, const struct kernel_flow *flow, uint64_t addr,
		      struct kernel_range *range)
{
	const char *name = kernel_image_extent(f->code->img, addr, range);

	if (!name)
		return find_snippet(f, flow, addr, range);
	return kernel_name_is_cold(name) && range->end - range->start <= KERNEL_FLOW_MAX;
}

/* Add parts of the function to which the code in FLOW jumps. Return true if a part was added. */
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
			known |= f->parts[k].start < range.end && range.start < f->parts[k].end;
		if (!known)
			add_part(f, range);
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
	free_bytes(f);
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
	add_part(&f, range);
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

const struct kernel_range *flow_part_of(const struct kernel_flow *flow, uint64_t addr)
{
	for (uint32_t i = 0; i < flow->n_parts; i++)
		if (addr >= flow->parts[i].start && addr < flow->parts[i].end)
			return &flow->parts[i];
	return NULL;
}

uint32_t flow_find_covering(const struct kernel_flow *flow, uint64_t addr)
{
	uint32_t next = bisect(flow->n_insns, i, flow->insns[i].addr <= addr);

	if (!next || addr - flow->insns[next - 1].addr >= flow->insns[next - 1].len)
		return FLOW_NONE;
	return next - 1;
}

uint32_t flow_find(const struct kernel_flow *flow, uint64_t addr)
{
	uint32_t i = flow_find_covering(flow, addr);

	return i != FLOW_NONE && flow->insns[i].addr == addr ? i : FLOW_NONE;
}

uint32_t flow_next(const struct kernel_flow *flow, uint32_t insn)
{
	const struct kernel_insn *i = &flow->insns[insn];

	if (insn + 1 >= flow->n_insns || flow->insns[insn + 1].addr != i->addr + i->len)
		return FLOW_NONE;
	return insn + 1;
}

bool flow_insn_falls(const struct kernel_insn *insn)
{
	switch (insn->kind) {
	case KERNEL_INSN_PLAIN:
	case KERNEL_INSN_NOP:
	case KERNEL_INSN_COND:
	case KERNEL_INSN_CALL:
	case KERNEL_INSN_WARN:
	case KERNEL_INSN_LABEL:
		return true;
	default:
		return false;
	}
}

bool flow_calls_inside(const struct kernel_flow *flow, uint32_t i)
{
	const struct kernel_insn *insn = &flow->insns[i];

	return !(insn->flags & KERNEL_INSN_INDIRECT) && insn->target != flow->entry &&
	       flow_part_of(flow, insn->target);
}

const struct kernel_flow_part *flow_input_part(const struct kernel_flow_input *input, uint64_t addr)
{
	vec_each(const struct kernel_flow_part, p, input, parts)
		if (addr >= p->start && addr < p->end)
			return p;
	return NULL;
}

const struct kernel_insn *kernel_flow_insn_at(const struct kernel_flow *flow, uint64_t addr)
{
	uint32_t i = flow_find(flow, addr);

	return i == FLOW_NONE ? NULL : &flow->insns[i];
}

uint32_t kernel_flow_block_at(const struct kernel_flow *flow, uint64_t addr)
{
	uint32_t i = flow_find_covering(flow, addr);

	return i == FLOW_NONE ? KERNEL_FLOW_OUT : flow->insns[i].block;
}
