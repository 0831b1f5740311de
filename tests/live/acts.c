// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Workloads ("acts") of the live tests. Each act does known things a known number of times, and prints facts that only the
 * process itself can know. Usage: `acts ACT [N]`, or `acts ACT N ACT N` for several acts in turn.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void die(const char *what)
{
	perror(what);
	_exit(99);
}

static void check(int ok, const char *what)
{
	if (!ok)
		die(what);
}

static void sleep_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/* Wait for N children, and check that each ends with EXPECTED, a status of waitpid(). */
static void reap(int n, int expected)
{
	int status;

	for (int i = 0; i < n; i++)
		check(wait(&status) > 0 && status == expected, "child");
}

/* Fork N children, one after the other. */
static void forks(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		check(pid >= 0, "fork");
		if (!pid)
			_exit(0);
		reap(1, 0);
	}
}

/* Fork from a function with a frame pointer; functions of the C library have none. */
static inline __attribute__((always_inline)) long raw_fork(void)
{
	long pid = SYS_clone;

	__asm__ volatile("syscall"
			 : "+a"(pid)
			 : "D"((long)SIGCHLD), "S"(0L), "d"(0L)
			 : "rcx", "r11", "r8", "r10", "memory");
	return pid;
}

/* These nested functions make a known stack. The code after each call keeps the compiler from turning the call into a jump. */
__attribute__((noinline)) static void nested_inner(void)
{
	long pid = raw_fork();

	check(pid >= 0, "clone");
	if (!pid)
		_exit(0);
	reap(1, 0);
}

__attribute__((noinline)) static void nested_spin(void)
{
	for (volatile int i = 0; i < 20000000; i++)
		;
	__asm__ volatile("");
}

static void nested(int n)
{
	for (int i = 0; i < n; i++)
		nested_inner();
	nested_spin();
	__asm__ volatile("");
}

/* Run N children at once, each of which calls getppid() ten times. */
static void crowd(int n)
{
	int gate[2];
	char c;

	check(pipe(gate) == 0, "pipe");
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		check(pid >= 0, "fork");
		if (!pid) {
			close(gate[1]);
			check(read(gate[0], &c, 1) == 0, "read");
			for (int k = 0; k < 10; k++)
				syscall(SYS_getppid);
			_exit(0);
		}
	}
	close(gate[1]);
	reap(n, 0);
}

static void *thread_nothing(void *arg)
{
	return arg;
}

static void threads(int n)
{
	pthread_t t;

	for (int i = 0; i < n; i++) {
		check(!pthread_create(&t, NULL, thread_nothing, NULL), "pthread_create");
		check(!pthread_join(t, NULL), "pthread_join");
	}
}

static void *thread_sleep(void *arg)
{
	sleep_ms(200);
	return arg;
}

/* Run N threads at once, each of which sleeps for 200 ms. */
static void sleepers(int n)
{
	pthread_t *t = calloc(n, sizeof(*t));

	for (int i = 0; i < n; i++)
		check(!pthread_create(&t[i], NULL, thread_sleep, NULL), "pthread_create");
	for (int i = 0; i < n; i++)
		check(!pthread_join(t[i], NULL), "pthread_join");
}

static void *thread_forever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* Start N threads that end when the process is killed. */
static void threads_forever(int n)
{
	pthread_t t;

	for (int i = 0; i < n; i++)
		check(!pthread_create(&t, NULL, thread_forever, NULL), "pthread_create");
	pthread_join(t, NULL);
}

/* Send N bytes through a terminal, where a kernel thread passes each byte on, while 20 threads sleep. */
static void terminal(int n)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	struct termios raw;
	pthread_t t;
	char c;

	for (int i = 0; i < 20; i++)
		check(!pthread_create(&t, NULL, thread_sleep, NULL), "pthread_create");
	sleep_ms(10);
	check(master >= 0 && !unlockpt(master), "unlockpt");
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	check(slave >= 0 && !tcgetattr(slave, &raw), "tcgetattr");
	cfmakeraw(&raw);
	check(!tcsetattr(slave, TCSANOW, &raw), "tcsetattr");
	for (int i = 0; i < n; i++)
		check(write(slave, "x", 1) == 1 && read(master, &c, 1) == 1, "terminal");
}

