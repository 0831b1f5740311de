/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files read and written whole. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Opens the regular file PATH for reading, without waiting for anything: -EINVAL for a pipe, a device, a folder, which are
 * not even opened. With OWNED it has to be trustworthy too, else -EPERM: root's, the user's, or of whoever owns this
 * program. -errno, not reported.
 */
int file_open(const char *path, bool owned);

/* Return the text for -errno of file_open(), to follow "PATH: ". */
const char *file_strerror(int err);

/*
 * The whole of PATH, of at most MAX bytes, with a NUL behind it, in *BUF (for free()) and *LEN.
 * For the kernel's files, whose size is not known before they are read. -errno, not reported;
 * -EFBIG for more than MAX.
 */
int file_read(const char *path, size_t max, char **buf, size_t *len);

/* The first line of PATH, without its newline, as far as it fits into the SIZE bytes LINE. False: there is none. */
bool file_read_line(const char *path, char *line, size_t size);

/*
 * Call FN for each line of the LEN bytes TEXT, with a NUL in place of its newline. A last line without a newline is
 * skipped: it may have been cut off.
 */
void file_lines_each(char *text, size_t len, void (*fn)(char *line, void *arg), void *arg);

/* All N bytes to FD. -errno, not reported. */
int file_write_all(int fd, const void *bytes, size_t n);
