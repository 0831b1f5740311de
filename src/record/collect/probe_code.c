// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collect/probe_code.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"

/* Sorted; as in Linux 5.15 to 7.3. */
static const char *const names[] = {
	"__bpf_prog_enter",
	"__bpf_prog_enter_recur",
	"__bpf_prog_exit",
	"__bpf_prog_exit_recur",
	"__ftrace_trace_stack",
	"__kretprobe_trampoline",
	"__kretprobe_trampoline_handler",
	"aggr_post_handler",
	"aggr_pre_handler",
	"arch_ftrace_ops_list_func",
	"arch_rethook_prepare",
	"arch_rethook_trampoline",
	"arch_rethook_trampoline_callback",
	"asm_exc_int3",
	"do_int3",
	"exc_int3",
	"fprobe_exit_handler",
	"fprobe_fgraph_entry",
	"fprobe_ftrace_entry",
	"fprobe_handler",
	"fprobe_kprobe_handler",
	"fprobe_return",
	"ftrace_caller",
	"ftrace_caller_op_ptr",
	"ftrace_graph_func",
	"ftrace_ops_assist_func",
	"ftrace_regs_call",
	"ftrace_regs_caller",
	"ftrace_regs_caller_end",
	"ftrace_return_to_handler",
	"ftrace_stub",
	"ftrace_trampoline",
	"kprobe_dispatcher",
	"kprobe_ftrace_handler",
	"kprobe_insn_page",
	"kprobe_int3_handler",
	"kprobe_multi_link_exit_handler",
	"kprobe_multi_link_handler",
	"kprobe_multi_link_prog_run",
	"kprobe_optinsn_page",
	"kprobe_perf_func",
	"kretprobe_dispatcher",
	"kretprobe_perf_func",
	"kretprobe_rethook_handler",
	"opt_pre_handler",
	"optimized_callback",
	"pre_handler_kretprobe",
	"rethook_hook",
	"rethook_trampoline_handler",
	"rethook_try_get",
	"return_to_handler",
	"trace_call_bpf",
	"trampoline_handler",
};

/* With clone suffixes. Their callees count as theirs. */
static const char *const entry_names[] = {
	"__audit_syscall_entry",
	"__audit_syscall_exit",
	"__syscall_exit_to_user_mode_work",
	"syscall_enter_from_user_mode",
	"syscall_exit_to_user_mode",
	"syscall_exit_to_user_mode_prepare",
	"syscall_exit_work",
	"syscall_trace_enter",
};

/* They call the syscall. */
static const char *const leaf_names[] = { "do_syscall_64", "entry_SYSCALL_64_after_hwframe" };

static bool is_among(const char *symbol, const char *const *list, size_t n)
{
	size_t length = strcspn(symbol, "."), i;

	for (i = 0; i < n; i++)
		if (!strncmp(symbol, list[i], length) && !list[i][length])
			return true;
	return false;
}

bool record_is_entry_code(const char *symbol, bool leaf)
{
	return is_among(symbol, entry_names, ARRAY_SIZE(entry_names)) ||
	       (leaf && is_among(symbol, leaf_names, ARRAY_SIZE(leaf_names)));
}

static int compare(const void *symbol, const void *name)
{
	return strcmp(symbol, *(const char *const *)name);
}

enum record_probe_code record_probe_code_kind(const char *symbol)
{
	static const char *const tracepoints[] = { "__bpf_trace_sched_process_exec",
						   "__bpf_trace_sched_switch",
						   "__bpf_trace_sys_enter", "__bpf_trace_sys_exit",
						   "__bpf_trace_task_newtask" };

	if (strstr(symbol, "return_to_handler") ||
	    (strstr(symbol, "trampoline") && strcmp(symbol, "ftrace_trampoline") != 0))
		return RECORD_PROBE_RETURN;
	if (!strncmp(symbol, "__bpf_trace_", strlen("__bpf_trace_")))
		return is_among(symbol, tracepoints, ARRAY_SIZE(tracepoints)) ?
			       RECORD_PROBE_TRACEPOINT :
			       RECORD_PROBE_FOREIGN;
	return strncmp(symbol, "bpf_trace_run", strlen("bpf_trace_run")) ? RECORD_PROBE_FUNCTION :
									   RECORD_PROBE_TRACEPOINT;
}

bool record_is_probe_code(const char *symbol)
{
	return !strncmp(symbol, "bpf_trace_run", strlen("bpf_trace_run")) ||
	       !strncmp(symbol, "__bpf_trace_", strlen("__bpf_trace_")) ||
	       search_array(symbol, names, ARRAY_SIZE(names), sizeof(names[0]), compare);
}
