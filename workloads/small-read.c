// SPDX-License-Identifier: GPL-2.0-or-later
/* LEBench's "small read": one page out of the page cache. */
#include <errno.h>
#include <unistd.h>

#include "common.h"

int main(int argc, char **argv)
{
	struct workload w = {
		.name = "small-read",
		.timed =
			"read of one page (4,096 bytes) at offset 0 of a file that is in the page cache",
		.iterations = 10000,
	};
	static char page[WORKLOAD_PAGE];
	uint64_t *times, i, start;
	ssize_t done;
	int fd;

	workload_init(&w, argc, argv);
	times = workload_times(&w);
	fd = workload_page_file(&w);
	/* Touched now, so that no read has to fault it in. */
	page[0] = 1;
	for (i = 0; i < w.iterations; i++) {
		if (lseek(fd, 0, SEEK_SET))
			workload_fail(&w, errno, "lseek");
		start = workload_now();
		done = read(fd, page, sizeof(page));
		times[i] = workload_now() - start;
		if (done != (ssize_t)sizeof(page))
			workload_fail(&w, done < 0 ? errno : EIO, "read");
	}
	workload_report(&w, times, NULL);
	return 0;
}
