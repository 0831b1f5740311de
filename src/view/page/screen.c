// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The format "table": pages for people. The first screen shows the first rows of each table, so that all tables fit. The options
 * --all and --section show the rest.
 */

#include "base/alloc.h"
#include "output/table.h"
#include "view/page/writer.h"

/* Minimum number of rows: omit a table rather than show fewer. */
#define ROWS_LEAST 2

/* A table as text on the page. */
struct part {
	const struct view_table *table;
	unsigned int top; /* maximum number of rows; 0: no limit */
	char *text;
	size_t lines;
	bool is_partial; /* some rows are left out */
	bool is_dropped; /* the whole table is left out */
};

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Write a title such as "Syscalls, by total on-CPU time (5 of 18):". Write nothing if the table has no title. */
static void write_title(const struct view *view, const struct view_table *table, const void *data,
			size_t shown, size_t all)
{
	scoped_free char *title = table->title_of ? table->title_of(data) :
				  table->title    ? alloc_strdup(table->title) :
						    NULL;
	char part[64] = "";

	if (!title)
		return;
	if (shown < all)
		snprintf(part, sizeof(part), " (%zu of %zu)", shown, all);
	view_text(view, "%s%s:", title, part);
}

/* Write the table's title, its rows, and the text below the rows. Return whether rows are left out. */
static bool write_rows(const struct view *view, const struct view_table *table, const void *data,
		       const struct output_table_options *options)
{
	scoped(view_rows_deinit) struct view_rows rows;
	size_t all, shown;

	view_rows_init(&rows, table, data, true);
	all = output_rows_count(&rows.section);
	shown = output_table_shown(&rows.section, options);
	if (all) {
		write_title(view, table, data, shown, all);
		output_table_write(view->out, &rows.section, options);
		if (view->everything && table->legend)
			view_text(view, "%s.", table->legend);
		if (table->after)
			table->after(view, data);
	} else if (view->everything && table->none) {
		view_text(view, "%s", table->none);
	}
	return shown < all;
}

static void part_make(struct part *part, const struct view *page, const void *data)
{
	struct output_table_options options = view_table_options(page, part->top);
	struct view view = *page;
	size_t size;

	if (!page->everything && !page->top)
		options.least = ONE_PERCENT;
	free(part->text);
	part->text = NULL;
	view.out = open_memstream(&part->text, &size);
	if (!view.out)
		return;
	if (part->table->page)
		part->table->page(&view, data);
	else
		part->is_partial = write_rows(&view, part->table, data, &options);
	fclose(view.out);
	part->lines = count_lines(part->text);
}

static void part_drop(struct part *part)
{
	free(part->text);
	part->text = NULL;
	part->lines = 0;
	part->is_dropped = true;
}

/* Return the last lines of the page, which name options that show omitted rows and tables; for free(). NULL: none is omitted. */
static char *more_text(const struct view *view, const struct part *parts, size_t n)
{
	scoped_free char *names = NULL;
	char *text = NULL;
	struct view more = *view;
	bool is_partial = false;
	size_t size;

	for (size_t i = 0; i < n; i++) {
		is_partial |= parts[i].is_partial;
		if (parts[i].is_dropped)
			alloc_append(&names, "%s%s", names ? ", " : "", parts[i].table->name);
	}
	more.out = names || is_partial ? open_memstream(&text, &size) : NULL;
	if (more.out) {
		view_text(&more,
			  names ? "More: --all or --section=NAME; not shown: %s" :
				  "More: --all, or --section=NAME",
			  names);
		fclose(more.out);
	}
	return text;
}

/* Format the tables of the first screen, each with its maximum number of rows. Mark other tables as dropped unless empty. */
static struct part *screen_make(const struct view *view, const struct view_request *request)
{
	struct part *parts = alloc_array(request->list->n_tables, sizeof(*parts));

