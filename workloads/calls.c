// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program of system calls, given as text. Each line is a call: NAME ARGUMENT... [x COUNT]. Arguments are:
 *
 *	-100			an integer, as in C
 *	$1			the result of line 1; in repetition k, the result of its repetition k modulo its count
 *	$1.2			the third 32-bit word, of four, at the first address among the arguments of line 1, after the call
 *	*4096			the address of 4096 bytes for this line alone, which are 0 at first
 *	"text"			the address of a string. Escapes are \" \\ and \xNN.
 *	[7:2 $1:4 "a":6 5]	the address of a structure, without padding. Items have 8 bytes, or 1, 2 or 4 after a colon. A text
 *				with a size is part of the structure; without a size, it is an address.
 *
 * Each program runs in its own process, in an empty folder, and in its own mount and IPC namespaces if it may use them (if the user
 * may make these). A program's keys in keyrings of the user, and changes of files elsewhere, stay.
 *
 * With --serve, a plugin of QEMU (emulator/explore) gives one program after the other.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <seccomp.h>
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

#include "common.h"
#include "kprotperf/calls.h"
#include "kprotperf/mark.h"

#define ARGS_MAX       6
#define COUNT_MAX      4096
#define MEMORY_MAX     (1 << 20) /* bytes of one argument */
#define STRUCTURE_MAX  1024
#define REFERENCES_MAX 32
#define WORDS          4
#define LIMIT_USEC     100000 /* for a program */

/* A value that is copied to TO before each call. */
struct reference {
	char *to;
	uint64_t bytes;
	const struct line *line;
	int64_t word; /* -1: the result */
};

struct line {
	char name[32];
	long number;
	uint32_t count, n_args, n_references;
	struct reference references[REFERENCES_MAX];
	uint64_t *args;
	int64_t *results; /* of all repetitions */
	char *memory; /* first address among the arguments, or NULL */
	uint32_t (*words)[WORDS]; /* of all repetitions */
};

/* Memory that this process shares with those of programs. */
static struct shared {
	char text[CALLS_TEXT];
	struct calls_outcome outcome;
	int64_t ignored;
	char arena[64 << 20] __attribute__((aligned(WORKLOAD_PAGE)));
} * shared;

static struct program {
	struct line lines[CALLS_LINES];
	uint32_t n;
	int namespaces; /* flags of unshare() */
	size_t used; /* bytes of the arena */
	const char *at; /* position in the text */
	char error[160];
} program;

static struct workload w = {
	.name = "calls",
	.timed =
		"the program of system calls in FILE (-: standard input) in a process of its own.\n"
		"With --check FILE, only reports errors in FILE's programs, separated by lines ---",
	.iterations = 1,
};
static char folder[] = "/tmp/calls.XXXXXX";
static volatile pid_t running;
static volatile sig_atomic_t late;

/* --- reading a program --------------------------------------------------------------------------- */

/* Store the error "line N: 'WORD' REASON" unless there is an error. Return false. */
static bool refuse(const char *word, const char *reason)
{
	int n = strchr("\n", *word) ? 0 : 1 + (int)strcspn(word + 1, " \n]");

	if (!*program.error)
		snprintf(program.error, sizeof(program.error), "line %u: '%.*s' %s", program.n + 1,
			 n > 40 ? 40 : n, word, reason);
	return false;
}

static bool is_end(void)
{
	program.at += strspn(program.at, " ");
	return strchr("\n", *program.at);
}

/* Return SIZE bytes of the arena, which are 0, or NULL. Memory of at least a page begins with a page. */
static void *allocate(size_t size)
{
	size_t align = size < WORKLOAD_PAGE ? 16 : WORKLOAD_PAGE;
	size_t begin = (program.used + align - 1) / align * align;

	if (begin + size > sizeof(shared->arena))
		return refuse(program.at, "is beyond the 64 MiB of memory for a program"), NULL;
	program.used = begin + size;
	return shared->arena + begin;
}

/* Read the digits at program.at as an integer from 1 to MAX. Return 0 if there is none. */
static uint64_t read_number(int base, uint64_t max)
{
	uint64_t value;
	char *end;

	if (!isdigit(*program.at))
		return 0;
	value = strtoull(program.at, &end, base);
	program.at = end;
	return value <= max ? value : 0;
}

/* Copy the text that begins with a quote at program.at to TO, at most SIZE bytes. */
static bool read_text(char *to, size_t size)
{
	const char *begin = program.at++;
	char digits[3] = { 0 };

	for (; *program.at != '"'; size--) {
		if (!size || strchr("\n", *program.at))
			return refuse(begin, *program.at && *program.at != '\n' ? "is too long" :
										  "has no end");
		*to++ = *program.at++;
		if (to[-1] != '\\')
			continue;
		to[-1] = *program.at++;
		if (to[-1] == 'x' && isxdigit(program.at[0]) && isxdigit(program.at[1])) {
			memcpy(digits, program.at, 2);
			program.at += 2;
			to[-1] = (char)strtoul(digits, NULL, 16);
		} else if (to[-1] != '"' && to[-1] != '\\') {
			return refuse(begin, "has an escape other than \\\" \\\\ \\xNN");
		}
	}
	program.at++;
	return true;
}

