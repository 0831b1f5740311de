// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analyze/stats/statistics.h"
#include "arch/arch.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "kernel/image/name.h"
#include "profile/file/section.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *args, *help;
	const char *examples; /* lines beginning with "  kprotperf" */
} commands[] = {
	{ "record", cmd_record, "[OPTION...] [-- CMD [ARG...]]",
	  "measure a command, a process or the system",
	  "  kprotperf record -o a.data --func 'new_slab*' -r 5 -- ./big-fork\n"
	  "  kprotperf record -p 1234 --duration=10s\n"
	  "  kprotperf record --auto --write-plan=plan -- ./my-test\n" },
	{ "report", cmd_report, "FILE", "show a recording",
	  "  kprotperf report --top=20 a.data\n"
	  "  kprotperf report --callers=kmem_cache_alloc a.data\n"
	  "  kprotperf report --html a.data > a.html\n" },
	{ "diff", cmd_diff, "BASELINE HARDENED", "compare the same work on two kernels",
	  "  kprotperf diff a.data b.data\n"
	  "  kprotperf diff --annotate=allocate_slab a.data b.data\n"
	  "  kprotperf diff --fail-above=2@clone a.data b.data || echo slower\n" },
	{ "changes", cmd_changes, "BASELINE HARDENED",
	  "show what differs in the code of two kernels",
	  "  kprotperf changes old/vmlinux new/vmlinux\n"
	  "  kprotperf changes --section=static_keys a.data b.data\n" },
	{ "why", cmd_why, "BASELINE HARDENED",
	  "explain the difference between two exact recordings",
	  "  kprotperf why baseline.data hardened.data\n"
	  "  kprotperf why --context=clone --patch=my.patch baseline.data hardened.data\n" },
	{ "fold", cmd_fold, "FILE", "print folded stacks, for flamegraph.pl, or a flame graph",
	  "  kprotperf fold --svg a.data > a.svg\n"
	  "  kprotperf fold a.data | flamegraph.pl > a.svg\n" },
	{ "export", cmd_export, "--to=FORMAT FILE", "convert a recording for speedscope or pprof",
	  "  kprotperf export --to=pprof -o a.pb.gz a.data && go tool pprof -top a.pb.gz\n" },
	{ "annotate", cmd_annotate, "FILE FUNC[@FUNCTION]",
	  "show a function's lines and instructions with their cost",
	  "  kprotperf annotate a.data allocate_slab\n"
	  "  kprotperf annotate --source=~/linux a.data shuffle_freelist@allocate_slab\n" },
	{ "merge", cmd_merge, "-o OUT FILE...", "combine recordings of several boots",
	  "  kprotperf merge -o a.data boot1.data boot2.data boot3.data\n" },
	{ "resolve", cmd_resolve, "FILE...", "add names and lines to recordings made elsewhere",
	  "  kprotperf resolve --vmlinux=vmlinux-6.1 a.data\n" },
	{ "exact", cmd_exact, "FILE SYMBOLS COUNTS", "add the lab emulator's counts to a recording",
	  "  scripts/lab run --exact -o a.data -- ./my-test\n" },
	{ "index", cmd_index, "VMLINUX...", "index a kernel's inlined bodies and lines in advance",
	  "  kprotperf index /usr/lib/debug/boot/vmlinux-$(uname -r)\n" },
	{ "list", cmd_list, "[--protections] [GLOB]",
	  "list what can be measured on this kernel, or its protections",
	  "  kprotperf list '*slab*'\n"
	  "  kprotperf list --protections init_on_alloc\n" },
	{ "doctor", cmd_doctor, "", "check what this machine supports and how to enable the rest",
	  "  sudo kprotperf doctor\n" },
};

#define N_COMMANDS ARRAY_SIZE(commands)

static char *command_name(size_t i)
{
	return i < N_COMMANDS ? alloc_strdup(commands[i].name) : NULL;
}

/* The names KNOWN in the arguments of the command `guess NAME KNOWN...`, which scripts/lab uses. */
static char **known;

static char *known_name(size_t i)
{
	return known[i] ? alloc_strdup(known[i]) : NULL;
}

/*
 * Print the difference of two independent estimates, second less first, and its interval, for scripts/lab. The command is
 * "difference VALUE LOW HIGH VALUE LOW HIGH". Return false if an argument is not a number.
 */
