// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of protections. tests/catalogue/sources.t checks each row against the sources of Linux 6.1 and 6.12. */
#include "base/alloc.h"
#include "catalogue/catalogue.h"

#define V(major, minor) CATALOGUE_LINUX(major, minor)
#define SINCE(major, minor)        \
	{                          \
		V(major, minor), 0 \
	}
#define UNTIL(major, minor)        \
	{                          \
		0, V(major, minor) \
	}

#define OPTIONS(...)                      \
	(const struct catalogue_option[]) \
	{                                 \
		__VA_ARGS__,              \
		{                         \
			0                 \
		}                         \
	}
#define PARAMETERS(...)                      \
	(const struct catalogue_parameter[]) \
	{                                    \
		__VA_ARGS__,                 \
		{                            \
			0                    \
		}                            \
	}
#define FUNCTIONS(...)                      \
	(const struct catalogue_function[]) \
	{                                   \
		__VA_ARGS__,                \
		{                           \
			0                   \
		}                           \
	}
#define WORKLOADS(...)            \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

#define BUILDS(symbol)                             \
	{                                          \
		symbol, "n", "y", CATALOGUE_BUILDS \
	}
#define BUILDS_SINCE(symbol, major, minor)                              \
	{                                                               \
		symbol, "n", "y", CATALOGUE_BUILDS, SINCE(major, minor) \
	}
#define BUILDS_UNTIL(symbol, major, minor)                              \
	{                                                               \
		symbol, "n", "y", CATALOGUE_BUILDS, UNTIL(major, minor) \
	}
#define DEFAULT(symbol)                             \
	{                                           \
		symbol, "n", "y", CATALOGUE_DEFAULT \
	}
#define TOOL(symbol, off, on)                   \
	{                                       \
		symbol, off, on, CATALOGUE_TOOL \
	}
#define ALONG(symbol, off, on)                   \
	{                                        \
		symbol, off, on, CATALOGUE_ALONG \
	}

/* Set a protection's origin, position, how often it runs, where its cost shows, and the means of switching it. */
#define CLASS(origin_, position_, runs_, in_syscall_, in_instructions_, by_) \
	.origin = CATALOGUE_##origin_, .position = CATALOGUE_##position_,    \
	.runs = CATALOGUE_##runs_, .in_syscall = CATALOGUE_##in_syscall_,    \
	.in_instructions = CATALOGUE_##in_instructions_, .by = CATALOGUE_##by_

#define VULNERABILITY(name, off, on)                                     \
	&(const struct catalogue_file)                                   \
	{                                                                \
		"/sys/devices/system/cpu/vulnerabilities/" name, off, on \
	}

#define UNSEEN "Vulnerable|Not affected"

/* The kernel reports one of these if another protection against Retbleed than the row's is active, so that the row's is off. */
#define RETBLEED_OTHERS "|Mitigation: IBRS|Mitigation: Enhanced IBRS|Mitigation: IBPB"

