// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "record/sites.h"

enum {
	KEY_VMLINUX = 256
};

struct list_options {
	const char *glob, *vmlinux;
};

static const struct argp_option options[] = { { "vmlinux", KEY_VMLINUX, "FILE", 0,
						"The running kernel's vmlinux" },
					      {} };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct list_options *o = state->input;

	switch (key) {
	case KEY_VMLINUX:
		o->vmlinux = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			argp_error(state, "one GLOB at a time");
		o->glob = arg;
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

int cmd_list(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "[GLOB]",
		"Lists the kernel's functions that match GLOB (default: all), with the mechanism by "
		"which record would time each, or why it cannot."
	};
	struct list_options o = { .glob = "*" };
	struct record_features features;
	struct record_symbols symbols;
	int n;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	record_features_probe(&features);
	n = record_symbols_init(&symbols, o.vmlinux);
	if (!n)
		n = record_sites_list(&symbols, &features, o.glob, print_function, NULL);
	record_symbols_deinit(&symbols);
	if (n == 0)
		log_error("no function matches '%s'", o.glob);
	return n > 0 ? CMD_DONE : CMD_FAILED;
}
