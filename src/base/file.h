/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files read and written whole. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Open the regular file PATH for reading, without waiting for anything. With OWNED, the file must belong to root, to the user, or
 * to the owner of this program. Return the descriptor, or -errno, not reported: -EINVAL for a pipe, device or folder, which is not
 * even opened; -EPERM for a file of another owner.
 */
int file_open(const char *path, bool owned);

/* Return the text for -errno of file_open(), to follow "PATH: ". */
const char *file_strerror(int err);

/*
 * Read all of PATH, at most MAX bytes, into *BUF, for free(), with a NUL after the *LEN bytes. This is also for the kernel's files,
 * whose size is not known before they are read. Return 0 or -errno, not reported: -EFBIG for more than MAX bytes.
 */
int file_read(const char *path, size_t max, char **buf, size_t *len);

/* Read the first line of PATH, without its newline, as far as it fits into the SIZE bytes LINE. Return false if there is none. */
bool file_read_line(const char *path, char *line, size_t size);

/*
 * Call FN for each line of the LEN bytes TEXT, with a NUL in place of its newline. A last line without a newline is
 * skipped: it may have been cut off.
 */
void file_lines_each(char *text, size_t len, void (*fn)(char *line, void *arg), void *arg);

/* Write all N bytes to FD. Return 0 or -errno, not reported. */
int file_write_all(int fd, const void *bytes, size_t n);