/* Read the reference at program.at, whose value belongs to TO. */
static bool read_reference(struct line *line, char *to)
{
	struct reference *ref = &line->references[line->n_references];
	const char *begin = program.at++;
	uint64_t from = read_number(10, program.n), word = 0;

	if (line->n_references++ == REFERENCES_MAX)
		return refuse(begin, "is beyond the 32 references of a line");
	if (!from)
		return refuse(begin, "refers to no earlier line");
	*ref = (struct reference){ to, 8, &program.lines[from - 1], -1 };
	if (*program.at == '.') {
		program.at++;
		word = (uint64_t)*program.at - '0';
		program.at += word < WORDS;
		ref->word = (int64_t)word;
	}
	if (word >= WORDS)
		return refuse(begin, "refers to none of the words 0 to 3");
	return ref->word < 0 || ref->line->memory ||
	       refuse(begin, "refers to a line without an address");
}

static bool read_value(struct line *line, char *to);

/* Read the item at program.at into TO, of which SIZE bytes are left. Return its size, or 0. */
static size_t read_item(struct line *line, char *to, size_t size)
{
	const char *begin = program.at;
	bool is_text = *begin == '"';
	size_t bytes = 8;

	if (is_text && !read_text(to, size))
		return 0;
	if (is_text && *program.at != ':') {
		memset(to, 0, (size_t)(program.at - begin));
		program.at = begin;
		is_text = false;
	}
	if (!is_text && (size < 8 ? !refuse(begin, "is too long") : !read_value(line, to)))
		return 0;
	if (*program.at == ':') {
		begin = program.at++;
		bytes = read_number(10, is_text ? size : 4);
		if (!bytes || (!is_text && bytes == 3))
			return refuse(begin, "is no size for this item"), 0;
		if (line->n_references && line->references[line->n_references - 1].to == to)
			line->references[line->n_references - 1].bytes = bytes;
		memset(to + bytes, 0, size - bytes);
	}
	return bytes;
}

static char *read_structure(struct line *line)
{
	const char *begin = program.at++;
	char *memory = allocate(STRUCTURE_MAX);
	size_t n = 0, bytes;

	while (memory && !is_end() && *program.at != ']') {
		bytes = read_item(line, memory + n, STRUCTURE_MAX - n);
		if (!bytes || (!strchr(" \n]", *program.at) && !refuse(program.at, "is too much")))
			return NULL;
		n += bytes;
	}
	if (memory && *program.at++ != ']')
		return refuse(begin, "has no end"), NULL;
	return memory;
}

/* Read the memory, text or structure at program.at. Return its address, or NULL. */
static char *read_memory(struct line *line)
{
	const char *begin = program.at;
	size_t size = strcspn(begin, "\n");
	char *memory;

	if (*begin == '[')
		return read_structure(line);
	if (*begin == '"') {
		memory = allocate(size);
		return memory && read_text(memory, size - 1) ? memory : NULL;
	}
	program.at++;
	size = read_number(0, MEMORY_MAX);
	return size ? allocate(size) : (refuse(begin, "is not memory of 1 to 1048576 bytes"), NULL);
}

/* Read the argument at program.at into the 8 bytes TO. */
static bool read_value(struct line *line, char *to)
{
	const char *begin = program.at;
	uint64_t value;
	char *end;

	if (*begin == '$')
		return read_reference(line, to);
	if (strchr("*\"[", *begin)) {
		value = (uint64_t)read_memory(line);
		memcpy(to, &value, sizeof(value));
		return value;
	}
	errno = 0;
	value = strtoull(begin, &end, 0);
	if (!isdigit(begin[*begin == '-']) || errno || !strchr(" \n]:", *end))
		return refuse(begin, "is no argument");
	program.at = end;
	memcpy(to, &value, sizeof(value));
	return true;
}

/* Read the name at program.at, and find the system call's number. */
static bool read_name(struct line *line)
{
	/* These end or replace the process, or harm other processes. */
	static const char refused[] =
		" exit exit_group execve execveat clone clone3 vfork rt_sigreturn kill reboot kexec_load "
		"kexec_file_load init_module finit_module delete_module iopl ioperm swapon swapoff acct "
		"settimeofday clock_settime clock_adjtime adjtimex pivot_root ";
	const char *begin = program.at;
	char spaced[sizeof(line->name) + 2];
	size_t n = strcspn(begin, " \n");

	snprintf(line->name, sizeof(line->name), "%.*s", (int)n, begin);
	snprintf(spaced, sizeof(spaced), " %s ", line->name);
	program.at += n;
	if (strstr(refused, spaced))
		return refuse(begin, "is not allowed");
	line->number = seccomp_syscall_resolve_name(line->name);
	if (n >= sizeof(line->name) || line->number < 0)
		return refuse(begin, "is no system call");
	if (strstr(line->name, "mount") || strstr(line->name, "open_tree"))
		program.namespaces |= CLONE_NEWNS;
	snprintf(spaced, sizeof(spaced), "%.3s", line->name);
	if (strstr("msg sem shm mq_", spaced))
		program.namespaces |= CLONE_NEWIPC;
	return true;
}

