// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions that must not be probed, or only if the user names them without a glob.
 *
 * KERNEL_REFUSE is for functions whose probes would harm the kernel, even if the user names them. Into some of them no call leads,
 * or no return leads out, so return probes fail. Others are executed by probes themselves (programs, maps, clock, unwinder, trap
 * handling): a hit within a hit loses an event or ends in BUG(). KERNEL_SKIP_IN_GLOB is for functions that can be probed, but are
 * seldom meant: the hottest primitives, and code that probes sometimes execute. The kernel itself refuses most harmful functions
 * that this table lacks (noinstr, NOKPROBE_SYMBOL, notrace): kernel_tracing_*() tells which functions these are.
 *
 * Memory, file system and network code is in neither group, because kprotperf measures such code.
 */
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "kernel/image/name.h"

struct rule {
	enum kernel_safety safety;
	const char *reason;
	const char *const *patterns; /* names or globs, without clone suffixes; ends with NULL */
};

#define RULE(safety_, reason_, ...)                                     \
	{                                                               \
		.safety = safety_, .reason = reason_,                   \
		.patterns = (const char *const[]){ __VA_ARGS__, NULL }, \
	}

#define HEX           "[0-9a-f]"
#define NEVER_RETURNS "it never returns, so there is nothing to time"

/* Functions that never return. The compiler knows this, so no code of the caller follows the call. */
static const char *const noreturn[] = {
	"__fortify_panic",
	"__invalid_creds",
	"__kunit_abort",
	"__module_put_and_kthread_exit",
	"__reiserfs_panic",
	"__stack_chk_fail",
	"__ubsan_handle_builtin_unreachable",
	"arch_call_rest_init",
	"arch_cpu_idle_dead",
	"btrfs_assertfail",
	"cpu_bringup_and_idle",
	"cpu_startup_entry",
	"do_exit",
	"do_group_exit",
	"do_task_dead",
	"fortify_panic",
	"kthread_complete_and_exit",
	"kthread_exit",
	"kunit_try_catch_throw",
	"lbug_with_loc",
	"make_task_dead",
	"mpt_halt_firmware",
	"nmi_panic_self_stop",
	"panic",
	"panic_smp_self_stop",
	"rest_init",
	"rewind_stack_and_make_dead",
	"rust_begin_unwind",
	"start_kernel",
	"stop_this_cpu",
	"usercopy_abort",
	"vpanic",
};

