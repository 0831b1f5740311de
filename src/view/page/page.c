// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/page/page.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/plural.h"
#include "output/json.h"
#include "output/text.h"
#include "view/names.h"
#include "view/words.h"

void view_init(struct view *view, FILE *out, int top)
{
	memset(view, 0, sizeof(*view));
	view->out = out;
	view->width = output_width(out, &view->is_terminal);
	view->top = top;
}

void view_text(const struct view *view, const char *fmt, ...)
{
	va_list args;
	scoped_free char *text, *safe;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = alloc_strdup("out of memory");
	va_end(args);
	safe = terminal_text(text);
	output_text_wrap(view->out, safe, view->width, 0, 0);
}

void view_paragraphs(const struct view *view, const char *text)
{
	scoped_free char *copy = alloc_strdup(text);
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		scoped_free char *safe = terminal_text(line);
		unsigned int indent = (unsigned int)strspn(safe, " ");

		output_text_wrap(view->out, safe, view->width, 0, indent ? indent + 2 : 0);
	}
}

void view_fact(const struct view *view, const char *name, const char *value)
{
	enum {
		NAME_WIDTH = 24
	};
	scoped_free char *escaped_name = output_text_escape(name),
			 *escaped = output_text_escape(value);
	int column = fprintf(view->out, "  %-*s ", NAME_WIDTH, escaped_name);

	output_text_wrap(view->out, escaped, view->width, column > 0 ? column : 0, NAME_WIDTH + 3);
}

struct output_table_options view_table_options(const struct view *view, unsigned int top)
{
	return (struct output_table_options){
		.width = view->width,
		.truncate = view->is_terminal,
		.top = view->top > 0 ? (unsigned int)view->top :
		       view->top < 0 ? 0 :
				       top,
	};
}

/* Return warning W as text, for free(); NULL: W only informs, and EVERYTHING is not set. */
static char *shown_warning(const struct analyze_warning *w, bool everything)
{
	return everything || w->severity != ANALYZE_SEVERITY_INFO ? view_warning(w) : NULL;
}

void view_warnings(const struct view *view, const struct analyze_warnings *warnings)
{
	bool any = false;

	for (uint32_t i = 0; i < warnings->n_rows; i++) {
		scoped_free char *text = shown_warning(&warnings->rows[i], view->everything);

		if (!text)
			continue;
		if (!any)
			fputc('\n', view->out);
		view_text(view, "warning: %s", text);
		any = true;
	}
	if (!view->is_terminal)
		view_warnings_log(warnings, view->everything);
}

void view_warnings_log(const struct analyze_warnings *warnings, bool everything)
{
	for (uint32_t i = 0; i < warnings->n_rows; i++) {
		scoped_free char *text = shown_warning(&warnings->rows[i], everything);

		if (text)
			log_warn("%s", text);
	}
}

char *view_times(const struct analyze_options *figures, bool exact)
{
	return alloc_printf("%s%s", view_time_texts[figures->time],
			    exact        ? "" :
			    figures->raw ? ", including probe cost" :
					   ", less probe cost");
}

const char *view_unit_note(enum profile_clock clock)
{
	return clock == PROFILE_CLOCK_INSN ?
		       "Instructions of the guest, not cycles: cache and TLB misses, KPTI and retpolines cost "
		       "more than is shown, repeated string instructions less." :
		       NULL;
}

json_t *view_kernel_share_json(const struct analyze_kernel_share *s)
{
	json_t *object;

	if (isnan(s->share))
		return json_null();
	object = json_object();
	output_json_set(object, "command", output_json_number(s->command));
	output_json_set(object, "kernel", output_json_number(s->kernel));
	output_json_set(object, "share", output_json_number(s->share));
	return object;
}

static char *command_less(const struct profile *p)
{
	const char *tasks = profile_env_get(p, PROFILE_ENV_TASKS);
	const char *target = profile_env_get(p, PROFILE_ENV_TARGET);

	if (!tasks)
		return alloc_strdup("(no command)");
	return target ? alloc_printf("%s %s", tasks, target) : alloc_printf("%s tasks", tasks);
}

/* Append WORD in shell syntax, quoted if necessary. */
static void append_word(char **text, const char *word)
{
	if (*word && !strpbrk(word, " \t\n\"'\\$&|;<>()*?`")) {
		alloc_append(text, "%s", word);
		return;
	}
	alloc_append(text, "'");
	for (const char *end; (end = strchr(word, '\'')); word = end + 1)
		alloc_append(text, "%.*s'\\''", (int)(end - word), word);
	alloc_append(text, "%s'", word);
}

char *view_command(const struct profile *p)
{
	/* The page shortens long command lines; JSON has the whole line. */
	enum {
		LIMIT = 400
	};
	char *text = NULL;
	uint32_t i;

	if (!p->n_args)
		return command_less(p);
	for (i = 0; i < p->n_args && (!text || strlen(text) < LIMIT); i++) {
		if (text)
			alloc_append(&text, " ");
		append_word(&text, p->args[i]);
	}
	if (strlen(text) > LIMIT)
		text[LIMIT] = '\0';
	if (i < p->n_args || strlen(text) == LIMIT)
		alloc_append(&text, "%s%s", text ? " " : "", "...");
	return text;
}

const char *view_release(const struct profile *p)
{
	return profile_env_get(p, PROFILE_ENV_RELEASE) ?: "of unknown release";
}

char *view_runs(uint32_t runs, uint32_t boots)
{
	if (boots > 1)
		return alloc_printf("%u %s in %u boots", runs, plural(runs, "run", "runs"), boots);
	return alloc_printf("%u %s", runs, plural(runs, "run", "runs"));
}
