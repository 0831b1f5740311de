// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/btf.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct symbol_btf {
	struct btf *btf;
	/* Open addressing by name: type ids of functions, 0 where empty. At most half full. */
	uint32_t *slots;
	uint32_t mask;
};

static uint32_t hash_name(const char *s)
{
	uint32_t h = 2166136261u;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h ^ h >> 15;
}

/* The slot that holds NAME, or the empty one where it would be. */
static uint32_t *find_slot(const struct symbol_btf *b, const char *name)
{
	for (uint32_t i = hash_name(name) & b->mask;; i = (i + 1) & b->mask) {
		const struct btf_type *type;

		if (!b->slots[i])
			return &b->slots[i];
		type = btf__type_by_id(b->btf, b->slots[i]);
		if (!strcmp(btf__name_by_offset(b->btf, type->name_off), name))
			return &b->slots[i];
	}
}

static void index_functions(struct symbol_btf *b)
{
	uint32_t n = btf__type_cnt(b->btf), n_functions = 0, size = 2;

	for (uint32_t id = 1; id < n; id++)
		n_functions += btf_is_func(btf__type_by_id(b->btf, id));
	while (size < n_functions * 2)
		size *= 2;
	b->mask = size - 1;
	b->slots = alloc_array(size, sizeof(*b->slots));
	for (uint32_t id = 1; id < n; id++) {
		const struct btf_type *type = btf__type_by_id(b->btf, id);
		const char *name;
		uint32_t *slot;

		if (!btf_is_func(type))
			continue;
		name = btf__name_by_offset(b->btf, type->name_off);
		if (!name)
			continue;
		slot = find_slot(b, name);
		if (!*slot)
			*slot = id;
	}
}

int symbol_btf_load(const char *path, struct symbol_btf **out)
{
	struct btf *btf = btf__parse(path, NULL);
	struct symbol_btf *b;

	*out = NULL;
	if (!btf)
		return -errno;
	b = alloc_new(struct symbol_btf);
	b->btf = btf;
	index_functions(b);
	*out = b;
	return 0;
}

void symbol_btf_destroy(struct symbol_btf *b)
{
	if (!b)
		return;
	btf__free(b->btf);
	free(b->slots);
	free(b);
}

int32_t symbol_btf_function(const struct symbol_btf *b, const char *name)
{
	uint32_t id = *find_slot(b, name);

	return id ? (int32_t)id : -ENOENT;
}

int symbol_btf_function_nargs(const struct symbol_btf *b, int32_t id)
{
	const struct btf_type *type = id > 0 ? btf__type_by_id(b->btf, (uint32_t)id) : NULL;

	if (!type || !btf_is_func(type))
		return -EINVAL;
	type = btf__type_by_id(b->btf, type->type);
	return type && btf_is_func_proto(type) ? btf_vlen(type) : -EINVAL;
}

const struct btf *symbol_btf_raw(const struct symbol_btf *b)
{
	return b->btf;
}
