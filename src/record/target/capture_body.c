// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/capture_body.h"

#include <bpf/btf.h>
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "kernel/image/btf.h"
#include "record/target/capture_expression.h"
#include "record/target/capture_names.h"

#define MAX_CODE (64u << 10)

static uint32_t site_of(const struct record_ranges *ranges, const struct record_range *range)
{
	return ranges->first_site + (uint32_t)(range - ranges->items);
}

void record_body_init(struct record_body *b, const struct record_ranges *ranges, uint32_t i,
		      const struct btf *btf)
{
	const struct record_range *r = &ranges->items[i];

	*b = (struct record_body){ .range = r, .btf = btf };
	if (r->in->image && !kernel_index_body(r->in->index, r->body, &b->body))
		b->n_parameters = kernel_parameters_of(r->in->image, &b->body, b->parameters,
						       RECORD_BODY_PARAMETERS);
	vec_each(const struct record_point, p, ranges, points)
		vec_each(const struct record_action, a, p, actions)
			if (a->site == site_of(ranges, r) && a->op == ENGINE_RANGE_ENTER)
				vec_push(b, entries, p->addr);
}

void record_body_deinit(struct record_body *b)
{
	free(b->entries);
}

/* The kind of a parameter. */
struct kind {
	uint32_t bytes; /* 0: no number, nor an address */
	bool is_signed, is_pointer;
	uint32_t target; /* of a pointer: the struct in BTF; 0: none */
};

static uint64_t attribute(const Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word word;

	return dwarf_formudata(dwarf_attr((Dwarf_Die *)die, name, &attr), &word) ? 0 : word;
}

static uint32_t find_struct(const struct btf *btf, Dwarf_Die *of)
{
	const char *name = dwarf_diename(of);
	uint32_t kind = dwarf_tag(of) == DW_TAG_union_type ? BTF_KIND_UNION : BTF_KIND_STRUCT;
	int32_t id = name && btf ? btf__find_by_name_kind(btf, name, kind) : 0;

	return id > 0 ? (uint32_t)id : 0;
}

static struct kind kind_of(const struct btf *btf, const Dwarf_Die *type)
{
	struct kind k = {};
	uint64_t bytes, encoding;
	Dwarf_Die of;

	if (!type->addr)
		return k;
	bytes = attribute(type, DW_AT_byte_size);
	switch (dwarf_tag((Dwarf_Die *)type)) {
	case DW_TAG_pointer_type:
		k = (struct kind){ .bytes = 8, .is_pointer = true };
		if (kernel_type_pointed_to(type, &of))
			k.target = find_struct(btf, &of);
		break;
	case DW_TAG_base_type:
	case DW_TAG_enumeration_type:
		encoding = attribute(type, DW_AT_encoding);
		k.is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
		if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)
			k.bytes = (uint32_t)bytes;
		break;
	}
	return k;
}

/* Set *OUT to the place of PARAMETER of B at ADDR. False: it has none. */
static bool locate(const struct record_body *b, const struct kernel_parameter *parameter,
		   uint64_t addr, struct record_parameter *out)
{
	static const char *const regs[] = ARCH_DWARF_REGS;
	const struct record_image *in = b->range->in;
	struct kernel_location at;
	int reg = -1;

	*out = (struct record_parameter){ .reg = -1 };
	if (!kernel_parameter_at(in->image, parameter, addr - in->base, &at))
		return false;
	if (at.reg != KERNEL_NO_REGISTER) {
		reg = at.reg < ARRAY_SIZE(regs) ?
			      kernel_btf_offset(b->btf, "pt_regs", regs[at.reg]) :
			      -ENOENT;
		if (reg < 0)
			return false;
	}
	out->kind = at.in_memory ? RECORD_PARAMETER_MEMORY : RECORD_PARAMETER_VALUE;
	out->reg = (int16_t)reg;
	out->bytes = (uint8_t)kind_of(b->btf, &parameter->type).bytes;
	out->offset = at.offset + (at.is_address ? (int64_t)in->base : 0);
	return true;
}

static bool is_anywhere(const struct record_body *b, const struct kernel_parameter *parameter)
{
	struct record_parameter at;

	for (uint32_t i = 0; i < b->n_entries; i++)
		if (locate(b, parameter, b->entries[i], &at))
			return true;
	return false;
}

int record_body_parameter(struct record_place *at, const char *name)
{
	struct record_body *b = at->body;
	uint32_t i = 0, k = 0;
	struct kind kind;

	while (i < b->n_parameters && strcmp(b->parameters[i].name, name) != 0)
		i++;
	if (i == b->n_parameters)
		return 0;
	if (!is_anywhere(b, &b->parameters[i]))
		return -ENODATA;
	while (k < b->n_saved && b->saved[k] != i)
		k++;
	if (k == ENGINE_ARGS)
		return -ENOSPC;
	if (k == b->n_saved)
		b->saved[b->n_saved++] = (uint8_t)i;
	kind = kind_of(b->btf, &b->parameters[i].type);
	at->value->base = RECORD_BASE_ARGUMENT;
	at->value->which = k;
	at->value->bytes = kind.bytes;
	at->value->is_signed = kind.is_signed;
	at->type = kind.target;
	at->is_target = kind.target;
	return 1;
}

