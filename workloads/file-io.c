// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LEBench's reads and writes of 1, 10, 1,000 and 10,000 pages of the page cache.
 *
 * Names: small-read mid-read big-read huge-read small-write mid-write big-write huge-write
 */
#include <errno.h>
#include <unistd.h>

#include "common.h"

static struct row {
	struct workload w;
	unsigned int pages;
	enum {
		READ,
		WRITE
	} how;
} rows[] = {
#define READ_OF(name, n, pages)                                                         \
	{                                                                               \
		{ name,                                                                 \
		  "read of " #pages                                                     \
		  " page(s) of 4,096 bytes at offset 0 of a file that is in the page\n" \
		  "cache",                                                              \
		  n },                                                                  \
			pages, READ                                                     \
	}
#define WRITE_OF(name, n, pages)                                                  \
	{                                                                         \
		{ name,                                                           \
		  "write of " #pages                                              \
		  " page(s) of 4,096 bytes at offset 0 of a file that has them\n" \
		  "already, in the page cache",                                   \
		  n },                                                            \
			pages, WRITE                                              \
	}
	READ_OF("small-read", 10000, 1),   READ_OF("mid-read", 5000, 10),
	READ_OF("big-read", 100, 1000),    READ_OF("huge-read", 20, 10000),
	WRITE_OF("small-write", 10000, 1), WRITE_OF("mid-write", 2000, 10),
	WRITE_OF("big-write", 50, 1000),   WRITE_OF("huge-write", 10, 10000),
};

int main(int argc, char **argv)
{
	struct row *row = WORKLOAD_PICK(rows);
	struct workload *w = &row->w;
	size_t size = (size_t)row->pages * WORKLOAD_PAGE;
	uint64_t *times, i, start;
	ssize_t done;
	char *buffer;
	int fd;

	workload_init(w, argc, argv);
	times = workload_times(w);
	fd = workload_file(w, row->pages);
	/* No read takes a page fault, since the buffer's pages were touched. */
	buffer = workload_buffer(w, row->pages);
	for (i = 0; i < w->iterations; i++) {
		if (lseek(fd, 0, SEEK_SET))
			workload_fail(w, errno, "lseek");
		start = workload_now();
		done = row->how == READ ? read(fd, buffer, size) : write(fd, buffer, size);
		times[i] = workload_now() - start;
		if (done != (ssize_t)size)
			workload_fail(w, done < 0 ? errno : EIO,
				      row->how == READ ? "read" : "write");
	}
	workload_report(w, times, NULL);
	return 0;
}