/* For a name, the first matching rule counts. So exceptions come before general rules. */
static const struct rule rules[] = {
	RULE(KERNEL_REFUSE, "a linker script symbol, not a function", "_stext", "_etext", "_text",
	     "_sinittext", "_einittext", "*_text_start", "*_text_end"),
	RULE(KERNEL_REFUSE, "a thunk or trampoline, which the kernel rewrites", "__x86_indirect_*",
	     "__x86_return_thunk", "__x86_return_skl", "x86_bhi_*", "__indirect_thunk_*", "srso_*",
	     "retbleed_*", "zen_untrain_ret", "entry_untrain_ret", "entry_ibpb", "write_ibpb",
	     "clear_bhb_loop*", "its_return_thunk", "*_thunk", "__SCT__*", "__static_call_return*",
	     "__raw_callee_save_*", "_paravirt_*", "paravirt_ret0", "paravirt_BUG",
	     "hypercall_page", "xen_hypercall*", "__sev_es_nmi_complete", "kcfi_*"),

	/* This code is entered by a trap, or left on another stack, so there is no return address. */
	RULE(KERNEL_REFUSE, "kernel entry or exit code, not a function", "asm_*", "exc_*",
	     "entry_*", "irqentry_*", "irq_entries_start", "spurious_entries_start", "idtentry_*",
	     "early_idt_handler_*", "early_ignore_irq", "vc_no_ghcb*", "error_entry",
	     "error_return", "paranoid_entry", "paranoid_exit", "common_interrupt_return",
	     "syscall_return_via_sysret", "native_iret", "native_irq_return_*",
	     "swapgs_restore_regs_*", "restore_regs_and_return_*", "bad_iret", "bad_gs*",
	     ".Lbad_gs", "startup_32*", "startup_64*", "secondary_startup_64*", "start_cpu0",
	     "ignore_sysret", "nmi_restore", "end_repeat_nmi", "repeat_nmi", "first_nmi",
	     "nested_nmi*", "el0?_*", "el1?_*", "ret_to_user", "ret_to_kernel", "vectors",
	     "call_on_irq_stack", "__bad_stack", "do_syscall_64", "do_int80_*",
	     "do_fast_syscall_32", "do_SYSENTER_32", "fred_entry_*", "sync_regs", "fixup_bad_iret"),
	RULE(KERNEL_REFUSE, "it returns as another task, on another stack", "__switch_to",
	     "__switch_to_asm", "cpu_switch_to", "ret_from_fork*", "ret_from_kernel_thread",
	     "do_suspend_lowlevel", "swsusp_arch_suspend", "swsusp_arch_resume", "restore_image",
	     "restore_registers", "relocate_kernel", "wakeup_long64", "__cpu_suspend_enter",
	     "_cpu_resume", "cpu_resume"),
	RULE(KERNEL_REFUSE, NEVER_RETURNS, "rewind_stack_do_exit", "__*_sys_exit",
	     "__*_sys_exit_group", "nmi_panic*", "emergency_restart", "start_secondary",
	     "x86_64_start_*", "asm_cpu_bringup_and_idle", "native_play_dead", "mwait_play_dead",
	     "play_dead*"),

	/* RCU does not watch an idle CPU: a BPF program that runs there may be freed meanwhile. */
	RULE(KERNEL_REFUSE, "it runs while the CPU is idle, where BPF programs must not run",
	     "default_idle", "default_idle_call", "arch_cpu_idle*", "do_idle", "cpu_idle_poll",
	     "cpuidle_enter*", "cpuidle_idle_call", "intel_idle*", "acpi_idle_*",
	     "acpi_processor_ffh_*", "poll_idle", "mwait_idle*", "amd_e400_idle", "amd_e400_c1e*",
	     "tdx_safe_halt", "native_safe_halt", "xen_safe_halt", "haltpoll*",
	     "default_enter_idle", "call_cpuidle*", "ct_idle_*", "ct_irq_*", "ct_nmi_*",
	     "ct_user_*", "__ct_user_*", "ct_kernel_*", "context_tracking_*", "user_enter_callable",
	     "user_exit_callable"),

	RULE(KERNEL_REFUSE, "it implements probes", "kprobe*", "__kprobe*", "*_kprobe", "*_kprobes",
	     "kretprobe*", "__kretprobe*", "*_kretprobe", "arch_kprobe*", "arch_prepare_kprobe*",
	     "*_kprobe_*handler*", "aggr_*_handler", "pre_handler_kretprobe", "trampoline_handler",
	     "opt_pre_handler", "optimized_callback", "optprobe_*", "*optimized_kprobe*",
	     "setup_singlestep", "setup_detour_execution", "resume_singlestep", "reenter_kprobe",
	     "rethook*", "__rethook*", "arch_rethook*", "fprobe*", "__fprobe*", "ftrace*",
	     "__ftrace*", "arch_ftrace*", "*_ftrace_*", "function_graph_*", "function_trace*",
	     "prepare_ftrace_return", "return_to_handler", "return_run", "__fentry__", "mcount",
	     "_mcount", "*text_poke*", "poke_int3*", "do_int3*", "int3_*", "exc_int3",
	     "copy_*_insn", "arch_copy_kprobe", "__copy_instruction", "recover_probed_instruction"),
	RULE(KERNEL_REFUSE, "it is a BPF program or calls one",
	     "bpf_prog_" HEX HEX HEX HEX HEX HEX HEX HEX "*", "bpf_trampoline*",
	     "__bpf_trampoline*", "bpf_dispatcher*", "bpf_tramp*", "__bpf_tramp*",
	     "arch_bpf_trampoline*", "__bpf_prog_*", "___bpf_prog_*", "bpf_trace_run*",
	     "__bpf_trace_*", "trace_call_bpf*", "bpf_overflow_handler", "perf_trace_run_bpf_*",
	     "__traceiter_*", "__probestub_*", "kprobe_multi_link_*", "bpf_kprobe_multi_*"),

	/* `record` calibrates its probes on these functions, which the kernel has for tests. */
	RULE(KERNEL_SKIP_IN_GLOB, "a test function of BPF", "bpf_fentry_test*",
	     "bpf_modify_return_*"),

	RULE(KERNEL_REFUSE, "every probe runs through it", "bpf_get_*", "__bpf_get_*",
	     "____bpf_get_*", "bpf_ktime_*", "____bpf_ktime_*", "bpf_probe_read*",
	     "____bpf_probe_read*", "bpf_map_lookup_*", "____bpf_map_*", "bpf_map_update_elem",
	     "bpf_map_delete_elem", "bpf_map_push_elem", "bpf_map_pop_elem", "bpf_task_storage_*",
	     "____bpf_task_storage_*", "bpf_local_storage_*", "__bpf_local_storage_*",
	     "bpf_selem_*", "__bpf_selem_*", "task_storage_*", "bpf_perf_*", "____bpf_perf_*",
	     "bpf_ringbuf_*", "__bpf_ringbuf_*", "____bpf_ringbuf_*", "bpf_loop",
	     "bpf_for_each_map_elem", "bpf_core_*", "bpf_current_task*", "bpf_user_rnd_*",
	     "bpf_task_pt_regs", "____bpf_*", "htab_*", "__htab_*", "array_map_*", "percpu_array_*",
	     "pcpu_freelist_*", "__pcpu_freelist_*", "___pcpu_freelist_*", "pcpu_copy_value",
	     "pcpu_init_value", "lookup_elem_raw", "lookup_nulls_elem_raw", "alloc_htab_elem",
	     "free_htab_elem", "queue_stack_map_*", "__queue_map_*", "queue_map_*", "stack_map_*",
	     "ringbuf_map_*", "bpf_lru_*", "__bpf_lru_*", "bpf_percpu_*"),
	RULE(KERNEL_REFUSE, "every probe reads the clock through it", "ktime_get_*fast*",
	     "__ktime_get_fast*", "read_tsc", "read_hpet", "native_sched_clock*", "sched_clock*",
	     "local_clock*", "trace_clock*", "kvm_clock_*", "kvm_sched_clock_*", "pvclock_*",
	     "read_hv_clock_*", "read_hv_sched_clock_*", "xen_clocksource_*", "xen_sched_clock",
	     "arch_counter_*", "paravirt_sched_clock", "tk_clock_read"),
	RULE(KERNEL_REFUSE, "every probe and every lock runs through it", "__rcu_read_lock",
	     "__rcu_read_unlock", "rcu_read_*", "rcu_is_watching", "__rcu_is_watching",
	     "rcu_dynticks_*", "rcu_nmi_*", "rcu_irq_*", "rcu_eqs_*", "rcu_idle_*", "rcu_user_*",
	     "rcu_lockdep_*", "__rcu_irq_*", "debug_lockdep_rcu_*", "rcu_preempt_deferred_*",
	     "rcu_note_context_switch", "srcu_*read_lock*", "__srcu_read_*", "migrate_disable*",
	     "migrate_enable*", "preempt_count_*", "preempt_schedule_notrace*", "preempt_latency_*",
	     "debug_smp_processor_id", "__this_cpu_preempt_check", "check_preemption_disabled",
	     "lock_acquire", "lock_release", "lock_is_held*", "lock_acquired", "lock_contended",
	     "lock_set_class", "lock_downgrade", "__lock_acquire", "__lock_release",
	     "__lock_is_held", "lock_pin_lock", "lock_unpin_lock", "mark_lock", "mark_held_locks",
	     "mark_usage", "check_flags", "validate_chain", "hlock_*", "register_lock_class",
	     "look_up_lock_class", "lockdep_*", "__lockdep_*", "trace_hardirqs_*",
	     "__trace_hardirqs_*", "trace_preempt_*", "trace_softirqs_*", "tracer_hardirqs_*",
	     "tracer_preempt_*", "in_lock_functions"),
	RULE(KERNEL_REFUSE, "the compiler inserts calls to it everywhere", "__asan_*", "__hwasan_*",
	     "__tsan_*", "__msan_*", "__kcsan_*", "kcsan_*", "__kmsan_*", "kasan_check_*",
	     "__kasan_check_*", "__sanitizer_cov_*", "__cyg_profile_func_*", "write_comp_data",
	     "check_kcov_mode", "stackleak_track_stack", "__stackleak_*"),

	RULE(KERNEL_REFUSE, "the sampler runs through it", "perf_swevent_*", "perf_event_overflow",
	     "__perf_event_overflow", "__perf_event_account_interrupt", "perf_trace_*",
	     "perf_tp_event*", "perf_output_*", "__perf_output_*", "perf_event_output*",
	     "__perf_event_output*", "perf_callchain*", "get_perf_callchain", "get_callchain_*",
	     "put_callchain_*", "perf_prepare_*", "perf_instruction_pointer", "perf_arch_*",
	     "perf_misc_flags", "perf_get_page_size", "perf_fetch_caller_regs",
	     "perf_arch_fetch_caller_regs", "perf_get_data_addr", "perf_ftrace_*", "perf_aux_*",
	     "perf_mmap_to_page", "ring_buffer_*", "trace_event_*", "event_trigger*",
	     "__trace_trigger_*"),
	RULE(KERNEL_REFUSE, "the kernel uses it to unwind stacks", "unwind_*", "__unwind_*",
	     "orc_*", "__orc_*", "stack_trace_*", "arch_stack_walk*", "walk_stackframe*",
	     "get_stack_info*", "in_entry_stack", "in_task_stack", "in_irq_stack",
	     "in_exception_stack", "stack_type_name", "stack_access_ok", "deref_stack_*", "get_reg",
	     "kernel_text_address", "__kernel_text_address", "core_kernel_text",
	     "is_module_text_address", "__module_text_address", "__module_address",
	     "is_bpf_text_address", "is_ftrace_trampoline", "bpf_ksym_find", "is_bpf_image_address",
	     "kernel_stack_*"),
	RULE(KERNEL_REFUSE, "probes use it to read memory and survive faults",
	     "copy_from_kernel_nofault*", "copy_to_kernel_nofault*", "copy_from_user_nofault",
	     "copy_to_user_nofault", "strncpy_from_kernel_nofault", "strncpy_from_user_nofault",
	     "strnlen_user_nofault", "copy_from_user_nmi", "__copy_from_user_nmi",
	     "nmi_uaccess_okay", "fixup_exception", "ex_handler_*", "ex_get_fixup_type",
	     "search_exception_tables", "search_kernel_exception_table", "search_extable",
	     "search_module_extables", "search_bpf_extables", "bsearch", "cmp_ex_search",
	     "notify_die", "native_save_fl", "native_restore_fl", "arch_local_*"),

	RULE(KERNEL_SKIP_IN_GLOB, "part of BPF; give its full name to measure it", "bpf_*",
	     "__bpf_*", "___bpf_*", "trie_*", "__sys_bpf", "sock_map_*", "dev_map_*", "cpu_map_*",
	     "lpm_*", "btf_*"),
	RULE(KERNEL_SKIP_IN_GLOB, "part of tracing; give its full name to measure it", "trace_*",
	     "__trace_*", "tracing_*", "tracer_*", "tracepoint_*", "perf_*", "__perf_*", "event_*",
	     "rb_wake_up*", "synth_*", "syscall_trace_*"),
	RULE(KERNEL_SKIP_IN_GLOB, "the syscall ends inside it", "syscall_exit_*",
	     "__syscall_exit_*"),
	RULE(KERNEL_SAFE, NULL, "rcu_free_slab"),
	RULE(KERNEL_SKIP_IN_GLOB,
	     "locks and probes run through it; give its full name to measure it", "_raw_*",
	     "__raw_*", "do_raw_*", "*queued_spin_*", "*queued_read_*", "*queued_write_*",
	     "__pv_queued_*", "pv_*", "osq_*", "rcu_*", "__rcu_*", "srcu_*", "__srcu_*",
	     "ktime_get*", "__ktime_get*", "getboottime*", "preempt_schedule*", "irq_work_*",
	     "__irq_work_*", "nmi_*", "default_do_nmi", "debug_spin_*", "__local_bh_*",
	     "irq_enter*", "irq_exit*", "__irq_exit*", "do_sync_core"),
	RULE(KERNEL_SKIP_IN_GLOB, "called from everywhere; give its full name to measure it",
	     "memcpy*", "__memcpy*", "memset*", "__memset*", "memmove*", "__memmove*", "memcmp",
	     "strlen", "strcmp", "strncmp", "__get_user_[0-9]", "__get_user_nocheck_*",
	     "__put_user_[0-9]", "__put_user_nocheck_*", "__sw_hweight*", "csum_partial*"),
	RULE(KERNEL_SKIP_IN_GLOB, "part of a sanitizer; give its full name to measure it",
	     "kasan_*", "__kasan_*", "kmsan_*", "__ubsan_*", "kfence_*", "__kfence_*"),
	RULE(KERNEL_SKIP_IN_GLOB, "it patches the kernel's code", "arch_jump_label_*",
	     "jump_label_*", "__jump_label_*", "__static_call_*", "static_call_*",
	     "arch_static_call_*", "apply_alternatives", "alternatives_*", "apply_returns",
	     "apply_retpolines", "apply_paravirt"),
};

