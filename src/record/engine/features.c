// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine/features.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf_common.h>
#include <linux/magic.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/system/clock.h"
#include "kprotperf/try.h"
#include "kprotperf_try.skel.h"
#include "kernel/image/btf.h"
#include "record/engine/load.h"

#define KPROBE_TYPE_PATH "/sys/bus/event_source/devices/kprobe/type"
/* The kernel's ENOTSUPP, which header files of user space do not define. */
#define KERNEL_ENOTSUPP 524

/* Features "fentry" and "multi" have this value, neither 0 nor -errno, before they are tried. */
#define UNTRIED 1

/* Files of kernel settings. "0" in a file means that the feature is off. */
#define JIT_PATH     "/proc/sys/net/core/bpf_jit_enable"
#define FTRACE_PATH  "/proc/sys/kernel/ftrace_enabled"
#define KPROBES_PATH "/sys/kernel/debug/kprobes/enabled"

#define SECURITYFS    "/sys/kernel/security"
#define LOCKDOWN_PATH SECURITYFS "/lockdown"

/* Read the lockdown mode, the word in brackets in a line such as "none [integrity] confidentiality". */
static void lockdown_read(char *mode, size_t size)
{
	char line[128], *open, *close;

	mode[0] = '\0';
	if (!file_read_line(LOCKDOWN_PATH, line, sizeof(line)))
		return;
	open = strchr(line, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		snprintf(mode, size, "%.*s", (int)(close - open - 1), open + 1);
}

static bool is_off(const char *path)
{
	char line[16];

	return file_read_line(path, line, sizeof(line)) && *line == '0';
}

bool record_ftrace_is_off(void)
{
	return is_off(FTRACE_PATH);
}

bool record_kprobes_are_off(void)
{
	return is_off(KPROBES_PATH);
}

/* Return whether this kernel supports securityfs, but nobody has mounted securityfs. */
static bool securityfs_is_missing(void)
{
	struct statfs fs;

	return !statfs(SECURITYFS, &fs) && fs.f_type != SECURITYFS_MAGIC;
}

/* Load an empty program for attaching to the function or type NAME of the kind KIND in BTF. Return its descriptor or -errno. */
static int load_nothing(const struct btf *btf, enum bpf_attach_type attach, uint32_t kind,
			const char *name)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int id = btf__find_by_name_kind(btf, name, kind), fd;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach,
		    .attach_btf_id = id > 0 ? id : 0);

	if (id < 0)
		return id;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "nothing", "GPL", insns, 2, &opts);
	return fd < 0 ? -errno : fd;
}

static int try_loading(const struct btf *btf)
{
	int fd = load_nothing(btf, BPF_TRACE_RAW_TP, BTF_KIND_TYPEDEF, "btf_trace_sched_switch");

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* A background thread tries to attach a program by fentry, because the kernel sleeps 0.1 s or more in attaching and detaching. */
static struct {
	int prog;
	pthread_t thread;
	sem_t attached;
	int err;
	bool is_running;
} trial;

static void *try_attaching(void *unused)
{
	int link = bpf_raw_tracepoint_open(NULL, trial.prog);

	(void)unused;
	trial.err = link < 0 ? -errno : 0;
	sem_post(&trial.attached);
	if (link >= 0)
		close(link);
	close(trial.prog);
	return NULL;
}

static int begin_attaching(const struct btf *btf)
{
	sigset_t all, before;

	trial.prog = load_nothing(btf, BPF_TRACE_FENTRY, BTF_KIND_FUNC, "handle_mm_fault");
	if (trial.prog < 0)
		return trial.prog;
	sem_init(&trial.attached, 0, 0);
	/* Block all signals in the new thread, so that the main thread gets them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	trial.is_running = !pthread_create(&trial.thread, NULL, try_attaching, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!trial.is_running)
		try_attaching(NULL);
	return UNTRIED;
}

void record_features_begin(struct record_features *f, struct kernel_btf **btf)
{
	struct utsname uts;
	__u32 id;

	*btf = NULL;
	memset(f, 0, sizeof(*f));
	record_bpf_log();
	lockdown_read(f->lockdown, sizeof(f->lockdown));
	f->lockdown_hidden = !f->lockdown[0] && geteuid() == 0 && securityfs_is_missing();
	f->btf = access(KERNEL_BTF_PATH, R_OK) == 0;
	f->bpf = open_files_allow(0) ?: kernel_btf_load(KERNEL_BTF_PATH, btf);
	f->ftrace = record_ftrace_is_off() ? -ESHUTDOWN : 0;
	if (!f->bpf) {
		/* begin_attaching() loads a tracing program. If that failed, try_loading() finds the reason. */
		f->fentry = f->ftrace ?: begin_attaching(kernel_btf_raw(*btf));
		f->bpf = f->fentry == UNTRIED ? 0 : try_loading(kernel_btf_raw(*btf));
	}
	f->fentry = f->bpf ?: f->fentry;
	f->interpreted = is_off(JIT_PATH);
	f->rt = !uname(&uts) && strstr(uts.version, "PREEMPT_RT");
	f->modules = bpf_btf_get_next_id(0, &id) && errno == EPERM ? -EPERM : 0;
	f->kprobe = access(KPROBE_TYPE_PATH, R_OK) ? -ENOENT :
		    record_kprobes_are_off()       ? -ESHUTDOWN :
						     0;
	f->multi = f->bpf ?: f->ftrace ?: UNTRIED;
}

