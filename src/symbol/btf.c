// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/btf.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Indexes the functions with ids from FIRST on. */
static void index_functions(struct symbol_btf *b, uint32_t first)
{
	uint32_t n = btf__type_cnt(b->btf), n_functions = 0, size = 2;

	for (uint32_t id = first; id < n; id++)
		n_functions += btf_is_func(btf__type_by_id(b->btf, id));
	while (size < n_functions * 2)
		size *= 2;
	b->mask = size - 1;
	b->slots = alloc_array(size, sizeof(*b->slots));
	for (uint32_t id = first; id < n; id++) {
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

/* Takes BTF over, which may be NULL with errno set. */
static int create(struct btf *btf, uint32_t first, struct symbol_btf **out)
{
	struct symbol_btf *b;

	*out = NULL;
	if (!btf)
		return -errno;
	b = alloc_new(struct symbol_btf);
	b->btf = btf;
	index_functions(b, first);
	*out = b;
	return 0;
}

int symbol_btf_load(const char *path, struct symbol_btf **out)
{
	return create(btf__parse(path, NULL), 1, out);
}

int symbol_btf_load_split(const char *path, const struct symbol_btf *base, struct symbol_btf **out)
{
	return create(btf__parse_split(path, base->btf), btf__type_cnt(base->btf), out);
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

/* Is FD the kernel's BTF object of that name, rather than one that somebody's programs brought? */
static bool is_kernel_object(int fd, const char *name)
{
	char found[64] = "";
	struct bpf_btf_info info = {
		.name = (uintptr_t)found,
		.name_len = sizeof(found),
	};
	__u32 len = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &len) && info.kernel_btf && !strcmp(found, name);
}

int symbol_btf_module_open(const char *module)
{
	__u32 id = 0;

	while (!bpf_btf_get_next_id(id, &id)) {
		int fd = bpf_btf_get_fd_by_id(id);

		if (fd < 0) {
			if (errno == ENOENT) /* gone meanwhile */
				continue;
			return -errno;
		}
		if (is_kernel_object(fd, module))
			return fd;
		close(fd);
	}
	return -errno;
}

const struct btf *symbol_btf_raw(const struct symbol_btf *b)
{
	return b->btf;
}
