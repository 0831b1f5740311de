/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Read and write whole files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Open the regular file PATH for reading, without blocking. If OWNED, the file must belong to root, to the user, or to the owner
 * of this program. Return the descriptor, or -errno without a message: -EINVAL for a pipe, device or folder (these are not
 * opened), -EPERM for a file of another owner.
 */
int file_open(const char *path, bool owned);

/* Return the error message for -errno of file_open(). Callers print it after "PATH: ". */
const char *file_strerror(int err);

/*
 * Read the file PATH of at most MAX bytes into *BUF, which the caller frees. *LEN is the number of bytes; a NUL follows them. This
 * also reads files of /proc, whose size is unknown. Return 0 or -errno without a message: -EFBIG for more than MAX bytes.
 */
int file_read(const char *path, size_t max, char **buf, size_t *len);

/* Read the first line of PATH, without its newline, into the SIZE bytes LINE. Return false if there is no line. */
bool file_read_line(const char *path, char *line, size_t size);

/*
 * Call FN for each line of the LEN bytes TEXT, with a NUL in place of its newline. A last line without a newline is
 * skipped: it may have been cut off.
 */
void file_lines_each(char *text, size_t len, void (*fn)(char *line, void *arg), void *arg);

/* Write all N bytes to FD. Return 0 or -errno without a message. */
int file_write_all(int fd, const void *bytes, size_t n);