static bool print_difference(char **word)
{
	double number[6];
	struct analyze_estimated a, b, difference;

	for (int i = 0; i < 6; i++)
		if (!number_double(word[i], -DBL_MAX, DBL_MAX, &number[i]))
			return false;
	a = (struct analyze_estimated){ number[0], number[1], number[2] };
	b = (struct analyze_estimated){ number[3], number[4], number[5] };
	difference = analyze_estimated_difference(&a, &b);
	printf("%.17g %.17g %.17g\n", difference.value, difference.low, difference.high);
	return true;
}

static void print_help(FILE *out)
{
	fputs("Usage: kprotperf COMMAND [OPTION...] ...\n"
	      "Measure what kernel protections cost, and where.\n\n",
	      out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-8s %-30s  %s\n", commands[i].name, commands[i].args,
			commands[i].help);
	fputs("\nSee kprotperf COMMAND --help for a command's options, --version for the libraries "
	      "built in.\nA first session:\n\n  kprotperf record --func allocate_slab -o a.data -- "
	      "./big-fork\n  kprotperf report a.data\n  kprotperf diff a.data b.data          "
	      "(b.data from the other kernel)\n  kprotperf fold --svg a.data > a.svg\n\nExit "
	      "status: 0 success, 1 failure, 2 usage error, 3 diff --fail-above exceeded; record "
	      "exits\nwith the status of the command that it ran.\n",
	      out);
}

/* The Makefile defines KPROTPERF_BUILT, the versions of libraries and compilers. */
static void print_version(void)
{
	printf("kprotperf " KPROTPERF_VERSION "\n"
	       "data files of version %d\n"
	       "built with " KPROTPERF_BUILT "\n",
	       FILE_VERSION);
}

/* Return whether the kernel is x86-64. On another architecture, this program may run emulated, but cannot read the kernel. */
static bool is_supported(void)
{
	struct utsname host;

	if (uname(&host) || !strcmp(host.machine, ARCH_MACHINE))
		return true;
	log_error("only " ARCH_MACHINE " kernels are supported; this one is %s", host.machine);
	return false;
}

/*
 * Open closed descriptors 0 to 2. Otherwise files opened later would get these numbers, and messages would be written to them. The
 * descriptors allow no reading or writing, and are closed in executed commands.
 */
static void hold_standard_files(void)
{
	int fd;

	do
		fd = open("/", O_PATH | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

/*
 * Catch SIGXFSZ, so that writing beyond ulimit -f returns an error instead of ending the program. If the program ignored the
 * signal, executed commands would ignore it, too.
 */
static void on_too_large(int sig)
{
	(void)sig;
}

static void catch_too_large(void)
{
	if (signal(SIGXFSZ, on_too_large) == SIG_IGN)
		signal(SIGXFSZ, SIG_IGN);
}

/* Exit with CMD_FAILED if some of the output could not be written. */
static void check_output(void)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout) && !close(STDOUT_FILENO))
		return;
	log_error("cannot write the output: %s",
		  errno ? log_strerror(errno) : "not all of it was written");
	fflush(stderr);
	_exit(CMD_FAILED);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	hold_standard_files();
	atexit(check_output);
	/* The width of UTF-8 text in tables depends on the locale. */
	setlocale(LC_CTYPE, "");
	argp_err_exit_status = CMD_USAGE;
	/* End silently if the reader of a pipe ends, as in `kprotperf fold … | head`. */
	signal(SIGPIPE, SIG_DFL);
	catch_too_large();

	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		print_help(stdout);
		return CMD_DONE;
	}
	if (!strcmp(name, "--version")) {
		print_version();
		return CMD_DONE;
	}
	if (!strcmp(name, "guess") && argc > 2) {
		known = argv + 3;
		puts(kernel_name_guess(argv[2], known_name));
		return CMD_DONE;
	}
	if (!strcmp(name, "difference") && argc == 8)
		return print_difference(argv + 2) ? CMD_DONE : CMD_USAGE;
	if (!is_supported())
		return CMD_FAILED;
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(name, commands[i].name)) {
			/* argp's messages begin with argv[0]. */
			argv[1] = alloc_printf("kprotperf %s", name);
			cmd_examples = commands[i].examples;
			return commands[i].run(argc - 1, argv + 1);
		}
	if (*name)
		log_error("unknown command '%s'; see kprotperf --help%s", name,
			  kernel_name_guess(name, command_name));
	else
		print_help(stderr);
	return CMD_USAGE;
}
