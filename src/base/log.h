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

/* Only under -v; -vv shows level 2 as well. */
void log_verbose(int level, const char *fmt, ...) printf_like(2, 3);
void log_set_verbosity(int level);
int log_verbosity(void);

/* A line that is drawn over by the next one; nothing at all where stderr is not a terminal. */
void log_progress(const char *fmt, ...) printf_like(1, 2);
/*
 * Return whether to show progress in work of many small steps: five times a second, from one second after the first call.
 * False without a terminal.
 */
bool log_progress_due(void);
void log_progress_end(void);

/* "Permission denied" and the like, for a positive or a negative errno value. */
const char *log_strerror(int err);

/*
 * TEXT as one line that moves no cursor, sets no title and hides nothing: control characters, those of Latin-1 too,
 * and what is not UTF-8 become "\x1b". For free(). All that is printed above goes through it, and the text of pages.
 */
char *terminal_text(const char *text);
