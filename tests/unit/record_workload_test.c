// SPDX-License-Identifier: GPL-2.0-or-later
/* Test the parts of record that need no BPF: find and run a command, read its reports, name contexts. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/types.h>

#include "test.h"
#include "base/system/clock.h"
#include "base/system/privileges.h"
#include "base/system/interrupt.h"
#include "fixture_file.h"
#include "kprotperf/engine.h"
#include "profile/profile.h"
#include "record/collect/collect.h"
#include "record/workload.h"

static const struct record_workload_hooks none;

/* Run SCRIPT in a shell. Return a profile with this run. */
static struct profile *run_script(const char *script)
{
	char *const argv[] = { "sh", "-c", (char *)script, NULL };
	struct profile *p = profile_create();
	uint32_t run = profile_run_add(p, PROFILE_RUN_CONTROL);

	assert_int_equal(record_workload_run(p, run, "/bin/sh", argv, &none), 0);
	return p;
}

TEST(finds_programs)
{
	char *found;

	assert_int_equal(record_workload_find("sh", &found), 0);
	assert_int_equal(access(found, X_OK), 0);
	free(found);
	assert_int_equal(record_workload_find("/bin/sh", &found), 0);
	assert_string_equal(found, "/bin/sh");
	free(found);
	assert_int_equal(record_workload_find("/no/such/program", &found), WORKLOAD_NOT_FOUND);
	assert_int_equal(record_workload_find("no-such-program", &found), WORKLOAD_NOT_FOUND);
	assert_int_equal(record_workload_find("", &found), WORKLOAD_NOT_FOUND);
	assert_int_equal(record_workload_find("/etc/passwd", &found), WORKLOAD_NOT_EXECUTABLE);
	assert_int_equal(record_workload_find("/etc", &found), WORKLOAD_NOT_EXECUTABLE);
	assert_null(found);
}

TEST(passes_status_on)
{
	struct profile *p;

	p = run_script("exit 3");
	assert_int_equal(p->runs[0].status, 3);
	profile_destroy(p);
	p = run_script("kill -SEGV $$");
	assert_int_equal(p->runs[0].status, 128 + 11);
	assert_int_equal(p->runs[0].end, PROFILE_END_SIGNAL);
	profile_destroy(p);
}

TEST(hears_reports)
{
	struct profile *p;

	p = run_script(
		"echo 'a iterations=3 mean_ns=5.5 p50_ns=4 min_ns=1 other=x' >&$KPROTPERF_REPORT_FD;"
		"echo 'b iterations=7 mean_ns=9' >&$KPROTPERF_REPORT_FD;"
		"echo 'no figures at all' >&$KPROTPERF_REPORT_FD;"
		"echo >&$KPROTPERF_REPORT_FD");
	assert_int_equal(p->runs[0].n_reports, 2);
	assert_string_equal(p->runs[0].reports[0].name, "a");
	assert_int_equal(p->runs[0].reports[0].iterations, 3);
	assert_true(p->runs[0].reports[0].mean == 5.5);
	assert_true(p->runs[0].reports[0].p50 == 4);
	assert_true(p->runs[0].reports[0].min == 1);
	assert_true(isnan(p->runs[0].reports[1].p50));
	profile_destroy(p);
}

