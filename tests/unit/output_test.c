// SPDX-License-Identifier: GPL-2.0-or-later
/* Write and replace files, also in folders where other users may have placed symbolic links. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "base/file.h"
#include "base/output.h"

#define STRANGER 65534

static char dir[64];

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/kprotperf-output.XXXXXX");
	return mkdtemp(dir) && !chdir(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return chdir("/") || system(command);
}

static int content(int fd, const void *text)
{
	return file_write_all(fd, text, strlen(text));
}

static int put(const char *path, const char *text)
{
	return output_replace(path, &(struct output){ content, text, .mode = 0640 });
}

static void assert_holds(const char *path, const char *text)
{
	char *found;
	size_t len;

	assert_int_equal(file_read(path, 1000, &found, &len), 0);
	assert_string_equal(found, text);
	free(found);
}

static unsigned int entries(void)
{
	DIR *d = opendir(dir);
	unsigned int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

TEST_WITH(files_are_replaced_whole, setup, teardown)
{
	struct stat before, after;

	assert_int_equal(put("new", "one"), 0);
	assert_int_equal(link("new", "other"), 0);
	assert_int_equal(stat("new", &before), 0);
	assert_int_equal(before.st_mode & 07777, 0640);
	umask(077);
	assert_int_equal(put("./new", "two"), 0);
	umask(022);
	assert_int_equal(stat("new", &after), 0);
	assert_int_not_equal(before.st_ino, after.st_ino);
	assert_int_equal(after.st_mode & 07777, 0600);
	assert_holds("new", "two");
	assert_holds("other", "one");
	assert_int_equal(entries(), 2);
}

static int fails(int fd, const void *arg)
{
	(void)arg;
	return file_write_all(fd, "half", 4) ?: -ENOSPC;
}

TEST_WITH(failures_leave_what_was_there, setup, teardown)
{
	assert_int_equal(put("kept", "old"), 0);
	assert_int_equal(output_replace("kept", &(struct output){ fails, NULL, .mode = 0600 }),
			 -ENOSPC);
	assert_holds("kept", "old");
	assert_int_equal(put("no/such", ""), -ENOENT);
	assert_int_equal(put("kept/x", ""), -ENOTDIR);
	assert_int_equal(put("", ""), -ENOENT);
	assert_int_equal(put(dir, ""), -EISDIR);
	assert_int_equal(put("..", ""), -EISDIR);
	assert_int_equal(output_try("kept"), 0);
	assert_int_equal(output_try("new"), 0);
	assert_int_equal(entries(), 1);
}

/* A writer to a pipe would wait for a reader forever. */
TEST_WITH(pipes_are_refused, setup, teardown)
{
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(put("pipe", ""), -EEXIST);
	assert_int_equal(output_try("pipe"), -EEXIST);
	assert_int_equal(symlink("pipe", "link"), 0);
	assert_int_equal(output_try("link"), -EEXIST);
	assert_int_equal(entries(), 2);
}

TEST_WITH(own_links_are_followed, setup, teardown)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/../%s/folder/file", dir, strrchr(dir, '/'));
	assert_int_equal(mkdir("folder", 0777), 0);
	assert_int_equal(symlink("folder/../folder", "way"), 0);
	assert_int_equal(symlink("../back", "folder/link"), 0);
	assert_int_equal(symlink(path, "back"), 0);
	assert_int_equal(put("way//link", "there"), 0);
	assert_int_equal(lstat("folder/link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_holds("folder/file", "there");
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(put("loop", ""), -ELOOP);
}

/* Root does not follow links that another user placed in a world-writable folder. */
TEST_WITH(strangers_links_are_not, setup, teardown)
{
	static const mode_t modes[] = { 01777, 0777 };

	if (geteuid())
		skip();
	assert_int_equal(mkdir("etc", 0755), 0);
	assert_int_equal(put("etc/shadow", "secret"), 0);
	assert_int_equal(mkdir("tmp", 0755), 0);
	assert_int_equal(symlink("../etc/shadow", "tmp/file"), 0);
	assert_int_equal(symlink("../etc", "tmp/folder"), 0);
	assert_int_equal(lchown("tmp/file", STRANGER, STRANGER), 0);
	assert_int_equal(lchown("tmp/folder", STRANGER, STRANGER), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(chmod("tmp", modes[i]), 0);
		assert_int_equal(put("tmp/file", "profile"), -EXDEV);
		assert_int_equal(output_try("tmp/file"), -EXDEV);
		assert_int_equal(put("tmp/folder/shadow", "profile"), -EXDEV);
		assert_holds("etc/shadow", "secret");
	}
	assert_non_null(strstr(output_strerror(-EXDEV), "symbolic link"));
	/* In a folder that only its owner can write, the owner's links are followed. */
	assert_int_equal(chmod("tmp", 0755), 0);
	assert_int_equal(put("tmp/file", "profile"), 0);
	assert_holds("etc/shadow", "profile");
}

/* Files that root writes for a user of sudo belong to that user. */
TEST_WITH(files_belong_to_the_invoker, setup, teardown)
{
	const struct output output = { content, "x", .mode = 0600, .invokers = true };
	struct stat st;

	if (geteuid())
		skip();
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65533", 1);
	assert_int_equal(output_replace("theirs", &output), 0);
	assert_int_equal(put("ours", "x"), 0);
	setenv("SUDO_UID", "65534x", 1);
	assert_int_equal(output_replace("roots", &output), 0);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_int_equal(stat("theirs", &st), 0);
	assert_int_equal(st.st_uid, 65534);
	assert_int_equal(st.st_gid, 65533);
	assert_int_equal(stat("ours", &st), 0);
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(stat("roots", &st), 0);
	assert_int_equal(st.st_uid, 0);
}

RUN_TESTS(NULL, NULL)
