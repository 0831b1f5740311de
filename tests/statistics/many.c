// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many FOLDER FILES RUNS: write 0.data, 1.data, ... to FOLDER, recordings of one kernel for merging and comparing, each
 * with RUNS runs of 20 syscalls, and of 10 functions in two contexts.
 * many spent FILE COMMAND...: run COMMAND, and write its CPU time in seconds and its memory in megabytes to FILE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "fixture.h"
#include "profile/file/file.h"

#define SYSCALLS  20
#define FUNCTIONS 10

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % below;
}

static void add_run(struct profile *p, uint32_t file)
{
	uint32_t run = fixture_run(p, 300000000 + draw(1000000)), i, context;

	for (i = 0; i < SYSCALLS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "call%u", i);
		fixture_calls(profile_cell(p, run, 0, profile_context_add(p, name)), 12,
			      1000 * (i + 1) + file + draw(50), 1100 * (i + 1) + file + draw(500));
	}
	for (i = 0; i < FUNCTIONS; i++)
		for (context = 0; context < 2; context++)
			fixture_calls(profile_cell(p, run, 1 + i, context), 12,
				      100 * (i + 1) + draw(20), 120 * (i + 1) + draw(100));
}

static struct profile *make(uint32_t file, uint32_t runs)
{
	struct profile *p = profile_create();
	uint32_t i;

	fixture_calibrated(p);
	profile_env_set(p, PROFILE_ENV_CONFIG, "CONFIG_SLUB=y\n");
	for (i = 0; i < FUNCTIONS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "function%u", i);
		fixture_function(p, name, 64 * i);
	}
	for (i = 0; i < runs; i++)
		add_run(p, file);
	return p;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static int spent(const char *path, char **command)
{
	struct rusage used;
	int status;
	FILE *file;
	pid_t pid = fork();

	if (!pid) {
		execvp(command[0], command);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &used) != pid || !(file = fopen(path, "w")))
		return 1;
	fprintf(file, "%.2f %ld\n", seconds(used.ru_utime) + seconds(used.ru_stime),
		used.ru_maxrss / 1024);
	return fclose(file) || status;
}

int main(int argc, char **argv)
{
	uint32_t files = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0, i;

	if (argc > 3 && !strcmp(argv[1], "spent"))
		return spent(argv[2], argv + 3);
	if (!files)
		return 2;
	for (i = 0; i < files; i++) {
		struct profile *p = make(i, (uint32_t)strtoul(argv[3], NULL, 10));
		char *path = alloc_printf("%s/%u.data", argv[1], i);
		int err = profile_file_write(p, path);

		free(path);
		profile_destroy(p);
		if (err)
			return 1;
	}
	return 0;
}
