// SPDX-License-Identifier: GPL-2.0-or-later
/* Get facts from function names alone: clones, similarity, and functions that must not be probed. */
#include "test.h"
#include "kernel/image/name.h"
#include "kernel_fixture.h"

TEST(clone_suffixes_are_no_part_of_a_name)
{
	static const struct {
		const char *name, *base;
	} cases[] = {
		{ "allocate_slab", "allocate_slab" },
		{ "foo.isra.0", "foo" },
		{ "foo.constprop.12", "foo" },
		{ "foo.part.0", "foo" },
		{ "foo.cold", "foo" },
		{ "foo.cold.3", "foo" },
		{ "foo.llvm.12345678901234567890", "foo" },
		{ "foo.constprop.0.isra.0", "foo" },
		{ "foo.part.0.constprop.0.cold", "foo" },
		{ "foo.lto_priv.0.localalias", "foo" },
		/* These dots were not added by the compiler. */
		{ "foo.0", "foo.0" },
		{ "foo.bar", "foo.bar" },
		{ "foo.bar.isra.0", "foo.bar" },
		{ "foo.colder", "foo.colder" },
		{ "foo.isra.x", "foo.isra.x" },
		{ "foo.", "foo." },
		{ ".isra.0", ".isra.0" },
		{ ".cold", ".cold" },
		{ "..cold", "." },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (kernel_name_base_len(cases[i].name) != strlen(cases[i].base))
			fail_msg("%s: %zu", cases[i].name, kernel_name_base_len(cases[i].name));
	assert_int_equal(kernel_name_compare("foo.isra.0", "foo.cold"), 0);
	assert_int_equal(kernel_name_compare("foo", "foo.part.1"), 0);
	assert_true(kernel_name_compare("foo", "fool.isra.0") < 0);
	assert_true(kernel_name_compare("fool", "foo.cold") > 0);
	assert_true(kernel_name_compare("fob.cold", "foo") < 0);
	assert_true(kernel_name_compare("foo.0", "foo") > 0);
	assert_true(kernel_name_is_cold("foo.cold"));
	assert_true(kernel_name_is_cold("foo.cold.1"));
	assert_true(kernel_name_is_cold("foo.constprop.0.cold"));
	assert_true(kernel_name_is_cold("foo.cold.isra.0"));
	assert_false(kernel_name_is_cold("foo.colder"));
	assert_false(kernel_name_is_cold("cold"));
}

TEST(the_edit_distance_is_right)
{
	assert_int_equal(kernel_name_distance("", "", 0), 0);
	assert_int_equal(kernel_name_distance("slab", "slab", 3), 0);
	assert_int_equal(kernel_name_distance("slab", "slabs", 3), 1);
	assert_int_equal(kernel_name_distance("slab", "lab", 3), 1);
	assert_int_equal(kernel_name_distance("slab", "stab", 3), 1);
	assert_int_equal(kernel_name_distance("slab", "salb", 3), 1);
	assert_int_equal(kernel_name_distance("slab", "blas", 3), 2);
	assert_int_equal(kernel_name_distance("kitten", "sitting", 5), 3);
	assert_int_equal(kernel_name_distance("kitten", "sitting", 2), 3);
	assert_int_equal(kernel_name_distance("", "abcdef", 3), 4);
	assert_int_equal(kernel_name_distance("ca", "abc", 5), 3);
	/* Test a transposition at the distance limit. */
	assert_int_equal(kernel_name_distance("abxyzw", "abyxwz", 2), 2);
	assert_int_equal(kernel_name_distance("abxyzw", "abyxwz", 1), 2);
}

static void check_all(enum kernel_safety safety, const char *const *names)
{
	for (; *names; names++) {
		const char *reason;
		enum kernel_safety got = kernel_name_safety(*names, &reason);

		if (got != safety)
			fail_msg("%s: %d (%s)", *names, got, reason ? reason : "no reason");
		assert_int_equal(reason != NULL, safety != KERNEL_SAFE);
		assert_int_equal(kernel_name_safety(*names, NULL), safety);
	}
}

TEST(unsafe_functions_are_refused)
{
	static const char *const names[] = {
		"allocate_slab.cold",
		"__bad_area_nosemaphore.cold",
		"__pfx_allocate_slab",
		"__cfi_allocate_slab",
		"asm_exc_page_fault",
		"exc_page_fault",
		"entry_SYSCALL_64",
		"__switch_to",
		"__switch_to_asm",
		"ret_from_fork",
		"do_exit",
		"vpanic",
		"btrfs_assertfail",
		"hv_ghcb_terminate",
		"native_play_dead",
		"__x64_sys_exit_group",
		"default_idle",
		"cpuidle_enter_state",
		"kretprobe_trampoline",
		"arch_rethook_prepare",
		"ftrace_ops_list_func",
		"optimized_callback",
		"text_poke_bp_batch",
		"int3_emulate",
		"bpf_prog_6deef7357e7b4530_entry",
		"bpf_trampoline_6442536213",
		"__bpf_prog_enter",
		"bpf_trace_run2",
		"trace_call_bpf",
		"bpf_ktime_get_ns",
		"bpf_task_storage_get",
		"htab_map_update_elem",
		"array_map_lookup_elem",
		"percpu_array_map_lookup_elem",
		"___pcpu_freelist_pop",
		"queue_stack_map_push_elem",
		"ktime_get_mono_fast_ns",
		"native_sched_clock",
		"__rcu_read_lock",
		"rcu_is_watching",
		"migrate_disable",
		"preempt_count_add",
		"lock_acquire",
		"__lock_acquire.isra.0",
		"lockdep_hardirqs_on",
		"debug_smp_processor_id",
		"__asan_load8",
		"perf_trace_buf_alloc",
		"perf_swevent_hrtimer",
		"__perf_event_overflow",
		"ring_buffer_lock_reserve",
		"unwind_next_frame",
		"orc_find",
		"stack_trace_save",
		"get_perf_callchain",
		"copy_from_kernel_nofault",
		"fixup_exception",
		"__x86_indirect_thunk_rax",
		"__x86_return_thunk",
		"__SCT__might_resched",
		"_stext",
		"__sched_text_start",
		"get_perf_callchain.part.0",
		"__traceiter_sys_enter",
		NULL,
	};

	check_all(KERNEL_REFUSE, names);
}

TEST(globs_skip_unsafe_functions)
{
	static const char *const names[] = {
		"bpf_fentry_test1",
		"bpf_prog_load",
		"__bpf_free_used_maps",
		"_raw_spin_lock",
		"native_queued_spin_lock_slowpath",
		"queued_spin_lock_slowpath",
		"rcu_core",
		"__rcu_gp_start",
		"ktime_get",
		"perf_event_mmap",
		"trace_seq_printf",
		"memcpy",
		"memset_orig",
		"__get_user_4",
		"__kasan_slab_alloc",
		"jump_label_update",
		"syscall_exit_work",
		NULL,
	};

	check_all(KERNEL_SKIP_IN_GLOB, names);
}

TEST(functions_that_users_measure_are_safe)
{
	static const char *const names[] = {
		"allocate_slab",
		"___slab_alloc",
		"__slab_free",
		"kmem_cache_alloc",
		"kmem_cache_free",
		"kmem_cache_alloc_bulk",
		"kfree",
		"__kmalloc",
		"new_slab",
		"shuffle_freelist",
		"get_random_u32",
		"extract_entropy",
		"rcu_free_slab",
		"free_unref_page",
		"get_page_from_freelist",
		"__alloc_pages",
		"clear_page_rep",
		"clear_page_erms",
		"handle_mm_fault",
		"__handle_mm_fault",
		"do_anonymous_page",
		"copy_page_range",
		"vm_area_dup",
		"dup_mm",
		"copy_process",
		"kernel_clone",
		"wake_up_new_task",
		"do_mmap",
		"__vm_munmap",
		"unmap_page_range",
		"zap_pte_range",
		"exit_mmap",
		"__get_user_pages",
		"get_user_pages_fast",
		"__check_object_size",
		"check_heap_object",
		"_copy_to_user",
		"_copy_from_user",
		"copy_user_generic_unrolled",
		"do_sys_openat2",
		"path_openat",
		"link_path_walk",
		"vfs_read",
		"vfs_write",
		"new_sync_read",
		"ksys_read",
		"filemap_read",
		"generic_file_read_iter",
		"__fput",
		"eventfd_read",
		"ep_poll",
		"do_epoll_wait",
		"do_select",
		"do_sys_poll",
		"pipe_read",
		"pipe_write",
		"sock_sendmsg",
		"unix_stream_sendmsg",
		"tcp_sendmsg_locked",
		"__alloc_skb",
		"skb_release_data",
		"futex_wait",
		"futex_wake",
		"__schedule",
		"schedule",
		"try_to_wake_up",
		"finish_task_switch.isra.0",
		"pick_next_task_fair",
		"enqueue_task_fair",
		"hrtimer_nanosleep",
		"do_nanosleep",
		"flush_tlb_mm_range",
		"switch_mm_irqs_off",
		"mutex_lock",
		"__mutex_lock.constprop.0",
		"rwsem_down_read_slowpath",
		"down_read",
		"up_write",
		"rb_insert_color",
		"rb_erase",
		"xas_load",
		"mas_walk",
		"mtree_load",
		"security_file_permission",
		"apparmor_file_permission",
		"__seccomp_filter",
		"__x64_sys_clone",
		"__x64_sys_getpid",
		"__do_sys_clone",
		"__stop_tty",
		"__set_task_comm",
		"task_work_run",
		"exit_to_user_mode_prepare",
		"user_path_at_empty",
		"strncpy_from_user",
		"getname_flags",
		"start_this_handle",
		"startup_ioapic_irq",
		"vector_free_reserved_and_managed",
		"stack_depot_save",
		"trim_init_extable",
		"memcg_slab_post_alloc_hook",
		"page_add_new_anon_rmap",
		"lru_cache_add",
		"perform_write",
		"",
		NULL,
	};

	check_all(KERNEL_SAFE, names);
}

TEST(patterns_match_as_in_fnmatch)
{
	static const struct {
		const char *pattern, *name;
		bool matches;
	} cases[] = {
		{ "vfs_read", "vfs_read", true },
		{ "vfs_read", "vfs_readv", false },
		{ "vfs_read", "vfs", false },
		{ "vfs_*", "vfs_read", true },
		{ "vfs_*", "ksys_read", false },
		{ "*", "", true },
		{ "", "", true },
		{ "*_read", "vfs_read", true },
		{ "*_read", "vfs_readv", false },
		{ "vfs_?ead", "vfs_read", true },
		{ "vfs_[rw]*", "vfs_write", true },
		{ "vfs_[rw]*", "vfs_fsync", false },
		{ "@(vfs_read|ksys_read)", "ksys_read", true },
		{ "@(vfs_read|ksys_read)", "ksys_write", false },
		{ "vfs_@(read|write)", "vfs_write", true },
		{ "vfs_\\*", "vfs_*", true },
		{ "vfs_\\*", "vfs_read", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(kernel_name_matches(cases[i].pattern, cases[i].name),
				 cases[i].matches);
	assert_true(kernel_name_is_pattern("@(a|b)"));
	assert_false(kernel_name_is_pattern("__x64_sys_read.cold"));
}

TEST(long_names_do_not_overrun)
{
	char name[2001];
	const char *reason;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(kernel_name_safety(name, &reason), KERNEL_REFUSE);
	assert_int_equal(kernel_name_distance(name, name + 1, 3), 4);
}

RUN_TESTS(NULL, NULL)
