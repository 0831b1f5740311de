// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/features.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "symbol/btf.h"

#define KPROBE_TYPE_PATH "/sys/bus/event_source/devices/kprobe/type"
/* The kernel's own, which reaches user space without a name there. */
#define KERNEL_ENOTSUPP 524

/* What "multi" is until it is tried: no -errno, and not 0. */
#define MULTI_UNTRIED 1

#define LOCKDOWN_PATH "/sys/kernel/security/lockdown"

/* "none [integrity] confidentiality": the mode in force is the one in brackets. */
static void lockdown_read(char *mode, size_t size)
{
	char line[128] = "", *open, *close;
	FILE *f = fopen(LOCKDOWN_PATH, "re");

	mode[0] = '\0';
	if (!f)
		return;
	if (fgets(line, sizeof(line), f)) {
		open = strchr(line, '[');
		close = open ? strchr(open, ']') : NULL;
		if (close)
			snprintf(mode, size, "%.*s", (int)(close - open - 1), open + 1);
	}
	fclose(f);
}

int record_features_load_empty(const char *name, enum bpf_attach_type type)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = type);
	int id, prog;

	id = libbpf_find_vmlinux_btf_id(name, type);
	if (id < 0)
		return id;
	opts.attach_btf_id = id;
	prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, "kprotperf_try", "GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), &opts);
	return prog < 0 ? -errno : prog;
}

/* Loads an empty program of the given kind on the kernel function NAME, attached if asked. */
static int try_program(const char *name, enum bpf_attach_type type, bool attach)
{
	int prog = record_features_load_empty(name, type), link, err = 0;

	if (prog < 0)
		return prog;
	if (attach) {
		link = bpf_raw_tracepoint_open(NULL, prog);
		if (link < 0)
			err = -errno;
		else
			close(link);
	}
	close(prog);
	return err;
}

void record_features_probe(struct record_features *f)
{
	memset(f, 0, sizeof(*f));
	lockdown_read(f->lockdown, sizeof(f->lockdown));
	f->btf = access(SYMBOL_BTF_PATH, R_OK) == 0;
	if (!f->btf) {
		f->bpf = f->fentry = -ENOENT;
	} else {
		f->bpf = try_program("sched_switch", BPF_TRACE_RAW_TP, false);
		f->fentry =
			f->bpf ? f->bpf : try_program("handle_mm_fault", BPF_TRACE_FENTRY, true);
	}
	f->kprobe = access(KPROBE_TYPE_PATH, R_OK) ? -ENOENT : 0;
	f->multi = f->bpf ? f->bpf : MULTI_UNTRIED;
}

int record_features_try_multi(struct record_features *f, uint64_t addr)
{
	if (f->multi == MULTI_UNTRIED)
		f->multi = record_multi_try(addr, &f->multi_is);
	return f->multi;
}

bool record_features_has(const struct record_features *f, enum profile_mechanism mech)
{
	switch (mech) {
	case PROFILE_MECH_FENTRY:
		return !f->fentry;
	case PROFILE_MECH_KPROBE:
		return !f->kprobe;
	case PROFILE_MECH_MULTI:
		return !f->multi;
	default:
		return false;
	}
}

static bool locked_down(const struct record_features *f)
{
	return f->lockdown[0] && strcmp(f->lockdown, "none") != 0;
}

const char *record_features_why_not_fentry(const struct record_features *f)
{
	if (!f->fentry)
		return NULL;
	if (!f->btf)
		return "no BTF";
	if (f->fentry == -EPERM && locked_down(f))
		return "refused: kernel lockdown is on";
	if (f->fentry == -EOPNOTSUPP || f->fentry == -KERNEL_ENOTSUPP)
		return "kernel without BPF trampolines (CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS)";
	return log_strerror(f->fentry);
}

const char *record_features_why_not_kprobe(const struct record_features *f)
{
	if (!f->kprobe)
		return NULL;
	return "kernel without kprobes (CONFIG_KPROBE_EVENTS)";
}

const char *record_features_why_not_multi(const struct record_features *f)
{
	switch (f->multi) {
	case 0:
		return NULL;
	case -EPERM:
		if (locked_down(f))
			return "refused: kernel lockdown is on";
		break;
	case -EOPNOTSUPP:
	case -EINVAL:
	case -E2BIG:
		return "kernel without kprobe.multi (5.18, CONFIG_FPROBE)";
	case -ENOENT:
	case -ESRCH:
		return "kernel without bpf_fentry_test1, on which it is tried";
	case -ENODATA:
		return "this kernel does not tell which call a return belongs to";
	}
	return log_strerror(f->multi);
}

int record_features_check(const struct record_features *f)
{
	if (!f->btf) {
		log_error("this kernel has no BTF (%s): it needs CONFIG_DEBUG_INFO_BTF=y",
			  SYMBOL_BTF_PATH);
		return -ENOENT;
	}
	if (!f->bpf)
		return 0;
	if (geteuid() != 0) {
		log_error(
			"recording needs root: run it with sudo (or with CAP_BPF and CAP_PERFMON)");
		return -EPERM;
	}
	if (f->bpf == -EPERM && locked_down(f))
		log_error("the kernel refuses BPF programs: lockdown is '%s'; boot without it "
			  "(lockdown=none, or Secure Boot off)",
			  f->lockdown);
	else
		log_error("the kernel refuses BPF tracing programs: %s", log_strerror(f->bpf));
	return f->bpf;
}
