// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/reports.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "base/plural.h"

#define MAX_BYTES 65536
#define MAX_LINES 64

int record_reports_open(void)
{
	int fd = memfd_create("kprotperf-report", 0), high;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd < 0 ? -errno : fd;
	high = fcntl(fd, F_DUPFD, STDERR_FILENO + 1);
	high = high < 0 ? -errno : high;
	close(fd);
	return high;
}

/* Parse WORD, "KEY=VALUE", into R. Ignore unknown keys. Return false if the value of a known key is not a number. */
static bool parse_word(struct profile_report *r, char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return true;
	*value++ = '\0';
	if (!strcmp(word, "iterations"))
		return number_unsigned(value, 0, UINT64_MAX, &r->iterations);
	if (!strcmp(word, "mean_ns"))
		return number_double(value, -INFINITY, INFINITY, &r->mean);
	if (!strcmp(word, "p50_ns"))
		return number_double(value, -INFINITY, INFINITY, &r->p50);
	if (!strcmp(word, "min_ns"))
		return number_double(value, -INFINITY, INFINITY, &r->min);
	return true;
}

/* Add the report LINE of LEN bytes: "big-fork iterations=20 mean_ns=1.5 …". Return NULL, or the reason why LINE is no report. */
static const char *parse_line(struct profile *p, uint32_t run, char *line, size_t len)
{
	struct profile_report r = { .mean = NAN, .p50 = NAN, .min = NAN };
	char *save = NULL, *word;

	if (strlen(line) != len)
		return "it contains a NUL";
	word = strtok_r(line, " \t", &save);
	if (!word)
		return NULL;
	if (strlen(word) > PROFILE_NAME_MAX)
		word[PROFILE_NAME_MAX] = '\0';
	r.name = word;
	while ((word = strtok_r(NULL, " \t", &save)))
		if (!parse_word(&r, word))
			return "a value is not a number";
	if (isnan(r.mean))
		return "mean_ns is missing";
	profile_report_add(p, run, &r);
	return NULL;
}

void record_reports_read(struct profile *p, uint32_t run, int fd)
{
	char *text = alloc_array(MAX_BYTES + 1, 1), *line = text, *end;
	ssize_t n = pread(fd, text, MAX_BYTES, 0);
	unsigned int lines = 0, ignored = 0, first = 0;
	const char *why = NULL, *one;
	struct stat st = {};

	/* Drop a line that was cut off, since it may end in a wrong number. */
	if (!fstat(fd, &st) && st.st_size > MAX_BYTES)
		while (n > 0 && text[n - 1] != '\n')
			n--;
	for (; n > 0 && line < text + n; line = end + 1) {
		end = memchr(line, '\n', (size_t)(text + n - line)) ?: text + n;
		*end = '\0';
		one = lines++ < MAX_LINES ? parse_line(p, run, line, (size_t)(end - line)) :
					    "only the first 64 lines are read";
		if (one && !ignored++) {
			first = lines;
			why = one;
		}
	}
	if (ignored)
		log_warn("%u %s of the workload's reports ignored, starting with line %u: %s",
			 ignored, plural(ignored, "line", "lines"), first, why);
	if (st.st_size > MAX_BYTES)
		log_warn("the workload's reports are %lld bytes long: only the first 64 KiB are "
			 "read",
			 (long long)st.st_size);
	free(text);
}
