// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The format "html": one self-contained file. The build makes its page from src/view/html/. The functions below add JSON data: the
 * text above the tables, the tables, and the stacks and distributions of recordings. See docs/exports.md.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kprotperf/hist.h"
#include "output/export/export.h"
#include "output/json.h"
#include "output/table.h"
#include "view/page/writer.h"

/*
 * Limits of the data. A table has at most ROWS_MOST rows. After CELLS_MOST distributions, only those with the same name as the
 * last follow. All tables together have at most BYTES_MOST bytes, and so have all distributions.
 */
#define ROWS_MOST  2000
#define CELLS_MOST 1000
#define BYTES_MOST (2 << 20)

/* The page made of src/view/html/ by the build; empty if the build lacked the tools. */
extern const char view_html_page[];
extern const size_t view_html_page_size;
/* The JSON data replaces this mark in the page. */
static const char mark[] = "@DATA@";

bool view_html_is_there(void)
{
	return view_html_page_size;
}

/* Return the text that WRITE writes on a page without limits of width and rows; for free(). */
static char *text_of(void (*write)(const struct view *view, const void *data), const void *data)
{
	struct view view = { .everything = true, .top = -1, .is_terminal = 1 };
	char *text = NULL;
	size_t size;

	view.out = open_memstream(&text, &size);
	if (!view.out)
		return alloc_strdup("");
	write(&view, data);
	fclose(view.out);
	return text;
}

/* Append ITEM to LIST, and subtract its bytes from *ROOM. Drop ITEM if it is larger than *ROOM. */
static void append_within(json_t *list, json_t *item, size_t *room)
{
	scoped_free char *text = json_dumps(item, JSON_COMPACT | JSON_ENSURE_ASCII);
	size_t size = strlen(text);

	/* put_escaped() replaces '<' by six bytes. */
	for (const char *c = text; (c = strchr(c, '<')); c++)
		size += 5;
	if (size > *room) {
		json_decref(item);
		return;
	}
	*room -= size;
	json_array_append_new(list, item);
}

/* ---- tables ---- */

static json_t *columns_json(const struct output_section *section)
{
	json_t *columns = json_array();

	vec_each(const struct output_group, group, section, groups) {
		vec_each(const struct output_column, column, group, columns) {
			scoped_free char *header = NULL;

			if (!column->header)
				continue;
			header = output_header_text(section, column);
			json_array_append_new(columns,
					      json_pack("{s:o,s:o,s:b,s:b,s:b}", "header",
							output_json_text(header), "group",
							output_json_text(group->key), "text",
							column->type == OUTPUT_TEXT, "share",
							column->type == OUTPUT_FRACTION, "varies",
							column->rank == OUTPUT_IF_VARIES));
		}
	}
	return columns;
}

/* Return a table cell as JSON: a text, or a number with its formatted text; null if there is no value. */
static json_t *cell_json(const struct output_section *section, size_t row,
			 const struct output_group *group, const struct output_column *column)
{
	struct output_field field = output_field_get(section, row, group, column);
	scoped_free char *text = NULL;

	if (output_field_is_absent(&field, column->type))
		return json_null();
	text = output_cell_text(section, row, group, column);
	if (column->type == OUTPUT_TEXT)
		return output_json_text(text);
	return json_pack("[oo]", output_json_number(field.number), output_json_text(text));
}

static json_t *row_json(const struct output_section *section, size_t row)
{
	json_t *cells = json_array();

	output_row_progress(section, row);
	vec_each(const struct output_group, group, section, groups) {
		vec_each(const struct output_column, column, group, columns) {
			if (column->header)
				json_array_append_new(cells,
						      cell_json(section, row, group, column));
		}
	}
	return cells;
}

/* Return the table as JSON; NULL: it has neither rows nor text. */
static json_t *table_json(const struct view_table *table, const void *data, size_t *room)
{
	scoped(view_rows_deinit) struct view_rows rows = { 0 };
	scoped_free char *title = NULL, *text = NULL;
	json_t *json, *list = json_array();
	bool is_empty = true;
	size_t n = 0;

	if (table->page) {
		text = text_of(table->page, data);
		is_empty = !*text;
	} else {
		view_rows_init(&rows, table, data, true);
		title = table->title_of ? table->title_of(data) : NULL;
		text = table->after ? text_of(table->after, data) : NULL;
	}
	for (size_t row = 0; row < rows.section.n_rows; row++)
		if (!output_row_is_redundant(&rows.section, row) && n++ < ROWS_MOST)
			append_within(list, row_json(&rows.section, row), room);
	if (!n && is_empty) {
		json_decref(list);
		return NULL;
	}
	json = json_pack("{s:s,s:o,s:s?,s:i,s:o,s:o,s:o,s:i,s:b,s:b}", "name", table->name, "title",
			 output_json_text(title ?: table->title), "legend", table->legend, "first",
			 (int)table->first, "columns", columns_json(&rows.section), "rows", list,
			 "text", output_json_text(text), "all", (int)n, "closed", table->is_closed,
			 "answer", table->is_answer);
	return json;
}

