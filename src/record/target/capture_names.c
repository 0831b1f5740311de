// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/capture_names.h"

#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/code/operands.h"

#define MAX_CODE  (64u << 10)
#define MAX_DEPTH 8 /* structs in structs */

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
			struct alloc_texts *names)
{
	const struct btf_param *param = btf_params(proto);

	for (uint32_t i = 0; i < btf_vlen(proto); i++)
		if (is_number(resolve(btf, param[i].type)))
			alloc_keep(names,
				   alloc_strdup(btf__name_by_offset(btf, param[i].name_off)));
	if (is_number(resolve(btf, proto->type)))
		alloc_keep(names, alloc_strdup("return"));
}

/* The parameter that is passed in register REG; NULL: none, or a part of one. */
static const struct btf_param *param_of(const struct btf *btf, const struct btf_type *proto,
					uint32_t reg)
{
	const struct btf_param *param = btf_params(proto);
	uint32_t at = 0;

	for (uint32_t i = 0; i < btf_vlen(proto); i++) {
		int64_t size = btf__resolve_size(btf, param[i].type);

		if (at == reg)
			return size > 8 ? NULL : &param[i];
		at += size > 16 ? 0 : size > 8 ? 2 : 1;
	}
	return NULL;
}

/* Numbers in struct T of which bits FROM to TO are read, behind PATH, which stays the caller's. */
static void add_members(const struct btf *btf, const struct btf_type *t, const char *path,
			int64_t from, int64_t to, int depth, struct alloc_texts *names)
{
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const struct btf_type *inner = resolve(btf, m->type);
		const char *name = btf__name_by_offset(btf, m->name_off);
		int64_t at = btf_member_bit_offset(t, i), bits = btf_member_bitfield_size(t, i);
		char *text;

		bits = bits ?: 8 * btf__resolve_size(btf, m->type);
		if (at >= to || at + bits <= from || !inner)
			continue;
		text = *name ? alloc_printf("%s%s%s", path, depth ? "." : "->", name) :
			       alloc_strdup(path);
		if (is_number(inner))
			alloc_keep(names, alloc_strdup(text));
		else if (btf_is_composite(inner) && depth < MAX_DEPTH)
			add_members(btf, inner, text, from - at, to - at, depth + (*name != '\0'),
				    names);
		free(text);
	}
}

/* Is the variable at ADDR one that nobody changes once the kernel has started? */
static bool is_constant(const struct kernel_kallsyms *ks, uint64_t addr)
{
	return addr >= kernel_kallsyms_variable(ks, "__start_ro_after_init") &&
	       addr < kernel_kallsyms_variable(ks, "__end_ro_after_init");
}

static void add_operand(const struct btf *btf, const struct btf_type *proto,
			const struct kernel_operand *o, const struct kernel_kallsyms *ks,
			struct alloc_texts *names)
{
	const struct btf_param *param;
	const struct btf_type *t;
	uint64_t offset;
	const char *name;

	if (o->kind == KERNEL_OPERAND_GLOBAL && o->bytes <= 8) {
		name = kernel_kallsyms_variable_at(ks, o->addr, &offset);
		if (name && !offset && kernel_kallsyms_variable(ks, name) == o->addr &&
		    !is_constant(ks, o->addr))
			alloc_keep(names, alloc_strdup(name));
	}
	if (o->kind != KERNEL_OPERAND_MEMBER || o->bytes > 8)
		return;
	param = param_of(btf, proto, o->argument);
	t = param ? resolve(btf, param->type) : NULL;
	t = t && btf_is_ptr(t) ? resolve(btf, t->type) : NULL;
	if (t && btf_is_composite(t))
		add_members(btf, t, btf__name_by_offset(btf, param->name_off), 8 * o->offset,
			    8 * (o->offset + o->bytes), 0, names);
}

void record_capture_names(const struct btf *btf, const struct btf_type *proto,
			  const struct kernel_sym *sym, struct record_symbols *symbols,
			  struct alloc_texts *names)
{
	uint64_t len = kernel_kallsyms_size(symbols->ks, sym);
	uint8_t *code = alloc_array(MAX_CODE, 1);
	struct kernel_operands operands = {};

	add_numbers(btf, proto, names);
	len = len < MAX_CODE ? len : MAX_CODE;
	if (record_symbols_live(symbols) && !kernel_kcore_read(symbols->live, sym->addr, code, len))
		kernel_operands_of(code, len, sym->addr, &operands);
	for (uint32_t i = 0; i < operands.n_items; i++)
		add_operand(btf, proto, &operands.items[i], symbols->ks, names);
	kernel_operands_deinit(&operands);
	free(code);
}
