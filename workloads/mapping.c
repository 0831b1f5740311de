// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LEBench's mmap, munmap and page fault on private mappings of a file of 1, 10, 1,000 and 10,000 pages.
 * LEBench lacks the two faults that allocate a page: the first write to an anonymous page, and the first write to a page
 * of a private file mapping (copy on write).
 *
 * Names: small-mmap mid-mmap big-mmap huge-mmap small-munmap mid-munmap big-munmap huge-munmap
 * Names: page-fault small-page-fault mid-page-fault big-page-fault huge-page-fault anon-fault cow-fault
 */
#include <errno.h>
#include <sys/mman.h>

#include "common.h"

static struct row {
	struct workload w;
	unsigned int pages;
	enum {
		MAP,
		UNMAP,
		READ_FAULT,
		WRITE_FAULT
	} timed;
	enum {
		FILE_PAGES,
		ANONYMOUS
	} of;
} rows[] = {
#define MMAP_OF(name, n, pages)                                                                    \
	{                                                                                          \
		{ name, "mmap of " #pages " page(s) of a file, private, none touched", n }, pages, \
			MAP, FILE_PAGES                                                            \
	}
#define MUNMAP_OF(name, n, pages)                             \
	{                                                     \
		{ name,                                       \
		  "munmap of a private mapping of " #pages    \
		  " page(s) of a file, each of them written", \
		  n },                                        \
			pages, UNMAP, FILE_PAGES              \
	}
#define FAULT_OF(name, n, pages)                                           \
	{                                                                  \
		{ name,                                                    \
		  "reading the first byte of a private mapping of " #pages \
		  " page(s) of a file that is\n"                           \
		  "in the page cache; the file is mapped anew each time",  \
		  n },                                                     \
			pages, READ_FAULT, FILE_PAGES                      \
	}
	MMAP_OF("small-mmap", 2000, 1),
	MMAP_OF("mid-mmap", 2000, 10),
	MMAP_OF("big-mmap", 2000, 1000),
	MMAP_OF("huge-mmap", 2000, 10000),
	MUNMAP_OF("small-munmap", 1000, 1),
	MUNMAP_OF("mid-munmap", 500, 10),
	MUNMAP_OF("big-munmap", 20, 1000),
	MUNMAP_OF("huge-munmap", 5, 10000),
	FAULT_OF("page-fault", 1000, 1),
	FAULT_OF("small-page-fault", 1000, 1),
	FAULT_OF("mid-page-fault", 1000, 10),
	FAULT_OF("big-page-fault", 1000, 1000),
	FAULT_OF("huge-page-fault", 1000, 10000),
	{ { "anon-fault", "writing the first byte of a new anonymous page", 1000 },
	  1,
	  WRITE_FAULT,
	  ANONYMOUS },
	{ { "cow-fault",
	    "writing the first byte of a private one-page mapping of a file that is in the\n"
	    "page cache; the file is mapped anew each time",
	    1000 },
	  1,
	  WRITE_FAULT,
	  FILE_PAGES },
};

static void touch(const struct row *row, volatile char *map, size_t size)
{
	size_t at;

	if (row->timed == READ_FAULT)
		(void)map[0];
	else if (row->timed == WRITE_FAULT)
		map[0] = 1;
	else if (row->timed == UNMAP)
		for (at = 0; at < size; at += WORKLOAD_PAGE)
			map[at] = 1;
}

/* Map SIZE bytes, touch and unmap them. Return the time of the step that ROW measures, in ns. */
static uint64_t turn(const struct row *row, size_t size, int fd)
{
	int flags = MAP_PRIVATE | (row->of == ANONYMOUS ? MAP_ANONYMOUS : 0);
	uint64_t mapped, touched, start = workload_now();
	char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	mapped = workload_now();
	if (map == MAP_FAILED)
		workload_fail(&row->w, errno, "mmap");
	if (row->timed == MAP) {
		if (munmap(map, size))
			workload_fail(&row->w, errno, "munmap");
		return mapped - start;
	}
	start = workload_now();
	touch(row, map, size);
	touched = workload_now();
	if (munmap(map, size))
		workload_fail(&row->w, errno, "munmap");
	return row->timed == UNMAP ? workload_now() - touched : touched - start;
}

int main(int argc, char **argv)
{
	struct row *row = WORKLOAD_PICK(rows);
	size_t size = (size_t)row->pages * WORKLOAD_PAGE;
	uint64_t *times, i;
	int fd = -1;

	workload_init(&row->w, argc, argv);
	times = workload_times(&row->w);
	if (row->of == FILE_PAGES)
		fd = workload_file(&row->w, row->pages);
	for (i = 0; i < row->w.iterations; i++)
		times[i] = turn(row, size, fd);
	workload_report(&row->w, times, NULL);
	return 0;
}
