// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/capture_body.h"

#include <bpf/btf.h>
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "kernel/code/code.h"
#include "kernel/code/operands.h"
#include "kernel/image/btf.h"
#include "record/target/capture.h"
#include "record/target/capture_expression.h"

#define MAX_CODE (64u << 10)

/* ---- capture names ---- */

#define MAX_LEVELS 8 /* structs in structs */

static const struct btf_type *resolve(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t) || btf_is_type_tag(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

static bool is_number(const struct btf_type *t)
{
	return t && (btf_is_int(t) || btf_is_any_enum(t));
}

static void add_numbers(const struct btf *btf, const struct btf_type *proto,
			const struct kernel_sym *sym, struct alloc_texts *names)
{
	const struct btf_param *param = btf_params(proto);

	for (uint32_t i = 0; i < btf_vlen(proto); i++)
		if (is_number(resolve(btf, param[i].type)))
			alloc_keep(names,
				   alloc_strdup(btf__name_by_offset(btf, param[i].name_off)));
	/* A random number may become somebody's canary. */
	if (is_number(resolve(btf, proto->type)) && !strstr(sym->name, "get_random"))
		alloc_keep(names, alloc_strdup("return"));
}

/* Names of slab caches: the kernel's own words, as names of tasks and of files are not. */
static void add_caches(const struct btf *btf, const struct btf_type *proto,
		       struct alloc_texts *names)
{
	const struct btf_param *param = btf_params(proto);

	for (uint32_t i = 0; i < btf_vlen(proto); i++) {
		const struct btf_type *t = resolve(btf, param[i].type);

		t = t && btf_is_ptr(t) ? resolve(btf, t->type) : NULL;
		if (t && btf_is_struct(t) &&
		    !strcmp(btf__name_by_offset(btf, t->name_off), "kmem_cache"))
			alloc_keep(names,
				   alloc_printf("%s->name",
						btf__name_by_offset(btf, param[i].name_off)));
	}
}

/* The parameter that is passed in register REG; NULL: none, or a part of one. */
static const struct btf_param *param_of(const struct btf *btf, const struct btf_type *proto,
					uint32_t reg)
{
	const struct btf_param *param = btf_params(proto);
	uint32_t at = 0;

	for (uint32_t i = 0; i < btf_vlen(proto); i++) {
		int n = kernel_btf_registers(btf, param[i].type);

		if (at == reg)
			return n == 1 ? &param[i] : NULL;
		at += n;
	}
	return NULL;
}

/* The parts of the names of a function's operands. */
struct names {
	const struct btf *btf;
	const struct btf_type *proto;
	struct kernel_operands *operands;
	const struct kernel_kallsyms *ks;
	struct alloc_texts *out, paths;
	bool bit_fields; /* those that are read with others are wanted too */
};

/* An expression and its type, with SEPARATOR between it and a member. */
struct thing {
	const char *path; /* NULL: not known */
	const char *separator;
	const struct btf_type *type;
};

/* Numbers that are to be guessed by nobody: what canaries are, what freelists are hidden with, and where the kernel is. */
static bool is_secret(const char *path)
{
	return strstr(path, "stack_canary") || strstr(path, "__stack_chk_guard") ||
	       strstr(path, "->random") || !strcmp(path, "phys_base");
}

/* Return whether PATH is read for per-CPU addressing alone: it depends on where a call ran, not on its work. */
static bool is_noise(const char *path)
{
	static const char *const names[] = { "cpu_number",
					     "__cpu_online_mask",
					     "__cpu_possible_mask",
					     "__cpu_present_mask",
					     "__cpu_active_mask",
					     "nr_cpu_ids",
					     "__num_online_cpus",
					     "numa_node",
					     "this_cpu_off",
					     "__preempt_count",
					     "jiffies" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);

		if (!strncmp(path, names[i], n) && (!path[n] || path[n] == '.'))
			return true;
	}
	return false;
}

/* A user's registers: addresses, as far as anybody knows. The arguments of a syscall have names (--capture sys.NAME). */
static bool is_registers(const struct btf *btf, const struct btf_type *t)
{
	return t && btf_is_struct(t) && !strcmp(btf__name_by_offset(btf, t->name_off), "pt_regs");
}

/*
 * Numbers in THING of which bits FROM to TO are read; or (POINTER) what the pointer there leads to. LEVEL: of structs in structs.
 */
static void find(struct names *n, const struct thing *thing, int64_t from, int64_t to, int level,
		 struct thing *pointer)
{
	const struct btf_type *t = thing->type;
	bool composite = t && btf_is_composite(t) && level < MAX_LEVELS && !is_registers(n->btf, t);

