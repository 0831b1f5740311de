// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run a program of system calls, which is given as text (calls/program.h).
 *
 * Each program runs in its own process, in an empty folder. If its calls may mount file systems or make IPC objects, and the user
 * is root, it also has its own namespaces for these; if they may make keys, its own session keyring. Keys in the user's keyrings,
 * TCP connections in the state TIME_WAIT, and changes of files elsewhere stay.
 *
 * With --serve, a plugin of QEMU (emulator/explore) gives one program after the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls/program.h"
#include "common.h"
#include "kprotperf/mark.h"

#define LIMIT_USEC 100000 /* for a program */

/* Memory that this process shares with those of programs. */
static struct shared {
	char text[CALLS_TEXT];
	struct calls_outcome outcome;
	int64_t ignored;
	char arena[PROGRAM_ARENA] __attribute__((aligned(WORKLOAD_PAGE)));
} * shared;

static struct program program;

static struct workload w = {
	.name = "calls",
	.timed =
		"the program of system calls in FILE (-: standard input) in a process of its own.\n"
		"With --check FILE, only reports errors in FILE's programs, separated by lines ---",
	.iterations = 1,
};
static char folder[PATH_MAX];
static bool serves;
static volatile pid_t running;
static volatile sig_atomic_t late;

/* --- execution ------------------------------------------------------------------------------------ */

