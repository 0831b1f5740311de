// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/cmd.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *args, *help;
} commands[] = {
	{ "record", cmd_record, "[OPTION…] [-- CMD [ARG…]]", "measure a command, or the system" },
	{ "report", cmd_report, "FILE", "what a recording holds" },
	{ "diff", cmd_diff, "BASELINE HARDENED", "the same work on two kernels, side by side" },
	{ "fold", cmd_fold, "FILE", "folded stacks, for flamegraph.pl" },
	{ "annotate", cmd_annotate, "FILE FUNC[@FUNCTION]",
	  "a function's lines and instructions with their cost" },
	{ "merge", cmd_merge, "-o OUT FILE…", "runs of several boots into one file" },
	{ "resolve", cmd_resolve, "FILE…", "names and lines into a file recorded elsewhere" },
	{ "index", cmd_index, "VMLINUX…",
	  "inlined bodies and lines of a kernel, made ahead of use" },
	{ "list", cmd_list, "[--protections] [GLOB]",
	  "what can be measured on this kernel, and how; its protections" },
	{ "doctor", cmd_doctor, "", "what this machine allows, and how to get the rest" },
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *out)
{
	fputs("Usage: kprotperf COMMAND [OPTION…] …\n"
	      "Measures what kernel protections cost, and where.\n\n",
	      out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-8s %-28s %s\n", commands[i].name, commands[i].args,
			commands[i].help);
	fputs("\nkprotperf COMMAND --help tells each one's options. A first session:\n\n"
	      "  kprotperf record --func allocate_slab -o a.data -- ./big-fork\n"
	      "  kprotperf report a.data\n"
	      "  kprotperf diff a.data b.data          (b.data from the other kernel)\n"
	      "  kprotperf fold a.data | flamegraph.pl > a.svg\n",
	      out);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	/* Bytes stay bytes, but widths of UTF-8 text in tables are counted right. */
	setlocale(LC_CTYPE, "");
	argp_err_exit_status = CMD_USAGE;
	/* `kprotperf fold … | head` is no error worth a message. */
	signal(SIGPIPE, SIG_DFL);

	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		print_help(stdout);
		return CMD_DONE;
	}
	if (!strcmp(name, "--version")) {
		puts("kprotperf " KPROTPERF_VERSION);
		return CMD_DONE;
	}
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(name, commands[i].name)) {
			/* What argp calls the program in its messages. */
			argv[1] = alloc_printf("kprotperf %s", name);
			return commands[i].run(argc - 1, argv + 1);
		}
	if (*name)
		log_error("no command '%s'; kprotperf --help lists them", name);
	else
		print_help(stderr);
	return CMD_USAGE;
}
