// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

/* Initial buffer size in bytes. /proc/kallsyms has 10 MB on a distribution's kernel. */
#define FIRST_SIZE (4u << 20)

/* Trust files of root, of the user, and of the owner of this program, who could change the program anyway. */
static bool is_trusted(uid_t owner)
{
	struct stat st;

	return owner == 0 || owner == geteuid() ||
	       (!stat("/proc/self/exe", &st) && owner == st.st_uid);
}

int file_open(const char *path, bool owned)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd;
	char again[32];
	struct stat st;

	if (place < 0)
		return -errno;
	/* Check the type before opening, which would start a watchdog device, or wake the waiting writer of a pipe. */
	if (fstat(place, &st))
		fd = -errno;
	else if (!S_ISREG(st.st_mode))
		fd = -EINVAL;
	else if (owned && !is_trusted(st.st_uid))
		fd = -EPERM;
	else {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
		fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		fd = fd < 0 ? -errno : fd;
	}
	close(place);
	return fd;
}

const char *file_strerror(int err)
{
	if (err == -EINVAL)
		return "not a regular file";
	return err == -EPERM ? "it is owned by neither you nor root" : log_strerror(err);
}

int file_read(const char *path, size_t max, char **buf, size_t *len)
{
	size_t cap = max < FIRST_SIZE ? max + 1 : FIRST_SIZE;
	char *text;
	int fd, err = 0;

	*buf = NULL;
	*len = 0;
	fd = file_open(path, false);
	if (fd < 0)
		return fd;
	text = alloc_resize(NULL, cap, 1);
	for (;;) {
		ssize_t n = read(fd, text + *len, cap - *len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err = -errno;
		if (n <= 0)
			break;
		*len += (size_t)n;
		if (*len > max) {
			err = -EFBIG;
			break;
		}
		if (*len == cap) {
			cap = cap < max / 2 ? cap * 2 : max + 1;
			text = alloc_resize(text, cap, 1);
		}
	}
	close(fd);
	if (err) {
		free(text);
		*len = 0;
		return err;
	}
	/* There is room for the NUL: the loop above enlarges a buffer as soon as it is full. */
	text[*len] = '\0';
	*buf = text;
	return 0;
}

bool file_read_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool read = f && fgets(line, (int)size, f);

	if (f)
		fclose(f);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read;
}

void file_lines_each(char *text, size_t len, void (*fn)(char *line, void *arg), void *arg)
{
	char *end = text + len, *newline;

	while ((newline = memchr(text, '\n', (size_t)(end - text)))) {
		*newline = '\0';
		fn(text, arg);
		text = newline + 1;
	}
}

int file_write_all(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n) {
		ssize_t done = write(fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		at += done;
		n -= (size_t)done;
	}
	return 0;
}
