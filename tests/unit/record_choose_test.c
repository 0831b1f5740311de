// SPDX-License-Identifier: GPL-2.0-or-later
/* Resolve names and globs to functions and their mechanisms, on a made-up kernel. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf/btf.h>
#include <cmocka.h>

#include "kernel_fixture.h"
#include "record/engine/features.h"
#include "record/probe/choose.h"
#include "record/probe/probes_impl.h"

#define STEXT 0xffffffff81000000u
#define SIZE  0x100 /* bytes of each function */
#define MANY  40 /* functions many_0 and so on, of one argument each */

/* The functions of the made-up kernel, sorted by address. */
static const struct function {
	const char *name;
	bool ftrace; /* has an ftrace location */
	int n_args; /* number of arguments in BTF; -1: not in BTF */
	const char *code; /* NULL: the function returns at once */
} functions[] = {
	{ "_stext", false, -1 },
	{ "plain", true, 2 },
	{ "unknown", true, -1 },
	{ "wide", true, 7 },
	{ "twin", true, 1 },
	{ "twin", true, 1 },
	{ "bare", false, 1 },
	{ "listed", true, -1 },
	{ "do_exit", true, 1 },
	{ "kasan_check", true, 1 },
	{ "copied.isra.0", true, -1 },
	{ "_sinittext", false, -1 },
	{ "plain_init", true, 1 },
	{ "_einittext", false, -1 },
	{ "__pfx_plain", false, -1 },
	/* mov %rsi,%rax: reads an argument that BTF's function lacks. jmp *%rax: may read any argument. */
	{ "stranger", true, 1, "\x48\x89\xf0" },
	{ "riddle", true, 1, "\xff\xe0" },
};

#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* A mechanism that only this test has. It works if HAS_SESSION. */
#define SESSION ((enum profile_mechanism)PROFILE_N_COSTS)
static bool has_session;

static const char *session_why_not(const struct record_features *f)
{
	(void)f;
	return has_session ? NULL : "not in this kernel";
}

static const char *session_refuse(const struct record_kernel *kernel, struct record_site *site,
				  enum record_skip *skip)
{
	(void)site;
	*skip = RECORD_SKIP_MECHANISM;
	return session_why_not(kernel->features);
}

static size_t session_memory(const struct record_machine *machine)
{
	return machine->n_cpus;
}

static const struct record_mechanism session = {
	.mech = SESSION,
	.why_not = session_why_not,
	.memory = session_memory,
	.refuse = session_refuse,
};

/* This table replaces the program's table in mechanisms.c, which the linker leaves out. */
const struct record_mechanism *const record_mechanisms[] = { &record_fentry_mechanism, &session,
							     &record_multi_mechanism,
							     &record_kprobe_mechanism, NULL };
const char *const record_attach_names[] = { "auto", "fentry", "session", "multi", "kprobe", NULL };

static struct record_symbols symbols;
static struct record_features features;
static const struct record_kernel kernel = { &symbols, &features };
static struct record_sites sites;
static struct record_names inlined;

static uint64_t addr_of(size_t place)
{
	return STEXT + place * SIZE;
}

static void write_kernel(void)
{
	FILE *syms = fopen(fixture_path("kallsyms"), "we");
	FILE *ftrace = fopen(fixture_path("available_filter_functions_addrs"), "we");
	size_t i;

	assert_true(syms && ftrace);
	for (i = 0; i < N_FUNCTIONS; i++) {
		fprintf(syms, "%016lx T %s\n", addr_of(i), functions[i].name);
		if (functions[i].ftrace)
			fprintf(ftrace, "%016lx %s\n", addr_of(i), functions[i].name);
	}
	for (; i < N_FUNCTIONS + MANY; i++) {
		fprintf(syms, "%016lx T many_%zu\n", addr_of(i), i - N_FUNCTIONS);
		fprintf(ftrace, "%016lx many_%zu\n", addr_of(i), i - N_FUNCTIONS);
	}
	/* Add an alias of the last function, and the end of the text. */
	fprintf(syms, "%016lx T alias\n%016lx T _etext\n", addr_of(i - 1), addr_of(i));
	fclose(syms);
	fclose(ftrace);
}

