// SPDX-License-Identifier: GPL-2.0-or-later
/* Run work that may die in another process, and read files that other processes truncate meanwhile. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"
#include "base/system/worker.h"
#include "base/map.h"

#define PAGES     4
#define MAX_PAGES 16

static int nothing(void *arg)
{
	*(int *)arg = 1;
	return 0;
}

static int refuse(void *arg)
{
	(void)arg;
	return -1;
}

static int die(void *arg)
{
	signal(*(int *)arg, SIG_DFL); /* A sanitizer may have set a handler. */
	return raise(*(int *)arg);
}

static int take_memory(void *arg)
{
	return mmap(NULL, *(size_t *)arg, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	       MAP_FAILED;
}

static const char *outcome(worker_fn fn, void *arg)
{
	return worker_wait(worker_start(fn, arg, 64 << 20), NULL);
}

TEST(deaths_cost_nothing)
{
	int touched = 0, killed = SIGKILL, bus = SIGBUS;
	size_t little = 32 << 20;
	uint64_t cpu = UINT64_MAX;

	assert_null(outcome(nothing, &touched));
	assert_int_equal(touched, 0);
	assert_string_equal(outcome(refuse, NULL), "the helper process failed");
	assert_non_null(strstr(outcome(die, &killed), "signal 9"));
	assert_non_null(strstr(outcome(die, &bus), "Bus error"));
	assert_null(outcome(take_memory, &little));
	assert_null(worker_wait(worker_start(nothing, &touched, 0), &cpu));
	assert_true(cpu < 10000000000u);
#ifndef __SANITIZE_ADDRESS__
	size_t much = 128 << 20;

	assert_string_equal(outcome(take_memory, &much), "the helper process failed");
#endif
}

static int wait_for_ever(void *arg)
{
	(void)arg;
	return pause();
}

TEST(goes_on_until_it_ends)
{
	pid_t pid = worker_start(wait_for_ever, NULL, 0);

	assert_true(worker_is_running(pid, NULL));
	kill(pid, SIGKILL);
	while (worker_is_running(pid, NULL))
		usleep(1000);
}

/* Create a file of PAGES pages of PAGE bytes, filled with ones. */
static int make_file(size_t page)
{
	int fd = memfd_create("map", MFD_CLOEXEC);
	char *ones = malloc(page);

	memset(ones, 1, page);
	for (int i = 0; i < PAGES; i++)
		assert_int_equal(write(fd, ones, page), page);
	free(ones);
	return fd;
}

TEST(cut_off_files_read_as_zeros)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size;
	int fd = make_file(page);
	const volatile char *bytes;
	void *map, *other;

	assert_int_equal(map_file(fd, "a", 1, MAX_PAGES * page, &map, &size), 0);
	assert_int_equal(map_file(fd, "b", 1, MAX_PAGES * page, &other, &size), 0);
	assert_int_equal(size, PAGES * page);
	bytes = map;
	assert_int_equal(bytes[size - 1], 1);
	assert_int_equal(bytes[size], 0);
	assert_false(map_is_cut());
	assert_int_equal(ftruncate(fd, page), 0);
	assert_int_equal(bytes[0], 1);
	assert_int_equal(bytes[page], 0);
	assert_int_equal(bytes[size - 1], 0);
	assert_true(map_is_cut());
	map_release(map);
	map_release(NULL);
	bytes = other;
	assert_int_equal(bytes[2 * page], 0);
	map_release(other);
	assert_true(map_file(fd, "c", 2 * page, MAX_PAGES * page, &map, &size) < 0);
	close(fd);
}

static int read_beyond(void *arg)
{
	volatile char *bytes = mmap(NULL, 4096, PROT_READ, MAP_SHARED, *(int *)arg, 1 << 20);

	signal(SIGALRM, SIG_DFL);
	alarm(10);
	return bytes[0];
}

/* A fault outside of mapped files still ends the process, without hanging it. */
TEST(other_faults_stay_faults)
{
	int fd = make_file((size_t)sysconf(_SC_PAGESIZE));
	size_t size;
	void *map;

	assert_int_equal(map_file(fd, "a", 1, INT32_MAX, &map, &size), 0);
	assert_non_null(strstr(outcome(read_beyond, &fd), "Bus error"));
	map_release(map);
	close(fd);
}

RUN_TESTS(NULL, NULL)
