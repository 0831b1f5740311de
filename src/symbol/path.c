// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of source files relative to the kernel's tree. The compiler names them as it was called:
 * absolute, relative to the build's folder, through "..", or with a prefix mapped away, as
 * distributions do. So that profiles of two kernels compare, "/build/linux-6.1/obj/../mm/slub.c",
 * "./mm/slub.c" and "mm/slub.c" all become "mm/slub.c".
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/image_impl.h"

/* Every kernel has this file, and its place tells where the tree is. */
#define ANCHOR "init/main.c"

/* More than PATH_MAX: longer names are not those of files. */
#define MAX_PATH 8192

struct entry {
	char *raw, *relative;
};

struct paths {
	char *source_root, *build_root; /* normalized, with a slash at the end; NULL: not known */
	struct entry *slots; /* open addressing by raw; at most half full */
	size_t n_slots, n_used;
};

struct paths *symbol_paths_create(void)
{
	struct paths *p = alloc_new(struct paths);

	p->n_slots = 256;
	p->slots = alloc_array(p->n_slots, sizeof(*p->slots));
	return p;
}

void symbol_paths_destroy(struct paths *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_slots; i++) {
		free(p->slots[i].raw);
		free(p->slots[i].relative);
	}
	free(p->slots);
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
	char *joined, *clean;

	if (*name == '/' || !dir)
		return normalize(name);
	joined = alloc_printf("%s/%s", dir, name);
	clean = normalize(joined);
	free(joined);
	return clean;
}

void symbol_paths_unit(struct paths *p, const char *dir, const char *name)
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

const char *symbol_paths_source_root(const struct paths *p)
{
	return p->source_root;
}

const char *symbol_paths_build_root(const struct paths *p)
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

static size_t hash_string(const char *s)
{
	size_t h = 14695981039346656037u;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 1099511628211u;
	return h ^ h >> 32;
}

static struct entry *find_slot(const struct paths *p, const char *raw)
{
	size_t i = hash_string(raw);

	for (;; i++) {
		struct entry *e = &p->slots[i & (p->n_slots - 1)];

		if (!e->raw || !strcmp(e->raw, raw))
			return e;
	}
}

static void grow(struct paths *p)
{
	struct paths bigger = { .n_slots = p->n_slots * 2 };

	bigger.slots = alloc_array(bigger.n_slots, sizeof(*bigger.slots));
	for (size_t i = 0; i < p->n_slots; i++)
		if (p->slots[i].raw)
			*find_slot(&bigger, p->slots[i].raw) = p->slots[i];
	free(p->slots);
	p->slots = bigger.slots;
	p->n_slots = bigger.n_slots;
}

/* The slot of RAW, perhaps new: then its other half is missing. */
static struct entry *intern(struct paths *p, const char *raw)
{
	struct entry *e = find_slot(p, raw);

	if (e->raw)
		return e;
	if (++p->n_used * 2 > p->n_slots) {
		grow(p);
		e = find_slot(p, raw);
	}
	e->raw = alloc_strdup(raw);
	return e;
}

const char *symbol_paths_relative(struct paths *p, const char *raw)
{
	struct entry *e;

	if (strnlen(raw, MAX_PATH) == MAX_PATH)
		return NULL;
	e = intern(p, raw);
	if (!e->relative)
		e->relative = relative(p, raw);
	return e->relative;
}
