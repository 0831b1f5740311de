/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Print messages on stderr, so that stdout has only data.
 *
 * The function that knows an error's meaning for the user prints one message. Its callers only pass the
 * negative errno value on.
 */
#pragma once

#include <stdbool.h>

#define printf_like(fmt, args) __attribute__((format(printf, fmt, args)))

/* Print one line: "kprotperf: …", "kprotperf: warning: …", "kprotperf: note: …". */
void log_error(const char *fmt, ...) printf_like(1, 2);
void log_warn(const char *fmt, ...) printf_like(1, 2);
void log_note(const char *fmt, ...) printf_like(1, 2);

/* Print a line under -v if LEVEL is 1, under -vv if LEVEL is 2. */
void log_verbose(int level, const char *fmt, ...) printf_like(2, 3);
void log_set_verbosity(int level);
int log_verbosity(void);

/* Print a line that the next line overwrites. Print nothing if stderr is not a terminal. */
void log_progress(const char *fmt, ...) printf_like(1, 2);
/* Return whether to print progress in a long loop: 5 times a second, not in the first second, never without a terminal. */
bool log_progress_due(void);
void log_progress_end(void);

/* Return the text of an errno value, which may be negative: "Permission denied". */
const char *log_strerror(int err);

/*
 * Return a copy of TEXT as one line that is safe to print on a terminal; the caller frees the copy. Control characters, invisible
 * characters and bytes that are not UTF-8 are escaped, such as "\x1b". All messages above and text pages are printed this way.
 */
char *terminal_text(const char *text);