bool kernel_name_is_noreturn(const char *name)
{
	if (arch_symbol_of_name(name) == ARCH_SYMBOL_NORETURN)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(noreturn); i++)
		if (!strcmp(name, noreturn[i]))
			return true;
	return false;
}

enum kernel_safety kernel_name_safety(const char *name, const char **reason)
{
	char base[512];
	size_t len = kernel_name_base_len(name);
	const char *none;

	if (!reason)
		reason = &none;
	*reason = NULL;
	if (kernel_name_is_cold(name)) {
		*reason = "a part split off from a function, which jumps into and out of it";
		return KERNEL_REFUSE;
	}
	if (kernel_name_is_padding(name)) {
		*reason = "padding before a function, never called";
		return KERNEL_REFUSE;
	}
	/* No symbol of the kernel has such a long name (KSYM_NAME_LEN). */
	if (len >= sizeof(base)) {
		*reason = "its name is too long";
		return KERNEL_REFUSE;
	}
	memcpy(base, name, len);
	base[len] = '\0';
	if (kernel_name_is_noreturn(base)) {
		*reason = NEVER_RETURNS;
		return KERNEL_REFUSE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		for (const char *const *p = rules[i].patterns; *p; p++) {
			if (kernel_name_matches(*p, base)) {
				*reason = rules[i].reason;
				return rules[i].safety;
			}
		}
	}
	return KERNEL_SAFE;
}
