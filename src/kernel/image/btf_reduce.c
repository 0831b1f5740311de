// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The few structs of the kernel's BTF that programs access. For each that they name libbpf goes through all types, and
 * for one that is not there through those of all modules.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "kernel/image/btf.h"

#define BEGUN (-1) /* of a struct that would contain itself */

struct reduction {
	const struct btf *from;
	struct btf *to;
	int32_t *ids; /* in TO, by those in FROM; 0: not there yet */
};

static int copy_type(struct reduction *r, uint32_t id);

/* The types of members must precede the struct or union itself. */
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

/* Targets of pointers are not copied. */
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

/* The id of the type, copied if it is not there yet, or -errno. */
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

/* Programs may have several structs for one of the kernel's: "name___flavor". */
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
