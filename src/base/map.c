// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/map.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

struct map {
	struct map *next;
	char *path;
	uintptr_t start, len;
	volatile bool cut;
	bool warned;
};

static struct map *maps; /* the signal handler may read this list at any time */
static uintptr_t page;

/* Handle SIGBUS: map a page of zeros in place of a page that the file has lost. */
static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr;

	(void)context;
	for (struct map *m = maps; m; m = m->next) {
		if (at - m->start >= m->len)
			continue;
		m->cut = true;
		if (mmap((void *)(at & ~(page - 1)), page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
			return;
	}
	signal(sig, SIG_DFL); /* the repeated access then ends the process */
}

static void add(void *bytes, size_t len, const char *path)
{
	const struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };
	struct map *m = alloc_new(struct map);

	if (!maps)
		sigaction(SIGBUS, &action, NULL);
	*m = (struct map){ maps, alloc_strdup(path), (uintptr_t)bytes, len };
	maps = m;
}

/* Map *LEN bytes of zeros and one more page. Round *LEN up to the mapped size. Return NULL if there is no memory. */
static void *map_zeros(size_t *len)
{
	void *map;

	page = (uintptr_t)sysconf(_SC_PAGESIZE);
	*len = ((*len + page - 1) / page + 1) * page;
	map = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return map == MAP_FAILED ? NULL : map;
}

int map_copy(const void *bytes, size_t size, const char *path, void **out)
{
	size_t len = size;
	void *map = map_zeros(&len);

	if (!map)
		return -errno;
	memcpy(map, bytes, size);
	add(map, len, path);
	*out = map;
	return 0;
}

int map_file(int fd, const char *path, off_t min, off_t max, void **bytes, size_t *size)
{
	struct stat st;
	size_t len;
	void *map;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < min || st.st_size > max)
		return -ENOEXEC;
	len = (size_t)st.st_size;
	map = map_zeros(&len);
	if (!map)
		return -errno;
	if (mmap(map, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
	    MAP_FAILED) {
		int err = -errno;

		munmap(map, len);
		return err;
	}
	add(map, len, path);
	*bytes = map;
	*size = (size_t)st.st_size;
	return 0;
}

bool map_is_cut(void)
{
	bool any = false;

	for (struct map *m = maps; m; m = m->next) {
		if (m->cut && !m->warned)
			log_warn("%s was truncated while being read: names and code from it may be "
				 "wrong",
				 m->path);
		m->warned = m->cut;
		any |= m->cut;
	}
	return any;
}

void map_release(void *bytes)
{
	map_is_cut();
	for (struct map **at = &maps; bytes && *at; at = &(*at)->next) {
		struct map *m = *at;

		if (m->start != (uintptr_t)bytes)
			continue;
		munmap(bytes, m->len);
		*at = m->next;
		free(m->path);
		free(m);
		return;
	}
}
