/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Write output files, perhaps as root and in folders where others may write. An existing file is never opened for writing:
 * a complete new file replaces it, in the folder that was looked up.
 *
 * A symbolic link in the path is followed only if no other user could have put it there. This is the rule of
 * fs.protected_symlinks, but for all folders that everybody may write to, and for all parts of the path.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct output {
	int (*content)(int fd, const void *arg); /* writes the file's content to FD; 0 or -errno */
	const void *arg;
	mode_t mode; /* permissions, before the umask is applied */
	bool invokers; /* give the file to the user who ran sudo */
	bool folders; /* make missing folders of the path */
};

/*
 * Write O to a temporary file, sync the file to disk, and rename it to PATH; links in PATH are followed. Signals that would end
 * the process are blocked meanwhile. On errors return -errno without a message and leave PATH unchanged; -EISDIR if PATH is a
 * folder, -EEXIST if it is a device, pipe or socket.
 */
int output_replace(const char *path, const struct output *o);

/* Replace PATH by TEXT as output_replace() does. The user who ran sudo owns the file. Return 0, or -errno after a message. */
int output_replace_text(const char *path, const char *text);

/* Check whether output_replace() can make a file at PATH. Leave nothing behind. Return 0 or the error of output_replace(). */
int output_try(const char *path);

/* Return whether PATH is a descriptor or a device. Such paths are written directly, not replaced. */
bool output_is_direct(const char *path);

/* Write O's content to PATH directly. Return 0, or -errno without a message, perhaps after writing a part of the content. */
int output_direct(const char *path, const struct output *o);

/* Return the error message for an errno value of the functions above. */
const char *output_strerror(int err);
