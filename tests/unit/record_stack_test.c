// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the owner and name of each address of a stack, and the addresses that are looked up. */
#include "test.h"
#include "kernel_fixture.h"
#include "record/collect/stack.h"

#define STEXT   0xffffffff81000000
#define READ    (STEXT + 0x1000) /* functions of the kernel image */
#define SYSCALL (STEXT + 0x2000)
#define FILTER  (STEXT + 0x3000)
#define INIT    (STEXT + 0x4000)
#define FTRACE  (STEXT + 0x5000)
#define IRQ     (STEXT + 0x6000)
#define TRACER  (STEXT + 0x7000)
#define RETHOOK (STEXT + 0x8000)
#define MODULE  0xffffffffc0100000 /* modules and BPF programs */
#define OWN     0xffffffffc0200000
#define OTHERS  0xffffffffc0201000
#define OWN_WAY 0xffffffffc0202000 /* trampolines */
#define WAY     0xffffffffc0203000
#define NOWHERE 0xffffffffc0300000

#define IMAGE                                          \
	"ffffffff81000000 T _stext\n"                  \
	"ffffffff81001000 T vfs_read\n"                \
	"ffffffff81002000 T ksys_read\n"               \
	"ffffffff81003000 T __seccomp_filter\n"        \
	"ffffffff81004000 T do_one_initcall\n"         \
	"ffffffff81005000 T ftrace_caller\n"           \
	"ffffffff81006000 T asm_sysvec_call\n"         \
	"ffffffff81007000 t function_trace_call\n"     \
	"ffffffff81008000 t arch_rethook_trampoline\n" \
	"ffffffff81100000 T _etext\n"
#define PROGRAMS                                                       \
	"ffffffffc0200000 t bpf_prog_1111111111111111_fentry\t[bpf]\n" \
	"ffffffffc0201000 t bpf_prog_2222222222222222_probe\t[bpf]\n"  \
	"ffffffffc0202000 t bpf_trampoline_7\t[bpf]\n"                 \
	"ffffffffc0203000 t bpf_trampoline_77\t[bpf]\n"
#define FIRST  "ffffffffc0100000 t run_first\t[first]\n"
#define OTHER  "bpf_prog_2222222222222222_probe"
#define SECOND "ffffffffc0100000 t run_second\t[second]\n"

static struct record_symbols symbols;
static struct record_code code = { .symbols = &symbols };
static struct record_sites sites;
static struct record_stacks stacks;
static struct profile *p;

static struct kernel_kallsyms *load(const char *text)
{
	struct kernel_kallsyms *ks;

	assert_int_equal(kernel_kallsyms_load(fixture_text("kallsyms", text), &ks), 0);
	return ks;
}

static int setup(void **state)
{
	size_t n;

	if (fixture_setup(state))
		return -1;
	symbols.ks = load(IMAGE);
	vec_push(&code, tables, load(IMAGE PROGRAMS FIRST));
	vec_push(&code, tables, load(IMAGE PROGRAMS));
	vec_push(&code, tables, load(IMAGE PROGRAMS SECOND));
	vec_push(&code, tables, load(IMAGE PROGRAMS FIRST));
	vec_push(&code, own, ((struct record_code_range){ OWN, OWN + 0x100 }));
	alloc_keep(&code.own_names, strdup("bpf_trampoline_7"));
	vec_push(&sites, items,
		 ((struct record_site){
			 .sym = *kernel_kallsyms_named(symbols.ks, "vfs_read", &n) }));
	return 0;
}

static int teardown(void **state)
{
	kernel_kallsyms_destroy(symbols.ks);
	while (code.n_tables)
		kernel_kallsyms_destroy(code.tables[--code.n_tables]);
	free(code.tables);
	while (code.n_reports)
		kernel_kallsyms_destroy(code.reports[--code.n_reports].ks);
	free(code.reports);
	free(code.own);
	alloc_texts_free(&code.own_names);
	free(sites.items);
	return fixture_teardown(state);
}

/* Create a recording of vfs_read by MECH. */
static void begin(enum profile_mechanism mech)
{
	p = profile_create();
	profile_site_add(p, &(struct profile_site){ .name = "vfs_read",
						    .symbol = "vfs_read",
						    .kind = PROFILE_SITE_FUNCTION,
						    .mech = mech });
	record_stacks_init(&stacks, p, &code, &sites);
}

static void end(void)
{
	record_stacks_deinit(&stacks);
	profile_destroy(p);
}

/* Check a stack. EXPECTED: names or offsets in the image, innermost first, and "probe" for a sample taken in a probe. */
static void expect(const char *expected, uint32_t flags, const uint64_t *ips, uint32_t n)
{
	struct engine_stack stack = { .flags = flags, .n = n, .ctx = 0, .site = 1 };
	scoped_free char *text = NULL;
	const struct profile_stack *found;
	uint32_t number;
	bool in_probe;

	memcpy(stack.ips, ips, n * sizeof(*ips));
	number = record_stack_add(&stacks, &stack, &in_probe);
	found = &p->stacks[number];
	for (uint32_t i = 0; i < found->n_locations; i++) {
		const struct profile_location *l = &p->locations[found->locations[i]];

		if (l->n_frames)
			alloc_append(&text, "%s ", l->frames[0].name);
		else
			alloc_append(&text, "%lx ", (unsigned long)l->addr);
	}
	if (in_probe)
		alloc_append(&text, "probe ");
	assert_string_equal(text, expected);
}

#define STACK(expected, flags, ...)                                \
	expect(expected, flags, (const uint64_t[]){ __VA_ARGS__ }, \
	       sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))
