/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Map files that other processes may change meanwhile. If a mapped file becomes shorter or unreadable, its memory reads as zeros;
 * otherwise SIGBUS would end the process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Map the regular file FD of MIN to MAX bytes, and a page of zeros after the file. Messages call the file PATH. Writes to the
 * memory do not change the file. Set *BYTES to the memory, which map_release() frees, and *SIZE. Return 0 or -errno without a
 * message: -ENOEXEC if the file is not regular or has another size.
 */
int map_file(int fd, const char *path, off_t min, off_t max, void **bytes, size_t *size);

/* Copy SIZE bytes at BYTES, which came from the file PATH, to a new map. Set *OUT to the map. Return 0 or -errno. */
int map_copy(const void *bytes, size_t size, const char *path, void **out);

/* Return whether any mapped file was cut off after it was mapped. Warn of each such file once. */
bool map_is_cut(void);

/* Unmap BYTES, which may be NULL. */
void map_release(void *bytes);
