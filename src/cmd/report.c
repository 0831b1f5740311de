// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <math.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/report_impl.h"

/* In that order. */
static const char *const section_names[] = {
	"syscalls", "functions", "ranges", "samples",         "losses",     "costs", "blocks",
	"paths",    "loops",     "turns",  "block_functions", "path_turns", NULL
};

enum {
	KEY_SECTION = 256,
	KEY_VMLINUX
};

static const struct argp_option argp_options[] = {
	{ "section", KEY_SECTION, "SECTION", 0,
	  "What CSV holds: syscalls, functions (default: both), ranges, samples, losses, costs, blocks, paths, loops, turns, block_functions or path_turns" },
	{ "vmlinux", KEY_VMLINUX, "FILE", 0, "The recorded kernel's vmlinux, for names" },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->view;
		break;
	case KEY_SECTION:
		o->section = view_section_parse(state, arg, section_names);
		break;
	case KEY_VMLINUX:
		o->vmlinux = arg;
		break;
	case ARGP_KEY_ARG:
		if (o->file)
			argp_error(state, "one file at a time; diff compares two");
		o->file = arg;
		break;
	case ARGP_KEY_END:
		if (o->section && o->view.format != VIEW_CSV)
			argp_error(state, "--section goes with --format=csv");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = { { &view_argp, 0, NULL, 0 }, { 0 } };

static const struct argp argp = {
	.options = argp_options,
	.parser = parse,
	.args_doc = "[FILE]",
	.doc = "What a recording holds: workload, syscalls, functions, samples, losses.\v"
	       "FILE is " CMD_DEFAULT_FILE
	       " by default. Times are on-CPU unless --time says otherwise, "
	       "less what the probes themselves cost; percentiles, MIN and MAX are known of on-CPU "
	       "times only. docs/accounting.md defines the times, docs/json.md --format=json.",
	.children = children,
};

static void report_init(struct report *r, const struct profile *p,
			const struct analyze_options *figures)
{
	memset(r, 0, sizeof(*r));
	r->p = p;
	analyze_table_init(&r->table, p, figures);
	analyze_rows_sort_by_total(&r->table.syscalls);
	analyze_rows_sort_by_total(&r->table.functions);
	analyze_ranges_init(&r->ranges, p, figures);
	analyze_ranges_sort_by_total(&r->ranges);
	analyze_workload_init(&r->workload, p, figures->raw);
	analyze_workload_sort_by_order(&r->workload);
	analyze_losses_sum(&r->losses, p);
	analyze_accounting_init(&r->accounting, p);
	analyze_costs_init(&r->costs, p);
	analyze_leaves_init(&r->leaves, p);
	analyze_blocks_init(&r->blocks, p);
	analyze_paths_init(&r->paths, p);
	analyze_env_protections(&r->protections, p);
	analyze_warnings_of_profile(&r->warnings, p, "", figures->raw);
}

static void report_deinit(struct report *r)
{
	analyze_table_deinit(&r->table);
	analyze_ranges_deinit(&r->ranges);
	analyze_workload_deinit(&r->workload);
	analyze_costs_deinit(&r->costs);
	analyze_leaves_deinit(&r->leaves);
	analyze_blocks_deinit(&r->blocks);
	analyze_paths_deinit(&r->paths);
	analyze_env_deinit(&r->protections);
	analyze_warnings_deinit(&r->warnings);
}

void report_losses_form(struct columns_loss rows[PROFILE_N_LOSSES],
			char texts[PROFILE_N_LOSSES][OUTPUT_NUMBER_MAX], const struct report *r)
{
	uint32_t i;

	for (i = 0; i < PROFILE_N_LOSSES; i++) {
		uint64_t count = r->losses.counts[i];

		rows[i].key = profile_loss_key(i);
		rows[i].text = profile_loss_text(i);
		rows[i].kind = profile_loss_is_info(i) ? "accounting" : "loss";
		rows[i].count = count == PROFILE_NOT_COUNTED ? NAN : (double)count;
		rows[i].count_text =
			count == PROFILE_NOT_COUNTED ?
				"not counted" :
				output_number(texts[i], OUTPUT_COUNT, rows[i].count, r->p->clock);
	}
}

int cmd_report(int argc, char **argv)
{
	struct report_options o = { .file = NULL };
	struct profile *p;
	struct report r;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	p = view_open(o.file, o.vmlinux);
	if (!p)
		return CMD_FAILED;
	report_init(&r, p, &o.view.figures);
	switch (o.view.format) {
	case VIEW_TABLE:
		report_write_table(&r, &o);
		break;
	case VIEW_JSON:
		report_write_json(&r, &o);
		break;
	case VIEW_CSV:
		report_write_csv(&r, &o);
		break;
	}
	report_deinit(&r);
	profile_destroy(p);
	return view_finish();
}
