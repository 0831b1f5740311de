// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/system/privileges.h"
#include "base/log.h"

#define MAX_LINKS  40 /* the kernel's own limit of links in one path */
#define MAX_NAMES  100 /* maximum number of names tried for a temporary file */
#define TEMP_SPACE 16

/* The file that a path leads to: an open folder and the file's name in this folder. */
struct place {
	int dir;
	char name[NAME_MAX + 1];
	char rest[PATH_MAX]; /* part of the path that is still to be followed */
	unsigned int links;
	bool makes; /* make folders that are missing */
};

const char *output_strerror(int err)
{
	switch (err < 0 ? -err : err) {
	case EXDEV:
		return "the path contains another user's symbolic link in a world-writable "
		       "directory";
	case EEXIST:
		return "it is a named pipe, socket or device: write to /dev/stdout and redirect "
		       "that";
	default:
		return log_strerror(err);
	}
}

/* Return whether another user (not root) owns ST, and all users may write to its folder DIR. */
static bool is_strangers(int dir, const struct stat *st)
{
	struct stat folder;

	return st->st_uid != geteuid() && st->st_uid != 0 &&
	       (fstat(dir, &folder) || (folder.st_mode & S_IWOTH));
}

/* Follow the symbolic link NAME: put its target in front of the rest of the path. */
static int follow(struct place *p, const char *name, const struct stat *st)
{
	char target[PATH_MAX], *rest;
	ssize_t n;

	if (is_strangers(p->dir, st))
		return -EXDEV;
	if (p->links++ >= MAX_LINKS)
		return -ELOOP;
	n = readlinkat(p->dir, name, target, sizeof(target) - 1);
	if (n <= 0)
		return n ? -errno : -ENOENT;
	target[n] = '\0';
	rest = alloc_printf("%s/%s", target, p->rest);
	n = snprintf(p->rest, sizeof(p->rest), "%s", p->rest[0] ? rest : target);
	free(rest);
	return n < (ssize_t)sizeof(p->rest) ? 0 : -ENAMETOOLONG;
}

/* Replace P's open folder by its subfolder NAME (or by /). */
static int enter(struct place *p, const char *name)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(p->dir, name, flags);

	if (fd < 0 && errno == ENOENT && p->makes && !mkdirat(p->dir, name, 0777))
		fd = openat(p->dir, name, flags);
	if (fd < 0)
		return -errno;
	if (p->dir >= 0)
		close(p->dir);
	p->dir = fd;
	return 0;
}

/* Follow the next part of the path. Return 1 after the last part, whose name is then in P->name. */
static int step(struct place *p)
{
	char *begin = p->rest + strspn(p->rest, "/"), *end = strchrnul(begin, '/');
	bool last = !end[strspn(end, "/")];
	struct stat st;

	if (p->rest[0] == '/') {
		int err = enter(p, "/");

		if (err)
			return err;
	}
	if (begin == end)
		return -EISDIR;
	if (end - begin > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(p->name, begin, (size_t)(end - begin));
	p->name[end - begin] = '\0';
	memmove(p->rest, end + strspn(end, "/"), strlen(end + strspn(end, "/")) + 1);
	if (!fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
		return follow(p, p->name, &st);
	return last ? 1 : enter(p, p->name);
}

/* Follow PATH to the file's folder and name. If MAKES, make missing folders. The caller closes P->dir. */
static int find(const char *path, bool makes, struct place *p)
{
	int err = 0;

	*p = (struct place){ .dir = -1, .makes = makes };
	if (!*path)
		return -ENOENT;
	if (snprintf(p->rest, sizeof(p->rest), "%s", path) >= (int)sizeof(p->rest))
		return -ENAMETOOLONG;
	p->dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->dir < 0)
		return -errno;
	while (!err)
		err = step(p);
	if (err < 0) {
		close(p->dir);
		return err;
	}
	return 0;
}

/* Return 0 if a new file may replace the file at P, else -errno. */
static int check(const struct place *p)
{
	struct stat st;

	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	return S_ISREG(st.st_mode) ? 0 : S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST;
}

/* Create a temporary file in P's folder, and set TEMP to its name. */
static int create(const struct place *p, char temp[NAME_MAX + TEMP_SPACE])
{
	for (int i = 0; i < MAX_NAMES; i++) {
		uint32_t number = 0;
		int fd;

		if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
			number = (uint32_t)getpid() + (uint32_t)i;
		snprintf(temp, NAME_MAX + TEMP_SPACE, "%.*s.%08x", NAME_MAX - 9, p->name, number);
		fd = openat(p->dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd >= 0 || errno != EEXIST)
			return fd >= 0 ? fd : -errno;
	}
	return -EEXIST;
}

/*
 * Sync the data before the rename, since a probed kernel may panic right after a recording. If the rename reached the disk before
 * the data, an empty file would replace an older, whole one.
 */
static int sync_data(int fd)
{
	if (!fsync(fd) || errno == EINVAL || errno == EROFS || errno == EOPNOTSUPP)
		return 0; /* the file system does not support fsync() */
	return -errno;
}

static int fill(int fd, const struct output *o)
{
	struct invoker invoker;
	mode_t mask = umask(0);
	int err;

	umask(mask);
	err = o->content(fd, o->arg);

	if (!err && o->invokers && invoker_find(&invoker) && fchown(fd, invoker.uid, invoker.gid))
		err = -errno;
	if (!err && fchmod(fd, o->mode & ~mask))
		err = -errno;
	err = err ?: sync_data(fd);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/* Block signals that would end the process and leave a temporary file behind. */
static void signals_hold(sigset_t *before)
{
	static const int blocked[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(blocked); i++)
		sigaddset(&set, blocked[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

/* Replace the file PATH by O's content. If O is NULL, only create and remove a temporary file as a test. */
static int put(const char *path, const struct output *o)
{
	char temp[NAME_MAX + TEMP_SPACE];
	struct place p;
	int err = find(path, o && o->folders, &p), fd;

	if (err)
		return err;
	err = check(&p);
	fd = err ? err : create(&p, temp);
	err = fd < 0 ? fd : o ? fill(fd, o) : close(fd);
	if (!err && o && renameat(p.dir, temp, p.dir, p.name))
		err = -errno;
	if ((err || !o) && fd >= 0)
		unlinkat(p.dir, temp, 0);
	close(p.dir);
	return err;
}

int output_replace(const char *path, const struct output *o)
{
	sigset_t before;
	int err;

	signals_hold(&before);
	err = put(path, o);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

int output_direct(const char *path, const struct output *o)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = o->content(fd, o->arg);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

int output_try(const char *path)
{
	return output_replace(path, NULL);
}

/* A descriptor's file is not replaced by a new one, since other users of the descriptor would keep the old file. */
bool output_is_direct(const char *path)
{
	struct stat st;

	return !strncmp(path, "/dev/fd/", 8) || !strncmp(path, "/dev/std", 8) ||
	       !strncmp(path, "/proc/", 6) || (!lstat(path, &st) && S_ISCHR(st.st_mode));
}

static int write_text(int fd, const void *arg)
{
	return file_write_all(fd, arg, strlen(arg));
}

int output_replace_text(const char *path, const char *text)
{
	int err = output_replace(
		path, &(struct output){
			      .content = write_text, .arg = text, .mode = 0666, .invokers = true });

	if (err)
		log_error("cannot write %s: %s", path, output_strerror(err));
	return err;
}