/* Make N blocking reads from a pipe. The writer sleeps for 20 ms before each write. */
static void blocked_reads(int n)
{
	int fds[2];
	char c;

	check(pipe(fds) == 0, "pipe");
	if (!fork()) {
		for (int i = 0; i < n; i++) {
			sleep_ms(20);
			check(write(fds[1], "x", 1) == 1, "write");
		}
		_exit(0);
	}
	for (int i = 0; i < n; i++)
		check(read(fds[0], &c, 1) == 1, "read");
	reap(1, 0);
}

static void killed_asleep(int n)
{
	pid_t *pids = calloc(n, sizeof(*pids));

	for (int i = 0; i < n; i++) {
		pids[i] = fork();
		check(pids[i] >= 0, "fork");
		if (!pids[i]) {
			sleep_ms(1000000);
			_exit(1);
		}
	}
	sleep_ms(200);
	for (int i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	reap(n, SIGKILL);
}

static void *thread_exec(void *arg)
{
	(void)arg;
	sleep_ms(50); /* main() is in pthread_join() by then */
	execl("/proc/self/exe", "acts", "getppids", "10", NULL);
	die("execl");
	return NULL;
}

/* Execute a program in a thread that is not the leader; the new program calls getppid() ten times. */
static void thread_execs(int n)
{
	pthread_t others[4], t;

	(void)n;
	for (int i = 0; i < 4; i++)
		check(!pthread_create(&others[i], NULL, thread_sleep, NULL), "pthread_create");
	check(!pthread_create(&t, NULL, thread_exec, NULL), "pthread_create");
	pthread_join(t, NULL);
	_exit(98);
}

static void getppids(int n)
{
	for (int i = 0; i < n; i++)
		syscall(SYS_getppid);
}

/* Make N system calls with a seccomp filter of 1,000 additions. The kernel cannot compute its result in advance. */
static void filtered(int n)
{
	struct sock_filter insns[1001];
	struct sock_fprog filter = { 1001, insns };

	for (int i = 0; i < 1000; i++)
		insns[i] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, i + 1);
	insns[1000] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	check(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	check(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), "seccomp");
	getppids(n);
}

static __attribute__((noinline)) void vfork_one(void)
{
	pid_t pid = vfork();

	check(pid >= 0, "vfork");
	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
}

static void vforks(int n)
{
	for (int i = 0; i < n; i++) {
		vfork_one();
		reap(1, 0);
	}
}

static void spawns(int n)
{
	char *argv[] = { "true", NULL };
	pid_t pid;

	for (int i = 0; i < n; i++) {
		check(!posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ), "posix_spawn");
		reap(1, 0);
	}
}

/* Start N processes that outlive the command. */
static void daemons(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		check(pid >= 0, "fork");
		if (!pid) {
			setsid();
			close(1);
			close(2);
			sleep_ms(20000);
			_exit(0);
		}
	}
}

/* Send this process the signal N, which ends it inside kill(). */
static void suicide(int n)
{
	kill(getpid(), n);
	sleep_ms(1000);
}

static void segv(int n)
{
	struct rlimit none = { 0, 0 };

	(void)n;
	setrlimit(RLIMIT_CORE, &none);
	*(volatile int *)8 = 0;
}

/* Call getpid() N times by the 32-bit entry, where it has number 20. */
static void int80(int n)
{
	for (int i = 0; i < n; i++) {
		long ret = 20;

		__asm__ volatile("int $0x80" : "+a"(ret) : : "r8", "r9", "r10", "r11", "memory");
		check(ret == getpid(), "int80");
	}
}

/* Touch N pages, and print the number of faults that the kernel reports. */
static void faults(int n)
{
	long page = sysconf(_SC_PAGESIZE);
	char *mem =
		mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rusage before, after;

	check(mem != MAP_FAILED, "mmap");
	madvise(mem, n * page, MADV_NOHUGEPAGE);
	getrusage(RUSAGE_SELF, &before);
	for (int i = 0; i < n; i++)
		mem[i * page] = 1;
	getrusage(RUSAGE_SELF, &after);
	printf("%ld\n", after.ru_minflt - before.ru_minflt);
}

