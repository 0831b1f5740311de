// SPDX-License-Identifier: GPL-2.0-or-later
/* Test how kprobe.multi behaves on the running kernel. These programs are a separate object, since a kernel may refuse it. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kprotperf/try.h"

char LICENSE[] SEC("license") = "GPL";

/* BPF_PROG_TEST_RUN of this program calls TRY_FUNCTION once, even if the program is not attached. */
SEC("fentry/" TRY_FUNCTION)
int try_run(void *ctx)
{
	return 0;
}

struct try_seen try_seen[TRY_HALVES] = {};

static __always_inline int see(enum try_half half, struct pt_regs *ctx)
{
	try_seen[half].sp = PT_REGS_SP(ctx);
	__sync_fetch_and_add(&try_seen[half].hits, 1);
	return 0;
}

SEC("kprobe.multi")
int try_multi_entry(struct pt_regs *ctx)
{
	return see(TRY_ENTRY, ctx);
}

SEC("kretprobe.multi")
int try_multi_return(struct pt_regs *ctx)
{
	return see(TRY_RETURN, ctx);
}
