// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where an index is kept: in the user's cache under the kernel's build-id, or beside the vmlinux.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "symbol/index_impl.h"

/* No kernel's comes near: the lab's, of 320 MB of vmlinux, take 22 MB. */
#define MAX_SIZE ((off_t)1 << 31)

#define BESIDE ".kprotperf-index"

static int map_index(struct symbol_index *idx, int fd)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(struct index_header) ||
	    st.st_size > MAX_SIZE)
		return -EBADMSG;
	/* All of it is read at once, for its check sum. */
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	idx->bytes = map;
	idx->size = (size_t)st.st_size;
	idx->is_mapped = true;
	return 0;
}

int symbol_index_open(const char *path, const struct symbol_build_id *id, struct symbol_index **out)
{
	struct symbol_index *idx;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	*out = NULL;
	if (fd < 0)
		return -errno;
	idx = alloc_new(struct symbol_index);
	idx->path = alloc_strdup(path);
	err = map_index(idx, fd);
	close(fd);
	if (!err)
		err = symbol_index_attach(idx, id);
	if (err) {
		symbol_index_destroy(idx);
		return err;
	}
	*out = idx;
	return 0;
}

void symbol_index_destroy(struct symbol_index *idx)
{
	if (!idx)
		return;
	if (idx->is_mapped)
		munmap((void *)idx->bytes, idx->size);
	else
		free((void *)idx->bytes);
	free(idx->path);
	free(idx);
}

static int write_all(int fd, const unsigned char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			bytes += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

/* Makes the folders above PATH, which is changed meanwhile. */
static void make_parents(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0777);
		*p = '/';
	}
}

int symbol_index_write(const struct symbol_index *idx, const char *path)
{
	char *temp = alloc_printf("%s.XXXXXX", path);
	int fd, err;

	make_parents(temp);
	fd = mkostemp(temp, O_CLOEXEC);
	err = fd < 0 ? -errno : 0;
	if (!err) {
		err = write_all(fd, idx->bytes, idx->size);
		/* A kernel of the lab is for whoever may read its vmlinux. */
		if (fchmod(fd, 0644) && !err)
			err = -errno;
		if (close(fd) && !err)
			err = -errno;
		if (!err && rename(temp, path))
			err = -errno;
		if (err)
			unlink(temp);
	}
	free(temp);
	return err;
}

/* The folder of the cache; NULL where the user has no place for one. For free(). */
static char *cache_dir(void)
{
	static const struct {
		const char *variable, *below;
	} places[] = { { "KPROTPERF_CACHE", "index" },
		       { "XDG_CACHE_HOME", "kprotperf/index" },
		       { "HOME", ".cache/kprotperf/index" } };

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const char *dir = getenv(places[i].variable);

		if (dir && *dir)
			return alloc_printf("%s/%s", dir, places[i].below);
	}
	return NULL;
}

char *symbol_index_cache_path(const struct symbol_build_id *id)
{
	char hex[2 * SYMBOL_BUILD_ID_MAX + 1], *dir, *path;

	if (!id->len)
		return NULL;
	dir = cache_dir();
	if (!dir)
		return NULL;
	path = alloc_printf("%s/%s", dir, symbol_build_id_format(id, hex, sizeof(hex)));
	free(dir);
	return path;
}

char *symbol_index_beside_path(const char *path)
{
	return alloc_printf("%s" BESIDE, path);
}

/* Opens the index in PATH (NULL: none), which is freed. True where *OUT is one. */
static bool try_open(char *path, const struct symbol_build_id *id, struct symbol_index **out)
{
	int err = path ? symbol_index_open(path, id, out) : -ENOENT;

	if (err == -EBADMSG)
		log_warn("%s is damaged and is not used; kprotperf index VMLINUX makes it anew",
			 path);
	else if (err && err != -ENOENT)
		log_verbose(1, "%s is not used: %s", path,
			    err == -ESTALE ? "of another build or version" : log_strerror(err));
	free(path);
	return !err;
}

static void keep(const struct symbol_index *idx)
{
	char *path = symbol_index_cache_path(&idx->id);
	int err;

	if (!path)
		return;
	err = symbol_index_write(idx, path);
	if (err)
		log_verbose(1, "the index of the vmlinux is not kept in %s: %s", path,
			    log_strerror(err));
	free(path);
}

int symbol_index_find(const struct symbol_build_id *id, struct symbol_image *img,
		      struct symbol_index **out)
{
	*out = NULL;
	if (img && (!id || !id->len))
		id = symbol_image_build_id(img);
	if (id && id->len &&
	    ((img && try_open(symbol_index_beside_path(symbol_image_path(img)), id, out)) ||
	     try_open(symbol_index_cache_path(id), id, out)))
		return 0;
	return -ENOENT;
}

int symbol_index_get(const struct symbol_build_id *id, struct symbol_image *img,
		     struct symbol_index **out)
{
	int err = symbol_index_find(id, img, out);

	if (!err || !img)
		return err;
	err = symbol_index_build(img, out);
	if (!err && (*out)->id.len && symbol_index_has_dwarf(*out))
		keep(*out);
	return err;
}
