/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages to the user. Everything here goes to stderr, so that stdout stays data.
 *
 * An error is reported once, by the function that knows what it means for the user, and travels on
 * as a negative errno value.
 */
#pragma once

#include <stdbool.h>

#define printf_like(fmt, args) __attribute__((format(printf, fmt, args)))

/* Each prints one line: "kprotperf: …", "kprotperf: warning: …", "kprotperf: note: …". */
void log_error(const char *fmt, ...) printf_like(1, 2);
void log_warn(const char *fmt, ...) printf_like(1, 2);
void log_note(const char *fmt, ...) printf_like(1, 2);

/* Print a line only under -v, or, if LEVEL is 2, only under -vv. */
void log_verbose(int level, const char *fmt, ...) printf_like(2, 3);
void log_set_verbosity(int level);
int log_verbosity(void);

/* Print a line that the next line overwrites. Print nothing if stderr is not a terminal. */
void log_progress(const char *fmt, ...) printf_like(1, 2);
/*
 * Return whether to show progress in work of many small steps: five times a second, from one second after the first call.
 * False without a terminal.
 */
bool log_progress_due(void);
void log_progress_end(void);

/* Return the text of an errno value, which may be negative: "Permission denied". */
const char *log_strerror(int err);

/*
 * Return TEXT as one line that cannot control a terminal or hide text, for free(). Control characters, including those of Latin-1,
 * invisible characters, and bytes that are not UTF-8 become "\x1b". All messages above and the text of pages go through this.
 */
char *terminal_text(const char *text);