	for (uint32_t i = 0; composite && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *name = btf__name_by_offset(n->btf, m->name_off);
		int64_t at = btf_member_bit_offset(t, i), bits = btf_member_bitfield_size(t, i);
		struct thing member = { thing->path, thing->separator, resolve(n->btf, m->type) };

		bits = bits ?: 8 * btf__resolve_size(n->btf, m->type);
		if (at >= to || at + bits <= from ||
		    (bits < to - from && bits % 8 && !n->bit_fields))
			continue;
		if (*name) {
			member.path = alloc_keep(&n->paths, alloc_printf("%s%s%s", thing->path,
									 thing->separator, name));
			member.separator = ".";
		}
		find(n, &member, from - at, to - at, level + 1, pointer);
	}
	if (!pointer && is_number(t) && !is_secret(thing->path) && !is_noise(thing->path))
		alloc_keep(n->out, alloc_strdup(thing->path));
	if (pointer && t && btf_is_ptr(t))
		*pointer = (struct thing){ strstr(thing->path, "current_task") ? "current" :
										 thing->path,
					   "->", resolve(n->btf, t->type) };
}

/* This CPU's variable that has what is at ADDR, which becomes the place in it; its path is NULL where BTF has none. */
static struct thing find_per_cpu(struct names *n, uint64_t *addr)
{
	int32_t id = btf__find_by_name_kind(n->btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *t = id > 0 ? btf__type_by_id(n->btf, (uint32_t)id) : NULL;
	const struct btf_var_secinfo *var = t ? btf_var_secinfos(t) : NULL;

	*addr -= kernel_kallsyms_variable(n->ks, "__per_cpu_start");
	for (uint32_t i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_type *v = btf__type_by_id(n->btf, var[i].type);

		if (*addr - var[i].offset >= var[i].size)
			continue;
		*addr -= var[i].offset;
		return (struct thing){ btf__name_by_offset(n->btf, v->name_off), ".",
				       resolve(n->btf, v->type) };
	}
	return (struct thing){};
}

/* Return whether O is the start of this CPU's part of memory, to which the addresses of its variables are relative. */
static bool is_cpu_offset(struct names *n, const struct kernel_operand *o)
{
	uint64_t at = o->addr;
	struct thing thing = {};

	if (o->kind == KERNEL_OPERAND_PER_CPU)
		thing = find_per_cpu(n, &at);
	return thing.path && !strcmp(thing.path, "this_cpu_off");
}

/* Return whether nobody changes the variable at ADDR once the kernel has started. */
static bool is_constant(const struct kernel_kallsyms *ks, uint64_t addr)
{
	return addr >= kernel_kallsyms_variable(ks, "__start_ro_after_init") &&
	       addr < kernel_kallsyms_variable(ks, "__end_ro_after_init");
}

static void add_global(struct names *n, uint64_t addr)
{
	uint64_t offset;
	const char *name = kernel_kallsyms_variable_at(n->ks, addr, &offset);

	if (name && !offset && kernel_kallsyms_variable(n->ks, name) == addr &&
	    !is_constant(n->ks, addr) && !is_secret(name) && !is_noise(name))
		alloc_keep(n->out, alloc_strdup(name));
}

/* Adds O's numbers, or (POINTER) finds what the pointer that O is leads to, over LOADS others at most. */
static void name_operand(struct names *n, const struct kernel_operand *o, int loads,
			 struct thing *pointer)
{
	struct thing thing = { .separator = "->" };
	const struct btf_param *param;
	uint64_t at = (uint64_t)o->offset;

