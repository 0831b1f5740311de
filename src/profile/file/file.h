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
 * Check that profile_file_write() can write PATH; return 0 or an error. Called before a measurement that may take hours. Leave no
 * file behind, and write nothing to descriptors and devices.
 */
int profile_file_try(const char *path);

/*
 * Write P to PATH. If that fails, write P to a new file in $TMPDIR, /var/tmp, /tmp or /dev/shm, report that file's name, and return
 * PATH's error. For recordings that cannot be repeated.
 */
int profile_file_keep(const struct profile *p, const char *path);

/*
 * Read the profile at PATH, which may be a pipe, into *OUT, for profile_destroy(); *OUT is NULL on failure. Reading ends for any
 * input, and its memory is bounded by the file's size and the limits in section.h. -EBADMSG: damaged, or no data file;
 * -EPROTONOSUPPORT: another version.
 */
int profile_file_read(const char *path, struct profile **out);
