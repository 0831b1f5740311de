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
	int (*content)(int fd, const void *arg); /* writes it to FD; 0 or -errno */
	const void *arg;
	mode_t mode; /* less what the umask has */
	bool invokers; /* it is to belong to the user who invoked sudo */
	bool folders; /* missing folders on the way are made */
};

/*
 * Puts O in the place of PATH, where links lead, once all of it is written under another name and on disk. Signals that would
 * end the process come through after that. -errno, not reported; then PATH is what it was. -EEXIST for what is neither a
 * regular file nor a folder.
 */
int output_replace(const char *path, const struct output *o);

/* The same of a TEXT, which is to be the invoker's. Reported. */
int output_replace_text(const char *path, const char *text);

/* Could output_replace() make a file there, as far as can be seen before? Leaves nothing behind. Errors as above. */
int output_try(const char *path);

/* Does PATH name something that is written as it stands, a descriptor or a device? */
bool output_is_direct(const char *path);

/* Writes O's content there. -errno, not reported; some may be written. */
int output_direct(const char *path, const struct output *o);

/* Return the text of an error, for messages. */
const char *output_strerror(int err);