static void write_btf(void)
{
	struct btf *btf = btf__new_empty();
	const void *raw;
	uint32_t size;
	int type;

	assert_non_null(btf);
	type = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	for (size_t i = 0; i < N_FUNCTIONS + MANY; i++) {
		int n_args = i < N_FUNCTIONS ? functions[i].n_args : 1, proto;
		char name[32];

		if (n_args < 0)
			continue;
		proto = btf__add_func_proto(btf, type);
		for (int k = 0; k < n_args; k++)
			btf__add_func_param(btf, "a", type);
		snprintf(name, sizeof(name), "many_%zu", i - N_FUNCTIONS);
		btf__add_func(btf, i < N_FUNCTIONS ? functions[i].name : name, BTF_FUNC_STATIC,
			      proto);
	}
	raw = btf__raw_data(btf, &size);
	fixture_write("btf", raw, size);
	btf__free(btf);
}

static void write_memory(void)
{
	static char memory[(N_FUNCTIONS + MANY) * SIZE];

	memset(memory, '\xc3', sizeof(memory));
	for (size_t i = 0; i < N_FUNCTIONS; i++)
		if (functions[i].code)
			memcpy(memory + i * SIZE, functions[i].code, strlen(functions[i].code));
	fixture_core("kcore", STEXT, memory, sizeof(memory));
}

static int setup(void **state)
{
	static char kcore[160];
	char list[64];
	const char *path;

	if (fixture_setup(state))
		return -1;
	fixture_quiet();
	write_kernel();
	write_btf();
	write_memory();
	snprintf(kcore, sizeof(kcore), "%s", fixture_path("kcore"));
	/* The blacklist has one function. */
	snprintf(list, sizeof(list), "0x%lx-0x%lx\tlisted\n", addr_of(7), addr_of(8));
	path = fixture_text("blacklist", list);
	symbols = (struct record_symbols){ .kernel = { .image_tried = true, .index_tried = true },
					   .kcore = kcore };
	return kernel_kallsyms_load(fixture_path("kallsyms"), &symbols.ks) ||
	       kernel_tracing_load(symbols.ks, NULL, 0, fixture_dir, path, &symbols.tracing) ||
	       kernel_btf_load(fixture_path("btf"), &symbols.btf);
}

static int teardown(void **state)
{
	fixture_loud();
	record_symbols_deinit(&symbols);
	return fixture_teardown(state);
}

/* Restore all of the kernel's features, and forget the chosen functions. */
static int forget(void **state)
{
	(void)state;
	features = (struct record_features){ .btf = true };
	has_session = false;
	symbols.notrace = 0;
	record_sites_deinit(&sites);
	record_names_deinit(&inlined);
	return 0;
}

static int resolve(enum profile_mechanism how, const char *first, const char *second,
		   const char *third)
{
	const char *items[] = { first, second, third };
	struct record_names names = { .items = items };
	int err, one;

	while (names.n_items < 3 && items[names.n_items])
		names.n_items++;
	err = record_sites_find(&sites, &symbols, &names, &inlined);
	one = record_sites_choose(&sites, &kernel, how);
	record_sites_limit_fentry(&sites, &kernel, how);
	return err ?: one;
}

/* Return the mechanism that is chosen for the function NAME, or PROFILE_UNTIMED. */
static enum profile_mechanism chosen(enum profile_mechanism how, const char *name)
{
	record_sites_deinit(&sites);
	if (resolve(how, name, NULL, NULL))
		return PROFILE_UNTIMED;
	assert_int_equal(sites.n_items, 1);
	return sites.items[0].mech;
}

static uint32_t count(enum profile_mechanism mech)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sites.n_items; i++)
		n += sites.items[i].mech == mech;
	return n;
}

