/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Read and write profiles on disk, in the format of docs/internals/file-format.md. On errors all functions
 * print a message with the file's name and return a negative errno value, otherwise 0.
 */
#pragma once

#include "profile/profile.h"

/*
 * Write P to PATH, mode 0600, by output_replace() of base/output.h, so that PATH never holds half a profile. A descriptor or a
 * device (/dev/stdout, /dev/null) is written directly.
 */
int profile_file_write(const struct profile *p, const char *path);

/*
 * Check that profile_file_write() can write PATH, before a measurement that may take hours. Return 0 or -errno. Leave no file
 * behind, and write nothing to descriptors and devices.
 */
int profile_file_try(const char *path);

/*
 * Write P to PATH. If this fails, write P to a new file in $TMPDIR, /var/tmp, /tmp or /dev/shm, print that file's name, and return
 * PATH's error. This is for recordings that cannot be repeated.
 */
int profile_file_keep(const struct profile *p, const char *path);

/*
 * Read the profile at PATH, which may be a pipe, into *OUT (NULL on errors). The caller frees *OUT by profile_destroy(). The
 * file's size and the limits in section.h bound time and memory. -EBADMSG: PATH is damaged or no data file; -EPROTONOSUPPORT:
 * another version.
 */
int profile_file_read(const char *path, struct profile **out);
