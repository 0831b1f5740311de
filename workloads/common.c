// SPDX-License-Identifier: GPL-2.0-or-later
#include "common.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ITERATIONS_MAX 100000000ULL

void workload_fail(const struct workload *w, int err, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", w->name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	if (err)
		fprintf(stderr, ": %s", strerror(err));
	fputc('\n', stderr);
	exit(1);
}

void *workload_pick(void *rows, size_t size, size_t n, const char *name)
{
	char *row = rows;
	size_t i;

	for (i = 0; i < n; i++, row += size)
		if (!strcmp(((struct workload *)row)->name, name))
			return row;
	fprintf(stderr, "%s: no row in its source\n", name);
	exit(1);
}

static void print_help(const struct workload *w, const char *operand)
{
	printf("Usage: %s [--iterations N]%s%s\n"
	       "\n"
	       "Times %s.\n"
	       "\n"
	       "  -n, --iterations N  number of iterations (default %llu)\n"
	       "      --help          show this help\n"
	       "\n"
	       "Prints one line, NAME iterations=N mean_ns=... p50_ns=... min_ns=..., and also writes\n"
	       "it to file descriptor KPROTPERF_REPORT_FD, if set.\n",
	       w->name, operand ? " " : "", operand ?: "", w->timed,
	       (unsigned long long)w->iterations);
}

static uint64_t parse_iterations(const struct workload *w, const char *text)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || text[0] < '0' || text[0] > '9' || !n || n > ITERATIONS_MAX) {
		fprintf(stderr, "%s: --iterations takes a number from 1 to %llu, not '%s'\n",
			w->name, ITERATIONS_MAX, text);
		exit(2);
	}
	return n;
}

const char *workload_init_operand(struct workload *w, int argc, char **argv, const char *operand)
{
	static const struct option options[] = {
		{ "iterations", required_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	uint64_t iterations = w->iterations;
	const char *wrong = NULL, *word = NULL;
	int opt;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":n:", options, NULL)) != -1) {
		switch (opt) {
		case 'n':
			iterations = parse_iterations(w, optarg);
			break;
		case 'h':
			print_help(w, operand);
			exit(fflush(stdout) ? 1 : 0);
		default:
			wrong = argv[optind - 1];
		}
	}
	if (operand && optind < argc)
		word = argv[optind++];
	if (!wrong && optind < argc)
		wrong = argv[optind];
	if (wrong) {
		fprintf(stderr, "%s: invalid argument '%s'; see %s --help\n", w->name, wrong,
			w->name);
		exit(2);
	}
	if (operand && !word) {
		fprintf(stderr, "%s: %s is missing; see %s --help\n", w->name, operand, w->name);
		exit(2);
	}
	w->iterations = iterations;
	return word;
}

void workload_init(struct workload *w, int argc, char **argv)
{
	workload_init_operand(w, argc, argv, NULL);
}

uint64_t *workload_times(const struct workload *w)
{
	size_t size = w->iterations * sizeof(uint64_t);
	uint64_t *times;

	times = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
		     -1, 0);
	if (times == MAP_FAILED)
		workload_fail(w, errno, "no memory for %llu times",
			      (unsigned long long)w->iterations);
	/* MAP_POPULATE is best effort. */
	memset(times, 0, size);
	return times;
}

uint64_t workload_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Print " PREFIXmean_ns=… PREFIXp50_ns=… PREFIXmin_ns=…" into OUT. This sorts TIMES. */
static int print_times(char *out, size_t size, const char *prefix, uint64_t *times, uint64_t n)
{
	double sum = 0;
	uint64_t i;

	for (i = 0; i < n; i++)
		sum += (double)times[i];
	qsort(times, n, sizeof(*times), compare_times);
	return snprintf(out, size, " %smean_ns=%.1f %sp50_ns=%.1f %smin_ns=%llu", prefix, sum / n,
			prefix, ((double)times[(n - 1) / 2] + (double)times[n / 2]) / 2, prefix,
			(unsigned long long)times[0]);
}

