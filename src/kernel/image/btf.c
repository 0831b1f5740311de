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
	uint32_t first; /* first type id that does not belong to the base BTF */
	struct hash_index *functions; /* finds type ids by name; filled on first use */
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

/* Set *OUT to a new struct, which owns BTF. If BTF is NULL, return -errno. */
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

/* Return whether FD is the kernel's own BTF object called NAME, not one that came with a user's BPF program. */
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
			if (errno == ENOENT) /* the object has gone meanwhile */
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
 * Return the struct NAME, or NULL if there is none. libbpf searches all types, and callers often ask for several members of one
 * struct, so try the struct of the last call first.
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

/*
 * Reduce the kernel's BTF to the few structs that BPF programs access. Otherwise libbpf would look for each struct of a program
 * among all types of the kernel and, if the kernel has no such struct, among those of all modules.
 */

#define BEGUN (-1) /* in ids[] during a copy; a struct that contains itself is invalid */

struct reduction {
	const struct btf *from;
	struct btf *to;
	int32_t *ids; /* type ids in TO, indexed by id in FROM; 0: not copied yet */
};

static int copy_type(struct reduction *r, uint32_t id);

/* Copy the struct or union T. First copy the types of its members. */
static int copy_struct(struct reduction *r, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(r->from, t->name_off);
	const struct btf_member *members = btf_members(t);
	int err = 0, new;

	for (uint32_t i = 0; i < btf_vlen(t); i++)
		if (copy_type(r, members[i].type) < 0)
			return -EINVAL;
	new = btf_is_struct(t) ? btf__add_struct(r->to, name, t->size) :
				 btf__add_union(r->to, name, t->size);
	for (uint32_t i = 0; i < btf_vlen(t) && new > 0 && !err; i++)
		err = btf__add_field(r->to, btf__name_by_offset(r->from, members[i].name_off),
				     copy_type(r, members[i].type), btf_member_bit_offset(t, i),
				     btf_member_bitfield_size(t, i));
	return err ?: new;
}

/* Add a copy of the type T. If T is a pointer, do not copy its target. */
static int add_type(struct reduction *r, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(r->from, t->name_off);
	int elem;

	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
		return btf__add_ptr(r->to, 0);
	case BTF_KIND_INT:
		return btf__add_int(r->to, name, t->size, btf_int_encoding(t));
	case BTF_KIND_FLOAT:
		return btf__add_float(r->to, name, t->size);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return btf__add_enum(r->to, name, t->size);
	case BTF_KIND_ARRAY:
		elem = copy_type(r, btf_array(t)->type);
		return elem < 0 ? elem :
				  btf__add_array(r->to, copy_type(r, btf_array(t)->index_type),
						 elem, btf_array(t)->nelems);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return copy_struct(r, t);
	}
	return -EINVAL;
}

/* Return the id that type ID has in TO, or -errno. Copy the type at the first call. */
static int copy_type(struct reduction *r, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(r->from, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(r->from, id = t->type);
	if (!t || r->ids[id] == BEGUN)
		return -EINVAL;
	if (!r->ids[id]) {
		r->ids[id] = BEGUN;
		r->ids[id] = add_type(r, t);
	}
	return r->ids[id];
}

/*
 * Return the length of NAME without "___flavor". A BPF program may define several structs called "name___flavor" for one kernel
 * struct.
 */
static size_t plain_len(const char *name)
{
	const char *flavor = strstr(name, "___");

	return flavor ? (size_t)(flavor - name) : strlen(name);
}

static bool is_of_name(const void *like, uint32_t id, const void *name)
{
	const char *wanted = btf__name_by_offset(like, btf__type_by_id(like, id)->name_off);
	size_t len = plain_len(wanted);

	return !strncmp(wanted, name, len) && !((const char *)name)[len];
}

static int copy_named(struct reduction *r, const struct btf *like)
{
	scoped(hash_deinit) struct hash_index names = {};
	uint32_t n = btf__type_cnt(r->from);
	int err = 0;

	for (uint32_t id = 1; id < btf__type_cnt(like); id++) {
		const struct btf_type *t = btf__type_by_id(like, id);
		const char *name = btf__name_by_offset(like, t->name_off);

		if (btf_is_composite(t))
			hash_add(&names, hash_bytes(name, plain_len(name)), id);
	}
	for (uint32_t id = 1; id < n && err >= 0; id++) {
		const struct btf_type *t = btf__type_by_id(r->from, id);
		const char *name;

		if (!btf_is_composite(t) || !t->name_off)
			continue;
		name = btf__name_by_offset(r->from, t->name_off);
		if (hash_find(&names, hash_string(name), is_of_name, like, name) != HASH_NONE)
			err = copy_type(r, id);
	}
	return err < 0 ? err : 0;
}

int kernel_btf_reduce(const struct btf *from, const struct btf *like, int fd)
{
	struct reduction r = { .from = from, .to = btf__new_empty() };
	const void *raw;
	uint32_t size;
	int err;

	if (!r.to)
		return -errno;
	r.ids = alloc_array(btf__type_cnt(from), sizeof(*r.ids));
	err = copy_named(&r, like);
	raw = err ? NULL : btf__raw_data(r.to, &size);
	if (!err && (!raw || write(fd, raw, size) != size))
		err = -EIO;
	free(r.ids);
	btf__free(r.to);
	return err;
}