/* Read the line at program.at. */
static bool read_line(struct line *line)
{
	const char *begin;

	*line = (struct line){ .count = 1, .args = allocate(ARGS_MAX * sizeof(*line->args)) };
	if (!line->args || !read_name(line))
		return false;
	while (!is_end() && strncmp(program.at, "x ", 2)) {
		char *arg = (char *)&line->args[line->n_args++], kind = *program.at;

		if (line->n_args > ARGS_MAX)
			return refuse(program.at, "is beyond the 6 arguments of a call");
		if (!read_value(line, arg))
			return false;
		if (!strchr(" \n", *program.at))
			return refuse(program.at, "is too much");
		if (!line->memory && strchr("*\"[", kind))
			line->memory = (char *)line->args[line->n_args - 1];
	}
	if (!is_end()) {
		program.at += 2;
		begin = program.at += strspn(program.at, " ");
		line->count = (uint32_t)read_number(10, COUNT_MAX);
		if (!line->count || !is_end())
			return refuse(begin, "is no count from 1 to 4096 at the end of a line");
	}
	line->results = allocate(line->count * sizeof(*line->results));
	line->words = allocate(line->count * sizeof(*line->words));
	return line->results && line->words;
}

/* Read TEXT into PROGRAM. If it is invalid, return false, and set program.error. */
static bool read_program(const char *text)
{
	memset(shared->arena, 0, program.used);
	program.used = 0;
	program.n = 0;
	program.namespaces = 0;
	*program.error = '\0';
	for (program.at = text; program.at += strspn(program.at, " \n"), *program.at;) {
		if (*program.at == '#') {
			program.at += strcspn(program.at, "\n");
			continue;
		}
		if (program.n == CALLS_LINES)
			return refuse(program.at, "is beyond the 8 lines of a program");
		if (!read_line(&program.lines[program.n]))
			return false;
		program.n++;
	}
	return program.n || refuse(text, "has no call");
}

/* --- running it ----------------------------------------------------------------------------------- */

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
	uint64_t wait[ARGS_MAX] = { 0 };
	long child = call(SYS_fork, args);

	if (!child)
		call(SYS_exit_group, wait);
	wait[0] = (uint64_t)child;
	if (child > 0)
		call(SYS_wait4, wait);
	return child;
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
		result = line->number == SYS_fork ? call_fork(line->args) :
						    call(line->number, line->args);
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
	uint64_t none[ARGS_MAX] = { 0 };
	const struct line nothing = {
		.number = SYS_getpid, .count = 1, .args = none, .results = &shared->ignored
	};
	const volatile char *page = (const volatile char *)shared;

	setpgid(0, 0);
	close_range(3, ~0U, 0);
	if (program.namespaces && !unshare(program.namespaces) &&
	    (program.namespaces & CLONE_NEWNS))
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
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
	const struct itimerval limit = { .it_value.tv_usec = LIMIT_USEC }, none = { 0 };
	struct calls_outcome *outcome = &shared->outcome;
	uint64_t start;
	int status;

	late = 0;
	setitimer(ITIMER_REAL, &limit, NULL);
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
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		workload_fail(&w, errno, "/dev/null");
	if (!mkdtemp(folder) || chdir(folder))
		workload_fail(&w, errno, "cannot make a folder in /tmp");
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
		if (read_program(at))
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
		if (read_program(shared->text))
			run_program();
	}
}

/* Run the program in the file, in each iteration with its memory as at first. Print times and failures. */
static void run(const char *path)
{
	uint64_t *times = workload_times(&w), killed = 0;
	uint32_t signal = 0;
	const char *text = read_file(path);
	struct calls_outcome *outcome = &shared->outcome;

	for (uint64_t i = 0; i < w.iterations; i++) {
		if (!read_program(text))
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
				program.lines[i].name,
				strerrorname_np(outcome->lines[i].error) ?: "unknown error",
				outcome->lines[i].failed,
				(unsigned long long)(program.lines[i].count * w.iterations));
	if (killed)
		fprintf(stderr, "calls: SIG%s ended the program %llu of %llu times%s\n",
			sigabbrev_np((int)signal) ?: "?", (unsigned long long)killed,
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
	if (argc == 3 && !strcmp(argv[1], "--check"))
		return check(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "--serve")) {
		prepare();
		return serve();
	}
	run(workload_init_operand(&w, argc, argv, "FILE"));
	return 0;
}
