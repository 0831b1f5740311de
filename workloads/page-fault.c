// SPDX-License-Identifier: GPL-2.0-or-later
/* LEBench's "small page fault": the first byte of a private mapping of a file of one page. */
#include <errno.h>
#include <sys/mman.h>

#include "common.h"

int main(int argc, char **argv)
{
	struct workload w = {
		.name = "page-fault",
		.timed =
			"reading the first byte of a private one-page mapping of a file that is in the\n"
			"page cache; the file is mapped anew each time",
		.iterations = 1000,
	};
	uint64_t *times, i, start;
	volatile char *page;
	int fd;

	workload_init(&w, argc, argv);
	times = workload_times(&w);
	fd = workload_page_file(&w);
	for (i = 0; i < w.iterations; i++) {
		page = mmap(NULL, WORKLOAD_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
		if (page == MAP_FAILED)
			workload_fail(&w, errno, "mmap");
		start = workload_now();
		(void)page[0];
		times[i] = workload_now() - start;
		if (munmap((void *)page, WORKLOAD_PAGE))
			workload_fail(&w, errno, "munmap");
	}
	workload_report(&w, times, NULL);
	return 0;
}