/* Make the kernel itself take N page faults, in read(). */
static void kernel_faults(int n)
{
	long page = sysconf(_SC_PAGESIZE);
	char *mem =
		mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/dev/zero", O_RDONLY);

	check(mem != MAP_FAILED && fd >= 0, "mmap");
	madvise(mem, n * page, MADV_NOHUGEPAGE);
	for (int i = 0; i < n; i++)
		check(read(fd, mem + i * page, 1) == 1, "read");
}

/* Spin in user space for N ms of CPU time, with few system calls. */
static void spin(int n)
{
	struct timespec ts;

	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	} while (ts.tv_sec * 1000 + ts.tv_nsec / 1000000 < n);
}

/* Spin in the kernel: read 1 MiB of zeros N times, into the same memory. */
static void kernel_spin(int n)
{
	size_t size = 1 << 20;
	char *mem = malloc(size);
	int fd = open("/dev/zero", O_RDONLY);

	check(mem && fd >= 0, "open");
	for (int i = 0; i < n; i++)
		check(read(fd, mem, size) == (ssize_t)size, "read");
}

/* Read one byte N times. Such a read executes little besides its function calls. */
static void zero_reads(int n)
{
	int fd = open("/dev/zero", O_RDONLY);
	char c;

	check(fd >= 0, "open");
	for (int i = 0; i < n; i++)
		check(read(fd, &c, 1) == 1, "read");
}

/* Make a system call that nothing else makes. Plugins of the emulator count between two such calls. */
static void mark(void)
{
	char name[64];

	check(gethostname(name, sizeof(name)) == 0 && sethostname(name, strlen(name)) == 0,
	      "sethostname");
}

/* Fork N times between two calls of mark(), with 600 mappings and with 600 pages that madvise() populates. */
static void marked_forks(int n)
{
	enum {
		MAPPINGS = 600,
		PAGE = 4096
	};
	char *pages;

	mark();
	pages = mmap(NULL, MAPPINGS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	check(pages != MAP_FAILED, "mmap");
	madvise(pages, MAPPINGS * PAGE, MADV_NOHUGEPAGE); /* fails in kernels without huge pages */
	check(madvise(pages, MAPPINGS * PAGE, MADV_POPULATE_WRITE) == 0, "madvise");
	for (int i = 0; i < MAPPINGS; i++)
		check(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) !=
			      MAP_FAILED,
		      "mmap");
	forks(n);
	mark();
}

static volatile sig_atomic_t signal_received;

static void on_term(int sig)
{
	signal_received = sig;
}

/* Write the file "ready", run until SIGTERM, and exit with 40 plus the signal's number. */
static void until_signal(int n)
{
	struct sigaction action = { .sa_handler = on_term };
	int fd;

	(void)n;
	sigaction(SIGTERM, &action, NULL);
	fd = open("ready", O_CREAT | O_WRONLY, 0644);
	close(fd);
	while (!signal_received)
		syscall(SYS_getppid);
	_exit(40 + signal_received);
}

/* Sleep ten times, write the file "ready", and sleep until a signal ends the process. */
static void forever(int n)
{
	(void)n;
	for (int i = 0;; i++) {
		if (i == 10)
			close(open("ready", O_CREAT | O_WRONLY, 0644));
		sleep_ms(1);
	}
}

static void polls(int n)
{
	for (int i = 0; i < n; i++)
		poll(NULL, 0, 1);
}

/* Do N rounds of opening, examining, changing, reading and removing files, and of mapping and splitting memory. */
static void files(int n)
{
	struct stat st;
	char name[64], buf[4096];

	for (int i = 0; i < n; i++) {
		int fd;

		snprintf(name, sizeof(name), "/root-of-overlay.%d.%d", getpid(), i);
		fd = open(name, O_CREAT | O_RDWR, 0600);
		check(fd >= 0, name);
		check(write(fd, buf, sizeof(buf)) == sizeof(buf), "write");
		check(pread(fd, buf, sizeof(buf), 0) == sizeof(buf), "pread");
		check(!fstat(fd, &st) && !stat(name, &st) && !access(name, R_OK), "stat");
		check(!chmod(name, 0640) && !ftruncate(fd, 10) && !close(fd), "chmod");
		check(!unlink(name), "unlink");
	}
}

