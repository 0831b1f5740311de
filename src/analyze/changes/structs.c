// SPDX-License-Identifier: GPL-2.0-or-later
/* Structures whose layout is not the same, as the kernels' BTF has it. */
#include <bpf/btf.h>
#include <string.h>

#include "analyze/changes/changes.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/image/btf.h"

#define MAX_DEPTH 8 /* of structs without a name in one another */

/* A struct, or a member of one. */
struct item {
	const char *name;
	uint64_t at; /* its id, or its offset in bits */
};

struct items {
	vec_of(struct item, items);
};

define_compare(compare_items, struct item, strcmp(a->name, b->name));

static struct join join_items(struct items sides[2])
{
	for (int i = 0; i < 2; i++)
		sort_array(sides[i].items, sides[i].n_items, sizeof(*sides[i].items),
			   compare_items);
	return join_sorted(sides[0].items, sides[0].n_items, sides[1].items, sides[1].n_items,
			   sizeof(struct item), compare_items);
}

/* The members of T from BASE bits on, those of parts without a name among them. */
static void add_members(struct items *out, const struct btf *btf, const struct btf_type *t,
			uint64_t base, int depth)
{
	for (uint32_t i = 0; i < btf_vlen(t) && depth < MAX_DEPTH; i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *name = btf__name_by_offset(btf, m->name_off);
		const struct btf_type *type = btf__type_by_id(btf, m->type);
		uint64_t at = base + btf_member_bit_offset(t, i);

		if (name && *name)
			vec_push(out, items, ((struct item){ name, at }));
		else if (type && btf_is_composite(type))
			add_members(out, btf, type, at, depth + 1);
	}
}

static void add_struct(struct analyze_structs *s, const char *name, const uint64_t ids[2])
{
	struct analyze_struct_change row = { .name = name };
	struct items members[2] = { 0 };
	struct join j;

	for (int i = 0; i < 2; i++) {
		const struct btf *btf = kernel_btf_raw(s->btf[i]);
		const struct btf_type *t = btf__type_by_id(btf, (uint32_t)ids[i]);

		row.sizes[i] = t->size;
		add_members(&members[i], btf, t, 0, 0);
	}
	j = join_items(members);
	while (join_next(&j)) {
		const struct item *a = j.a, *b = j.b;

		if (j.n_a && j.n_b)
			row.moved += a->at != b->at;
		else
			alloc_append(&row.members, "%s%c%s", row.members ? " " : "",
				     j.n_b ? '+' : '-', (j.n_b ? b : a)->name);
	}
	if (row.members || row.moved > 0 || row.sizes[0] < row.sizes[1] ||
	    row.sizes[0] > row.sizes[1])
		vec_push(s, rows, row);
	free(members[0].items);
	free(members[1].items);
}

define_compare(compare_rows, struct analyze_struct_change,
	       compare_values(!a->members, !b->members)   ?:
		       compare_values(b->moved, a->moved) ?:
							    strcmp(a->name, b->name));

void analyze_structs_init(struct analyze_structs *s, struct kernel_image *const images[2])
{
	struct items structs[2] = { 0 };
	struct join j;

	*s = (struct analyze_structs){ .known = true };
	for (int i = 0; i < 2; i++) {
		const struct btf *btf;

		s->known &= !kernel_btf_load(kernel_image_path(images[i]), &s->btf[i]);
		btf = s->btf[i] ? kernel_btf_raw(s->btf[i]) : NULL;
		for (uint32_t id = 1; btf && id < btf__type_cnt(btf); id++) {
			const struct btf_type *t = btf__type_by_id(btf, id);
			const char *name = btf__name_by_offset(btf, t->name_off);

			if (btf_is_struct(t) && name && *name)
				vec_push(&structs[i], items, ((struct item){ name, id }));
		}
	}
	j = join_items(structs);
	while (join_next(&j))
		if (j.n_a == 1 && j.n_b == 1)
			add_struct(s, ((const struct item *)j.a)->name,
				   (uint64_t[]){ ((const struct item *)j.a)->at,
						 ((const struct item *)j.b)->at });
	sort_array(s->rows, s->n_rows, sizeof(*s->rows), compare_rows);
	free(structs[0].items);
	free(structs[1].items);
}

void analyze_structs_deinit(struct analyze_structs *s)
{
	for (uint32_t i = 0; i < s->n_rows; i++)
		free(s->rows[i].members);
	free(s->rows);
	kernel_btf_destroy(s->btf[0]);
	kernel_btf_destroy(s->btf[1]);
}
