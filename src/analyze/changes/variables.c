// SPDX-License-Identifier: GPL-2.0-or-later
/* Variables whose initial values are not the same: what the kernel is switched to before anybody asks for something else. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/changes/changes_impl.h"
#include "base/alloc.h"
#include "base/sorted.h"

#define WORD sizeof(uint64_t)

/* Return whether a variable differs whenever the kernels do, or is an address that is not aligned. */
static bool is_told_otherwise(const char *name)
{
	static const char *const names[] = { "linux_banner", "kernel_config_data", "idt_descr" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	/* Names that compilers and macros number are of other variables in the next build. */
	return strchr(name, '.') || strstr(name, "__UNIQUE_ID") || !strncmp(name, "__BTF_ID", 8) ||
	       !strncmp(name, "__ksym", 6) || !strncmp(name, "__kstr", 6);
}

define_compare(by_name, struct changes_symbol, strcmp(a->name, b->name));

/* SIDE's, by name; for free(). */
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

/* The N bytes from AT on of the variable S; zeros where the file has none, as the kernel begins with. */
static uint64_t word_at(const struct changes_side *side, const struct changes_symbol *s,
			uint64_t at, size_t n)
{
	uint64_t word = 0;

	if (!kernel_code_read_file(side->code, s->addr - side->base + at, &word, n))
		word = 0;
	return word;
}

/* For free(): what is at that address, or the number. */
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