static void auto_takes_the_first_that_reaches_it(void **state)
{
	(void)state;
	assert_int_equal(chosen(PROFILE_UNTIMED, "plain"), PROFILE_MECH_FENTRY);
	assert_int_equal(sites.items[0].target.addr, addr_of(1));
	assert_int_equal(sites.items[0].target.n_args, 2);
	assert_true(sites.items[0].target.btf_id > 0);
	assert_null(sites.items[0].why_not_fentry);
	assert_int_equal(chosen(PROFILE_UNTIMED, "unknown"), PROFILE_MECH_MULTI);
	assert_non_null(strstr(sites.items[0].why_not_fentry, "no BTF"));
	assert_int_equal(chosen(PROFILE_UNTIMED, "wide"), PROFILE_MECH_MULTI);
	assert_non_null(strstr(sites.items[0].why_not_fentry, "more arguments"));
	features.multi = -EOPNOTSUPP;
	assert_int_equal(chosen(PROFILE_UNTIMED, "wide"), PROFILE_MECH_KPROBE);
	features.fentry = -EPERM;
	assert_int_equal(chosen(PROFILE_UNTIMED, "plain"), PROFILE_MECH_KPROBE);
}

/*
 * A new mechanism needs only a row in the table. A user can request it by name. record tries it in the table's order, also if all
 * others are refused.
 */
static void a_mechanism_is_a_row(void **state)
{
	const struct record_machine machine = { .n_cpus = 3 };

	(void)state;
	assert_int_equal(chosen(SESSION, "plain"), PROFILE_UNTIMED);
	has_session = true;
	assert_int_equal(record_attach_mechanism(2), SESSION);
	assert_int_equal(chosen(SESSION, "plain"), SESSION);
	assert_int_equal(chosen(PROFILE_UNTIMED, "plain"), PROFILE_MECH_FENTRY);
	assert_int_equal(chosen(PROFILE_UNTIMED, "wide"), SESSION);
	assert_int_equal(record_choose_after(&features, PROFILE_MECH_FENTRY), SESSION);
	assert_int_equal(record_choose_after(&features, SESSION), PROFILE_MECH_MULTI);
	assert_int_equal(record_probe_memory(&machine, SESSION, 2), 6);
	/* This mechanism is chosen also if no other one works. */
	features.fentry = features.multi = features.kprobe = -EOPNOTSUPP;
	assert_int_equal(chosen(PROFILE_UNTIMED, "plain"), SESSION);
}

/* BTF has functions by name only, so fentry cannot distinguish functions of one name. */
static void fentry_takes_no_namesakes(void **state)
{
	(void)state;
	assert_int_equal(resolve(PROFILE_UNTIMED, "twin", NULL, NULL), 0);
	assert_int_equal(sites.n_items, 2);
	assert_int_equal(count(PROFILE_MECH_MULTI), 2);
	assert_non_null(strstr(sites.items[0].why_not_fentry, "several functions"));
}

/* A prototype of another function is not used: the trampoline would lose arguments. */
static void fentry_takes_no_unknown_arguments(void **state)
{
	(void)state;
	assert_int_equal(chosen(PROFILE_UNTIMED, "stranger"), PROFILE_MECH_MULTI);
	assert_non_null(strstr(sites.items[0].why_not_fentry, "several functions"));
	assert_int_equal(chosen(PROFILE_UNTIMED, "riddle"), PROFILE_MECH_MULTI);
	assert_non_null(strstr(sites.items[0].why_not_fentry, "debug symbols"));
	assert_int_equal(chosen(PROFILE_MECH_FENTRY, "stranger"), PROFILE_UNTIMED);
	assert_int_equal(chosen(PROFILE_MECH_FENTRY, "riddle"), PROFILE_UNTIMED);
}