void record_features_await(struct record_features *f)
{
	if (f->fentry != UNTRIED)
		return;
	while (sem_wait(&trial.attached))
		;
	f->fentry = trial.err;
	if (trial.err == -ENODEV) /* ftrace has shut down after a fault, until the next boot */
		f->ftrace = f->multi = trial.err;
}

void record_features_end(void)
{
	if (trial.is_running)
		pthread_join(trial.thread, NULL);
	trial.is_running = false;
}

void record_features_probe(struct record_features *f)
{
	scoped(kernel_btf_destroy_at) struct kernel_btf *btf;

	record_features_begin(f, &btf);
	record_features_await(f);
	record_features_end();
}

/* Attach PROG to the function at ADDR, which the link names REPEAT times. If ADDR is 0, attach PROG to TRY_FUNCTION by name. */
static struct bpf_link *attach_half(const struct bpf_program *prog, bool on_return,
				    unsigned long addr, uint32_t repeat)
{
	const char *syms[] = { TRY_FUNCTION };
	const unsigned long addrs[] = { addr, addr };
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts, .syms = addr ? NULL : syms,
		    .addrs = addr ? addrs : NULL, .cnt = repeat, .retprobe = on_return);

	return bpf_program__attach_kprobe_multi_opts(prog, NULL, &opts);
}

/* Call TRY_FUNCTION once while programs are attached to its entry and return. They set try_seen[]. Return 0 or -errno. */
static int see_call(struct kprotperf_try_bpf *skel, unsigned long addr, uint32_t repeat)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct bpf_link *ret, *entry = NULL;
	int err = 0;

	memset(skel->bss->try_seen, 0, sizeof(skel->bss->try_seen));
	ret = attach_half(skel->progs.try_multi_return, true, addr, repeat);
	if (ret)
		entry = attach_half(skel->progs.try_multi_entry, false, addr, repeat);
	if (!entry || bpf_prog_test_run_opts(bpf_program__fd(skel->progs.try_run), &run))
		err = -errno;
	bpf_link__destroy(entry);
	bpf_link__destroy(ret);
	return err;
}

/* Maximum difference, in bytes, of a call's stack pointers at entry and return: saved registers and a frame. */
#define MAX_DISTANCE 1024

static int see_multi(struct kprotperf_try_bpf *skel, unsigned long addr,
		     struct record_multi_behaviour *is)
{
	const struct try_seen *entry = &skel->bss->try_seen[TRY_ENTRY];
	const struct try_seen *ret = &skel->bss->try_seen[TRY_RETURN];
	uint32_t repeat = addr ? 2 : 1;
	int err = see_call(skel, addr, repeat);

	if (err && repeat > 1)
		err = see_call(skel, addr, repeat = 1);
	if (err)
		return err;
	is->sp = (int64_t)(ret->sp - entry->sp);
	is->repeats = repeat > 1 && entry->hits == 1 && ret->hits == 1;
	return entry->hits && ret->hits && is->sp <= MAX_DISTANCE && is->sp >= -MAX_DISTANCE ?
		       0 :
		       -ENODATA;
}

