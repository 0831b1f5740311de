// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symbolize VMLINUX STEXT <ADDRESSES: print the functions at each address, inlined functions first, in the format of
 * `addr2line -i -f`. Addresses are hexadecimal, one per line; STEXT is the address of _stext. Names are found as in `kprotperf
 * resolve`, so a missing index is built and kept.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernel/debuginfo/index.h"

static int print(const struct kernel_frame *frame, void *arg)
{
	(void)arg;
	printf("%s\n%s:%u\n", frame->name, frame->file ? frame->file : "??", frame->line);
	return 0;
}

int main(int argc, char **argv)
{
	struct kernel_image *img;
	struct kernel_index *idx;
	char line[64];
	uint64_t base;

	if (argc != 3) {
		fputs("usage: symbolize VMLINUX STEXT <ADDRESSES\n", stderr);
		return 2;
	}
	if (kernel_image_open(argv[1], &img) || kernel_index_get(NULL, img, &idx))
		return 1;
	base = strtoull(argv[2], NULL, 16);
	while (fgets(line, sizeof(line), stdin))
		if (kernel_index_frames(idx, strtoull(line, NULL, 16) - base, print, NULL))
			printf("??\n??:0\n");
	kernel_index_destroy(idx);
	kernel_image_destroy(img);
	return fflush(stdout) ? 1 : 0;
}
