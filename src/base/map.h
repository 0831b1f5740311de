/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files in memory that others may change meanwhile. If a file has become shorter or cannot be read, zeros are read instead;
 * otherwise SIGBUS would end the process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Maps the regular file FD, PATH in messages, of MIN to MAX bytes, with a page of zeros behind it. Writable, without effect on the file. In
 * *BYTES and *SIZE, for map_release(). -errno, not reported; -ENOEXEC for what is no such file.
 */
int map_file(int fd, const char *path, off_t min, off_t max, void **bytes, size_t *size);

/* The same of the SIZE bytes at BYTES, which came from the file PATH; the copy in *OUT. */
int map_copy(const void *bytes, size_t size, const char *path, void **out);

/* Return whether a file has been cut off since it was mapped. Warn of each once. */
bool map_is_cut(void);

/* Accepts NULL. */
void map_release(void *bytes);