/* Make a system call. Functions of libc could cause page faults. */
static inline long call(long number, const uint64_t *args)
{
	register uint64_t r10 __asm__("r10");
	register uint64_t r8 __asm__("r8");
	register uint64_t r9 __asm__("r9");

	r10 = args[3];
	r8 = args[4];
	r9 = args[5];
	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(args[0]), "S"(args[1]), "d"(args[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return number;
}

/* Fork a process that ends at once, and wait for it. */
static long call_fork(const uint64_t *args)
{
	uint64_t wait[PROGRAM_ARGS] = { 0 };
	long child = call(SYS_fork, args);

	if (!child)
		call(SYS_exit_group, wait);
	wait[0] = (uint64_t)child;
	if (child > 0)
		call(SYS_wait4, wait);
	return child;
}

/* Execute a command line, and wait for its end. It has no limits, and prints nothing if the emulator serves programs. */
static long call_shell(const char *command)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	int status = 0;
	pid_t child = fork();

	if (!child) {
		setrlimit(RLIMIT_AS, &none);
		setrlimit(RLIMIT_FSIZE, &none);
		if (serves) {
			/* Carrying its output to the host would count as its cost. */
			dup2(STDIN_FILENO, STDOUT_FILENO);
			dup2(STDIN_FILENO, STDERR_FILENO);
		}
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return -errno;
	return status ? -ECANCELED : 0;
}

static long call_line(const struct line *line)
{
	if (line->number == PROGRAM_SHELL)
		return call_shell(line->memory);
	if (line->number == SYS_fork)
		return call_fork(line->args);
	return call(line->number, line->args);
}

static inline void copy_references(const struct line *line, uint32_t k)
{
	for (uint32_t i = 0; i < line->n_references; i++) {
		const struct reference *ref = &line->references[i];
		uint32_t j = k % ref->line->count;
		uint64_t value = ref->word < 0 ? (uint64_t)ref->line->results[j] :
						 ref->line->words[j][ref->word];

		for (uint64_t byte = 0; byte < ref->bytes; byte++)
			ref->to[byte] = (char)(value >> 8 * byte);
	}
}

/* Make the calls of line I, counted from 0. */
static void run_line(const struct line *line, uint32_t i)
{
	struct calls_outcome *outcome = &shared->outcome;

	for (uint32_t k = 0; k < line->count; k++) {
		long result;

		copy_references(line, k);
		result = call_line(line);
		line->results[k] = result;
		if (line->memory)
			memcpy(line->words[k], line->memory, sizeof(line->words[k]));
		if (result < 0 && result > -4096) {
			outcome->lines[i].failed++;
			outcome->lines[i].error = (int32_t)-result;
		}
	}
}

static void mark_step(uint64_t step)
{
	__asm__ volatile("jmp 1f\n1: .byte " MARK_TEXT(MARK_STEP) : : "D"(step) : "memory");
}

/*
 * Run the program in this process, and end it. Before the first line, read each page of memory that the lines use, and run a line
 * that has no effect, so that they cause no page faults.
 */
static _Noreturn void run_child(void)
{
	uint64_t none[PROGRAM_ARGS] = { 0 };
	const struct line nothing = {
		.number = SYS_getpid, .count = 1, .args = none, .results = &shared->ignored
	};
	const volatile char *page = (const volatile char *)shared;

	setpgid(0, 0);
	signal(SIGALRM, SIG_DFL);
	close_range(3, ~0U, 0);
	if (program.namespaces && !unshare(program.namespaces) &&
	    (program.namespaces & CLONE_NEWNS))
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	if (program.uses_keys)
		syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	for (size_t at = 0; at < offsetof(struct shared, arena) + program.used; at += WORKLOAD_PAGE)
		(void)page[at];
	run_line(&nothing, 0);
	for (uint32_t i = 0; i < program.n; i++) {
		mark_step(i + 1);
		run_line(&program.lines[i], i);
	}
	mark_step(program.n + 1);
	for (;;)
		call(SYS_exit_group, none);
}

/* The timer is this process's, so that a program cannot stop it. */
static void end_late(int sig)
{
	late = sig;
	if (running > 0)
		kill(running, SIGKILL);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	if (at->level)
		remove(path);
	return 0;
}

static void empty_folder(void)
{
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void remove_folder(void)
{
	empty_folder();
	rmdir(folder);
}

/* Run the program in a process of its own, wait for its end, and add its failures to the outcome. Return the time in ns. */
static uint64_t run_program(void)
{
	const struct itimerval longest = { .it_value.tv_usec = LIMIT_USEC }, none = { 0 };
	struct calls_outcome *outcome = &shared->outcome;
	uint64_t start;
	int status;

	late = 0;
	setitimer(ITIMER_REAL, program.has_shell ? &none : &longest, NULL);
	start = workload_now();
	running = fork();
	if (!running)
		run_child();
	if (running < 0)
		workload_fail(&w, errno, "fork");
	while (waitpid(running, &status, 0) < 0 && errno == EINTR)
		;
	start = workload_now() - start;
	mark_step(0);
	setitimer(ITIMER_REAL, &none, NULL);
	kill(-running, SIGKILL);
	outcome->n = program.n;
	outcome->state = WIFSIGNALED(status) ? CALLS_KILLED : CALLS_RAN;
	outcome->signal = !WIFSIGNALED(status) ? 0 : late ? SIGALRM : (uint32_t)WTERMSIG(status);
	empty_folder();
	/* The kernel destroys namespaces in another thread. Let it end before the next program begins. */
	if (program.namespaces)
		usleep(10000);
	return start;
}

/* Set a limit to VALUE, or to the maximum that this process may set. */
static void limit(int resource, rlim_t value)
{
	struct rlimit both = { value, value };

	if (!setrlimit(resource, &both) || getrlimit(resource, &both))
		return;
	both.rlim_cur = both.rlim_max < value ? both.rlim_max : value;
	setrlimit(resource, &both);
}

/* Prepare what the programs' processes inherit. */
static void prepare(void)
{
	const struct sigaction action = { .sa_handler = end_late };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		workload_fail(&w, errno, "/dev/null");
	snprintf(folder, sizeof(folder), "%s/calls.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	if (!mkdtemp(folder) || chdir(folder))
		workload_fail(&w, errno, "cannot make a folder %s", folder);
	atexit(remove_folder);
	sigaction(SIGALRM, &action, NULL);
	limit(RLIMIT_NOFILE, 65536);
	limit(RLIMIT_FSIZE, 64 << 20);
	limit(RLIMIT_CORE, 0);
#ifndef __SANITIZE_ADDRESS__
	limit(RLIMIT_AS, 512 << 20);
#endif
}

/* --- commands ------------------------------------------------------------------------------------- */

/* Return the text of the file. The process never frees it. */
static char *read_file(const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *text = NULL;
	size_t size = 0;

	if (!file || (getdelim(&text, &size, '\0', file) < 0 && ferror(file)))
		workload_fail(&w, errno, "cannot read %s", path);
	return text ?: "";
}

/* Read each program in the file, and print its error. Return the exit status. */
static int check(const char *path)
{
	char *at = read_file(path), *next;
	int status = 0;

	for (unsigned int n = 1; at; at = next, n++) {
		next = strstr(at, "---\n");
		if (next) {
			*next = '\0';
			next += 4;
		}
		if (program_read(&program, at))
			continue;
		fprintf(stderr, "calls: %s: program %u: %s\n", path, n, program.error);
		status = 1;
	}
	return status;
}

/* Run the programs that the emulator's plugin writes into the shared text. Return the exit status. */
static int serve(void)
{
	for (uint64_t served = 0;; served++) {
		*shared->text = '\0';
		__asm__ volatile("jmp 1f\n1: .byte " MARK_TEXT(MARK_NEXT)
				 :
				 : "D"(shared->text), "S"(&shared->outcome)
				 : "memory");
		if (!*shared->text && !served)
			workload_fail(&w, 0, "nothing was served: run it by scripts/lab explore");
		if (!*shared->text)
			return 0;
		shared->outcome = (struct calls_outcome){ .state = CALLS_INVALID };
		if (program_read(&program, shared->text))
			run_program();
	}
}

/* Return the name of an error, or its number: some errors that reach user space have no name there. */
static const char *error_name(int error)
{
	static char digits[24];

	snprintf(digits, sizeof(digits), "error %d", error);
	return strerrorname_np(error) ?: digits;
}

/* Return the name of a signal, without SIG, or its number: real-time signals have no names. */
static const char *signal_name(int signal)
{
	static char digits[24];

	snprintf(digits, sizeof(digits), "%d", signal);
	return sigabbrev_np(signal) ?: digits;
}

/* Run the program in the file, in each iteration with its memory as at first. Print times and failures. */
static void run(const char *path)
{
	uint64_t *times = workload_times(&w), killed = 0;
	uint32_t signal = 0;
	const char *text = read_file(path);
	struct calls_outcome *outcome = &shared->outcome;

	for (uint64_t i = 0; i < w.iterations; i++) {
		if (!program_read(&program, text))
			workload_fail(&w, 0, "%s: %s", path, program.error);
		if (!i)
			prepare();
		times[i] = run_program();
		if (outcome->state == CALLS_KILLED) {
			killed++;
			signal = outcome->signal;
		}
	}
	workload_report(&w, times, NULL);
	for (uint32_t i = 0; i < program.n; i++)
		if (outcome->lines[i].failed)
			fprintf(stderr, "calls: line %u: %s: %s %u of %llu times\n", i + 1,
				program.lines[i].name, error_name(outcome->lines[i].error),
				outcome->lines[i].failed,
				(unsigned long long)(program.lines[i].count * w.iterations));
	if (killed)
		fprintf(stderr, "calls: SIG%s ended the program %llu of %llu times%s\n",
			signal_name((int)signal), (unsigned long long)killed,
			(unsigned long long)w.iterations,
			signal == SIGALRM ? " (it took 100 ms)" : "");
}

int main(int argc, char **argv)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		workload_fail(&w, errno, "cannot map memory");
	memset(shared, 0, offsetof(struct shared, arena));
	program.arena = shared->arena;
	if (argc == 3 && !strcmp(argv[1], "--check"))
		return check(argv[2]);
	serves = argc == 2 && !strcmp(argv[1], "--serve");
	if (serves) {
		prepare();
		return serve();
	}
	run(workload_init_operand(&w, argc, argv, "FILE"));
	return 0;
}
