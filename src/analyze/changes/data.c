// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare two kernels' structures, initial values of variables, and static keys. */

#include <bpf/btf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/changes/changes.h"
#include "analyze/changes/changes_impl.h"
#include "analyze/figures/environment.h"
#include "arch/arch.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/code/code.h"
#include "kernel/image/btf.h"
#include "kernel/image/name.h"

#define MAX_DEPTH 8 /* maximum nesting of structs without a name */

/* A struct, or a member of a struct. */
struct item {
	const char *name;
	uint64_t at; /* a struct's BTF id, or a member's offset in bits */
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

/* Add the named members of T, including the members of unnamed structs inside T. BASE is T's own offset in bits. */
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

#define WORD sizeof(uint64_t)

/* Return whether to skip the variable NAME: its value always differs, NAME is generated, or an address in it is unaligned. */
static bool is_told_otherwise(const char *name)
{
	static const char *const names[] = { "linux_banner", "kernel_config_data", "idt_descr" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	/* Compilers and macros number these names. In another build, the same name may belong to another variable. */
	return strchr(name, '.') || strstr(name, "__UNIQUE_ID") || !strncmp(name, "__BTF_ID", 8) ||
	       !strncmp(name, "__ksym", 6) || !strncmp(name, "__kstr", 6);
}

define_compare(by_name, struct changes_symbol, strcmp(a->name, b->name));

/* Return the variables of one kernel, sorted by name. The caller frees the array. */
static struct changes_symbol *variables_of(const struct changes_side *side, uint32_t *n)
{
	struct changes_symbol *out = alloc_array(side->n_symbols, sizeof(*out));

	*n = 0;
	vec_each(const struct changes_symbol, s, side, symbols)
		if (s->is_object && s->size && !is_told_otherwise(s->name))
			out[(*n)++] = *s;
	sort_array(out, *n, sizeof(*out), by_name);
	return out;
}

/* Read N bytes at offset AT into the variable S. Return 0 if the image file has no value, as for .bss. */
static uint64_t word_at(const struct changes_side *side, const struct changes_symbol *s,
			uint64_t at, size_t n)
{
	uint64_t word = 0;

	if (!kernel_code_read_file(side->code, s->addr - side->base + at, &word, n))
		word = 0;
	return word;
}

/* Return the name of the symbol at address VALUE, or VALUE in hexadecimal. The caller frees the string. */
static char *value_text(const struct changes_side *side, uint64_t value)
{
	uint64_t offset = 0;
	const char *name = kernel_image_object_at(side->img, value, &offset);

	if (!name && value >= side->base)
		name = kernel_image_symbol_at(side->img, value - side->base, &offset);
	if (!name || value < side->base)
		return alloc_printf("0x%" PRIx64, value);
	return offset ? alloc_printf("%s+0x%" PRIx64, name, offset) : alloc_strdup(name);
}

static void compare_variable(struct analyze_changes *c, struct analyze_variables *out,
			     const struct changes_symbol *s[2])
{
	struct analyze_variable row = { .name = s[0]->name, .bytes = (double)s[0]->size };

	for (uint64_t at = 0; at < s[0]->size; at += WORD) {
		size_t n = s[0]->size - at < WORD ? (size_t)(s[0]->size - at) : WORD;
		struct arch_value values[2];

		for (int i = 0; i < 2; i++)
			values[i] =
				(struct arch_value){ .kind = ARCH_VALUE_ADDRESS,
						     .value = word_at(&c->sides[i], s[i], at, n) };
		if (changes_same_value(c, &values[0], &values[1], NULL))
			continue;
		if (!row.words++) {
			row.at = (double)at;
			for (int i = 0; i < 2; i++)
				row.values[i] = value_text(&c->sides[i], values[i].value);
		}
	}
	if (row.words > 0)
		vec_push(out, rows, row);
}

void analyze_variables_init(struct analyze_variables *v, struct analyze_changes *c)
{
	struct changes_symbol *lists[2];
	uint32_t n[2];
	struct join j;

	*v = (struct analyze_variables){ 0 };
	for (int i = 0; i < 2; i++)
		lists[i] = variables_of(&c->sides[i], &n[i]);
	j = join_sorted(lists[0], n[0], lists[1], n[1], sizeof(**lists), by_name);
	while (join_next(&j)) {
		const struct changes_symbol *s[2] = { j.a, j.b };

		if (j.n_a == 1 && j.n_b == 1 && s[0]->size == s[1]->size)
			compare_variable(c, v, s);
	}
	free(lists[0]);
	free(lists[1]);
}

void analyze_variables_deinit(struct analyze_variables *v)
{
	for (uint32_t i = 0; i < v->n_rows; i++) {
		free(v->rows[i].values[0]);
		free(v->rows[i].values[1]);
	}
	free(v->rows);
}

/* Return the name of the static key at address KEY, or NULL. The caller frees the name. */
static char *name_of(const struct kernel_code *code, uint64_t key)
{
	uint64_t offset;
	const char *name = kernel_image_object_at(code->img, key + code->base, &offset);

	return name ? kernel_static_key_name(name, offset) : NULL;
}

/* Return whether TEXT, a list separated by blanks or NULL, contains WORD. */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	const char *at = text;

	while (at && (at = strstr(at, word)) != NULL) {
		if ((at == text || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
		at += len;
	}
	return false;
}

static void note_jump(struct analyze_static_key *row, struct kernel_image *img, uint64_t code)
{
	uint64_t offset;
	const char *function = kernel_image_symbol_at(img, code, &offset);
	scoped_free char *name =
		function ? alloc_strndup(function, kernel_name_base_len(function)) : NULL;

	row->jumps++;
	if (name && !has_word(row->functions, name))
		alloc_append(&row->functions, "%s%s", row->functions ? " " : "", name);
}

define_compare(by_key, struct arch_entry, compare_values(a->key, b->key));
define_compare(by_key_name, struct analyze_static_key, strcmp(a->name, b->name));

static void find_jumps(struct analyze_static_keys *s, struct kernel_code *code)
{
	const struct arch_table *t = &code->tables.of[ARCH_SECTION_LABELS];
	struct kernel_image *img = code->img;
	struct analyze_static_key *row = NULL;
	scoped_free struct arch_entry *labels = alloc_array(t->n_items, sizeof(*labels));

	memcpy(labels, t->items, t->n_items * sizeof(*labels));
	sort_array(labels, t->n_items, sizeof(*labels), by_key);
	for (uint32_t i = 0; i < t->n_items; i++) {
		if (!i || labels[i].key != labels[i - 1].key) {
			struct analyze_static_key key = { .name = name_of(code, labels[i].key) };

			row = key.name ?
				      bsearch(&key, s->rows, s->n_rows, sizeof(key), by_key_name) :
				      NULL;
			free(key.name);
		}
		if (row)
			note_jump(row, img, labels[i].addr);
	}
}

void analyze_static_keys_init(struct analyze_static_keys *s, const struct profile *baseline,
			      const struct profile *hardened, struct kernel_image *img)
{
	struct kernel_code *code = NULL;
	scoped(analyze_env_deinit) struct analyze_env env;

	*s = (struct analyze_static_keys){
		.known = profile_env_get(baseline, PROFILE_ENV_STATIC_KEYS) &&
			 profile_env_get(hardened, PROFILE_ENV_STATIC_KEYS)
	};
	analyze_env_diff(&env, baseline, hardened);
	vec_each(const struct analyze_env_row, row, &env, rows)
		if (row->kind == ANALYZE_ENV_STATIC_KEY)
			vec_push(s, rows,
				 ((struct analyze_static_key){
					 .name = alloc_strdup(row->name),
					 .on = { !strcmp(row->sides[0], "on"),
						 !strcmp(row->sides[1], "on") } }));
	if (s->n_rows && img && !kernel_code_create(img, NULL, &code))
		find_jumps(s, code);
	kernel_code_destroy(code);
}

void analyze_static_keys_deinit(struct analyze_static_keys *s)
{
	for (uint32_t i = 0; i < s->n_rows; i++) {
		free(s->rows[i].name);
		free(s->rows[i].functions);
	}
	free(s->rows);
	*s = (struct analyze_static_keys){ 0 };
}

const struct analyze_static_key *analyze_static_keys_of(const struct analyze_static_keys *s,
							const char *function)
{
	for (uint32_t i = 0; i < s->n_rows; i++)
		if (has_word(s->rows[i].functions, function))
			return &s->rows[i];
	return NULL;
}
