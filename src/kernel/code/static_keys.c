// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/code/static_keys.h"

#include <inttypes.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/image/kcore.h"
#include "kernel/image/kallsyms.h"

/* Ten times what a kernel with everything has. */
#define MAX_TABLE (8u << 20)

/* The table of the image's jumps, for arch_tables_clear(); none where it cannot be read. */
static void read_jumps(struct arch_tables *out, const struct kernel_kcore *kcore,
		       const struct kernel_kallsyms *ks)
{
	const struct arch_section_bounds *bounds = &arch_section_bounds[ARCH_SECTION_LABELS];
	uint64_t start = kernel_kallsyms_variable(ks, bounds->start);
	uint64_t stop = kernel_kallsyms_variable(ks, bounds->stop);
	struct arch_section sections[ARCH_N_SECTIONS] = {};
	scoped_free uint8_t *bytes = NULL;

	*out = (struct arch_tables){};
	if (!kcore || !start || stop <= start || stop - start > MAX_TABLE)
		return;
	bytes = alloc_array(stop - start, 1);
	sections[ARCH_SECTION_LABELS] = (struct arch_section){ start, bytes, stop - start };
	if (!kernel_kcore_read(kcore, start, bytes, stop - start))
		arch_tables_read(out, sections, 0, NULL, NULL);
}

char *kernel_static_key_name(const char *name, uint64_t offset)
{
	/* Compilers number what several functions call the same. */
	if (strchr(name, '.'))
		return NULL;
	return offset ? alloc_printf("%s+0x%" PRIx64, name, offset) : alloc_strdup(name);
}

char *kernel_static_keys_on(const struct kernel_kcore *kcore, const struct kernel_kallsyms *ks)
{
	scoped(arch_tables_clear) struct arch_tables tables;
	char *text = NULL;
	scoped_free uint64_t *keys;

	read_jumps(&tables, kcore, ks);
	keys = alloc_array(tables.n_labels, sizeof(*keys));
	for (uint32_t i = 0; i < tables.n_labels; i++)
		keys[i] = tables.labels[i].key;
	sort_array(keys, tables.n_labels, sizeof(*keys), compare_u64);
	if (tables.n_labels)
		text = alloc_strdup("");
	for (uint32_t i = 0; i < tables.n_labels; i++) {
		uint64_t offset;
		const char *in = kernel_kallsyms_variable_at(ks, keys[i], &offset);
		int32_t enabled = 0;
		scoped_free char *name = NULL;

		if ((i && keys[i] == keys[i - 1]) || !in ||
		    kernel_kcore_read(kcore, keys[i], &enabled, sizeof(enabled)) || enabled <= 0)
			continue;
		name = kernel_static_key_name(in, offset);
		if (name)
			alloc_append(&text, "%s%s", *text ? " " : "", name);
	}
	return text;
}

void kernel_static_keys_in(const struct kernel_kcore *kcore, const struct kernel_kallsyms *ks,
			   uint64_t start, uint64_t len, struct alloc_texts *names)
{
	scoped(arch_tables_clear) struct arch_tables tables;
	size_t before = names->n_texts;

	read_jumps(&tables, kcore, ks);
	vec_each(const struct arch_jump_label, label, &tables, labels) {
		uint64_t offset;
		const char *name;
		size_t known = before;

		if (label->code - start >= len)
			continue;
		name = kernel_kallsyms_variable_at(ks, label->key, &offset);
		if (!name || offset || strchr(name, '.'))
			continue;
		while (known < names->n_texts && strcmp(names->texts[known], name) != 0)
			known++;
		if (known == names->n_texts)
			alloc_keep(names, alloc_strdup(name));
	}
}