	if (o->bytes > 8 || !loads)
		return;
	if (o->kind == KERNEL_OPERAND_GLOBAL && !pointer) {
		add_global(n, o->addr);
	} else if (o->kind == KERNEL_OPERAND_ARGUMENT && pointer) {
		param = n->proto ? param_of(n->btf, n->proto, o->argument) : NULL;
		if (param)
			find(n,
			     &(struct thing){ btf__name_by_offset(n->btf, param->name_off), "->",
					      resolve(n->btf, param->type) },
			     0, 64, 0, pointer);
		return;
	} else if (o->kind == KERNEL_OPERAND_MEMBER &&
		   is_cpu_offset(n, &n->operands->items[o->base])) {
		thing = find_per_cpu(n, &at);
	} else if (o->kind == KERNEL_OPERAND_MEMBER) {
		name_operand(n, &n->operands->items[o->base], loads - 1, &thing);
		/* The memory at a number's address has no name. */
		if (thing.type && !btf_is_composite(thing.type))
			return;
	} else if (o->kind == KERNEL_OPERAND_PER_CPU) {
		at = o->addr;
		thing = find_per_cpu(n, &at);
	}
	if (thing.path)
		find(n, &thing, 8 * (int64_t)at, 8 * ((int64_t)at + o->bytes), 0, pointer);
}

/* Facts about the task, which seldom differ in one command; not its CPU, which would multiply the rows of values. */
static void add_task_names(const struct btf *btf, struct alloc_texts *names)
{
	alloc_keep(names, alloc_strdup("current->policy"));
	alloc_keep(names, alloc_strdup("uid"));
	if (btf__find_by_name_kind(btf, "css_set", BTF_KIND_STRUCT) > 0)
		alloc_keep(names, alloc_strdup("cgroup"));
}

/* Adds those operands that decide, or those that do not. */
static void name_operands(struct names *n, bool decides)
{
	vec_each(const struct kernel_operand, o, n->operands, items) {
		n->bit_fields = o->kind == KERNEL_OPERAND_MEMBER &&
				n->operands->items[o->base].kind == KERNEL_OPERAND_ARGUMENT;
		/* Operands behind pointers are many: only those that decide are added. */
		if (o->decides == decides &&
		    (decides || o->kind == KERNEL_OPERAND_GLOBAL || n->bit_fields))
			name_operand(n, o, RECORD_CAPTURE_LOADS, NULL);
	}
}

static void read_operands(struct record_symbols *symbols, uint64_t addr, uint64_t len,
			  struct kernel_operands *operands)
{
	scoped_free uint8_t *code = alloc_array(len, 1);

	if (record_symbols_live(symbols) && !kernel_kcore_read(symbols->live, addr, code, len))
		kernel_operands_of(code, len, addr, operands);
}

void record_capture_names(const struct btf *btf, const struct btf_type *proto,
			  const struct kernel_sym *sym, struct record_symbols *symbols,
			  struct alloc_texts *names)
{
	uint64_t len = kernel_kallsyms_size(symbols->ks, sym);
	scoped(kernel_operands_deinit) struct kernel_operands operands = {};
	struct names n = { btf, proto, &operands, symbols->ks, names };

	add_numbers(btf, proto, sym, names);
	add_caches(btf, proto, names);
	len = len < MAX_CODE ? len : MAX_CODE;
	read_operands(symbols, sym->addr, len, &operands);
	for (int decides = 1; decides >= 0; decides--)
		name_operands(&n, decides);
	/* Settings: those that nobody changes any more differ between recordings. */
	kernel_static_keys_in(record_symbols_live(symbols), symbols->ks, sym->addr, len, names);
	add_task_names(btf, names);
	alloc_texts_free(&n.paths);
}

/* Add the numbers in the BYTES at OFFSET of a struct TYPE, to which the pointer NAME leads. */
static void add_member_names(const struct btf *btf, uint32_t type, const char *name, int64_t offset,
			     uint32_t bytes, struct alloc_texts *names)
{
	struct names n = { .btf = btf, .out = names, .bit_fields = true };

	if (bytes <= sizeof(uint64_t))
		find(&n, &(struct thing){ name, "->", resolve(btf, type) }, 8 * offset,
		     8 * (offset + bytes), 0, NULL);
	alloc_texts_free(&n.paths);
}

/*
 * Add the kernel's variables that LEN bytes of code at ADDR read, a piece of an inlined body: those that decide or (DECIDES
 * false) the others and static keys. The contents of registers at its start are unknown.
 */
static void add_piece_names(const struct btf *btf, uint64_t addr, uint64_t len, bool decides,
			    struct record_symbols *symbols, struct alloc_texts *names)
{
	scoped(kernel_operands_deinit) struct kernel_operands operands = {};
	struct names n = { btf, NULL, &operands, symbols->ks, names };

	len = len < MAX_CODE ? len : MAX_CODE;
	read_operands(symbols, addr, len, &operands);
	name_operands(&n, decides);
	if (!decides)
		kernel_static_keys_in(record_symbols_live(symbols), symbols->ks, addr, len, names);
	alloc_texts_free(&n.paths);
}

/* ---- capture body ---- */

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
		add_member_names(b->btf, target, parameter->name, (int64_t)a->at - at.offset,
				 a->bytes, names);
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
			add_piece_names(b->btf, b->range->in->base + b->body.ranges[i].start,
					b->body.ranges[i].end - b->body.ranges[i].start, decides,
					symbols, names);
	add_task_names(b->btf, names);
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
