/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that this program writes, perhaps as root and in folders where others write too. An existing file is never
 * opened for writing: once all is written, a new file replaces it, in the folder that was looked up.
 *
 * A symbolic link in the path is followed only if no other user could have put it there: the rule of fs.protected_symlinks, but
 * for all folders that everybody may write to, and for all parts of the path.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct output {
	int (*content)(int fd, const void *arg); /* writes the file's content to FD; 0 or -errno */
	const void *arg;
	mode_t mode; /* permissions, before the umask is applied */
	bool invokers; /* give the file to the user who invoked sudo */
	bool folders; /* make missing folders of the path */
};

/*
 * Write O to a file of another name, sync it to disk, and rename it to PATH; links in PATH are followed. Signals that would
 * end the process are held meanwhile. Return -errno, not reported, with PATH unchanged; -EEXIST if PATH is neither a
 * regular file nor a folder.
 */
int output_replace(const char *path, const struct output *o);

/* Replace PATH by TEXT as output_replace() does, and give the file to the invoker. Return 0 or -errno, reported. */
int output_replace_text(const char *path, const char *text);

/* Check whether output_replace() can make a file at PATH. Leave nothing behind. Return 0 or the error of output_replace(). */
int output_try(const char *path);

/* Return whether PATH is a descriptor or a device, which is written directly, not replaced. */
bool output_is_direct(const char *path);

/* Write O's content to PATH directly. Return -errno, not reported; a part may have been written. */
int output_direct(const char *path, const struct output *o);

/* Return the text of an error, for messages. */
const char *output_strerror(int err);
