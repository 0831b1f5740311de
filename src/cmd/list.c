// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/protections.h"
#include "record/sites.h"

enum {
	KEY_VMLINUX = 256,
	KEY_FORMAT
};

struct list_options {
	const char *glob, *vmlinux;
	struct view_options view;
	bool protections, formatted;
};

static const struct argp_option options[] = {
	{ "protections", 'P', NULL, 0,
	  "The kernel's protections, or the one that GLOB names, with their state on this kernel" },
	{ "format", KEY_FORMAT, "FORMAT", 0, "Protections as table (default), json or csv" },
	{ "vmlinux", KEY_VMLINUX, "FILE", 0, "The running kernel's vmlinux" },
	{}
};

static enum view_format parse_format(const struct argp_state *state, const char *arg)
{
	if (!strcmp(arg, "json"))
		return VIEW_JSON;
	if (!strcmp(arg, "csv"))
		return VIEW_CSV;
	if (strcmp(arg, "table"))
		argp_error(state, "--format is table, json or csv, not '%s'", arg);
	return VIEW_TABLE;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct list_options *o = state->input;

	switch (key) {
	case 'P':
		o->protections = true;
		return 0;
	case KEY_FORMAT:
		o->view.format = parse_format(state, arg);
		o->formatted = true;
		return 0;
	case KEY_VMLINUX:
		o->vmlinux = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			argp_error(state, "one GLOB at a time");
		o->glob = arg;
		return 0;
	case ARGP_KEY_END:
		/* A protection is explained under its name alone, too. */
		if (o->glob && catalogue_find(o->glob))
			o->protections = true;
		if (o->formatted && !o->protections)
			argp_error(state, "--format goes with --protections");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_function(const struct symbol_sym *sym, enum profile_mechanism mech,
			   const char *why, void *arg)
{
	(void)arg;
	printf("%-40s %-12s %s%s%s\n", sym->name,
	       mech == PROFILE_MECH_NONE ? "-" : profile_mechanism_name(mech),
	       sym->module ? "[" : "", sym->module ?: "", sym->module ? "]" : "");
	if (why)
		printf("    %s%s\n", mech == PROFILE_MECH_NONE ? "" : "only by name: ", why);
}

static int list_protections(const struct list_options *o)
{
	const struct catalogue_protection *only = NULL;

	if (o->glob) {
		only = catalogue_find(o->glob);
		if (!only) {
			log_error("no protection '%s'; kprotperf list --protections names them",
				  o->glob);
			return CMD_FAILED;
		}
	}
	return protections_list(only, &o->view);
}

int cmd_list(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "[GLOB]",
		"Lists the kernel's functions that match GLOB (default: all), with the mechanism by "
		"which record would time each, or why it cannot; or the kernel's protections."
	};
	struct list_options o = { 0 };
	struct record_features features;
	struct record_symbols symbols;
	int n;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (o.protections)
		return list_protections(&o);
	if (!o.glob)
		o.glob = "*";
	record_features_probe(&features);
	n = record_symbols_init(&symbols, o.vmlinux);
	if (!n)
		n = record_sites_list(&symbols, &features, o.glob, print_function, NULL);
	record_symbols_deinit(&symbols);
	if (n == 0)
		log_error("no function matches '%s'", o.glob);
	return n > 0 ? CMD_DONE : CMD_FAILED;
}
