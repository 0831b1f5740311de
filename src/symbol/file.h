/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KPROTPERF_SYMBOL_FILE_H
#define KPROTPERF_SYMBOL_FILE_H

#include <stddef.h>

/*
 * The whole of PATH, of at most MAX bytes, with a NUL behind it, in *BUF (for free()) and *LEN.
 * For the kernel's files, whose size is not known before they are read. -errno, not reported;
 * -EFBIG for more than MAX.
 */
int symbol_file_read(const char *path, size_t max, char **buf, size_t *len);

#endif
