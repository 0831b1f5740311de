// SPDX-License-Identifier: GPL-2.0-or-later
/* Open and write index files. They are in the user's cache, where the build-id is the name, or beside the vmlinux. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "base/output.h"
#include "kernel/debuginfo/index_impl.h"

/* Maximum size of an index in bytes, more than any kernel needs: the index of a vmlinux of 320 MB has 22 MB. */
#define MAX_SIZE ((off_t)1 << 31)

#define BESIDE ".kprotperf-index"

int kernel_index_open(const char *path, const struct kernel_build_id *id, struct kernel_index **out)
{
	struct kernel_index *idx;
	int fd = file_open(path, true), err;
	void *map = NULL;

	*out = NULL;
	if (fd < 0)
		return fd;
	idx = alloc_new(struct kernel_index);
	idx->path = alloc_strdup(path);
	err = map_file(fd, path, sizeof(struct index_header), MAX_SIZE, &map, &idx->size);
	close(fd);
	idx->bytes = map;
	idx->is_mapped = !err;
	err = err == -ENOEXEC ? -EBADMSG : err ?: kernel_index_attach(idx, id);
	if (err) {
		kernel_index_destroy(idx);
		return err;
	}
	*out = idx;
	return 0;
}

static int write_index(int fd, const void *arg)
{
	const struct kernel_index *idx = arg;

	return file_write_all(fd, idx->bytes, idx->size);
}

int kernel_index_write(const struct kernel_index *idx, const char *path)
{
	/* If a vmlinux is truncated while it is mapped, its end reads as zeros. Do not store an index made from these. */
	if (map_is_cut())
		return -EIO;
	return output_replace(path,
			      &(struct output){ write_index, idx, .mode = 0666, .folders = true });
}

/* Return the folder for indexes in the cache; NULL: no environment variable tells one. The caller frees the result. */
static char *cache_dir(void)
{
	static const struct {
		const char *variable, *below;
	} places[] = { { "KPROTPERF_CACHE", "index" },
		       { "XDG_CACHE_HOME", "kprotperf/index" },
		       { "HOME", ".cache/kprotperf/index" } };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const char *dir = getenv(places[i].variable);

		if (dir && *dir)
			return alloc_printf("%s/%s", dir, places[i].below);
	}
	return NULL;
}

char *kernel_index_cache_path(const struct kernel_build_id *id)
{
	char hex[2 * KERNEL_BUILD_ID_MAX + 1];
	scoped_free char *dir = id->len ? cache_dir() : NULL;

	return dir ? alloc_printf("%s/%s", dir, kernel_build_id_format(id, hex, sizeof(hex))) :
		     NULL;
}

char *kernel_index_beside_path(const char *path)
{
	return alloc_printf("%s" BESIDE, path);
}

/* Open the index file PATH, which may be NULL, and free PATH. Return whether *OUT has been set to an index. */
static bool try_open(char *path, const struct kernel_build_id *id, struct kernel_index **out)
{
	int err = path ? kernel_index_open(path, id, out) : -ENOENT;

	if (err == -EBADMSG)
		log_warn("%s is damaged and not used; recreate it with kprotperf index VMLINUX",
			 path);
	else if (err && err != -ENOENT)
		log_verbose(1, "%s is not used: %s", path,
			    err == -ESTALE ? "of a different build or version" :
					     file_strerror(err));
	free(path);
	return !err;
}

static void keep(const struct kernel_index *idx)
{
	scoped_free char *path = kernel_index_cache_path(&idx->id);
	int err;

	if (!path)
		return;
	err = kernel_index_write(idx, path);
	if (err)
		log_verbose(1, "cannot store the index of the vmlinux in %s: %s", path,
			    output_strerror(err));
}

int kernel_index_find(const struct kernel_build_id *id, struct kernel_image *img,
		      struct kernel_index **out)
{
	*out = NULL;
	if (img && (!id || !id->len))
		id = kernel_image_build_id(img);
	if (id && id->len &&
	    ((img && try_open(kernel_index_beside_path(kernel_image_path(img)), id, out)) ||
	     try_open(kernel_index_cache_path(id), id, out)))
		return 0;
	return -ENOENT;
}

int kernel_index_get(const struct kernel_build_id *id, struct kernel_image *img,
		     struct kernel_index **out)
{
	int err = kernel_index_find(id, img, out);

	if (!err || !img)
		return err;
	err = kernel_index_build(img, out);
	if (!err && (*out)->id.len && kernel_index_has_dwarf(*out))
		keep(*out);
	return err;
}