const struct catalogue_protection catalogue[] = {
	/* Protections of the slab allocator. */
	{
		.name = "slab_freelist_random",
		.title = "SLAB freelist randomization",
		.against = "heap overflows into a predictable neighbour",
		.options = OPTIONS(BUILDS("SLAB_FREELIST_RANDOM"),
				   /* The default of this option depends on SLAB_FREELIST_RANDOM. */
				   ALONG("SHUFFLE_PAGE_ALLOCATOR", "y", "y")),
		.functions =
			FUNCTIONS({ "allocate_slab", "mm/slub.c", CATALOGUE_HOST },
				  { "shuffle_freelist", "mm/slub.c", CATALOGUE_INLINE },
				  { "next_freelist_entry", "mm/slub.c", CATALOGUE_INLINE },
				  { "init_cache_random_seq", "mm/slub.c", CATALOGUE_FUNCTION }),
		.workloads = WORKLOADS("big-fork", "huge-fork", "slab-sizes"),
		.contexts = "allocation of a new slab: fork, mmap, msgsnd, open, page faults",
		CLASS(SOURCE, STRUCTURE, SELDOM, YES, PARTLY, BY_FEW),
		.assumed = 1,
		.note = "an order of magnitude more expensive until the random generator is "
			"seeded; lost cache locality shows in cycles only",
	},
	{
		.name = "slab_freelist_hardened",
		.title = "SLAB freelist pointers obfuscated and checked",
		.against = "freelist pointers overwritten or freed twice",
		.options = OPTIONS(BUILDS("SLAB_FREELIST_HARDENED"),
				   /* The default is the value of SLAB_FREELIST_HARDENED. */
				   { "SLAB_BUCKETS", "n", "n", CATALOGUE_ALONG, SINCE(6, 11) }),
		.functions = FUNCTIONS(
			{ "freelist_ptr", "mm/slub.c", CATALOGUE_INLINE, UNTIL(6, 6) },
			{ "freelist_ptr_encode", "mm/slub.c", CATALOGUE_INLINE, SINCE(6, 6) },
			{ "freelist_ptr_decode", "mm/slub.c", CATALOGUE_INLINE, SINCE(6, 6) },
			{ "set_freepointer", "mm/slub.c", CATALOGUE_INLINE },
			{ "allocate_slab", "mm/slub.c", CATALOGUE_HOST }),
		.workloads = WORKLOADS("slab-sizes", "big-fork", "big-send"),
		.contexts = "every allocation and release of a slab object",
		CLASS(SOURCE, DATA, OFTEN, YES, YES, BY_FEW),
		.assumed = 1,
	},
	{
		.name = "random_kmalloc_caches",
		.title = "kmalloc from one of 16 caches, chosen by call site",
		.against = "heap spraying into the cache of the attacked object",
		.options = OPTIONS(BUILDS("RANDOM_KMALLOC_CACHES")),
		.functions = FUNCTIONS(
			{ "kmalloc_type", "include/linux/slab.h", CATALOGUE_INLINE, SINCE(6, 6) }),
		.workloads = WORKLOADS("slab-sizes", "user-copies", "syscall-mix"),
		.contexts = "every kmalloc: msgsnd, sendto, pipe, open",
		CLASS(SOURCE, STRUCTURE, OFTEN, YES, PARTLY, BY_ALL),
		.assumed = 1,
		.span = SINCE(6, 6),
		.note = "more half-full slabs: memory and cache misses, which instructions do not show",
	},
	{
		.name = "slab_buckets",
		.title = "separate caches for objects of user-controlled length",
		.against = "heap spraying by messages, xattrs and the like",
		.options = OPTIONS(BUILDS("SLAB_BUCKETS")),
		.functions = FUNCTIONS({ "kmem_buckets_create", "mm/slab_common.c",
					 CATALOGUE_FUNCTION, SINCE(6, 11) }),
		.workloads = WORKLOADS("slab-sizes"),
		.contexts = "msgsnd, setxattr, memdup_user",
		CLASS(SOURCE, STRUCTURE, OFTEN, YES, PARTLY, BY_ALL),
		.assumed = 1,
		.span = SINCE(6, 11),
	},
	{
		.name = "slub_debug",
		.title = "SLUB red zones, poisoning and consistency checks",
		.against = "overflows, use after free, double free of slab objects",
		.options = OPTIONS(BUILDS("SLUB_DEBUG"), DEFAULT("SLUB_DEBUG_ON")),
		.parameters = PARAMETERS({ "slub_debug", "-", "FZP|FZPU|FPZ|", UNTIL(6, 9) },
					 { "slab_debug", "-", "FZP|FZPU|FPZ|", SINCE(6, 9) }),
		.functions =
			FUNCTIONS({ "alloc_debug_processing", "mm/slub.c", CATALOGUE_FUNCTION },
				  { "free_debug_processing", "mm/slub.c", CATALOGUE_FUNCTION },
				  { "init_object", "mm/slub.c", CATALOGUE_FUNCTION },
				  { "check_object", "mm/slub.c", CATALOGUE_FUNCTION }),
		.workloads = WORKLOADS("slab-sizes", "big-fork", "syscall-mix"),
		.contexts = "every allocation and release of a slab object",
		CLASS(SOURCE, DATA, OFTEN, YES, YES, BY_BOOT),
		.assumed = 0,
	},
	{
		.name = "kfence",
		.title = "KFENCE: sampled slab objects between guard pages",
		.against = "overflows and use after free, detected by sampling",
		.options = OPTIONS(BUILDS("KFENCE"),
				   { "KFENCE_SAMPLE_INTERVAL", "0", "100", CATALOGUE_DEFAULT }),
		.parameters = PARAMETERS({ "kfence.sample_interval", "0", "100|1|10|50|500" }),
		.file =
			&(const struct catalogue_file){
				"/sys/module/kfence/parameters/sample_interval", "0",
				"1|2|3|4|5|6|7|8|9" },
		.functions =
			FUNCTIONS({ "__kfence_alloc", "mm/kfence/core.c", CATALOGUE_FUNCTION },
				  { "kfence_guarded_alloc", "mm/kfence/core.c", CATALOGUE_INLINE },
				  { "kfence_guarded_free", "mm/kfence/core.c", CATALOGUE_FUNCTION },
				  { "kfence_alloc", "include/linux/kfence.h", CATALOGUE_INLINE }),
		.workloads = WORKLOADS("slab-sizes", "syscall-mix"),
		.contexts = "one slab allocation per sample interval",
		CLASS(SOURCE, STRUCTURE, SELDOM, PARTLY, PARTLY, BY_BOOT),
		.assumed = 1,
		.note = "its timer and page table changes run outside system calls too",
	},
	/* Protections of pages. */
	{
		.name = "page_alloc_shuffle",
		.title = "free page lists shuffled",
		.against = "attacks that need neighbouring pages",
		.options = OPTIONS(BUILDS("SHUFFLE_PAGE_ALLOCATOR")),
		.parameters = PARAMETERS({ "page_alloc.shuffle", "0|n|N", "1|y|Y" }),
		.file = &(const struct catalogue_file){ "/sys/module/page_alloc/parameters/shuffle",
							"N", "Y" },
		.functions =
			FUNCTIONS({ "shuffle_pick_tail", "mm/shuffle.c", CATALOGUE_FUNCTION },
				  { "__shuffle_zone", "mm/shuffle.c", CATALOGUE_FUNCTION },
				  { "__shuffle_free_memory", "mm/shuffle.c", CATALOGUE_FUNCTION }),
		.workloads = WORKLOADS("page-orders", "huge-munmap"),
		.contexts = "freeing pages of the largest orders; boot",
		CLASS(SOURCE, STRUCTURE, SELDOM, PARTLY, PARTLY, BY_BOOT),
		.assumed = 0,
		.note = "most of it runs at boot; if built in, it is off unless page_alloc.shuffle=1",
	},
	{
		.name = "init_on_alloc",
		.title = "pages and objects cleared when allocated",
		.against = "leaks of previous memory contents",
		.options = OPTIONS(DEFAULT("INIT_ON_ALLOC_DEFAULT_ON")),
		.parameters = PARAMETERS({ "init_on_alloc", "0|n|N|off", "1|y|Y|on" }),
		.functions = FUNCTIONS(
			{ "post_alloc_hook", "mm/page_alloc.c", CATALOGUE_HOST },
			{ "get_page_from_freelist", "mm/page_alloc.c", CATALOGUE_HOST },
			{ "kernel_init_pages", "mm/page_alloc.c", CATALOGUE_INLINE },
			{ "kmem_cache_alloc", "mm/slub.c", CATALOGUE_HOST, UNTIL(6, 10) },
			{ "kmem_cache_alloc_lru", "mm/slub.c", CATALOGUE_HOST, UNTIL(6, 10) },
			{ "__kmem_cache_alloc_node", "mm/slub.c", CATALOGUE_HOST, UNTIL(6, 8) },
			{ "slab_post_alloc_hook", "mm/slab.h", CATALOGUE_INLINE, UNTIL(6, 8) },
			{ "slab_post_alloc_hook", "mm/slub.c", CATALOGUE_INLINE, SINCE(6, 8) },
			{ "want_init_on_alloc", "include/linux/mm.h", CATALOGUE_INLINE }),
		.workloads = WORKLOADS("cow-fault", "slab-sizes", "big-fork", "anon-fault"),
		.contexts = "every allocation without __GFP_ZERO: fork, sendto, write",
		CLASS(SOURCE, DATA, OFTEN, YES, YES, BY_BOOT),
		.assumed = 0,
		.note = "reading a page of a mapped file (page-fault) allocates nothing and costs "
			"nothing; anonymous pages are cleared anyway, so a fault pays for slab "
			"objects only",
	},
	{
		.name = "init_on_free",
		.title = "pages and objects cleared when freed",
		.against = "leaks of memory contents after they are freed",
		.options = OPTIONS(DEFAULT("INIT_ON_FREE_DEFAULT_ON")),
		.parameters = PARAMETERS({ "init_on_free", "0|n|N|off", "1|y|Y|on" }),
		.functions = FUNCTIONS(
			{ "free_pages_prepare", "mm/page_alloc.c", CATALOGUE_INLINE },
			{ "free_pcp_prepare", "mm/page_alloc.c", CATALOGUE_HOST, UNTIL(6, 3) },
			{ "free_unref_page", "mm/page_alloc.c", CATALOGUE_HOST },
			{ "kernel_init_pages", "mm/page_alloc.c", CATALOGUE_INLINE },
			{ "kmem_cache_free", "mm/slub.c", CATALOGUE_HOST },
			{ "kmem_cache_free_bulk", "mm/slub.c", CATALOGUE_HOST },
			{ "slab_free_hook", "mm/slub.c", CATALOGUE_INLINE },
			{ "want_init_on_free", "include/linux/mm.h", CATALOGUE_INLINE }),
		.workloads = WORKLOADS("big-munmap", "page-orders", "slab-sizes"),
		.contexts = "every free: munmap, exit, close, recvfrom",
		CLASS(SOURCE, DATA, OFTEN, PARTLY, YES, BY_BOOT),
		.assumed = 0,
		.note = "objects freed by RCU are cleared later, in a soft interrupt",
	},
	{
		.name = "page_poisoning",
		.title = "pages filled with a pattern when freed, checked when allocated",
		.against = "use after free of pages",
		.options = OPTIONS(BUILDS("PAGE_POISONING")),
		.parameters = PARAMETERS({ "page_poison", "0|n|N|off", "1|y|Y|on" }),
		.functions = FUNCTIONS(
			{ "__kernel_poison_pages", "mm/page_poison.c", CATALOGUE_FUNCTION },
			{ "__kernel_unpoison_pages", "mm/page_poison.c", CATALOGUE_FUNCTION }),
		.workloads = WORKLOADS("page-orders", "big-munmap", "cow-fault"),
		.contexts = "every page allocated or freed",
		CLASS(SOURCE, DATA, OFTEN, PARTLY, YES, BY_BOOT),
		.assumed = 0,
	},
	{
		.name = "page_table_check",
		.title = "user page tables checked for pages mapped twice",
		.against = "corrupt page tables that share memory by mistake",
		.options =
			OPTIONS(BUILDS("PAGE_TABLE_CHECK"), DEFAULT("PAGE_TABLE_CHECK_ENFORCED")),
		.parameters = PARAMETERS({ "page_table_check", "off|0|n|N", "on|1|y|Y" }),
		.functions = FUNCTIONS(
			{ "__page_table_check_zero", "mm/page_table_check.c", CATALOGUE_FUNCTION },
			{ "__page_table_check_pte_clear", "mm/page_table_check.c",
			  CATALOGUE_FUNCTION },
			{ "__page_table_check_pte_set", "mm/page_table_check.c", CATALOGUE_FUNCTION,
			  UNTIL(6, 6) },
			{ "__page_table_check_ptes_set", "mm/page_table_check.c",
			  CATALOGUE_FUNCTION, SINCE(6, 6) }),
		.workloads = WORKLOADS("anon-fault", "big-munmap", "page-orders"),
		.contexts = "page faults, munmap, fork",
		CLASS(SOURCE, DATA, OFTEN, PARTLY, YES, BY_BOOT),
		.assumed = 0,
	},
	/* Checks in the kernel's source. */
	{
		.name = "hardened_usercopy",
		.title = "copies from and to user memory checked against object bounds",
		.against = "copies beyond a slab object or stack frame, or of kernel text",
		.options = OPTIONS(BUILDS("HARDENED_USERCOPY")),
		.parameters = PARAMETERS({ "hardened_usercopy", "off|0|n|N", "on|1|y|Y" }),
		.functions = FUNCTIONS(
			{ "__check_object_size", "mm/usercopy.c", CATALOGUE_FUNCTION },
			{ "__check_heap_object", "mm/slub.c", CATALOGUE_FUNCTION },
			{ "check_heap_object", "mm/usercopy.c", CATALOGUE_INLINE },
			{ "check_stack_object", "mm/usercopy.c", CATALOGUE_FUNCTION },
			{ "check_object_size", "include/linux/thread_info.h", CATALOGUE_INLINE }),
		.workloads = WORKLOADS("user-copies", "send", "poll"),
		.contexts =
			"copies of a length unknown at compile time: sendto, recvfrom, poll, msgsnd",
		CLASS(SOURCE, CODE, OFTEN, YES, YES, BY_BOOT),
		.assumed = 1,
		.note = "reads and writes of the page cache (small-read) copy within pages and skip "
			"the check: it costs nothing there",
	},
	{
		.name = "fortify_source",
		.title = "string and memory functions checked against buffer size",
		.against = "overflows of buffers of known size",
		.options = OPTIONS(BUILDS("FORTIFY_SOURCE")),
		.functions = FUNCTIONS({ "fortify_panic", "lib/string_helpers.c",
					 CATALOGUE_FUNCTION, UNTIL(6, 9) },
				       { "__fortify_panic", "lib/string_helpers.c",
					 CATALOGUE_FUNCTION, SINCE(6, 9) }),
		.workloads = WORKLOADS("syscall-mix", "set-name"),
		.contexts = "everywhere, if the length is not constant",
		CLASS(SOURCE, CODE, OFTEN, PARTLY, YES, BY_ALL),
		.assumed = 1,
		.note = "a compare and a branch where they are inlined; the listed functions run "
			"only when a check fails",
	},
	{
		.name = "debug_list",
		.title = "linked lists checked at each insertion and removal",
		.against = "writes through corrupted list pointers",
		.options = OPTIONS(BUILDS("DEBUG_LIST"),
				   { "LIST_HARDENED", "n", "y", CATALOGUE_ALONG, SINCE(6, 6) },
				   /* In Linux 6.1 this option selects DEBUG_LIST. */
				   ALONG("BUG_ON_DATA_CORRUPTION", "n", "y")),
		.functions = FUNCTIONS(
			{ "__list_add_valid", "lib/list_debug.c", CATALOGUE_FUNCTION, UNTIL(6, 6) },
			{ "__list_del_entry_valid", "lib/list_debug.c", CATALOGUE_FUNCTION,
			  UNTIL(6, 6) },
			{ "__list_add_valid_or_report", "lib/list_debug.c", CATALOGUE_FUNCTION,
			  SINCE(6, 6) },
			{ "__list_del_entry_valid_or_report", "lib/list_debug.c",
			  CATALOGUE_FUNCTION, SINCE(6, 6) }),
		.workloads = WORKLOADS("thr-create", "fork", "context-switch", "syscall-mix"),
		.contexts = "nearly every system call",
		CLASS(SOURCE, CODE, OFTEN, PARTLY, YES, BY_ALL),
		.assumed = 1,
	},
	{
		.name = "list_hardened",
		.title = "the cheap checks of debug_list, inlined",
		.against = "writes through corrupted list pointers",
		.options = OPTIONS(BUILDS("LIST_HARDENED"), ALONG("DEBUG_LIST", "n", "n"),
				   ALONG("BUG_ON_DATA_CORRUPTION", "n", "n")),
		.functions = FUNCTIONS({ "__list_add_valid", "include/linux/list.h",
					 CATALOGUE_INLINE, SINCE(6, 6) },
				       { "__list_del_entry_valid", "include/linux/list.h",
					 CATALOGUE_INLINE, SINCE(6, 6) }),
		.workloads = WORKLOADS("thr-create", "fork", "context-switch", "syscall-mix"),
		.contexts = "nearly every system call",
		CLASS(SOURCE, CODE, OFTEN, PARTLY, YES, BY_ALL),
		.assumed = 1,
		.span = SINCE(6, 6),
		.note = "kernels before 6.6 have debug_list",
	},
	{
		.name = "bug_on_data_corruption",
		.title = "BUG() when a check finds corrupted data",
		.against = "continuing with corrupt data structures",
		.options = OPTIONS(BUILDS("BUG_ON_DATA_CORRUPTION"), ALONG("DEBUG_LIST", "y", "y")),
		.workloads = WORKLOADS("thr-create", "fork"),
		.contexts = "only when a check fails",
		CLASS(SOURCE, CODE, SELDOM, YES, YES, BY_ALL),
		.assumed = 1,
		.note = "changes only what happens after a check has failed; the cost is that of "
			"debug_list or list_hardened, which it selects",
	},
	{
		.name = "refcount",
		.title = "reference counters that saturate",
		.against = "use after free through a counter that wrapped around",
		.functions = FUNCTIONS(
			{ "refcount_warn_saturate", "lib/refcount.c", CATALOGUE_FUNCTION },
			{ "__refcount_add", "include/linux/refcount.h", CATALOGUE_INLINE },
			{ "__refcount_sub_and_test", "include/linux/refcount.h",
			  CATALOGUE_INLINE }),
		.workloads = WORKLOADS("fork", "thr-create", "syscall-mix"),
		.contexts = "every shared object: fork, open, dup, sendto",
		CLASS(SOURCE, CODE, OFTEN, PARTLY, YES, BY_NOTHING),
		.assumed = 1,
		.missing = "no option to switch it off since 5.5",
	},
	{
		.name = "sched_stack_end_check",
		.title = "end of the stack checked at each schedule()",
		.against = "undetected stack overflows",
		.options = OPTIONS(BUILDS("SCHED_STACK_END_CHECK")),
		.functions =
			FUNCTIONS({ "schedule_debug", "kernel/sched/core.c", CATALOGUE_INLINE },
				  { "task_stack_end_corrupted", "include/linux/sched/task_stack.h",
				    CATALOGUE_MACRO }),
		.workloads = WORKLOADS("context-switch"),
		.contexts = "every context switch",
		CLASS(SOURCE, CODE, OFTEN, PARTLY, YES, BY_FEW),
		.assumed = 1,
	},
	{
		.name = "seccomp_filter",
		.title = "seccomp: a filter runs before each system call of a program",
		.against = "attacks on the kernel by a compromised program",
		.options = OPTIONS(BUILDS("SECCOMP_FILTER")),
		.functions =
			FUNCTIONS({ "__secure_computing", "kernel/seccomp.c", CATALOGUE_FUNCTION },
				  { "__seccomp_filter", "kernel/seccomp.c", CATALOGUE_FUNCTION },
				  { "seccomp_run_filters", "kernel/seccomp.c", CATALOGUE_INLINE }),
		.workloads = WORKLOADS("getpid-filtered"),
		.contexts = "every system call of a process that has a filter",
		CLASS(SOURCE, CODE, OFTEN, NO, YES, BY_USE),
		.assumed = -1,
		.note = "runs before sys_enter: the functions' times show it, under [none]; "
			"getpid-filtered has a filter, getpid has none",
	},
	{
		.name = "user_shadow_stack",
		.title = "shadow stacks for programs that request them",
		.against = "overwritten return addresses of programs",
		.options = OPTIONS(BUILDS("X86_USER_SHADOW_STACK")),
		.parameters = PARAMETERS({ "nousershstk", "", NULL, SINCE(6, 6) }),
		.functions = FUNCTIONS({ "shstk_setup", "arch/x86/kernel/shstk.c",
					 CATALOGUE_FUNCTION, SINCE(6, 6) },
				       { "shstk_alloc_thread_stack", "arch/x86/kernel/shstk.c",
					 CATALOGUE_FUNCTION, SINCE(6, 6) },
				       { "setup_signal_shadow_stack", "arch/x86/kernel/shstk.c",
					 CATALOGUE_FUNCTION, SINCE(6, 6) }),
		.workloads = WORKLOADS("thr-create", "fork"),
		.contexts = "clone, execve, signals of programs that use it",
		CLASS(SOURCE, STRUCTURE, SELDOM, PARTLY, PARTLY, BY_USE),
		.assumed = -1,
		.span = SINCE(6, 6),
		.missing = "QEMU's CPU has no shadow stacks",
	},
	/* Protections of the stack. */
	{
		.name = "randomize_kstack_offset",
		.title = "random stack offset for each system call",
		.against = "attacks that need to know stack addresses",
		.options = OPTIONS(BUILDS("RANDOMIZE_KSTACK_OFFSET"),
				   DEFAULT("RANDOMIZE_KSTACK_OFFSET_DEFAULT")),
		.parameters = PARAMETERS({ "randomize_kstack_offset", "off|0|n|N", "on|1|y|Y" }),
		.functions =
			FUNCTIONS({ "add_random_kstack_offset", "include/linux/randomize_kstack.h",
				    CATALOGUE_MACRO },
				  { "choose_random_kstack_offset",
				    "include/linux/randomize_kstack.h", CATALOGUE_MACRO },
				  { "do_syscall_64", "arch/x86/entry/common.c", CATALOGUE_HOST },
				  { "arch_exit_to_user_mode_prepare",
				    "arch/x86/include/asm/entry-common.h", CATALOGUE_HOST }),
		.workloads = WORKLOADS("getpid", "small-read"),
		.contexts = "every system call, before sys_enter and after sys_exit",
		CLASS(SOURCE, STRUCTURE, OFTEN, NO, PARTLY, BY_BOOT),
		.assumed = 0,
		.note = "only the workload's own time shows it; on 6.1 the bits come from rdtsc, "
			"one instruction of dozens of cycles",
	},
	{
		.name = "stackprotector_strong",
		.title = "stack canary in each function with an array or an address taken",
		.against = "return addresses overwritten by a stack buffer",
		.options =
			OPTIONS(BUILDS("STACKPROTECTOR_STRONG"), ALONG("STACKPROTECTOR", "n", "y")),
		.workloads = WORKLOADS("syscall-mix", "getpid", "small-read"),
		.contexts = "everywhere",
		CLASS(COMPILER, CODE, OFTEN, PARTLY, YES, BY_ALL),
		.assumed = 1,
	},
	{
		.name = "vmap_stack",
		.title = "kernel stacks in vmalloc space, with guard pages",
		.against = "stack overflows into other memory",
		.options = OPTIONS(BUILDS("VMAP_STACK")),
		.functions = FUNCTIONS(
			{ "alloc_thread_stack_node", "kernel/fork.c", CATALOGUE_INLINE },
			{ "free_thread_stack", "kernel/fork.c", CATALOGUE_INLINE },
			{ "account_kernel_stack", "kernel/fork.c", CATALOGUE_FUNCTION },
			{ "exit_task_stack_account", "kernel/fork.c", CATALOGUE_FUNCTION }),
		.workloads = WORKLOADS("thr-create", "fork"),
		.contexts = "clone, exit",
		CLASS(SOURCE, STRUCTURE, OFTEN, PARTLY, PARTLY, BY_ALL),
		.assumed = 1,
		.note = "two stacks per CPU are cached for the next clone, so most forks do not pay",
	},
	{
		.name = "init_stack_all_zero",
		.title = "stack variables initialized to zero",
		.against = "leaks and use of previous stack contents",
		.options =
			OPTIONS(BUILDS("INIT_STACK_ALL_ZERO"), ALONG("INIT_STACK_NONE", "y", "n")),
		.workloads = WORKLOADS("syscall-mix", "select", "user-copies"),
		.contexts = "everywhere, more for larger variables: select, poll",
		CLASS(COMPILER, DATA, OFTEN, PARTLY, YES, BY_ALL),
		.assumed = 1,
	},
	{
		.name = "structleak",
		.title = "variables passed by reference initialized to zero (gcc plugin)",
		.against = "leaks of previous stack contents",
		.options =
			OPTIONS(BUILDS("GCC_PLUGIN_STRUCTLEAK_BYREF_ALL"),
				TOOL("GCC_PLUGINS", "y", "y"), ALONG("INIT_STACK_NONE", "y", "n"),
				{ "INIT_STACK_ALL_ZERO", "n", "n", CATALOGUE_ALONG }),
		.workloads = WORKLOADS("syscall-mix", "select"),
		.contexts = "everywhere",
		CLASS(COMPILER, DATA, OFTEN, PARTLY, YES, BY_ALL),
		.assumed = 1,
		.missing =
			"kconfig refuses the plugin if the compiler can initialize variables itself, "
			"as gcc 12 can",
	},
	{
		.name = "stackleak",
		.title = "stack erased at the end of each system call (gcc plugin)",
		.against = "leaks of previous stack contents",
		.options = OPTIONS(BUILDS("GCC_PLUGIN_STACKLEAK"), TOOL("GCC_PLUGINS", "n", "y")),
		.file = &(const struct catalogue_file){ "/proc/sys/kernel/stack_erasing", "0",
							"1" },
		.functions = FUNCTIONS(
			{ "stackleak_erase", "kernel/stackleak.c", CATALOGUE_UNPROBEABLE }),
		.workloads = WORKLOADS("getpid", "syscall-mix"),
		.contexts = "every system call, after sys_exit",
		CLASS(COMPILER, DATA, OFTEN, PARTLY, YES, BY_ALL),
		.assumed = 1,
		.note = "the sysctl kernel.stack_erasing needs CONFIG_STACKLEAK_RUNTIME_DISABLE",
	},
	{
		.name = "shadow_call_stack",
		.title = "return addresses on a separate stack",
		.against = "return addresses overwritten by a stack buffer",
		.options = OPTIONS(BUILDS("SHADOW_CALL_STACK")),
		.workloads = WORKLOADS("syscall-mix"),
		.contexts = "everywhere",
		CLASS(COMPILER, STRUCTURE, OFTEN, PARTLY, YES, BY_ALL),
		.assumed = 1,
		.missing = "arm64 and riscv only",
	},
	/* Code that the compiler inserts. */
	{
		.name = "zero_call_used_regs",
		.title = "registers cleared at the end of each function",
		.against = "gadgets and leaks through register contents",
		.options = OPTIONS(BUILDS("ZERO_CALL_USED_REGS")),
		.workloads = WORKLOADS("syscall-mix", "getpid", "big-fork"),
		.contexts = "everywhere",
		CLASS(COMPILER, CODE, OFTEN, PARTLY, YES, BY_ALL),
		.assumed = 1,
	},
	{
		.name = "randstruct",
		.title = "structure layout randomized at build time",
		.against = "attacks that need to know field offsets",
		.options = OPTIONS(BUILDS("RANDSTRUCT_FULL"), TOOL("GCC_PLUGINS", "n", "y"),
				   ALONG("RANDSTRUCT_NONE", "y", "n")),
		.workloads = WORKLOADS("syscall-mix", "context-switch"),
		.contexts = "everywhere",
		CLASS(LAYOUT, STRUCTURE, BUILD, PARTLY, NO, BY_ALL),
		.assumed = 1,
		.missing =
			"kconfig refuses BTF in a kernel with gcc's randstruct, and recording needs it",
		.note = "costs cache misses; each source tree generates its own seed",
	},
	{
		.name = "ubsan_bounds",
		.title = "array indices checked against array size",
		.against = "overflows of arrays of known size",
		.options = OPTIONS(BUILDS("UBSAN_BOUNDS"), ALONG("UBSAN", "n", "y"),
				   { "UBSAN_SANITIZE_ALL", "n", "y", CATALOGUE_ALONG, UNTIL(6, 9) },
				   ALONG("UBSAN_SHIFT", "n", "n"), ALONG("UBSAN_BOOL", "n", "n"),
				   ALONG("UBSAN_ENUM", "n", "n"), ALONG("UBSAN_TRAP", "n", "y")),
		.functions = FUNCTIONS(
			{ "__ubsan_handle_out_of_bounds", "lib/ubsan.c", CATALOGUE_FUNCTION }),
		.workloads = WORKLOADS("syscall-mix"),
		.contexts = "everywhere",
		CLASS(COMPILER, CODE, OFTEN, PARTLY, YES, BY_ALL),
		.assumed = 1,
		.note = "with UBSAN_TRAP, as distributions set it; the function runs only when a "
			"check fails without traps",
	},
	{
		.name = "cfi",
		.title =
			"control-flow integrity: an indirect call's target must have the right type",
		.against = "calls through overwritten function pointers",
		.options = OPTIONS(BUILDS("CFI_CLANG"), TOOL("CC_IS_CLANG", "y", "y")),
		.workloads = WORKLOADS("syscall-mix", "small-read"),
		.contexts = "every indirect call",
		CLASS(COMPILER, CODE, OFTEN, PARTLY, YES, BY_ALL),
		.assumed = 1,
		.note = "both kernels are Clang's (16 or later; x86: since Linux 6.1), as gcc has no CFI",
	},
	{
		.name = "kernel_ibt",
		.title = "indirect branch tracking: an indirect call must land on endbr64",
		.against = "indirect calls into the middle of functions",
		.options = OPTIONS(BUILDS("X86_KERNEL_IBT")),
		.parameters = PARAMETERS({ "ibt", "off", "on|warn" }),
		.workloads = WORKLOADS("syscall-mix"),
		.contexts = "every function that is called through a pointer",
		CLASS(COMPILER, CODE, OFTEN, PARTLY, YES, BY_ALL),
		.assumed = -1,
		.note = "an endbr64 in each function, whether or not the CPU (Tiger Lake and later, not "
			"QEMU's) checks it",
	},
	/* Protections against speculative execution attacks. */
	{
		.name = "page_table_isolation",
		.title = "page table isolation (KPTI): separate page tables in user space",
		.against = "Meltdown",
		.options = OPTIONS(BUILDS_SINCE("MITIGATION_PAGE_TABLE_ISOLATION", 6, 9),
				   BUILDS_UNTIL("PAGE_TABLE_ISOLATION", 6, 9)),
		.parameters = PARAMETERS({ "pti", "off", "on" }, { "nopti", "", NULL }),
		.file = VULNERABILITY("meltdown", UNSEEN, "Mitigation: PTI"),
		.functions = FUNCTIONS(
			{ "entry_SYSCALL_64", "arch/x86/entry/entry_64.S", CATALOGUE_HOST },
			{ "syscall_return_via_sysret", "arch/x86/entry/entry_64.S",
			  CATALOGUE_HOST },
			{ "swapgs_restore_regs_and_return_to_usermode", "arch/x86/entry/entry_64.S",
			  CATALOGUE_HOST }),
		.workloads = WORKLOADS("getpid", "page-fault", "context-switch"),
		.contexts = "every kernel entry and exit, outside sys_enter to sys_exit",
		CLASS(SOURCE, STRUCTURE, OFTEN, NO, PARTLY, BY_BOOT),
		.assumed = -1,
		.forced = true,
		.note = "a few instructions per entry; the page table switch and subsequent TLB "
			"misses are cycles. pti=on forces it on an unaffected CPU",
	},
	{
		.name = "retpoline",
		.title = "indirect branches through retpolines",
		.against = "Spectre variant 2",
		.options = OPTIONS(BUILDS_SINCE("MITIGATION_RETPOLINE", 6, 9),
				   BUILDS_UNTIL("RETPOLINE", 6, 9)),
		.parameters = PARAMETERS(
			{ "spectre_v2", "off", "retpoline|retpoline,generic|retpoline,lfence" },
			{ "nospectre_v2", "", NULL }),
		.file = VULNERABILITY("spectre_v2", UNSEEN,
				      "Mitigation: Retpolines|Mitigation: LFENCE"),
		.functions = FUNCTIONS({ "__x86_indirect_thunk_*", "arch/x86/lib/retpoline.S",
					 CATALOGUE_ASSEMBLY }),
		.workloads = WORKLOADS("poll", "select", "small-read"),
		.contexts = "every indirect call",
		CLASS(COMPILER, CODE, OFTEN, PARTLY, PARTLY, BY_BOOT),
		.assumed = -1,
		.forced = true,
		.note = "a few instructions per call; the stalled speculation is cycles. Forced on "
			"by spectre_v2=retpoline",
	},
	{
		.name = "spectre_v1",
		.title = "fences after swapgs, clamped indices",
		.against = "Spectre variant 1",
		.options = OPTIONS(BUILDS_SINCE("MITIGATION_SPECTRE_V1", 6, 9)),
		.parameters = PARAMETERS({ "nospectre_v1", "", NULL }),
		.file = VULNERABILITY("spectre_v1", UNSEEN, "Mitigation:"),
		.functions =
			FUNCTIONS({ "array_index_mask_nospec", "arch/x86/include/asm/barrier.h",
				    CATALOGUE_INLINE, UNTIL(6, 11) },
				  { "array_index_mask_nospec", "arch/x86/include/asm/barrier.h",
				    CATALOGUE_MACRO, SINCE(6, 11) }),
		.workloads = WORKLOADS("page-fault", "getpid"),
		.contexts = "interrupts and faults from user space; array accesses everywhere",
		CLASS(SOURCE, CODE, OFTEN, NO, PARTLY, BY_BOOT),
		.assumed = -1,
		.note = "nospectre_v1 removes the fences, but not the clamped indices",
	},
	{
		.name = "spectre_bhi",
		.title = "branch history cleared at system calls",
		.against = "branch history injection",
		.options = OPTIONS(BUILDS("MITIGATION_SPECTRE_BHI")),
		.parameters = PARAMETERS({ "spectre_bhi", "off", "on" }),
		.functions = FUNCTIONS(
			{ "clear_bhb_loop", "arch/x86/entry/entry_64.S", CATALOGUE_ASSEMBLY }),
		.workloads = WORKLOADS("getpid"),
		.contexts = "every system call, before sys_enter",
		CLASS(SOURCE, CODE, OFTEN, NO, YES, BY_BOOT),
		.assumed = -1,
		.lab_cpu = "vendor=GenuineIntel,family=6,model=94",
		.note = "not needed with retpolines; spectre_v2=retpoline,lfence enables it",
	},
	{
		.name = "spec_store_bypass",
		.title = "speculative store bypass disabled",
		.against = "Spectre variant 4",
		.options = OPTIONS(BUILDS_SINCE("MITIGATION_SSB", 6, 9)),
		.parameters = PARAMETERS({ "spec_store_bypass_disable", "off", "on" },
					 { "nospec_store_bypass_disable", "", NULL }),
		.file = VULNERABILITY("spec_store_bypass", UNSEEN, "Mitigation:"),
		.functions = FUNCTIONS({ "__speculation_ctrl_update", "arch/x86/kernel/process.c",
					 CATALOGUE_INLINE }),
		.workloads = WORKLOADS("context-switch"),
		.contexts = "context switches between tasks with different settings",
		CLASS(SOURCE, CODE, SELDOM, PARTLY, NO, BY_BOOT),
		.assumed = -1,
		.lab_cpu = "vendor=AuthenticAMD,family=23,model=49",
	},
	{
		.name = "return_thunk",
		.title = "return thunks, return predictor untrained on kernel entry",
		.against = "Retbleed (AMD, Hygon)",
		.options = OPTIONS(BUILDS_SINCE("MITIGATION_RETHUNK", 6, 9),
				   BUILDS_UNTIL("RETHUNK", 6, 9),
				   BUILDS_SINCE("MITIGATION_UNRET_ENTRY", 6, 9),
				   BUILDS_UNTIL("CPU_UNRET_ENTRY", 6, 9)),
		.parameters = PARAMETERS({ "retbleed", "off", "unret|unret,nosmt" }),
		.file = VULNERABILITY("retbleed", UNSEEN RETBLEED_OTHERS "|Mitigation: Stuffing",
				      "Mitigation: untrained return thunk"),
		.functions = FUNCTIONS(
			{ "retbleed_return_thunk", "arch/x86/lib/retpoline.S", CATALOGUE_ASSEMBLY },
			{ "retbleed_untrain_ret", "arch/x86/lib/retpoline.S", CATALOGUE_ASSEMBLY }),
		.workloads = WORKLOADS("getpid", "syscall-mix"),
		.contexts = "every return; every kernel entry",
		CLASS(COMPILER, CODE, OFTEN, PARTLY, PARTLY, BY_BOOT),
		.assumed = -1,
		.lab_cpu = "vendor=AuthenticAMD,family=21,model=2",
	},
	{
		.name = "srso",
		.title = "safe returns",
		.against = "speculative return stack overflow (AMD Zen)",
		.options = OPTIONS(BUILDS_SINCE("MITIGATION_SRSO", 6, 9),
				   BUILDS_UNTIL("CPU_SRSO", 6, 9)),
		.parameters = PARAMETERS({ "spec_rstack_overflow", "off", "safe-ret" }),
		.file = VULNERABILITY("spec_rstack_overflow", UNSEEN,
				      "Mitigation:|Vulnerable: Safe RET"),
		.functions = FUNCTIONS({ "srso_alias_return_thunk", "arch/x86/lib/retpoline.S",
					 CATALOGUE_ASSEMBLY }),
		.workloads = WORKLOADS("getpid", "syscall-mix"),
		.contexts = "every return",
		CLASS(COMPILER, CODE, OFTEN, PARTLY, PARTLY, BY_BOOT),
		.assumed = -1,
		.lab_cpu = "vendor=AuthenticAMD,family=25,model=1",
	},
	{
		.name = "call_depth_tracking",
		.title = "call depth tracking: return predictor refilled before it underflows",
		.against = "Retbleed (Intel Skylake)",
		.options = OPTIONS(BUILDS_SINCE("MITIGATION_CALL_DEPTH_TRACKING", 6, 9),
				   BUILDS_UNTIL("CALL_DEPTH_TRACKING", 6, 9)),
		.parameters = PARAMETERS({ "retbleed", "off", "stuff", SINCE(6, 2) }),
		.file = VULNERABILITY("retbleed",
				      UNSEEN RETBLEED_OTHERS "|Mitigation: untrained return thunk",
				      "Mitigation: Stuffing"),
		.functions = FUNCTIONS({ "call_depth_return_thunk", "arch/x86/lib/retpoline.S",
					 CATALOGUE_ASSEMBLY, SINCE(6, 2) }),
		.workloads = WORKLOADS("syscall-mix", "big-fork"),
		.contexts = "every call and return",
		CLASS(COMPILER, CODE, OFTEN, PARTLY, YES, BY_BOOT),
		.assumed = -1,
		.span = SINCE(6, 2),
		.lab_cpu = "vendor=GenuineIntel,family=6,model=94",
	},
	{
		.name = "sls",
		.title = "int3 after each return and indirect jump",
		.against = "straight-line speculation",
		.options = OPTIONS(BUILDS_SINCE("MITIGATION_SLS", 6, 9), BUILDS_UNTIL("SLS", 6, 9)),
		.workloads = WORKLOADS("syscall-mix"),
		.contexts = "never executed: larger code",
		CLASS(COMPILER, CODE, BUILD, PARTLY, NO, BY_ALL),
		.assumed = 1,
	},
	{
		.name = "mds",
		.title = "CPU buffers cleared on exit to user space",
		.against = "MDS, TAA, MMIO stale data, RFDS, TSA",
		.options = OPTIONS(BUILDS_SINCE("MITIGATION_MDS", 6, 9)),
		.parameters = PARAMETERS({ "mds", "off", "full|full,nosmt" }),
		.file = VULNERABILITY("mds", UNSEEN, "Mitigation:|Vulnerable: Clear CPU buffers"),
		.functions = FUNCTIONS({ "CLEAR_CPU_BUFFERS",
					 "arch/x86/include/asm/nospec-branch.h", CATALOGUE_MACRO }),
		.workloads = WORKLOADS("getpid", "page-fault"),
		.contexts = "every exit to user space, after sys_exit",
		CLASS(SOURCE, CODE, OFTEN, NO, NO, BY_BOOT),
		.assumed = -1,
		.lab_cpu = "vendor=GenuineIntel,family=6,model=61",
		.note = "one instruction, verw, of hundreds of cycles",
	},
	/* Protections of the address space. */
	{
		.name = "strict_kernel_rwx",
		.title = "kernel text and constants read-only, data not executable",
		.against = "overwriting code and constants, executing data",
		.options = OPTIONS(BUILDS("STRICT_KERNEL_RWX")),
		.parameters = PARAMETERS({ "rodata", "off|0|n|N", "on|1|y|Y|full" }),
		.functions = FUNCTIONS(
			{ "mark_rodata_ro", "arch/x86/mm/init_64.c", CATALOGUE_FUNCTION }),
		.workloads = WORKLOADS("syscall-mix"),
		.contexts = "boot; loading a module",
		CLASS(SOURCE, STRUCTURE, BOOT, NO, NO, BY_BOOT),
		.assumed = 1,
		.note = "splits large pages: TLB misses at run time",
	},
	{
		.name = "randomize_base",
		.title = "KASLR: kernel at a random address",
		.against = "attacks that need to know kernel addresses",
		.options = OPTIONS(BUILDS("RANDOMIZE_BASE")),
		.parameters = PARAMETERS({ "nokaslr", "", NULL }),
		.functions =
			FUNCTIONS({ "choose_random_location", "arch/x86/boot/compressed/kaslr.c",
				    CATALOGUE_UNPROBEABLE }),
		.workloads = WORKLOADS("syscall-mix"),
		.contexts = "boot",
		CLASS(SOURCE, STRUCTURE, BOOT, NO, NO, BY_BOOT),
		.assumed = 1,
		.note = "nokaslr also disables randomize_memory",
	},
	{
		.name = "randomize_memory",
		.title = "direct mapping, vmalloc and vmemmap at random addresses",
		.against = "attacks that need to know where physical memory is mapped",
		.options = OPTIONS(BUILDS("RANDOMIZE_MEMORY")),
		.parameters = PARAMETERS({ "nokaslr", "", NULL }),
		.functions = FUNCTIONS({ "kernel_randomize_memory", "arch/x86/mm/kaslr.c",
					 CATALOGUE_UNPROBEABLE }),
		.workloads = WORKLOADS("syscall-mix"),
		.contexts = "boot",
		CLASS(SOURCE, STRUCTURE, BOOT, NO, NO, BY_BOOT),
		.assumed = 1,
	},
};

const size_t catalogue_size = ARRAY_SIZE(catalogue);
