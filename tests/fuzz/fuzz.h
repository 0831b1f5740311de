/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helpers of the fuzz targets (make fuzz). Each target is one file, linked with the library and libFuzzer. */
#pragma once

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define fuzz_fn static __attribute__((unused))

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* Discard all output, and hide this machine's files. libFuzzer writes to its own descriptors. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const char *const nowhere[] = { "HOME", "KPROTPERF_CACHE", "KPROTPERF_LAB" };
	size_t i;

	(void)argc;
	(void)argv;
	for (i = 0; i < sizeof(nowhere) / sizeof(*nowhere); i++)
		setenv(nowhere[i], "/nonexistent", 1);
	stderr = fopen("/dev/null", "we");
	stdout = fopen("/dev/null", "we");
	return 0;
}

/* Store the bytes in file K (0 or 1). Return its path, valid until the next call for K. $FUZZ_KEEP is a folder to keep both in. */
fuzz_fn const char *fuzz_file(int k, const void *bytes, size_t size)
{
	static int fds[2] = { -1, -1 };
	static char paths[2][256];
	const char *keep = getenv("FUZZ_KEEP");

	if (keep)
		snprintf(paths[k], sizeof(paths[k]), "%s/%d", keep, k);
	if (fds[k] < 0)
		fds[k] = keep ? open(paths[k], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) :
				memfd_create("fuzz", MFD_CLOEXEC);
	if (!keep)
		snprintf(paths[k], sizeof(paths[k]), "/dev/fd/%d", fds[k]);
	if (fds[k] < 0 || ftruncate(fds[k], 0) || pwrite(fds[k], bytes, size, 0) != (ssize_t)size)
		abort();
	return paths[k];
}