static json_t *tables_json(const struct view_request *request, size_t *room)
{
	json_t *tables = json_array(), *table;

	for (size_t i = 0; i < request->list->n_tables; i++) {
		if (!view_table_is_in(request->list->tables[i], VIEW_IN_HTML) ||
		    !view_request_has(request, request->list->tables[i]))
			continue;
		table = table_json(request->list->tables[i], request->data, room);
		if (table)
			json_array_append_new(tables, table);
	}
	return tables;
}

/* ---- stacks ---- */

/* Append the drawn frames' names to FRAMES. Return the frames, each as [parent, index in FRAMES, width, change, two counts]. */
static json_t *nodes_json(const struct export *e, const struct export_graph *g, json_t *frames)
{
	scoped_free json_int_t *places = alloc_array(e->n_nodes, sizeof(*places));
	/* An element per frame: 1 plus the index of the frame's name in FRAMES, or 0 if the name is not yet in FRAMES. */
	scoped_free json_int_t *names = alloc_array(e->n_frames, sizeof(*names));
	json_t *nodes = json_array();

	for (uint32_t i = 0; i < e->n_nodes; i++) {
		const struct export_node *node = &e->nodes[i];
		const double *own = g->counts + 2 * i;

		if (!g->is_drawn[i])
			continue;
		if (!names[node->frame]) {
			json_array_append_new(frames,
					      output_json_text(e->frames[node->frame].label));
			names[node->frame] = (json_int_t)json_array_size(frames);
		}
		places[i] = (json_int_t)json_array_size(nodes);
		json_array_append_new(
			nodes, json_pack("[I,I,o,o,o,o]",
					 node->parent == EXPORT_NO_NODE ? (json_int_t)-1 :
									  places[node->parent],
					 names[node->frame] - 1, output_json_number(g->widths[i]),
					 output_json_number(export_change(e, own)),
					 output_json_number(own[0]), output_json_number(own[1])));
	}
	return nodes;
}

static json_t *stacks_json(const struct profile *const sides[2])
{
	scoped(analyze_stacks_deinit) struct analyze_stacks stacks = { 0 };
	scoped(export_deinit) struct export e = { 0 };
	scoped(export_graph_deinit) struct export_graph g = { 0 };
	const double *all;
	json_t *frames, *nodes;

	if (export_init_sides(&e, sides, &stacks) || !e.n_nodes)
		return json_null();
	export_graph_init(&g, &e);
	all = g.counts + 2 * e.n_nodes;
	frames = json_array();
	nodes = nodes_json(&e, &g, frames);
	return json_pack("{s:s,s:b,s:[o,o,o],s:i,s:o,s:o}", "unit", e.unit, "exact", !e.noise[0],
			 "all", output_json_number(export_change(&e, all)),
			 output_json_number(all[0]), output_json_number(all[1]), "left_out",
			 (int)g.left_out, "frames", frames, "nodes", nodes);
}

/* ---- distributions ---- */

struct distribution {
	const char *name, *context; /* a syscall has no CONTEXT */
	int side;
	struct profile_stats stats;
	uint64_t oncpu; /* on-CPU time of all rows with this NAME; rows are sorted by it */
};

struct distributions {
	struct distribution *rows;
	size_t n_rows, cap_rows;
};

define_compare(by_name, struct distribution,
	       compare_text(a->name, b->name)               ?:
		       compare_text(a->context, b->context) ?:
							      a->side - b->side);
define_compare(by_oncpu, struct distribution, compare_values(b->oncpu, a->oncpu) ?: by_name(a, b));

static void distribution_merge(void *to, void *from)
{
	struct distribution *a = to, *b = from;

	profile_stats_merge(&a->stats, &b->stats);
	profile_stats_deinit(&b->stats);
}

