// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/view.h"
#include "view/names.h"
#include "view/report.h"

struct report_options {
	struct view_options view;
	const char *vmlinux;
	bool trace;
	const char *neighbours; /* the function of --callers and --callees; NULL: none */
	const char *varies; /* the function of --why-varies */
	char **files;
};

/* Parse --callers or --callees, each of which is also the name of a table. */
static void parse_neighbours(void *input, const struct cmd_argument *argument)
{
	struct report_options *o = input;

	if (o->neighbours && strcmp(o->neighbours, argument->text) != 0)
		argp_error(argument->state, "--callers and --callees take one function at a time");
	o->neighbours = argument->text;
	vec_push(&o->view.request, sections, argument->option->name);
}

static void parse_trace(void *input, const struct cmd_argument *argument)
{
	struct report_options *o = input;

	o->trace = true;
	vec_push(&o->view.request, sections, argument->option->name);
}

static const struct cmd_option options[] = {
	CMD_VMLINUX(report_options, vmlinux),
	{ "callers", "FUNC",
	  "Show the callers of this function or inlined body, from samples (exact recordings: all "
	  "of them)",
	  .parse = parse_neighbours },
	{ "callees", "FUNC",
	  "Show the callees of this function or inlined body, from samples (exact recordings: all of them)",
	  .parse = parse_neighbours },
	{ "why-varies", "FUNC",
	  "Show how much of the variance of the latency of this function each variable captured by "
	  "record --context explains",
	  CMD_SET(report_options, varies) },
	{ "trace", NULL,
	  "Show the complete call kept by lab run --exact --trace: what it called and executed, in "
	  "order",
	  .parse = parse_trace },
	{ 0 },
};

static const struct cmd_syntax syntax = {
	.options = options,
	.args_doc = "[FILE]",
	.doc = "Show a recording: the top of each table, or everything with --all.\vFILE is " CMD_DEFAULT_FILE
	       " by default. Times are on-CPU times unless --time says otherwise, less the cost of "
	       "the probes; percentiles, MIN and MAX are available for on-CPU times only. Times "
	       "are defined in docs/accounting.md, --format=json in docs/json.md.",
	.operands = offsetof(struct report_options, files),
	.most = 1,
	.too_many = "too many arguments: expected one file (diff compares two)",
	.parts =
		(const struct cmd_part[]){
			{ &view_recordings_syntax, offsetof(struct report_options, view) },
			{ 0 },
		},
};

/* Select the tables of --why-varies, as far as the format can show them. */
static void add_varies(struct view_request *request)
{
	static const struct view_table *const tables[] = { &report_variables, &report_variable_tree,
							   &report_variation };
	bool one = view_writers[request->format].place == VIEW_IN_CSV;

	for (size_t i = 0; i < (one ? 1 : ARRAY_SIZE(tables)); i++)
		vec_push(request, sections, tables[i]->name);
}

static void report_init(struct view_report *r, const struct profile *p,
			const struct analyze_options *figures)
{
	r->common = (struct view_data){
		p->clock, view_time_headers[figures->time], { p }, &r->warnings
	};
	r->figures = *figures;
	analyze_table_init(&r->table, p, figures);
	analyze_rows_sort_by_total(&r->table.syscalls);
	analyze_rows_sort_by_total(&r->table.functions);
	analyze_ranges_init(&r->ranges, p, figures);
	analyze_ranges_sort_by_total(&r->ranges);
	analyze_workload_init(&r->workload, p, figures->raw);
	analyze_workload_sort_by_order(&r->workload);
	r->kernel = analyze_kernel_share_of(p, &r->table, &r->workload);
	analyze_losses_sum(&r->losses, p);
	analyze_accounting_init(&r->accounting, p);
	analyze_costs_init(&r->costs, p);
	analyze_leaves_init(&r->leaves, p);
	analyze_events_init(&r->events, p, NULL, 0, false);
	analyze_trace_init(&r->trace, p);
	analyze_misses_init(&r->misses, p, NULL, ANALYZE_MISSES_BY_FUNCTION);
	analyze_misses_init(&r->miss_lines, p, NULL, ANALYZE_MISSES_BY_LINE);
	analyze_misses_init(&r->miss_objects, p, NULL, ANALYZE_MISSES_BY_OBJECT);
	analyze_blocks_init(&r->blocks, p);
	analyze_loops_init(&r->loops, p);
	analyze_env_protections(&r->protections, p);
	analyze_warnings_of_profile(&r->warnings, p, &r->table, ANALYZE_SIDE_NONE, figures->raw);
}

static void report_deinit(struct view_report *r)
{
	analyze_table_deinit(&r->table);
	analyze_ranges_deinit(&r->ranges);
	analyze_workload_deinit(&r->workload);
	analyze_costs_deinit(&r->costs);
	analyze_leaves_deinit(&r->leaves);
	analyze_neighbours_deinit(&r->neighbours);
	varies_deinit(&r->varies);
	analyze_events_deinit(&r->events);
	analyze_trace_deinit(&r->trace);
	analyze_misses_deinit(&r->misses);
	analyze_misses_deinit(&r->miss_lines);
	analyze_misses_deinit(&r->miss_objects);
	analyze_blocks_deinit(&r->blocks);
	analyze_loops_deinit(&r->loops);
	analyze_env_deinit(&r->protections);
	analyze_warnings_deinit(&r->warnings);
}

static void options_deinit(struct report_options *o)
{
	free(o->view.request.sections);
}

int cmd_report(int argc, char **argv)
{
	scoped(options_deinit) struct report_options o = { .view.request.list = &view_report_list };
	scoped(profile_destroy_at) struct profile *p = NULL;
	scoped(report_deinit) struct view_report r = { 0 };

	cmd_parse(&syntax, argc, argv, &o);
	if (o.varies && !o.view.request.n_sections)
		add_varies(&o.view.request);
	p = view_open(o.files ? *o.files : CMD_DEFAULT_FILE, o.vmlinux);
	if (!p)
		return CMD_FAILED;
	report_init(&r, p, &o.view.figures);
	if (analyze_neighbours_init(&r.neighbours, p, o.neighbours))
		return CMD_FAILED;
	if (o.neighbours && !(r.neighbours.samples > 0)) {
		log_error("no samples in '%s' or its callees", o.neighbours);
		return CMD_FAILED;
	}
	if (varies_init(&r.varies, p, o.varies))
		return CMD_FAILED;
	if (o.trace && !r.trace.n_lines) {
		log_error(VIEW_NO_TRACE, o.files ? *o.files : CMD_DEFAULT_FILE);
		return CMD_FAILED;
	}
	view_write(&o.view.request, &r);
	return CMD_DONE;
}
