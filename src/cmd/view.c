// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/view.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "output/table.h"
#include "output/text.h"
#include "profile/file.h"
#include "profile/resolve.h"

enum {
	KEY_FORMAT = 1000,
	KEY_RAW,
	KEY_TIME,
	KEY_TOP
};

static const struct argp_option options[] = {
	{ "format", KEY_FORMAT, "FORMAT", 0, "table (default), json or csv" },
	{ "raw", KEY_RAW, NULL, 0, "Leave the probes' own cost in the times" },
	{ "time", KEY_TIME, "TIME", 0,
	  "Times of calls: oncpu (default), wall (with what was slept and waited) or self (on-CPU "
	  "without timed callees)" },
	{ "top", KEY_TOP, "N", 0, "Rows a table shows; 0: all" },
	{ 0 },
};

static enum analyze_time parse_time(const char *arg, const struct argp_state *state)
{
	enum analyze_time time;

	for (time = 0; time < ANALYZE_N_TIMES; time++)
		if (!strcmp(arg, analyze_time_key(time)))
			return time;
	argp_error(state, "--time is oncpu, wall or self, not '%s'", arg);
	return ANALYZE_TIME_ONCPU;
}

enum view_format view_format_parse(const struct argp_state *state, const char *arg)
{
	static const char *const names[] = {
		[VIEW_TABLE] = "table",
		[VIEW_JSON] = "json",
		[VIEW_CSV] = "csv",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(arg, names[i]))
			return i;
	argp_error(state, "--format is table, json or csv, not '%s'", arg);
	return VIEW_TABLE;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct view_options *o = state->input;
	char *end;
	long n;

	switch (key) {
	case KEY_FORMAT:
		o->format = view_format_parse(state, arg);
		break;
	case KEY_RAW:
		o->figures.raw = true;
		break;
	case KEY_TIME:
		o->figures.time = parse_time(arg, state);
		break;
	case KEY_TOP:
		n = strtol(arg, &end, 10);
		if (end == arg || *end || n < 0 || n > 1000000)
			argp_error(state, "--top: '%s' is not a number of rows", arg);
		o->top = n ? n : -1;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp view_argp = { .options = options, .parser = parse };

int view_section_parse(const struct argp_state *state, const char *arg, const char *const *names)
{
	char *list = alloc_strdup("");
	int i;

	for (i = 0; names[i]; i++) {
		char *longer;

		if (!strcmp(arg, names[i])) {
			free(list);
			return i + 1;
		}
		longer = alloc_printf("%s%s%s", list,
				      !i           ? "" :
				      names[i + 1] ? ", " :
						     " or ",
				      names[i]);
		free(list);
		list = longer;
	}
	argp_error(state, "--section is %s, not '%s'", list, arg);
	free(list);
	return 0;
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

void view_init(struct view *view, FILE *out, const struct view_options *o)
{
	view->out = out;
	view->width = output_width(out, &view->is_terminal);
	view->top = o->top;
}

void view_text(const struct view *view, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = alloc_strdup("out of memory");
	va_end(args);
	output_text_wrap(view->out, text, view->width, 0, 0);
	free(text);
}

char *view_times(const struct analyze_options *figures)
{
	return alloc_printf("%s %s", analyze_time_text(figures->time),
			    figures->raw ? "with probe cost" : "less probe cost");
}

void view_fact(const struct view *view, const char *name, const char *value)
{
	enum {
		NAME_WIDTH = 24
	};
	char *escaped_name = output_text_escape(name), *escaped = output_text_escape(value);
	int column = fprintf(view->out, "  %-*s ", NAME_WIDTH, escaped_name);

	output_text_wrap(view->out, escaped, view->width, column > 0 ? column : 0, NAME_WIDTH + 3);
	free(escaped);
	free(escaped_name);
}

void view_section(const struct view *view, const struct output_section *section, unsigned int top)
{
	struct output_table_options table = {
		.width = view->width,
		.truncate = view->is_terminal,
		.top = view->top > 0 ? (unsigned int)view->top :
		       view->top < 0 ? 0 :
				       top,
	};

	output_table_write(view->out, section, &table);
}

void view_unit_note(const struct view *view, enum profile_clock clock)
{
	if (clock == PROFILE_CLOCK_INSN)
		view_text(view,
			  "insn: guest instructions, not cycles. Cache, TLB, KPTI and retpoline "
			  "costs read low, repeated string instructions high.");
}

void view_warnings(const struct view *view, const struct analyze_warnings *warnings)
{
	uint32_t i;

	for (i = 0; i < warnings->n_texts; i++)
		view_text(view, "warning: %s", warnings->texts[i]);
	if (!view->is_terminal)
		view_warnings_log(warnings);
	if (warnings->n_texts)
		fputc('\n', view->out);
}

void view_warnings_log(const struct analyze_warnings *warnings)
{
	uint32_t i;

	for (i = 0; i < warnings->n_texts; i++)
		log_warn("%s", warnings->texts[i]);
}

/* Appends S to *TEXT, which is freed. */
static char *append(char *text, const char *s)
{
	char *longer = alloc_printf("%s%s", text, s);

	free(text);
	return longer;
}

char *view_command(const struct profile *p)
{
	/* Longer ones are in the JSON. */
	enum {
		LIMIT = 400
	};
	char *text = alloc_strdup(""), *escaped;
	uint32_t i;

	if (!p->n_args)
		return append(text, "(no command)");
	for (i = 0; i < p->n_args && strlen(text) < LIMIT; i++) {
		bool quote = !*p->args[i] || strpbrk(p->args[i], " \t\n\"'\\$&|;<>()*?`");

		if (i)
			text = append(text, " ");
		if (quote)
			text = append(text, "'");
		text = append(text, p->args[i]);
		if (quote)
			text = append(text, "'");
	}
	if (strlen(text) > LIMIT)
		text[LIMIT] = '\0';
	if (i < p->n_args || strlen(text) == LIMIT)
		text = append(text, " ...");
	escaped = output_text_escape(text);
	free(text);
	return escaped;
}

char *view_runs(uint32_t runs, uint32_t boots)
{
	if (boots > 1)
		return alloc_printf("%u run%s in %u boots", runs, runs == 1 ? "" : "s", boots);
	return alloc_printf("%u run%s", runs, runs == 1 ? "" : "s");
}

int view_finish(void)
{
	if (fflush(stdout) || ferror(stdout)) {
		log_error("cannot write the output: %s", log_strerror(errno));
		return CMD_FAILED;
	}
	return CMD_DONE;
}
