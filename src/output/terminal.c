// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

#define ESCAPE "\033["

static const char *const begins[OUTPUT_N_STYLES] = {
	[OUTPUT_STYLE_HOT] = ESCAPE "1;31m", /* bold red */
	[OUTPUT_STYLE_WARM] = ESCAPE "33m", /* yellow */
	[OUTPUT_STYLE_SOURCE] = ESCAPE "36m", /* cyan */
	[OUTPUT_STYLE_BODY] = ESCAPE "1m", /* bold */
	[OUTPUT_STYLE_DIM] = ESCAPE "2m",
};

/* The pager's process; 0: none. */
static pid_t pager;

bool output_color_wanted(enum output_color color)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (color != OUTPUT_COLOR_AUTO)
		return color == OUTPUT_COLOR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(no && *no) && term && *term && strcmp(term, "dumb");
}

const char *output_style_begin(bool color, enum output_style style)
{
	return color ? begins[style] : "";
}

const char *output_style_end(bool color)
{
	return color ? ESCAPE "m" : "";
}

static bool is_in_path(const char *program)
{
	const char *path = getenv("PATH");
	bool found = false;

	while (path && *path && !found) {
		size_t len = strcspn(path, ":");
		scoped_free char *file = alloc_printf("%.*s/%s", (int)len, path, program);

		found = !access(file, X_OK);
		path += len + (path[len] == ':');
	}
	return found;
}

static const char *pager_command(void)
{
	const char *command = getenv("PAGER");

	if (!command)
		return is_in_path("less") ? "less -R" : NULL;
	return *command && strcmp(command, "cat") ? command : NULL;
}

void output_pager_start(void)
{
	const char *command = isatty(STDOUT_FILENO) ? pager_command() : NULL;
	int ends[2];

	if (!command || pipe2(ends, O_CLOEXEC))
		return;
	fflush(stdout);
	pager = fork();
	if (pager == 0) {
		dup2(ends[0], STDIN_FILENO);
		/* What fits a screen needs no key to leave it; code that is too wide is looked at with the arrow keys. */
		setenv("LESS", "FRSX", 0);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	if (pager > 0) {
		dup2(ends[1], STDOUT_FILENO);
		/* An interrupt is for the pager, which goes on. */
		signal(SIGINT, SIG_IGN);
	} else {
		pager = 0;
	}
	close(ends[0]);
	close(ends[1]);
}

void output_pager_finish(void)
{
	if (!pager)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	waitpid(pager, NULL, 0);
	pager = 0;
}