static void write_report(const struct workload *w, const char *line, int n)
{
	const char *text = getenv("KPROTPERF_REPORT_FD");
	ssize_t done;
	char *end;
	long fd;

	if (!text || !*text)
		return;
	errno = 0;
	fd = strtol(text, &end, 10);
	if (errno || *end || fd < 0 || fd > INT_MAX)
		workload_fail(w, 0, "KPROTPERF_REPORT_FD is not a file descriptor: '%s'", text);
	/* The line is shorter than PIPE_BUF, so the kernel writes it atomically. */
	do {
		done = write(fd, line, n);
	} while (done < 0 && errno == EINTR);
	if (done != n)
		workload_fail(w, done < 0 ? errno : EIO, "cannot write to KPROTPERF_REPORT_FD=%s",
			      text);
}

void workload_report(const struct workload *w, uint64_t *times, uint64_t *child)
{
	char line[512];
	int n;

	n = snprintf(line, sizeof(line), "%s iterations=%llu", w->name,
		     (unsigned long long)w->iterations);
	n += print_times(line + n, sizeof(line) - n, "", times, w->iterations);
	if (child)
		n += print_times(line + n, sizeof(line) - n, "child_", child, w->iterations);
	n += snprintf(line + n, sizeof(line) - n, "\n");
	fputs(line, stdout);
	if (fflush(stdout))
		workload_fail(w, errno, "cannot write to stdout");
	write_report(w, line, n);
}

void workload_time_forks(const struct workload *w, uint64_t *times, uint64_t *child)
{
	uint64_t i, start, end;
	int status;
	pid_t pid;

	for (i = 0; i < w->iterations; i++) {
		start = workload_now();
		pid = fork();
		if (!pid) {
			if (child)
				child[i] = workload_now() - start;
			_exit(0);
		}
		end = workload_now();
		if (pid < 0)
			workload_fail(w, errno, "fork %llu of %llu", (unsigned long long)i + 1,
				      (unsigned long long)w->iterations);
		times[i] = end - start;
		while (waitpid(pid, &status, 0) < 0)
			if (errno != EINTR)
				workload_fail(w, errno, "waitpid");
		if (status)
			workload_fail(w, 0, "a forked child failed, wait status %#x", status);
	}
}

void workload_map_pages(const struct workload *w, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (mmap(NULL, WORKLOAD_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0) == MAP_FAILED)
			workload_fail(w, errno,
				      "mapping %u of %u (limits: vm.max_map_count, ulimit -v)",
				      i + 1, n);
}

int workload_file(const struct workload *w, size_t pages)
{
	const char *folder = getenv("TMPDIR");
	static char page[WORKLOAD_PAGE];
	char path[PATH_MAX];
	ssize_t done;
	size_t i;
	int fd;

	if (!folder || !*folder)
		folder = "/tmp";
	if (snprintf(path, sizeof(path), "%s/%s.XXXXXX", folder, w->name) >= (int)sizeof(path))
		workload_fail(w, ENAMETOOLONG, "TMPDIR");
	fd = mkstemp(path);
	if (fd < 0)
		workload_fail(w, errno, "cannot create a file in %s", folder);
	unlink(path);
	memset(page, 'x', sizeof(page));
	for (i = 0; i < pages; i++) {
		done = write(fd, page, sizeof(page));
		if (done != (ssize_t)sizeof(page))
			workload_fail(w, done < 0 ? errno : ENOSPC, "cannot write a file in %s",
				      folder);
	}
	return fd;
}

char *workload_buffer(const struct workload *w, size_t pages)
{
	size_t size = pages * WORKLOAD_PAGE;
	char *buffer = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buffer == MAP_FAILED)
		workload_fail(w, errno, "no memory for %zu pages", pages);
	memset(buffer, 'x', size);
	return buffer;
}
