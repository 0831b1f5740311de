// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * getpid in a process with a seccomp filter like that of a container: it checks the architecture, refuses a list of
 * system calls and allows all others. The difference to the workload getpid is the cost of the filter.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define REFUSED     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define ALLOWED     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* Refuse the system call NR, by one comparison. */
#define REFUSE(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), REFUSED

static struct sock_filter instructions[] = {
	FIELD(arch),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
	REFUSED,
	FIELD(nr),
	REFUSE(SYS_ptrace),
	REFUSE(SYS_mount),
	REFUSE(SYS_umount2),
	REFUSE(SYS_pivot_root),
	REFUSE(SYS_reboot),
	REFUSE(SYS_swapon),
	REFUSE(SYS_init_module),
	REFUSE(SYS_finit_module),
	REFUSE(SYS_delete_module),
	REFUSE(SYS_kexec_load),
	REFUSE(SYS_add_key),
	REFUSE(SYS_keyctl),
	REFUSE(SYS_unshare),
	REFUSE(SYS_setns),
	REFUSE(SYS_open_by_handle_at),
	REFUSE(SYS_userfaultfd),
	ALLOWED,
};

static void install(const struct workload *w)
{
	struct sock_fprog filter = {
		.len = sizeof(instructions) / sizeof(instructions[0]),
		.filter = instructions,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		workload_fail(w, errno, "prctl(PR_SET_NO_NEW_PRIVS)");
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		workload_fail(w, errno, "prctl(PR_SET_SECCOMP)");
	if (syscall(SYS_userfaultfd, 0) >= 0 || errno != EPERM)
		workload_fail(w, 0, "the filter does not refuse userfaultfd");
}

static void call(const struct workload *w)
{
	(void)w;
	syscall(SYS_getpid);
}

int main(int argc, char **argv)
{
	struct workload w = {
		.name = "getpid-filtered",
		.timed =
			"the raw system call under a seccomp filter, with one reading of the clock",
		.iterations = 10000,
	};
	uint64_t *times;

	workload_init(&w, argc, argv);
	times = workload_times(&w);
	install(&w);
	workload_time_each(&w, times, call);
	workload_report(&w, times, NULL);
	return 0;
}
