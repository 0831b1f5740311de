/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mapped files that others may change meanwhile. If a file has become shorter or cannot be read, zeros are read instead;
 * otherwise SIGBUS would end the process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Map the regular file FD of MIN to MAX bytes, with a page of zeros after it. Messages call it PATH. Writing to the memory has no
 * effect on the file. Set *BYTES, for map_release(), and *SIZE. Return 0 or -errno, not reported: -ENOEXEC if the file is not
 * regular or of another size.
 */
int map_file(int fd, const char *path, off_t min, off_t max, void **bytes, size_t *size);

/* Copy the SIZE bytes at BYTES, which came from the file PATH, to such a map. Set *OUT to the copy. Return 0 or -errno. */
int map_copy(const void *bytes, size_t size, const char *path, void **out);

/* Return whether any mapped file was cut off after it was mapped. Warn of each such file once. */
bool map_is_cut(void);

/* Accepts NULL. */
void map_release(void *bytes);
