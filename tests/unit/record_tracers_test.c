// SPDX-License-Identifier: GPL-2.0-or-later
/* Find other tools' tracing by the kernel's lists and by its reports of changed code. */
#include "test.h"
#include "kernel_fixture.h"
#include "record/collect/tracers.h"

static void write_lists(const char *tracer, const char *enabled, const char *kprobes)
{
	fixture_write("current_tracer", tracer, strlen(tracer));
	fixture_write("enabled_functions", enabled, strlen(enabled));
	fixture_write("kprobes", kprobes, strlen(kprobes));
}

/* Check the texts about T in a recording of vfs_read and of a module's crc. T is empty afterwards. */
static void assert_noted(struct record_tracers *t, const char *tracers, const char *programs)
{
	struct profile *p = profile_create();
	const char *noted[2];

	profile_site_add(p, &(struct profile_site){ .name = "vfs_read",
						    .symbol = "vfs_read",
						    .kind = PROFILE_SITE_FUNCTION });
	profile_site_add(p, &(struct profile_site){ .name = "crc",
						    .symbol = "crc [module]",
						    .kind = PROFILE_SITE_FUNCTION });
	record_tracers_store(t, p);
	noted[0] = profile_env_get(p, PROFILE_ENV_TRACERS);
	noted[1] = profile_env_get(p, PROFILE_ENV_PROGRAMS);
	assert_string_equal(noted[0] ?: "nothing", tracers);
	assert_string_equal(noted[1] ?: "nothing", programs);
	profile_destroy(p);
}

static void read_lists(struct record_tracers *t, const char *keys)
{
	record_tracers_read(t, fixture_dir, fixture_path("kprobes"), keys);
}

TEST(reads_lists)
{
	struct record_tracers t = {};

	record_tracers_read(&t, NULL, fixture_path("none"), NULL);
	assert_noted(&t, "nothing", "nothing");
	write_lists("nop\n", "", "");
	read_lists(&t, "init_on_alloc");
	assert_noted(&t, "nothing", "nothing");
	write_lists("function\n",
		    "a_function (1) R   \ttramp: 0xffffffffc03e0000 (x+0x0/0x120) ->x+0x0/0x120\n"
		    "vfs_read (2) R   D \ttramp: ERROR!\n\tdirect-->bpf_trampoline_1+0x0/0x50\n",
		    "ffffffff81000010  k  vfs_read+0x4    [FTRACE]\n"
		    "ffffffffc0000010  r  crc+0x0  module [OPTIMIZED]\n");
	read_lists(&t, "init_on_alloc __tracepoint_sys_enter+0x8 x __tracepoint_sys_exit+0x8");
	/* The lists are the same before and after the recording. */
	read_lists(&t, "init_on_alloc");
	assert_noted(&t,
		     "function tracer; 3 functions (crc, vfs_read, a_function); "
		     "2 tracepoints (sys_enter, sys_exit)",
		     "nothing");
	/* Test names with a common prefix, and more names than are shown. */
	write_lists("nop\n", "vfs_readv (1)\nb (1)\nc (1)\nvfs_read (1)\n", "");
	read_lists(&t, "init_on_alloc");
	assert_noted(&t, "4 functions (vfs_read, b, c, ...)", "nothing");
	/* A list is cut off if the kernel would take long to print it. */
	char *many = NULL;
	for (int i = 0; i < 10000; i++)
		alloc_append(&many, "f%d (1)\n", i % 2000);
	write_lists("nop\n", many, "");
	free(many);
	read_lists(&t, "init_on_alloc");
	assert_noted(&t, "more than 2000 functions (f0, f1, f10, ...)", "nothing");
}

#define CALL 0xe8
#define TRAP 0xcc
#define NOP  0x00441f0f

static bool is_ignored(uint64_t addr, const void *arg)
{
	return addr == *(const uint64_t *)arg;
}

TEST(watches_code)
{
	static const char kallsyms[] = "0000000081000000 T _stext\n"
				       "0000000081001000 T vfs_read\n"
				       "0000000081002000 T other\n"
				       "0000000081003000 T own\n"
				       "0000000081004000 T last\n";
	struct record_change changes[] = {
		{ 0x81000100, CALL, 5 }, /* a static call */
		{ 0x81000200, NOP, 5 },  { 0x81001004, CALL, 5 },
		{ 0x81001004, NOP, 5 },  { 0x81001100, TRAP, 5 }, /* a jump removed */
		{ 0x81002050, TRAP, 1 }, { 0x81003000, CALL, 5 },
	};
	char *programs[] = { "tracing" };
	struct record_watch watch = {
		.changes = changes,
		.n_changes = ARRAY_SIZE(changes),
		.programs = { .texts = programs, .n_texts = 1 },
	};
	struct record_tracers t = {};
	struct kernel_kallsyms *ks;
	uint64_t own = 0x81003000;

	fixture_write("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	assert_int_equal(kernel_kallsyms_load(fixture_path("kallsyms"), &ks), 0);
	record_tracers_watch(&t, &watch, ks, is_ignored, &own);
	assert_noted(&t, "2 functions (vfs_read, other)", "1 BPF program (tracing)");
	watch.overflowed = true;
	own = 0;
	record_tracers_watch(&t, &watch, ks, is_ignored, &own);
	assert_noted(&t, "more than 3 functions (vfs_read, other, own, ...)",
		     "1 BPF program (tracing)");
	assert_int_equal(record_watch_from(&watch, 0x81001004), 2);
	assert_int_equal(record_watch_from(&watch, 0x81004000), ARRAY_SIZE(changes));
	kernel_kallsyms_destroy(ks);
}

RUN_TESTS(fixture_setup, fixture_teardown)
