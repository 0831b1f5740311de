// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/code/livepatch.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/image/kallsyms.h"

/* PATCH/OBJECT/FUNCTION,POSITION; the position counts functions of one name. */
static void add(struct kernel_livepatches *l, const char *path)
{
	struct kernel_livepatched item = { .patch = alloc_strdup(path) };

	item.object = strchr(item.patch, '/');
	*item.object++ = '\0';
	item.function = strchr(item.object, '/');
	*item.function++ = '\0';
	*strchr(item.function, ',') = '\0';
	vec_push(l, items, item);
}

void kernel_livepatches_load(const char *folder, struct kernel_livepatches *out)
{
	scoped_free char *pattern = alloc_printf("%s/*/*/*,*", folder);
	glob_t found = { 0 };

	*out = (struct kernel_livepatches){ 0 };
	if (!glob(pattern, GLOB_NOSORT, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			add(out, found.gl_pathv[i] + strlen(folder) + 1);
	globfree(&found);
}

void kernel_livepatches_deinit(struct kernel_livepatches *l)
{
	for (uint32_t i = 0; i < l->n_items; i++)
		free(l->items[i].patch);
	free(l->items);
	*l = (struct kernel_livepatches){ 0 };
}

const char *kernel_livepatch_of(const struct kernel_livepatches *l, const struct kernel_sym *sym)
{
	vec_each(const struct kernel_livepatched, item, l, items)
		if (!strcmp(item->function, sym->name) &&
		    !strcmp(item->object, sym->module ?: "vmlinux"))
			return item->patch;
	return NULL;
}