	for (size_t i = 0; i < request->list->n_tables; i++) {
		const struct view_table *table = request->list->tables[i];

		/* Format one row of a table that is not on the first screen, to know whether the table is empty. */
		parts[i] = (struct part){ .table = table, .top = table->first ?: 1 };
		if (!view_table_is_in(table, VIEW_IN_PAGE))
			continue;
		part_make(&parts[i], view, request->data);
		if (parts[i].lines &&
		    (!table->first || (table->is_aside && table->is_aside(request->data))))
			part_drop(&parts[i]);
	}
	return parts;
}

static void screen_free(struct part *parts, size_t n)
{
	while (n--)
		free(parts[n].text);
	free(parts);
}

/* Return whether the screen is too short for HEAD lines, the PARTS with blank lines between them, and the lines of more_text(). */
static bool is_too_long(const struct view *view, const struct part *parts, size_t n, size_t head)
{
	scoped_free char *more = more_text(view, parts, n);
	size_t lines = head + (more ? 1 + count_lines(more) : 0), i;

	for (i = 0; i < n; i++)
		lines += parts[i].lines ? parts[i].lines + 1 : 0;
	return lines > VIEW_SCREEN_LINES;
}

/* Make PARTS fit the screen: first remove rows, then whole tables, the last table first. Fill free space with more rows. */
static void screen_fit(struct part *parts, const struct view *view,
		       const struct view_request *request, size_t head)
{
	size_t n = request->list->n_tables;

	for (size_t i = n; i-- > 0;)
		while (is_too_long(view, parts, n, head) && parts[i].lines &&
		       !parts[i].table->is_whole && parts[i].top > ROWS_LEAST) {
			parts[i].top--;
			part_make(&parts[i], view, request->data);
		}
	for (size_t i = n; i-- > 0;)
		if (parts[i].lines && is_too_long(view, parts, n, head))
			part_drop(&parts[i]);
	for (size_t i = 0; i < n; i++) {
		while (parts[i].lines && parts[i].top < parts[i].table->first &&
		       !is_too_long(view, parts, n, head)) {
			parts[i].top++;
			part_make(&parts[i], view, request->data);
		}
		if (parts[i].lines && is_too_long(view, parts, n, head)) {
			parts[i].top--;
			part_make(&parts[i], view, request->data);
		}
	}
}

static void write_parts(const struct view *view, const struct part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (parts[i].lines)
			fprintf(view->out, "\n%s", parts[i].text);
}

/* Write the tables of the first screen. HEAD lines above them are already written. */
static void write_screen(const struct view *view, const struct view_request *request, size_t head)
{
	size_t n = request->list->n_tables;
	struct part *parts = screen_make(view, request);
	scoped_free char *more;

	if (!view->top)
		screen_fit(parts, view, request, head);
	write_parts(view, parts, n);
	more = more_text(view, parts, n);
	if (more)
		fprintf(view->out, "\n%s", more);
	screen_free(parts, n);
}

static void write_all(const struct view *view, const struct view_request *request, bool is_first)
{
	for (size_t i = 0; i < request->list->n_tables; i++) {
		const struct view_table *table = request->list->tables[i];
		struct part part = { .table = table };

		if (!view_table_is_in(table, VIEW_IN_PAGE) || !view_request_has(request, table))
			continue;
		part_make(&part, view, request->data);
		if (part.lines)
			fprintf(view->out, "%s%s", is_first ? "" : "\n", part.text);
		is_first = is_first && !part.lines;
		free(part.text);
	}
}

void view_write_table(FILE *out, const struct view_request *request)
{
	const struct view_data *common = request->data;
	struct view view, head;
	scoped_free char *text = NULL;
	size_t size;

	view_init(&view, out, request->top);
	view.everything = request->all || request->n_sections;
	if (request->n_sections) {
		if (common->warnings)
			view_warnings_log(common->warnings, request->all);
		write_all(&view, request, true);
		return;
	}
	head = view;
	head.out = open_memstream(&text, &size);
	if (!head.out)
		return;
	if (request->list->page)
		request->list->page(&head, request->data);
	fclose(head.out);
	fputs(text, out);
	if (request->all)
		write_all(&view, request, !*text);
	else
		write_screen(&view, request, count_lines(text));
}
