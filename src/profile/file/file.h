/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles on disk. The format is described in docs/internals/file-format.md. All functions report what
 * goes wrong, in one line that names the file, and return 0 or a negative errno value.
 */
#pragma once

#include "profile/profile.h"

/*
 * Writes P to PATH, mode 0600, by output_replace() of base/output.h, so that PATH never holds half a profile. A PATH that is a
 * descriptor or a device (/dev/stdout, /dev/null) is written as it is.
 */
int profile_file_write(const struct profile *p, const char *path);

/*
 * Can profile_file_write() make a file at PATH? For before a measurement that may take hours; leaves nothing
 * behind, and writes nothing to what is no regular file.
 */
int profile_file_try(const char *path);

/*
 * Writes P to PATH, or, where that fails, to a new file in $TMPDIR, /var/tmp, /tmp or /dev/shm, whose name it
 * reports: for what cannot be measured again. The error is PATH's all the same.
 */
int profile_file_keep(const struct profile *p, const char *path);

/*
 * Reads the profile at PATH, also from a pipe, into *OUT, for the caller to destroy; *OUT is NULL
 * on failure. Whatever the file holds, this ends, in memory that is bounded by the file's size and
 * by the limits in section.h. -EBADMSG: damaged or no data file; -EPROTONOSUPPORT: of another version.
 */
int profile_file_read(const char *path, struct profile **out);
