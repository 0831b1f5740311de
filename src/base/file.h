/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files read whole, and written so that nobody sees half of one. */
#ifndef KPROTPERF_BASE_FILE_H
#define KPROTPERF_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * The whole of PATH, of at most MAX bytes, with a NUL behind it, in *BUF (for free()) and *LEN.
 * For the kernel's files, whose size is not known before they are read. -errno, not reported;
 * -EFBIG for more than MAX.
 */
int file_read(const char *path, size_t max, char **buf, size_t *len);

/*
 * Tells FN of each line of the LEN bytes TEXT, a NUL in place of its newline. Not of what has none: it was
 * cut off, and may be half a line.
 */
void file_lines_each(char *text, size_t len, void (*fn)(char *line, void *arg), void *arg);

/* All N bytes to FD. -errno, not reported. */
int file_write_all(int fd, const void *bytes, size_t n);

/* Writes a file's content to FD; 0 or -errno. */
typedef int (*file_write_fn)(int fd, const void *arg);

/*
 * Puts a file of permissions MODE in the place of PATH, once CONTENT has written all of it under another
 * name. -errno, not reported; then PATH is what it was.
 */
int file_replace(const char *path, mode_t mode, file_write_fn content, const void *arg);

#endif
