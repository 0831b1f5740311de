// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/system/clock.h"

#define PROGRESS_FIRST_NS 1000000000
#define PROGRESS_EACH_NS  200000000

static int verbosity;
static bool progress_shown;

static void put(const char *before, const char *fmt, va_list args, const char *after)
{
	scoped_free char *text, *safe;

	/* If memory runs out, print the format string itself. */
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	safe = terminal_text(text ? text : fmt);
	fprintf(stderr, "%s%s%s", before, safe, after);
}

static void say(const char *kind, const char *fmt, va_list args)
{
	log_progress_end();
	fputs("kprotperf: ", stderr);
	put(kind, fmt, args, "\n");
}

#define DEFINE_SAY(name, prefix)        \
	void name(const char *fmt, ...) \
	{                               \
		va_list args;           \
                                        \
		va_start(args, fmt);    \
		say(prefix, fmt, args); \
		va_end(args);           \
	}

DEFINE_SAY(log_error, "")
DEFINE_SAY(log_warn, "warning: ")
DEFINE_SAY(log_note, "note: ")

void log_verbose(int level, const char *fmt, ...)
{
	va_list args;

	if (level > verbosity)
		return;
	va_start(args, fmt);
	say("", fmt, args);
	va_end(args);
}

void log_set_verbosity(int level)
{
	verbosity = level;
}

int log_verbosity(void)
{
	return verbosity;
}

void log_progress(const char *fmt, ...)
{
	va_list args;

	if (!isatty(STDERR_FILENO))
		return;
	va_start(args, fmt);
	put("\r\033[K", fmt, args, "");
	va_end(args);
	fflush(stderr);
	progress_shown = true;
}

bool log_progress_due(void)
{
	static uint64_t due; /* when to print next; 0: first call; UINT64_MAX: no terminal */
	uint64_t now;

	if (due == UINT64_MAX)
		return false;
	now = clock_ns();
	if (due && now < due)
		return false;
	if (due) {
		due = now + PROGRESS_EACH_NS;
		return true;
	}
	due = isatty(STDERR_FILENO) ? now + PROGRESS_FIRST_NS : UINT64_MAX;
	return false;
}

void log_progress_end(void)
{
	if (!progress_shown)
		return;
	fputs("\r\033[K", stderr);
	progress_shown = false;
}

const char *log_strerror(int err)
{
	switch (abs(err)) {
	case EMFILE:
		return "Too many open files (see ulimit -n)";
	case ENFILE:
		return "Too many open files in system (see sysctl fs.file-max)";
	case EFBIG:
		return "File too large (see ulimit -f)";
	default:
		return strerrordesc_np(abs(err)) ?: "unknown error";
	}
}

static size_t utf8_length(const unsigned char *s)
{
	size_t n = *s >= 0xf0 && *s < 0xf5 ? 4 : *s >= 0xe0 ? 3 : 2;

	if (*s < 0xc2 || *s >= 0xf5)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Reject C1 controls, and characters that change the direction of writing or are invisible. */
	if ((s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xe2 && s[1] == 0x80 && s[2] >= 0x8b) ||
	    (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa0))
		return 0;
	return n;
}

char *terminal_text(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	char *safe = alloc_array(strlen(text) + 1, 4), *out = safe;

	while (*s) {
		size_t n = *s >= 0x20 && *s < 0x7f ? 1 : utf8_length(s);

		if (n) {
			memcpy(out, s, n);
			out += n;
			s += n;
		} else {
			out += sprintf(out, "\\x%02x", *s++);
		}
	}
	return safe;
}
