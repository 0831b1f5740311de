// SPDX-License-Identifier: GPL-2.0-or-later
/* Replace files, also in folders where other users may have placed links. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

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

static void files_are_replaced_whole(void **state)
{
	struct stat before, after;

	(void)state;
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

static void failures_leave_what_was_there(void **state)
{
	(void)state;
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
static void pipes_are_refused(void **state)
{
	(void)state;
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(put("pipe", ""), -EEXIST);
	assert_int_equal(output_try("pipe"), -EEXIST);
	assert_int_equal(symlink("pipe", "link"), 0);
	assert_int_equal(output_try("link"), -EEXIST);
	assert_int_equal(entries(), 2);
}

static void own_links_are_followed(void **state)
{
	char path[128];
	struct stat st;

	(void)state;
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

/* For root, links that another user placed in a world-writable folder are refused. */
static void strangers_links_are_not(void **state)
{
	static const mode_t modes[] = { 01777, 0777 };

	(void)state;
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
static void files_belong_to_the_invoker(void **state)
{
	const struct output output = { content, "x", .mode = 0600, .invokers = true };
	struct stat st;

	(void)state;
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_are_replaced_whole), TEST(failures_leave_what_was_there),
		TEST(pipes_are_refused),        TEST(own_links_are_followed),
		TEST(strangers_links_are_not),  TEST(files_belong_to_the_invoker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