/* ---- what is worth capturing ---- */

/* Adds what the instruction at ADDR, whose access is A, reads of what PARAMETER points to. */
static void add_member(const struct record_body *b, const struct kernel_parameter *parameter,
		       uint64_t addr, const struct arch_access *a, struct alloc_texts *names)
{
	uint32_t target = kind_of(b->btf, &parameter->type).target;
	struct kernel_location at;

	if (target && kernel_parameter_at(b->range->in->image, parameter, addr, &at) &&
	    !at.in_memory && at.reg == arch_dwarf_register(a->base))
		record_capture_member_names(b->btf, target, parameter->name,
					    (int64_t)a->at - at.offset, a->bytes, names);
}

/* Add the members of parameters that the code of PIECE reads. */
static void add_members(const struct record_body *b, struct record_symbols *symbols,
			struct decoder *decoder, const struct kernel_range *piece,
			struct alloc_texts *names)
{
	uint64_t base = b->range->in->base, len = piece->end - piece->start;
	scoped_free uint8_t *code = alloc_array(len, 1);
	struct arch_access a;
	struct decoded insn;

	if (len > MAX_CODE ||
	    kernel_kcore_read(record_symbols_live(symbols), base + piece->start, code, len))
		return;
	for (uint64_t at = 0; at < len; at += insn.len) {
		uint64_t addr = piece->start + at;

		if (!decode(decoder, code + at, len - at, base + addr, &insn))
			return;
		if (!arch_access_of(decoder, code + at, insn.len, base + addr, &a) ||
		    !a.has_memory || a.base == ARCH_NO_REG || a.is_per_cpu)
			continue;
		for (uint32_t i = 0; i < b->n_parameters; i++)
			add_member(b, &b->parameters[i], addr, &a, names);
	}
}

void record_body_names(const struct record_body *b, struct record_symbols *symbols,
		       struct alloc_texts *names)
{
	struct decoder *decoder = record_symbols_live(symbols) ? decoder_create() : NULL;

	for (uint32_t i = 0; i < b->n_parameters; i++) {
		const struct kernel_parameter *p = &b->parameters[i];
		struct kind kind = kind_of(b->btf, &p->type);

		if (kind.bytes && !kind.is_pointer)
			alloc_keep(names, alloc_strdup(p->name));
		if (kind.target &&
		    kind.target == record_kernel_type(b->btf, "kmem_cache", BTF_KIND_STRUCT))
			alloc_keep(names, alloc_printf("%s->name", p->name));
	}
	for (size_t i = 0; i < b->body.n_ranges && decoder; i++)
		add_members(b, symbols, decoder, &b->body.ranges[i], names);
	for (int decides = 1; decides >= 0 && b->btf; decides--)
		for (size_t i = 0; i < b->body.n_ranges; i++)
			record_capture_piece_names(b->btf,
						   b->range->in->base + b->body.ranges[i].start,
						   b->body.ranges[i].end - b->body.ranges[i].start,
						   decides, symbols, names);
	record_capture_task_names(b->btf, names);
	decoder_destroy(decoder);
}

/* ---- what points are told ---- */

/* Adds the entry at ADDR; its number. */
static uint32_t add_entry(const struct record_body *b, uint64_t addr, struct record_captures *all,
			  struct record_capture *capture)
{
	struct record_entry entry = { .n = b->n_saved };

	for (uint32_t k = 0; k < b->n_saved; k++)
		if (!locate(b, &b->parameters[b->saved[k]], addr, &entry.parameters[k]))
			capture->unsure |= 1u << k;
	vec_push(all, entries, entry);
	return all->n_entries - 1;
}

void record_body_finish(const struct record_body *b, struct record_ranges *ranges,
			struct record_captures *all, struct record_capture *capture, uint32_t slot)
{
	vec_each(struct record_point, p, ranges, points)
		vec_each(struct record_action, a, p, actions) {
			if (a->site != site_of(ranges, b->range) || a->op == ENGINE_RANGE_COUNT)
				continue;
			/* Values are captured by lists only. */
			if (!record_point_is_list(p))
				p->list = ranges->n_lists++;
			a->flags |= ENGINE_RANGE_VALUES;
			a->which = a->op == ENGINE_RANGE_ENTER ?
					   (uint16_t)add_entry(b, p->addr, all, capture) :
					   (uint16_t)slot;
		}
}