static void what_is_asked_for_is_taken_or_nothing(void **state)
{
	(void)state;
	assert_int_equal(chosen(PROFILE_MECH_KPROBE, "plain"), PROFILE_MECH_KPROBE);
	assert_int_equal(chosen(PROFILE_MECH_MULTI, "plain"), PROFILE_MECH_MULTI);
	assert_int_equal(chosen(PROFILE_MECH_FENTRY, "plain"), PROFILE_MECH_FENTRY);
	assert_int_equal(chosen(PROFILE_MECH_FENTRY, "wide"), PROFILE_UNTIMED);
	assert_int_equal(chosen(PROFILE_MECH_KPROBE, "listed"), PROFILE_UNTIMED);
	features.multi = -EOPNOTSUPP;
	assert_int_equal(chosen(PROFILE_MECH_MULTI, "plain"), PROFILE_UNTIMED);
}

/* Without an ftrace location, only a vmlinux shows that an address is a function's entry. */
static void no_return_probe_but_on_an_entry(void **state)
{
	(void)state;
	assert_int_equal(chosen(PROFILE_UNTIMED, "bare"), PROFILE_UNTIMED);
	assert_int_equal(resolve(PROFILE_UNTIMED, "b*e", NULL, NULL), -ENOENT);
	assert_int_equal(sites.skipped[RECORD_SKIP_NOT_FTRACE], 1);
}

static void globs_leave_out_what_is_unsafe(void **state)
{
	(void)state;
	features.fentry = features.multi = -EOPNOTSUPP;
	assert_int_equal(resolve(PROFILE_UNTIMED, "[a-z]*", NULL, NULL), 0);
	assert_int_equal(count(PROFILE_MECH_KPROBE), sites.n_items);
	assert_int_equal(sites.n_items,
			 8 + MANY); /* plain, unknown, wide, twin, copied, stranger, riddle */
	assert_int_equal(sites.skipped[RECORD_SKIP_UNSAFE], 2); /* do_exit, kasan_check */
	assert_int_equal(sites.skipped[RECORD_SKIP_BLACKLISTED], 1);
	assert_int_equal(sites.skipped[RECORD_SKIP_NOT_FTRACE], 1); /* bare */
	for (uint32_t i = 0; i < sites.n_items; i++)
		assert_string_not_equal(sites.items[i].name, "plain_init");
	/* A function named explicitly is probed at the user's own risk. */
	assert_int_equal(chosen(PROFILE_UNTIMED, "kasan_check"), PROFILE_MECH_KPROBE);
	assert_int_equal(chosen(PROFILE_UNTIMED, "do_exit"), PROFILE_UNTIMED);
}

/* Padding does not count as skipped, because no user wants to probe it. */
static void padding_is_not_left_out(void **state)
{
	(void)state;
	assert_int_equal(resolve(PROFILE_UNTIMED, "*plain", NULL, NULL), 0);
	assert_int_equal(sites.n_items, 1);
	assert_int_equal(sites.skipped[RECORD_SKIP_UNSAFE], 0);
	assert_int_equal(chosen(PROFILE_UNTIMED, "__pfx_plain"), PROFILE_UNTIMED);
}

static void few_of_a_glob_stay_with_fentry(void **state)
{
	(void)state;
	assert_int_equal(resolve(PROFILE_UNTIMED, "many_[012]*", "many_1", "plain"), 0);
	assert_int_equal(sites.n_items, 24); /* plain, many_0 to 2, many_10 to 29 */
	assert_int_equal(count(PROFILE_MECH_FENTRY), sites.n_items);
}

/* Adding a site reallocates the array of sites. Each site must keep its mechanism. */
static void mechanisms_are_stored(void **state)
{
	struct profile *p = profile_create();

	(void)state;
	assert_int_equal(resolve(PROFILE_MECH_FENTRY, "many_*", NULL, NULL), 0);
	record_sites_store(&sites, &symbols, p);
	assert_int_equal(p->n_sites, MANY + 1);
	assert_int_equal(p->sites[0].mech, PROFILE_MECH_TRACEPOINT);
	for (uint32_t i = 1; i < p->n_sites; i++)
		assert_int_equal(p->sites[i].mech, PROFILE_MECH_FENTRY);
	profile_destroy(p);
}