#define EPOCH(n) ((n) << ENGINE_SAMPLE_EPOCH)

/* Report that the program NAME was loaded at ADDR during EPOCH. */
static void report(uint64_t addr, const char *name, uint32_t epoch)
{
	struct kernel_sym sym = {
		.addr = addr, .name = name, .module = "bpf", .size = 0x100, .type = 't'
	};

	vec_push(&code, reports,
		 ((struct record_code_report){ kernel_kallsyms_of(&sym, 1), epoch }));
}

/* Code of this recording's programs is separate from the workload's; others' programs have their names. */
TEST(own_code_is_separate_and_others_have_names)
{
	begin(PROFILE_MECH_FENTRY);
	STACK("[probe] 2023 probe ", 0, OWN + 8, OWN_WAY + 20, READ + 5, SYSCALL + 0x24);
	STACK("7004 2023 probe ", 0, TRACER + 4, OWN + 8, OWN_WAY + 20, READ + 5, SYSCALL + 0x24);
	STACK("1040 2023 ", 0, READ + 0x40, OWN_WAY + 20, READ + 5, SYSCALL + 0x24);
	STACK(OTHER " 2023 ", 0, OTHERS + 8, OWN_WAY + 20, READ + 5, SYSCALL + 0x24);
	STACK("7004 " OTHER " 2023 ", 0, TRACER + 4, OTHERS + 8, OWN_WAY + 20, READ + 5,
	      SYSCALL + 0x24);
	STACK("bpf_trampoline_77 1004 2023 ", 0, WAY + 8, READ + 5, SYSCALL + 0x24);
	STACK("[bpf] 300f 2023 ", 0, NOWHERE, FILTER + 0x10, SYSCALL + 0x24);
	STACK("[module] [module] 4004 ", 0, NOWHERE, NOWHERE + 0x20, INIT + 5);
	code.module_missed = true;
	STACK("[unknown] 300f ", 0, NOWHERE, FILTER + 0x10);
	code.module_missed = false;
	end();
}

/* The kernel's code that runs probes belongs to the tool that probed the function. */
TEST(probe_code_belongs_to_who_probed)
{
	begin(PROFILE_MECH_FENTRY);
	STACK("7004 5008 1004 2023 probe ", 0, TRACER + 4, FTRACE + 9, READ + 5, SYSCALL + 0x24);
	STACK("7004 5008 2004 ", 0, TRACER + 4, FTRACE + 9, SYSCALL + 5);
	STACK(OTHER " 5008 1004 ", 0, OTHERS + 8, FTRACE + 9, READ + 5);
	STACK("8004 2023 ", 0, RETHOOK + 4, SYSCALL + 0x24);
	end();
	begin(PROFILE_MECH_KPROBE);
	STACK("8004 2023 probe ", 0, RETHOOK + 4, SYSCALL + 0x24);
	end();
}

TEST(an_address_may_belong_to_another_module_later)
{
	begin(PROFILE_MECH_FENTRY);
	STACK("run_first ", EPOCH(0), MODULE + 4);
	STACK("run_second ", EPOCH(1), MODULE + 4);
	STACK("[bpf] ", EPOCH(2), MODULE + 4);
	STACK("run_first ", EPOCH(3), MODULE + 4);
	end();
}

/* A program may be loaded at the address of an earlier one, and be unloaded before the next table is read. */
TEST(a_program_may_replace_another_between_tables)
{
	const uint32_t epoch = code.n_tables;

	vec_push(&code, tables, load(IMAGE PROGRAMS));
	for (uint32_t i = 1; i < 4; i++)
		vec_push(&code, tables, NULL);
	vec_push(&code, tables, load(IMAGE PROGRAMS FIRST));
	report(MODULE, "bpf_prog_3333333333333333_early", epoch);
	report(NOWHERE, "bpf_prog_4444444444444444_alone", epoch);
	report(MODULE, "bpf_prog_5555555555555555_late", epoch + 1);
	begin(PROFILE_MECH_FENTRY);
	STACK("bpf_prog_3333333333333333_early ", EPOCH(epoch), MODULE + 4);
	STACK("[bpf] ", EPOCH(epoch + 1), MODULE + 4);
	STACK("bpf_prog_5555555555555555_late ", EPOCH(epoch + 2), MODULE + 4);
	STACK("[bpf] ", EPOCH(epoch + 3), MODULE + 4);
	STACK("run_first ", EPOCH(epoch + 4), MODULE + 4);
	for (uint32_t i = 0; i < 5; i++)
		STACK("bpf_prog_4444444444444444_alone ", EPOCH(epoch + i), NOWHERE + 4);
	end();
}

/* Return addresses are looked up less 1, within the call: an inlined function that begins after the call is not the caller. */
TEST(return_addresses_are_looked_up_less_1)
{
	const uint32_t at_return = ENGINE_SAMPLE_AT_RETURN;

	begin(PROFILE_MECH_FENTRY);
	STACK("1040 2023 ", 0, READ + 0x40, SYSCALL + 0x24);
	STACK("1004 2023 ", at_return, OWN + 8, OWN_WAY + 20, READ + 5, SYSCALL + 0x24);
	/* The address of an interrupted instruction is no return address, so it is looked up unchanged. */
	STACK("3010 6004 1000 2023 ", 0, FILTER + 0x10, IRQ + 5, READ, SYSCALL + 0x24);
	end();
	begin(PROFILE_MECH_KPROBE);
	STACK("1000 2023 ", at_return, SYSCALL + 0x24);
	/* Test a recursive call. */
	STACK("1000 1023 2023 ", at_return, READ + 0x24, SYSCALL + 0x24);
	end();
}

RUN_TESTS(setup, teardown)
