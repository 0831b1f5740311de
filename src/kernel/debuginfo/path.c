// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of source files relative to the kernel's tree. The compiler names them as it was called:
 * absolute, relative to the build's folder, through "..", or with a prefix mapped away, as
 * distributions do. So that profiles of two kernels compare, "/build/linux-6.1/obj/../mm/slub.c",
 * "./mm/slub.c" and "mm/slub.c" all become "mm/slub.c".
 */
#include "kernel/debuginfo/path.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

/* Every kernel has this file, and its place tells where the tree is. */
#define ANCHOR "init/main.c"

/* More than PATH_MAX: longer names are not those of files. */
#define MAX_PATH 8192

struct entry {
	char *raw, *relative;
};

struct paths {
	char *source_root, *build_root; /* normalized, with a slash at the end; NULL: not known */
	vec_of(struct entry, entries);
	struct hash_index by_raw; /* entries */
};

struct paths *kernel_paths_create(void)
{
	return alloc_new(struct paths);
}

void kernel_paths_destroy(struct paths *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->n_entries; i++) {
		free(p->entries[i].raw);
		free(p->entries[i].relative);
	}
	free(p->entries);
	hash_deinit(&p->by_raw);
	free(p->source_root);
	free(p->build_root);
	free(p);
}

/* PATH without "//", "." and, where a folder stands before it, "..". For free(). */
static char *normalize(const char *path)
{
	char *out = alloc_array(strlen(path) + 2, 1), *end = out;
	bool absolute = *path == '/';

	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && !memcmp(path, "..", 2)) {
			char *last = end;

			/* end is behind a slash, or at the start. */
			while (last > out && last[-1] == '/')
				last--;
			while (last > out && last[-1] != '/')
				last--;
			if (end == out || (end - last == 3 && !memcmp(last, "../", 3))) {
				if (!absolute) {
					memcpy(end, "../", 3);
					end += 3;
				}
			} else {
				end = last;
			}
		} else if (len && !(len == 1 && *path == '.')) {
			if (absolute && end == out)
				*end++ = '/';
			memcpy(end, path, len);
			end += len;
			*end++ = '/';
		}
		path += len;
		path += strspn(path, "/");
	}
	if (end > out && end[-1] == '/')
		end--;
	*end = '\0';
	return out;
}

static char *join(const char *dir, const char *name)
{
	scoped_free char *joined =
		*name == '/' || !dir ? alloc_strdup(name) : alloc_printf("%s/%s", dir, name);

	return normalize(joined);
}

void kernel_paths_unit(struct paths *p, const char *dir, const char *name)
{
	size_t len = name ? strlen(name) : 0, anchor = strlen(ANCHOR);
	bool is_anchor = len >= anchor && !strcmp(name + len - anchor, ANCHOR) &&
			 (len == anchor || name[len - anchor - 1] == '/');
	char *path;

	if (p->source_root || len > MAX_PATH || (dir && strlen(dir) > MAX_PATH))
		return;
	if (dir && (is_anchor || !p->build_root)) {
		path = normalize(dir);
		free(p->build_root);
		p->build_root = alloc_printf("%s/", path);
		free(path);
	}
	if (!is_anchor)
		return;
	path = join(dir, name);
	path[strlen(path) - anchor] = '\0';
	p->source_root = path;
}

const char *kernel_paths_source_root(const struct paths *p)
{
	return p->source_root;
}

const char *kernel_paths_build_root(const struct paths *p)
{
	return p->build_root;
}

static bool has_prefix(const char *path, const char *prefix)
{
	return prefix && !strncmp(path, prefix, strlen(prefix));
}

static char *relative(const struct paths *p, const char *raw)
{
	char *path = normalize(raw);
	size_t skip = 0;

	if (has_prefix(path, p->source_root))
		skip = strlen(p->source_root);
	else if (has_prefix(path, p->build_root))
		skip = strlen(p->build_root);
	memmove(path, path + skip, strlen(path + skip) + 1);
	return path;
}

static bool is_raw(const void *ctx, uint32_t item, const void *raw)
{
	const struct paths *p = ctx;

	return !strcmp(p->entries[item].raw, raw);
}

const char *kernel_paths_relative(struct paths *p, const char *raw)
{
	uint32_t found;

	if (strnlen(raw, MAX_PATH) == MAX_PATH)
		return NULL;
	found = hash_find_or_add(&p->by_raw, hash_string(raw), is_raw, p, raw, p->n_entries);
	if (found == p->n_entries)
		vec_push(p, entries, ((struct entry){ alloc_strdup(raw), relative(p, raw) }));
	return p->entries[found].relative;
}