static void many_of_a_glob_go_to_multi(void **state)
{
	(void)state;
	assert_int_equal(resolve(PROFILE_UNTIMED, "many_*", "many_7", "plain"), 0);
	assert_int_equal(sites.n_items, MANY + 1);
	assert_int_equal(count(PROFILE_MECH_FENTRY), 2);
	assert_int_equal(count(PROFILE_MECH_MULTI), MANY - 1);
	assert_true(sites.items[0].named && sites.items[1].named);
	forget(state);
	assert_int_equal(resolve(PROFILE_MECH_FENTRY, "many_*", NULL, NULL), 0);
	assert_int_equal(count(PROFILE_MECH_FENTRY), MANY);
	forget(state);
	features.multi = -EOPNOTSUPP;
	assert_int_equal(resolve(PROFILE_UNTIMED, "many_*", "many_7", NULL), 0);
	assert_int_equal(count(PROFILE_MECH_FENTRY), 1);
	assert_int_equal(count(PROFILE_MECH_KPROBE), MANY - 1);
	forget(state);
	features.multi = features.kprobe = -EOPNOTSUPP;
	assert_int_equal(resolve(PROFILE_UNTIMED, "many_*", NULL, NULL), 0);
	assert_int_equal(count(PROFILE_MECH_FENTRY), MANY);
}

static void a_function_is_one_site(void **state)
{
	(void)state;
	assert_int_equal(resolve(PROFILE_UNTIMED, "alias", "many_39", "many_39"), 0);
	assert_int_equal(sites.n_items, 1);
	assert_string_equal(sites.items[0].name, "alias");
}

static void what_fits_nothing_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(resolve(PROFILE_UNTIMED, "none", "plain", NULL), -ENOENT);
	forget(state);
	assert_int_equal(resolve(PROFILE_UNTIMED, "plain", "none*", NULL), -ENOENT);
	forget(state);
	assert_int_equal(resolve(PROFILE_UNTIMED, "plain", "do_ex*", NULL), -ENOENT);
	forget(state);
	assert_int_equal(resolve(PROFILE_UNTIMED, "plain_init", NULL, NULL), -ENOENT);
	forget(state);
	features.fentry = features.kprobe = features.multi = -EOPNOTSUPP;
	assert_int_equal(resolve(PROFILE_UNTIMED, "plain", NULL, NULL), -EOPNOTSUPP);
}

/* A kernel without CONFIG_KPROBE_EVENTS_ON_NOTRACE refuses kprobes on functions without an ftrace location. */
static void notrace_is_asked_once(void **state)
{
	const struct kernel_sym *all = symbols.ks->syms;

	(void)state;
	symbols.notrace = -EINVAL;
	assert_true(record_symbols_is_notrace(&symbols, &all[6]));
	assert_false(record_symbols_is_notrace(&symbols, &all[1]));
	symbols.notrace = 0;
	assert_false(record_symbols_is_notrace(&symbols, &all[6]));
}

#define TEST(name) cmocka_unit_test_setup(name, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(auto_takes_the_first_that_reaches_it),
		TEST(a_mechanism_is_a_row),
		TEST(fentry_takes_no_namesakes),
		TEST(fentry_takes_no_unknown_arguments),
		TEST(what_is_asked_for_is_taken_or_nothing),
		TEST(no_return_probe_but_on_an_entry),
		TEST(globs_leave_out_what_is_unsafe),
		TEST(padding_is_not_left_out),
		TEST(few_of_a_glob_stay_with_fentry),
		TEST(mechanisms_are_stored),
		TEST(many_of_a_glob_go_to_multi),
		TEST(a_function_is_one_site),
		TEST(what_fits_nothing_is_an_error),
		TEST(notrace_is_asked_once),
	};
	int failed = cmocka_run_group_tests(tests, setup, teardown);

	record_sites_deinit(&sites);
	return failed;
}
