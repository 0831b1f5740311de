// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "cmd/cmd.h"
#include "profile/file/file.h"
#include "profile/resolve.h"
#include "view/names.h"

enum {
	KEY_FORMAT = 1000,
	KEY_RAW,
	KEY_TIME,
	KEY_TOP,
	KEY_ALL,
	KEY_SECTION,
};

static const struct argp_option options[] = {
	{ "format", KEY_FORMAT, "FORMAT", 0, "" },
	{ "section", KEY_SECTION, "NAME[,...]", 0, "" },
	{ "all", KEY_ALL, NULL, 0, "Print all tables, all of their rows and all warnings" },
	{ "raw", KEY_RAW, NULL, 0, "Leave the probes' own cost in the times" },
	{ "time", KEY_TIME, "TIME", 0,
	  "Times of calls: oncpu (default), wall (including sleep and waiting) or self (on-CPU, "
	  "excluding timed callees)" },
	{ "top", KEY_TOP, "N", 0, "Rows per table; 0: all" },
	{ 0 },
};

/* --help: what there is, from the lists of formats and tables. */
static char *help(int key, const char *text, void *input)
{
	const struct view_options *o = input;
	char *names, *filled;

	if (key == KEY_FORMAT) {
		names = view_writer_names();
		filled = alloc_printf("%s; default table", names);
	} else if (key == KEY_SECTION && o && o->list) {
		names = view_list_names(o->list);
		filled = alloc_printf("Print these tables only, all of their rows: %s. "
				      "--format=csv prints one, %s by default",
				      names, o->list->csv);
	} else {
		return (char *)text;
	}
	free(names);
	return filled;
}

static enum analyze_time parse_time(const char *arg, const struct argp_state *state)
{
	enum analyze_time time;

	for (time = 0; time < ANALYZE_N_TIMES; time++)
		if (!strcmp(arg, view_time_keys[time]))
			return time;
	argp_error(state, "--time is oncpu, wall or self, not '%s'", arg);
	return ANALYZE_TIME_ONCPU;
}

const struct view_writer *view_writer_parse(const struct argp_state *state, const char *arg)
{
	const struct view_writer *writer = view_writer_find(arg);
	char *names;

	if (writer)
		return writer;
	names = view_writer_names();
	argp_error(state, "--format is %s, not '%s'", names, arg);
	free(names);
	return NULL;
}

const struct view_table *view_table_parse(const struct argp_state *state,
					  const struct view_list *list, const char *name)
{
	const struct view_table *table = view_list_find(list, name);
	char *names;

	if (table)
		return table;
	names = view_list_names(list);
	argp_error(state, "--section is %s, not '%s'", names, name);
	free(names);
	return NULL;
}

static void parse_sections(struct view_options *o, const char *arg, const struct argp_state *state)
{
	char *copy = alloc_strdup(arg), *rest = copy, *name;

	while ((name = strsep(&rest, ",")))
		vec_push(o, sections, view_table_parse(state, o->list, name)->name);
	free(copy);
}

static int parse_top(const char *arg, const struct argp_state *state)
{
	uint64_t n = 0;

	if (!number_unsigned(arg, 0, 1000000, &n))
		argp_error(state, "--top: '%s' is not a number of rows", arg);
	return n ? (int)n : -1;
}

/* A table that is asked for must be in the format that is asked for. */
static void check_sections(const struct view_options *o, const struct argp_state *state)
{
	uint32_t i;

	for (i = 0; i < o->n_sections; i++)
		if (!view_table_is_in(view_list_find(o->list, o->sections[i]), o->writer->place))
			argp_error(state, "--format=%s has no section %s", o->writer->name,
				   o->sections[i]);
	if (o->writer->place == VIEW_IN_CSV && o->n_sections > 1)
		argp_error(state, "--format=csv prints one table: one --section");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct view_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		o->writer = view_writer_find("table");
		break;
	case KEY_FORMAT:
		o->writer = view_writer_parse(state, arg);
		break;
	case KEY_SECTION:
		parse_sections(o, arg, state);
		break;
	case KEY_ALL:
		o->all = true;
		break;
	case KEY_RAW:
		o->figures.raw = true;
		break;
	case KEY_TIME:
		o->figures.time = parse_time(arg, state);
		break;
	case KEY_TOP:
		o->top = parse_top(arg, state);
		break;
	case ARGP_KEY_END:
		check_sections(o, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp view_argp = { .options = options, .parser = parse, .help_filter = help };

void view_write(const struct view_options *o, const void *data)
{
	const struct view_request request = {
		.list = o->list,
		.data = data,
		.sections = o->sections,
		.n_sections = o->n_sections,
		.all = o->all,
		.top = o->top,
	};

	o->writer->write(stdout, &request);
}

struct profile *view_open(const char *path, const char *vmlinux)
{
	struct profile *p;

	if (profile_file_read(path ? path : CMD_DEFAULT_FILE, &p))
		return NULL;
	if (profile_resolve(p, vmlinux)) {
		profile_destroy(p);
		return NULL;
	}
	return p;
}

int view_finish(void)
{
	if (fflush(stdout) || ferror(stdout)) {
		log_error("cannot write the output: %s", log_strerror(errno));
		return CMD_FAILED;
	}
	return CMD_DONE;
}
