// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the kernel functions that exist for probes only. */
#include <linux/types.h>

#include "test.h"
#include "record/collect/stack.h"

TEST(test_machinery)
{
	static const char *const yes[] = { "__bpf_prog_enter",     "kprobe_ftrace_handler",
					   "trampoline_handler",   "bpf_trace_run2",
					   "__bpf_trace_sys_exit", "asm_exc_int3",
					   "return_to_handler",    "fprobe_return" };
	static const char *const no[] = {
		"ksys_read", "allocate_slab", "do_syscall_64", "trace_sys_enter", "", "zzz"
	};
	size_t i;

	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(record_is_probe_code(yes[i]));
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(record_is_probe_code(no[i]));
}

TEST(test_kinds)
{
	static const struct {
		const char *symbol;
		enum record_probe_code kind;
	} of[] = {
		{ "ftrace_caller", RECORD_PROBE_FUNCTION },
		{ "ftrace_trampoline", RECORD_PROBE_FUNCTION },
		{ "kprobe_optinsn_page", RECORD_PROBE_FUNCTION },
		{ "arch_rethook_trampoline", RECORD_PROBE_RETURN },
		{ "__kretprobe_trampoline", RECORD_PROBE_RETURN },
		{ "return_to_handler", RECORD_PROBE_RETURN },
		{ "__bpf_trace_sys_enter", RECORD_PROBE_TRACEPOINT },
		{ "__bpf_trace_sys_enter_x", RECORD_PROBE_FOREIGN },
		{ "__bpf_trace_kfree", RECORD_PROBE_FOREIGN },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		assert_int_equal(record_probe_code_kind(of[i].symbol), of[i].kind);
}

TEST(test_entry_code)
{
	assert_true(record_is_entry_code("syscall_trace_enter.isra.0", false));
	assert_true(record_is_entry_code("syscall_exit_to_user_mode", true));
	assert_false(record_is_entry_code("syscall_exit_to_user_mode_x", true));
	assert_false(record_is_entry_code("syscall", true));
	assert_true(record_is_entry_code("do_syscall_64", true));
	assert_false(record_is_entry_code("do_syscall_64", false));
	assert_false(record_is_entry_code("ksys_read", true));
}

RUN_TESTS(NULL, NULL)
