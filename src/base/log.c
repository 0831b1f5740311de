// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int verbosity;
static bool progress_shown;

static void say(const char *kind, const char *fmt, va_list args)
{
	log_progress_end();
	fprintf(stderr, "kprotperf: %s", kind);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
}

void log_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say("", fmt, args);
	va_end(args);
}

void log_warn(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say("warning: ", fmt, args);
	va_end(args);
}

void log_note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say("note: ", fmt, args);
	va_end(args);
}

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
	fputs("\r\033[K", stderr);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fflush(stderr);
	progress_shown = true;
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
	const char *text = strerrordesc_np(abs(err));

	return text ? text : "unknown error";
}
