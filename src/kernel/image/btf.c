// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/image/btf.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"

struct kernel_btf {
	struct btf *btf;
	uint32_t first; /* its own type ids begin there */
	struct hash_index *functions; /* type ids, by name; empty until one is asked for */
};

static bool is_named(const void *btf, uint32_t id, const void *name)
{
	return !strcmp(btf__name_by_offset(btf, btf__type_by_id(btf, id)->name_off), name);
}

static void index_functions(const struct kernel_btf *b)
{
	uint32_t n = btf__type_cnt(b->btf);

	hash_reserve(b->functions, n - b->first);
	for (uint32_t id = b->first; id < n; id++) {
		const struct btf_type *type = btf__type_by_id(b->btf, id);
		const char *name =
			btf_is_func(type) ? btf__name_by_offset(b->btf, type->name_off) : NULL;

		if (name)
			hash_add(b->functions, hash_string(name), id);
	}
}

/* Takes BTF over, which may be NULL with errno set. */
static int create(struct btf *btf, uint32_t first, struct kernel_btf **out)
{
	struct kernel_btf *b;

	*out = NULL;
	if (!btf)
		return -errno;
	b = alloc_new(struct kernel_btf);
	b->btf = btf;
	b->first = first;
	b->functions = alloc_new(struct hash_index);
	*out = b;
	return 0;
}

int kernel_btf_load(const char *path, struct kernel_btf **out)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	int err = create(btf__parse(path, NULL), 1, out);

	libbpf_set_print(print);
	return err;
}

int kernel_btf_load_split(const char *path, const struct kernel_btf *base, struct kernel_btf **out)
{
	return create(btf__parse_split(path, base->btf), btf__type_cnt(base->btf), out);
}

void kernel_btf_destroy(struct kernel_btf *b)
{
	if (!b)
		return;
	btf__free(b->btf);
	hash_deinit(b->functions);
	free(b->functions);
	free(b);
}

int32_t kernel_btf_function(const struct kernel_btf *b, const char *name)
{
	uint32_t id;

	if (!b->functions->n)
		index_functions(b);
	id = hash_find(b->functions, hash_string(name), is_named, b->btf, name);
	return id != HASH_NONE ? (int32_t)id : -ENOENT;
}

int kernel_btf_registers(const struct btf *btf, uint32_t type)
{
	int64_t size = btf__resolve_size(btf, type);

	return size > 16 ? 0 : size > 8 ? 2 : 1;
}

int kernel_btf_function_registers(const struct kernel_btf *b, int32_t id)
{
	const struct btf_type *type = id > 0 ? btf__type_by_id(b->btf, (uint32_t)id) : NULL;
	const struct btf_param *param;
	int n = 0;

	if (!type || !btf_is_func(type))
		return -EINVAL;
	type = btf__type_by_id(b->btf, type->type);
	if (!type || !btf_is_func_proto(type))
		return -EINVAL;
	param = btf_params(type);
	for (int i = 0; i < btf_vlen(type); i++) {
		if (!param[i].type)
			return -E2BIG;
		n += kernel_btf_registers(b->btf, param[i].type);
	}
	return n;
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

int kernel_btf_module_open(const char *module)
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

/*
 * NULL: there is none. libbpf goes through all types for it, and members of one struct are asked for one after the other:
 * the last is looked at first.
 */
static const struct btf_type *find_struct(const struct btf *btf, const char *name)
{
	static _Thread_local int32_t last;
	const struct btf_type *t = btf__type_by_id(btf, (uint32_t)last);

	if (t && btf_is_struct(t) && !strcmp(btf__name_by_offset(btf, t->name_off), name))
		return t;
	last = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);
	return last < 0 ? NULL : btf__type_by_id(btf, (uint32_t)last);
}

int kernel_btf_offset(const struct btf *btf, const char *type, const char *name)
{
	const struct btf_type *t = find_struct(btf, type);

	if (t && !name)
		return (int)t->size;
	for (uint32_t i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), name))
			return (int)(btf_member_bit_offset(t, i) / 8);
	return -ENOENT;
}

const struct btf *kernel_btf_raw(const struct kernel_btf *b)
{
	return b->btf;
}
