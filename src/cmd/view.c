// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/view.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "profile/file/file.h"
#include "profile/resolve.h"
#include "view/names.h"

/* Return the names of the formats, for free(). Include "html" only if the tables in LIST (NULL: none) show recordings. */
static char *formats_text(const struct view_list *list)
{
	struct {
		vec_of(const char *, items);
	} names = { 0 };
	char *text;

	for (uint32_t i = 0; view_writer_names[i]; i++)
		if ((list && list->is_of_recordings) || view_writers[i].place != VIEW_IN_HTML)
			vec_push(&names, items, view_writer_names[i]);
	vec_push(&names, items, NULL);
	text = cmd_choices_text(names.items);
	alloc_append(&text, " (default: table)");
	free(names.items);
	return text;
}

static char *format_help(const void *o)
{
	return formats_text(((const struct view_request *)o)->list);
}

char *view_format_help(const void *o)
{
	(void)o;
	return formats_text(NULL);
}

static char *section_help(const void *o)
{
	const struct view_list *list = ((const struct view_request *)o)->list;
	scoped_free const char **names = view_list_names(list);
	scoped_free char *text = cmd_choices_text(names);

	return alloc_printf("Print only these tables, with all of their rows: %s. --format=csv "
			    "prints one (default: %s)",
			    text, list->csv);
}

const struct view_table *view_table_parse(const struct argp_state *state,
					  const struct view_list *list, const char *name)
{
	scoped_free const char **names = view_list_names(list);
	uint32_t chosen = cmd_choose(state, "section", names, name);

	return list->tables[chosen];
}

static void parse_sections(void *input, const struct cmd_argument *argument)
{
	struct view_request *r = input;
	char *name, *rest = argument->text;

	while ((name = strsep(&rest, ",")))
		vec_push(r, sections, view_table_parse(argument->state, r->list, name)->name);
}

static void set_html(void *input, const struct cmd_argument *argument)
{
	struct view_options *o = input;

	o->request.format = cmd_choose(argument->state, "format", view_writer_names, "html");
}

void view_check_format(uint32_t format, const struct view_list *list,
		       const struct argp_state *state)
{
	if (view_writers[format].place != VIEW_IN_HTML)
		return;
	if (!list || !list->is_of_recordings)
		argp_error(state, "--format=html is for recordings: report, diff and why");
	if (!view_html_is_there())
		argp_failure(
			state, CMD_FAILED, 0,
			"built without its HTML page, for which npm fetches two libraries: install npm "
			"and build again");
	if (isatty(STDOUT_FILENO))
		argp_error(
			state,
			"an HTML page is for a browser: write it to a file, as in '> page.html'");
}

/* Check that each selected table exists in the selected format. */
static void check_sections(void *input, struct argp_state *state)
{
	const struct view_request *r = input;
	enum view_places place = view_writers[r->format].place;

	view_check_format(r->format, r->list, state);
	for (uint32_t i = 0; i < r->n_sections; i++)
		if (!view_table_is_in(view_list_find(r->list, r->sections[i]), place))
			argp_error(state, "--format=%s has no section %s",
				   view_writer_names[r->format], r->sections[i]);
	if (place == VIEW_IN_CSV && r->n_sections > 1)
		argp_error(state, "--format=csv prints one table: specify one --section");
}

static const struct cmd_option options[] = {
	{ "format", "FORMAT", .help_of = format_help, CMD_SET(view_request, format),
	  .choices = view_writer_names },
	{ "section", "NAME[,...]", .help_of = section_help, .parse = parse_sections },
	{ "all", NULL, "Print all tables, all rows and all warnings", CMD_SET(view_request, all) },
	{ "top", "N", "Rows per table; 0: all", CMD_SET(view_request, top), .max = 1000000,
	  .zero = -1 },
	{ 0 },
};

const struct cmd_syntax view_syntax = { .options = options, .end = check_sections };

static const struct cmd_option of_recordings[] = {
	{ "html", NULL, "As --format=html: one page for a browser, to send to a colleague",
	  .parse = set_html },
	{ "raw", NULL, "Do not subtract the cost of the probes from the times",
	  CMD_SET(view_options, figures.raw) },
	{ "time", "TIME",
	  "Times of calls: oncpu (default), wall (including sleeping and waiting) or self (on-CPU, "
	  "excluding timed callees)",
	  CMD_SET(view_options, figures.time), .choices = view_time_keys },
	{ 0 },
};

const struct cmd_syntax view_recordings_syntax = {
	.options = of_recordings,
	.parts =
		(const struct cmd_part[]){
			{ &view_syntax, offsetof(struct view_options, request) },
			{ 0 },
		},
};

struct profile *view_open(const char *path, const char *vmlinux)
{
	struct profile *p;

	alloc_reuse();
	if (profile_file_read(path, &p))
		return NULL;
	if (profile_resolve(p, vmlinux)) {
		profile_destroy(p);
		return NULL;
	}
	return p;
}
