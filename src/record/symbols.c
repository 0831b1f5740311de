// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

int record_symbols_init(struct record_symbols *s, const char *vmlinux)
{
	struct utsname uts;

	*s = (struct record_symbols){ .vmlinux = vmlinux };
	if (uname(&uts) == 0)
		snprintf(s->release, sizeof(s->release), "%s", uts.release);
	if (symbol_build_id_read(SYMBOL_NOTES_PATH, &s->build_id))
		s->build_id.len = 0;
	return symbol_kallsyms_load(SYMBOL_KALLSYMS_PATH, &s->ks);
}

void record_symbols_deinit(struct record_symbols *s)
{
	symbol_index_destroy(s->index);
	symbol_image_destroy(s->image);
	for (uint32_t i = 0; i < s->n_modules; i++) {
		symbol_btf_destroy(s->modules[i].btf);
		if (s->modules[i].fd >= 0)
			close(s->modules[i].fd);
	}
	free(s->modules);
	symbol_btf_destroy(s->btf);
	symbol_tracing_destroy(s->tracing);
	symbol_kallsyms_destroy(s->ks);
	free(s->image_why_not);
}

int record_symbols_load_functions(struct record_symbols *s)
{
	int err;

	if (s->tracing)
		return 0;
	err = symbol_tracing_load(s->ks, symbol_tracefs_find(), SYMBOL_BLACKLIST_PATH, &s->tracing);
	if (err)
		return err;
	if (symbol_btf_load(SYMBOL_BTF_PATH, &s->btf))
		s->btf = NULL;
	return 0;
}

static struct record_module_btf module_btf_load(const struct record_symbols *s, const char *module)
{
	struct record_module_btf m = { .module = module, .fd = -ENOENT };
	char *path = alloc_printf(SYMBOL_BTF_DIR "%s", module);

	if (s->btf && !symbol_btf_load_split(path, s->btf, &m.btf)) {
		m.fd = symbol_btf_module_open(module);
		if (m.fd < 0) {
			symbol_btf_destroy(m.btf);
			m.btf = NULL;
		}
	}
	free(path);
	return m;
}

const struct record_module_btf *record_symbols_module_btf(struct record_symbols *s,
							  const char *module)
{
	uint32_t i;

	for (i = 0; i < s->n_modules; i++)
		if (s->modules[i].module == module)
			break;
	if (i == s->n_modules)
		vec_push(s, modules, module_btf_load(s, module));
	return s->modules[i].btf ? &s->modules[i] : NULL;
}

int record_symbols_image(struct record_symbols *s, struct symbol_image **image)
{
	int err = 0;

	if (!s->image_tried) {
		s->image_tried = true;
		err = symbol_image_find(s->vmlinux, s->release, &s->build_id, &s->image,
					&s->image_why_not);
	}
	*image = s->image;
	return err;
}

int record_symbols_index(struct record_symbols *s, const struct symbol_index **index)
{
	struct symbol_image *image;
	int err = 0;

	if (!s->index_tried) {
		s->index_tried = true;
		err = record_symbols_image(s, &image);
		if (!err && symbol_index_get(&s->build_id, image, &s->index))
			s->index = NULL;
	}
	*index = s->index;
	return err;
}