/* Return whether a test must not call NR with arbitrary arguments. */
static int is_harmful(int nr)
{
	static const int harmful[] = { SYS_rt_sigreturn, SYS_pause,      SYS_clone,
				       SYS_fork,         SYS_vfork,      SYS_exit,
				       SYS_vhangup,      SYS_exit_group, SYS_clone3 };

	for (size_t i = 0; i < sizeof(harmful) / sizeof(harmful[0]); i++)
		if (nr == harmful[i])
			return 1;
	return 0;
}

/*
 * Make each existing system call, and most others up to 511, with arguments that it refuses. Then make N 32-bit calls of each
 * of 52 numbers that no 32-bit system call has.
 */
static void all_syscalls(int n)
{
	for (long nr = 0; nr < 512; nr++)
		if (!is_harmful(nr))
			syscall(nr, -1l, -1l, -1l, -1l, -1l, -1l);
	for (long nr = 460; nr < 512; nr++)
		for (int i = 0; i < n; i++) {
			long ret = nr;

			__asm__ volatile("int $0x80"
					 : "+a"(ret)
					 :
					 : "r8", "r9", "r10", "r11", "memory");
			check(ret == -ENOSYS, "int80");
		}
	_exit(0);
}

struct hammer {
	int n;
};

static void *hammer_thread(void *arg)
{
	const struct hammer *h = arg;
	long page = sysconf(_SC_PAGESIZE);

	for (int i = 0; i < h->n; i++) {
		char *mem = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		int fds[2];

		check(mem != MAP_FAILED && !pipe(fds), "mmap");
		memset(mem, 1, 8 * page);
		check(write(fds[1], mem, 4096) == 4096 && read(fds[0], mem, 4096) == 4096, "pipe");
		check(!mprotect(mem + page, page, PROT_READ), "mprotect");
		munmap(mem, 8 * page);
		close(fds[0]);
		close(fds[1]);
		sched_yield();
	}
	return NULL;
}

/* Run four processes of three threads each. They do N rounds of mixed work, including children and files. */
static void hammer(int n)
{
	for (int p = 0; p < 4; p++) {
		pid_t pid = fork();

		check(pid >= 0, "fork");
		if (!pid) {
			struct hammer h = { n };
			pthread_t t[3];

			for (int i = 0; i < 3; i++)
				check(!pthread_create(&t[i], NULL, hammer_thread, &h), "thread");
			forks(n / 10 + 1);
			files(n / 10 + 1);
			for (int i = 0; i < 3; i++)
				pthread_join(t[i], NULL);
			_exit(0);
		}
	}
	reap(4, 0);
}

typedef void (*act_fn)(int n);

static const struct {
	const char *name;
	act_fn fn;
} acts[] = {
	{ "forks", forks },
	{ "nested", nested },
	{ "crowd", crowd },
	{ "threads", threads },
	{ "sleepers", sleepers },
	{ "threads-forever", threads_forever },
	{ "terminal", terminal },
	{ "blocked-reads", blocked_reads },
	{ "killed-asleep", killed_asleep },
	{ "thread-execs", thread_execs },
	{ "getppids", getppids },
	{ "filtered", filtered },
	{ "vforks", vforks },
	{ "spawns", spawns },
	{ "daemons", daemons },
	{ "suicide", suicide },
	{ "segv", segv },
	{ "int80", int80 },
	{ "faults", faults },
	{ "kernel-faults", kernel_faults },
	{ "spin", spin },
	{ "kernel-spin", kernel_spin },
	{ "zero-reads", zero_reads },
	{ "marked-forks", marked_forks },
	{ "until-signal", until_signal },
	{ "forever", forever },
	{ "polls", polls },
	{ "files", files },
	{ "all-syscalls", all_syscalls },
	{ "hammer", hammer },
};

static void usage(void)
{
	fprintf(stderr, "usage: acts ACT [N] [ACT N]...\n");
	exit(2);
}

static act_fn find_act(const char *name)
{
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		if (!strcmp(name, acts[i].name))
			return acts[i].fn;
	usage();
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		usage();
	for (int i = 1; i < argc; i += 2)
		find_act(argv[i])(i + 1 < argc ? atoi(argv[i + 1]) : 1);
	return 0;
}