/* Lines that are not reports are mentioned, with the number of the first one; reports beside them are read. */
TEST(says_what_is_no_report)
{
	static const struct {
		const char *script, *said;
		uint32_t n;
	} cases[] = {
		{ "echo 'a mean_ns=12abc' >&$KPROTPERF_REPORT_FD; echo 'b mean_ns=1' >&$KPROTPERF_REPORT_FD",
		  "1 line of the workload's reports ignored, starting with line 1: a value is not a number",
		  1 },
		{ "echo 'a mean_ns=1 p50_ns=1,5' >&$KPROTPERF_REPORT_FD", "a value is not a number",
		  0 },
		{ "echo 'a mean_ns=inf' >&$KPROTPERF_REPORT_FD", "a value is not a number", 0 },
		{ "echo 'a mean_ns=1 iterations=-1' >&$KPROTPERF_REPORT_FD",
		  "a value is not a number", 0 },
		{ "printf 'a mean_ns=1\\0 p50_ns=1\nb mean_ns=1\n' >&$KPROTPERF_REPORT_FD",
		  "contains a NUL", 1 },
		{ "yes 'a mean_ns=1' | head -n 70 >&$KPROTPERF_REPORT_FD",
		  "6 lines of the workload's reports ignored, starting with line 65: only the first 64",
		  64 },
		/* more reports than a pipe can hold */
		{ "yes 'a mean_ns=1' | head -n 20000 >&$KPROTPERF_REPORT_FD",
		  "reports are 240000 bytes long: only the first 64 KiB are read", 64 },
		{ "{ echo a mean_ns=1; printf '%065514d' 0; echo ' mean_ns=123'; } >&$KPROTPERF_REPORT_FD",
		  "reports are 65539 bytes long", 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile *p;
		const char *said;

		listen_start();
		p = run_script(cases[i].script);
		said = listen_end();
		if (!strstr(said, cases[i].said))
			fail_msg("expected '%s', got '%s'", cases[i].said, said);
		assert_int_equal(p->runs[0].status, 0);
		assert_int_equal(p->runs[0].n_reports, cases[i].n);
		profile_destroy(p);
	}
}

/* If stdin and stdout are closed, they are closed in the command, too: reports must not arrive there. */
TEST(reports_are_no_standard_output)
{
	int out = dup(STDOUT_FILENO), in = dup(STDIN_FILENO);
	struct profile *p;

	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	p = run_script("echo 'a mean_ns=1'; echo 'b mean_ns=1' >&$KPROTPERF_REPORT_FD");
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	close(in);
	close(out);
	assert_int_equal(p->runs[0].n_reports, 1);
	assert_string_equal(p->runs[0].reports[0].name, "b");
	profile_destroy(p);
}

static int refuse(void *arg)
{
	(void)arg;
	return -1; /* EPERM */
}

TEST(says_when_it_cannot_start)
{
	static const struct record_workload_hooks refusing = { .prepare = refuse };
	char *const argv[] = { "x", NULL };
	struct profile *p = profile_create();
	uint32_t run = profile_run_add(p, PROFILE_RUN_CONTROL);

	assert_int_equal(record_workload_run(p, run, "/no/such/program", argv, &none), -2);
	assert_int_equal(record_workload_run(p, run, "/bin/true", argv, &refusing), -1);
	profile_destroy(p);
}

static void count(void *arg)
{
	++*(int *)arg;
}

TEST(looks_while_it_waits)
{
	int looks = 0;
	const struct record_workload_hooks hooks = { .look = count, .look_ms = 20, .arg = &looks };
	char *const argv[] = { "sh", "-c", "sleep 0.5; exit 3", NULL };
	struct profile *p = profile_create();
	uint32_t run = profile_run_add(p, PROFILE_RUN_CONTROL);

	assert_int_equal(record_workload_run(p, run, "/bin/sh", argv, &hooks), 0);
	assert_int_equal(p->runs[run].status, 3);
	assert_true(p->runs[run].wall >= 500000000);
	/* On an idle machine look() is called 24 times. On a busy machine the command sleeps longer, or calls are late. */
	assert_in_range(looks, 2, p->runs[run].wall / 20000000 + 1);
	profile_destroy(p);
}

static void take(void *fd)
{
	char byte;

	assert_int_equal(read(*(int *)fd, &byte, 1), 1);
}

TEST(looks_when_there_is_input)
{
	char *const argv[] = { "sh", "-c", "sleep 0.2", NULL };
	struct profile *p = profile_create();
	struct record_workload_hooks hooks = { .look = take, .look_ms = 100000 };
	int fds[2], left;

	assert_int_equal(pipe(fds), 0);
	hooks.arg = fds;
	hooks.look_fd = fds[0];
	assert_int_equal(write(fds[1], "ab", 2), 2);
	assert_int_equal(record_workload_run(p, profile_run_add(p, PROFILE_RUN_CONTROL), "/bin/sh",
					     argv, &hooks),
			 0);
	assert_int_equal(ioctl(fds[0], FIONREAD, &left), 0);
	assert_int_equal(left, 0);
	close(fds[0]);
	close(fds[1]);
	profile_destroy(p);
}

static int run_limited(const char *script, uint64_t *wall)
{
	const struct record_workload_hooks hooks = { .limit = 300000000 };
	char *const argv[] = { "sh", "-c", (char *)script, NULL };
	struct profile *p = profile_create();
	uint32_t run = profile_run_add(p, PROFILE_RUN_CONTROL);
	int status;

	assert_int_equal(record_workload_run(p, run, "/bin/sh", argv, &hooks), 0);
	status = p->runs[run].status;
	*wall = p->runs[run].wall;
	profile_destroy(p);
	return status;
}

/* At the limit, the command gets SIGTERM, which it may handle. */
TEST(ends_at_the_limit)
{
	const struct record_workload_hooks hooks = { .limit = 200000000 };
	uint64_t wall, start;

	assert_int_equal(run_limited("exec sleep 60", &wall), 0);
	assert_in_range(wall, 300000000, 30000000000);
	assert_int_equal(run_limited("trap 'exit 9' TERM; sleep 2 & wait", &wall), 9);
	assert_in_range(wall, 300000000, 30000000000);
	assert_int_equal(run_limited("trap '' TERM; sleep 1; exit 7", &wall), 7);
	assert_true(wall >= 1000000000);
	/* The command ends before the limit. */
	assert_int_equal(run_limited("exit 3", &wall), 3);
	assert_int_equal(run_limited("kill -TERM $$", &wall), 128 + SIGTERM);
	start = clock_ns();
	assert_int_equal(record_workload_wait(getpid(), &hooks), 0);
	assert_in_range(clock_ns() - start, 200000000, 30000000000);
}

/* Run FN in another process, because a process remembers interrupts. Return its result. */
static int in_child(int (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		_exit(fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Results of status_with(): the command's status, 250 if the command was not run, or GOES_ON. */
#define GOES_ON 253 /* SIGINT ended the recording */

static int status_with(const char *script, const struct record_workload_hooks *hooks)
{
	char *const argv[] = { "sh", "-c", (char *)script, NULL };
	struct profile *p = profile_create();
	uint32_t run = profile_run_add(p, PROFILE_RUN_CONTROL);
	int err = record_workload_run(p, run, "/bin/sh", argv, hooks);
	int status = err == -EINTR ? 250 : p->runs[run].status;

	if (p->runs[run].end == PROFILE_END_NONE && status == 128 + SIGINT)
		status = GOES_ON;
	profile_destroy(p);
	return status;
}

static int status_of(const char *script)
{
	return status_with(script, &none);
}

/* Catch signals as a program started by hand. Shells start programs in the background with SIGINT ignored. */
static void catch_signals(void)
{
	signal(SIGINT, SIG_DFL);
	interrupt_catch();
}

static int interrupted_before(void)
{
	catch_signals();
	raise(SIGTERM);
	return status_of("exit 7");
}

static int terminate_parent(void *arg)
{
	(void)arg;
	return kill(getppid(), SIGTERM);
}

/* Send SIGTERM to the recorder after its last check for signals, before the command is executed. */
static int interrupted_at_start(void)
{
	static const struct record_workload_hooks terminating = { .prepare = terminate_parent };

	catch_signals();
	return status_with("sleep 20; exit 7", &terminating);
}

static bool is_pending(pid_t pid)
{
	scoped_free char *status = alloc_printf("/proc/%d/status", pid);
	FILE *f = fopen(status, "r");
	unsigned long long mask = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "ShdPnd: %llx", &mask) == 1)
			break;
	if (f)
		fclose(f);
	return mask & 1ULL << (SIGINT - 1);
}

/* Send SIGINT to this process TIMES times, at least 0.3 s apart, because two pending signals become one. */
static void interrupt_after_a_while(int times)
{
	pid_t parent = getpid();

	if (fork())
		return;
	while (times--) {
		usleep(300000);
		while (is_pending(parent))
			usleep(10000);
		kill(parent, SIGINT);
	}
	_exit(0);
}

static int interrupted_twice(void)
{
	catch_signals();
	interrupt_after_a_while(2);
	return status_of("trap '' INT; sleep 20; exit 7");
}

static int interrupted_once(void)
{
	catch_signals();
	interrupt_after_a_while(1);
	return status_of("trap '' INT; sleep 1; exit 7");
}

static int hung_up(void)
{
	signal(SIGHUP, SIG_IGN);
	interrupt_catch();
	raise(SIGHUP);
	return interrupt_signal() ? 251 : status_of("kill -HUP $$; exit 7");
}

TEST(signals_end_it)
{
	assert_int_equal(in_child(interrupted_before), 250);
	assert_int_equal(in_child(interrupted_at_start), 128 + SIGTERM);
	assert_int_equal(in_child(interrupted_twice), GOES_ON);
	assert_int_equal(in_child(interrupted_once), 7);
	assert_int_equal(in_child(hung_up), 7);
}

TEST(runs_as_another_user)
{
	const struct invoker nobody = { 65534, 65533 };
	const struct record_workload_hooks hooks = { .user = &nobody };
	char *const argv[] = {
		"sh", "-c",
		"test \"$(id -u) $(id -g) $(id -G)\" = '65534 65533 65533' && "
		"grep -q '^CapEff:.0*$' /proc/self/status && "
		"test \"$LOGNAME $HOME\" = \"$(getent passwd 65534 | cut -d: -f1,6 | tr : ' ')\"",
		NULL
	};
	struct profile *p = profile_create();
	uint32_t run = profile_run_add(p, PROFILE_RUN_CONTROL);

	if (!geteuid()) {
		assert_int_equal(record_workload_run(p, run, "/bin/sh", argv, &hooks), 0);
		assert_int_equal(p->runs[run].status, 0);
	}
	/* The variable must not remain here, although the child shares this process's memory until it executes the command. */
	assert_null(getenv("KPROTPERF_REPORT_FD"));
	profile_destroy(p);
}

static int without_capabilities(void)
{
	return capabilities_keep(1ull << CAP_KILL, 1ull << CAP_KILL) ||
	       status_of("test $(grep -c '^Cap[PE].*0000000020$' /proc/$PPID/status) = 2");
}

TEST(gives_capabilities_up)
{
	if (!geteuid())
		assert_int_equal(in_child(without_capabilities), 0);
}

static void check_name(uint32_t ctx, const char *expected)
{
	char *name = record_context_name(ctx);

	assert_string_equal(name, expected);
	free(name);
}

TEST(names_contexts)
{
	check_name(56, "clone");
	check_name(435, "clone3");
	check_name(ENGINE_CTX_COMPAT + 120, "compat:clone");
	check_name(ENGINE_SYSCALLS - 1, "syscall_511");
	check_name(ENGINE_CTX_NONE, profile_context_name(PROFILE_CONTEXT_NONE));
	check_name(ENGINE_CTX_PAGE_FAULT, profile_context_name(PROFILE_CONTEXT_PAGE_FAULT));
	check_name(ENGINE_CTX_IRQ, profile_context_name(PROFILE_CONTEXT_IRQ));
}

TEST(selects_contexts)
{
	static const struct {
		const char *name, *guess;
	} wrong[] = { { "opneat", "; did you mean 'openat'?" },
		      { "compat:getpit", "; did you mean 'compat:getpid'?" },
		      { "clone5", "; did you mean 'clone'?" },
		      { "no_such_thing", "" },
		      { "[page_fault]", "" },
		      { "", "" } };
	bool *left_out = NULL;
	char *guess;
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_false(record_context_keep(&left_out, wrong[i].name, &guess));
		assert_string_equal(guess, wrong[i].guess);
		free(guess);
	}
	assert_null(left_out);
	assert_true(record_context_keep(&left_out, "clone", &guess));
	assert_true(record_context_keep(&left_out, "compat:getpid", &guess));
	for (uint32_t i = 0; i < ENGINE_CONTEXTS; i++)
		n += !left_out[i];
	assert_int_equal(n, 2);
	assert_false(left_out[56] || left_out[ENGINE_CTX_COMPAT + 20]);
	free(left_out);
}

RUN_TESTS(NULL, NULL)