static void distributions_add(struct distributions *d, const struct profile *p, int side)
{
	vec_each(const struct profile_cell, cell, p, cells) {
		const struct profile_site *site = &p->sites[cell->site];
		const char *context = p->contexts[cell->context].name;
		bool syscall = site->kind == PROFILE_SITE_CONTEXT;
		struct distribution row = {
			syscall ? context : site->name, syscall ? NULL : context, side, { 0 }
		};

		if (site->kind == PROFILE_SITE_RANGE || !cell->stats.n_buckets ||
		    p->runs[cell->run].kind == PROFILE_RUN_CONTROL)
			continue;
		profile_stats_init(&row.stats);
		profile_stats_merge(&row.stats, &cell->stats);
		vec_push(d, rows, row);
	}
}

/* Set ONCPU of each row to the on-CPU time of all rows with the same name. The rows are sorted by name. */
static void sum_names(struct distributions *d)
{
	for (size_t i = 0, end; i < d->n_rows; i = end) {
		uint64_t sum = 0;

		for (end = i; end < d->n_rows && same_text(d->rows[i].name, d->rows[end].name);
		     end++)
			sum += d->rows[end].stats.oncpu;
		for (size_t k = i; k < end; k++)
			d->rows[k].oncpu = sum;
	}
}

static json_t *buckets_json(const struct profile_stats *s)
{
	json_t *buckets = json_array();

	vec_each(const struct profile_bucket, bucket, s, buckets) {
		uint64_t low = hist_slot_low(bucket->slot);

		json_array_append_new(
			buckets, json_pack("[o,o,o]", output_json_number((double)low),
					   output_json_number((double)low + (double)hist_slot_width(
										    bucket->slot)),
					   output_json_number((double)bucket->count)));
	}
	return buckets;
}

static json_t *distributions_json(const struct profile *const sides[2], size_t *room)
{
	struct distributions d = { 0 };
	json_t *json = json_array();
	const char *last = NULL;

	for (int i = 0; i < 2; i++)
		if (sides[i])
			distributions_add(&d, sides[i], i);
	vec_unite(&d, rows, by_name, distribution_merge);
	sum_names(&d);
	sort_array(d.rows, d.n_rows, sizeof(*d.rows), by_oncpu);
	vec_each(struct distribution, row, &d, rows) {
		if (json_array_size(json) < CELLS_MOST || same_text(row->name, last)) {
			last = row->name;
			append_within(json,
				      json_pack("{s:o,s:o,s:i,s:o}", "name",
						output_json_text(row->name), "context",
						output_json_text(row->context), "side", row->side,
						"buckets", buckets_json(&row->stats)),
				      room);
		}
		profile_stats_deinit(&row->stats);
	}
	free(d.rows);
	return json;
}

/* ---- the file ---- */

static void write_data(FILE *out, const struct view_request *request)
{
	const struct view_list *list = request->list;
	const struct view_data *common = request->data;
	const struct profile *const *sides = common->p;
	scoped_free char *head = list->page ? text_of(list->page, request->data) : NULL;
	struct output_json json = { .out = out, .compact = true };
	size_t room[2] = { BYTES_MOST, BYTES_MOST };

	output_json_member(&json, "schema", json_string(list->schema));
	output_json_member(&json, "head", output_json_text(head));
	output_json_member(&json, "unit", json_string(profile_clock_unit(common->clock)));
	output_json_member(&json, "tables", tables_json(request, &room[0]));
	output_json_member(&json, "stacks", sides[0] ? stacks_json(sides) : json_null());
	output_json_member(&json, "distributions",
			   sides[0] ? distributions_json(sides, &room[1]) : json_null());
	output_json_member(&json, "sides", json_integer(!!sides[0] + !!sides[1]));
	output_json_end(&json);
}

/* Escape "<" in JSON. Otherwise a name in a recording could contain HTML that ends the script element. */
static void put_escaped(FILE *out, const char *json)
{
	for (size_t n; *json; json += n) {
		n = strcspn(json, "<");
		fwrite(json, 1, n, out);
		if (json[n] == '<') {
			fputs("\\u003c", out);
			n++;
		}
	}
}

void view_write_html(FILE *out, const struct view_request *request)
{
	size_t size = view_html_page_size, unused;
	const char *at = memmem(view_html_page, size, mark, strlen(mark));
	scoped_free char *text = NULL;
	FILE *data = at ? open_memstream(&text, &unused) : NULL;

	if (!data)
		return;
	write_data(data, request);
	fclose(data);
	fwrite(view_html_page, 1, (size_t)(at - view_html_page), out);
	put_escaped(out, text);
	at += strlen(mark);
	fwrite(at, 1, (size_t)(view_html_page + size - at), out);
}
