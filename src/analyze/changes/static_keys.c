// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/changes/static_keys.h"

#include <string.h>

#include "analyze/figures/environment.h"
#include "arch/arch.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/code/code.h"
#include "kernel/code/static_keys.h"
#include "kernel/image/name.h"

/* The name of a key, as recordings have it. For free(); NULL: it has none. */
static char *name_of(const struct kernel_code *code, uint64_t key)
{
	uint64_t offset;
	const char *name = kernel_image_object_at(code->img, key + code->base, &offset);

	return name ? kernel_static_key_name(name, offset) : NULL;
}

/* Return whether WORD is one of TEXT's, which may be NULL. */
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

define_compare(by_key, struct arch_jump_label, compare_values(a->key, b->key));
define_compare(by_name, struct analyze_static_key, strcmp(a->name, b->name));

static void find_jumps(struct analyze_static_keys *s, struct kernel_code *code)
{
	const struct arch_tables *t = &code->tables;
	struct kernel_image *img = code->img;
	struct analyze_static_key *row = NULL;
	scoped_free struct arch_jump_label *labels = alloc_array(t->n_labels, sizeof(*labels));

	memcpy(labels, t->labels, t->n_labels * sizeof(*labels));
	sort_array(labels, t->n_labels, sizeof(*labels), by_key);
	for (uint32_t i = 0; i < t->n_labels; i++) {
		if (!i || labels[i].key != labels[i - 1].key) {
			struct analyze_static_key key = { .name = name_of(code, labels[i].key) };

			row = key.name ? bsearch(&key, s->rows, s->n_rows, sizeof(key), by_name) :
					 NULL;
			free(key.name);
		}
		if (row)
			note_jump(row, img, labels[i].code);
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