int record_features_try_multi(struct record_features *f, uint64_t addr)
{
	struct kprotperf_try_bpf *skel;

	if (f->multi != UNTRIED)
		return f->multi;
	skel = kprotperf_try_bpf__open();
	if (!skel)
		return f->multi = -errno;
	f->multi = kprotperf_try_bpf__load(skel) ?: see_multi(skel, addr, &f->multi_is);
	kprotperf_try_bpf__destroy(skel);
	return f->multi;
}

static bool locked_down(const struct record_features *f)
{
	return f->lockdown[0] && strcmp(f->lockdown, "none") != 0;
}

/* Return the error ERR as text. If kernel lockdown may be the cause of -EPERM, say so. */
static const char *refusal(const struct record_features *f, int err)
{
	if (err != -EPERM)
		return log_strerror(err);
	if (locked_down(f))
		return strcmp(f->lockdown, "integrity") ?
			       "refused by kernel lockdown (confidentiality)" :
			       "refused by kernel lockdown (integrity)";
	if (f->lockdown_hidden)
		return "refused, possibly by kernel lockdown (to find out: mount -t securityfs "
		       "nodev " SECURITYFS ")";
	return log_strerror(err);
}

const char *record_features_why_not_bpf(const struct record_features *f)
{
	return f->bpf ? refusal(f, f->bpf) : NULL;
}

const char *record_features_why_not_ftrace(const struct record_features *f)
{
	switch (f->ftrace) {
	case 0:
		return NULL;
	case -ENODEV:
		return "the kernel has given up ftrace after a fault (see dmesg): reboot";
	}
	return "ftrace is switched off (sysctl -w kernel.ftrace_enabled=1)";
}

const char *record_features_why_not_fentry(const struct record_features *f)
{
	if (f->fentry == f->ftrace)
		return record_features_why_not_ftrace(f);
	if (!f->fentry)
		return NULL;
	if (!f->btf)
		return "no BTF";
	if (f->fentry == -EOPNOTSUPP || f->fentry == -KERNEL_ENOTSUPP)
		return "kernel without BPF trampolines (CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS)";
	return refusal(f, f->fentry);
}

const char *record_features_why_not_kprobe(const struct record_features *f)
{
	if (!f->kprobe)
		return NULL;
	return f->kprobe == -ESHUTDOWN ? "kprobes are switched off (echo 1 >" KPROBES_PATH ")" :
					 "kernel without kprobes (CONFIG_KPROBE_EVENTS)";
}

const char *record_features_why_not_multi(const struct record_features *f)
{
	switch (f->multi) {
	case 0:
		return NULL;
	case -ENODEV:
	case -ESHUTDOWN:
		return record_features_why_not_ftrace(f);
	case -EOPNOTSUPP:
	case -EINVAL:
	case -E2BIG:
		return "kernel without kprobe.multi (5.18, CONFIG_FPROBE)";
	case -ENOENT:
	case -ESRCH:
		return "kernel without bpf_fentry_test1, which is needed to test for it";
	case -ENODATA:
		return "this kernel does not report which call a return belongs to";
	}
	return refusal(f, f->multi);
}

int record_features_check(const struct record_features *f)
{
	if (!f->btf) {
		log_error("this kernel has no BTF (%s): it needs CONFIG_DEBUG_INFO_BTF=y",
			  KERNEL_BTF_PATH);
		return -ENOENT;
	}
	if (!f->bpf && !f->modules)
		return 0;
	if (f->modules == -EPERM && (!f->bpf || !locked_down(f))) {
		log_error("recording needs %s: run it %s; " RECORD_CAPABILITIES,
			  f->bpf ? "CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN" :
				   "CAP_SYS_ADMIN, to list the BTF of modules",
			  geteuid() ? "with sudo" : "outside of this container or user namespace");
		return -EPERM;
	}
	if (f->bpf == -EPERM && locked_down(f))
		log_error("the kernel refuses BPF programs: lockdown is '%s'; boot without it "
			  "(lockdown=none, or Secure Boot off)",
			  f->lockdown);
	else
		log_error("cannot load BPF tracing programs: %s", refusal(f, f->bpf));
	return f->bpf;
}
