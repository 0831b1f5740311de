// SPDX-License-Identifier: GPL-2.0-or-later
/* Merge several boots into one profile, by profile_merge() and by the merge command. Equal entries must become one. */
#include <argp.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "test.h"
#include "cmd/cmd.h"
#include "analyze/blocks/blocks.h"
#include "fixture_file.h"
#include "profile/merge.h"

static const struct profile_stats *cell(const struct profile *p, uint32_t run, const char *site,
					const char *context)
{
	uint32_t s, c, i;

	for (s = 0; s < p->n_sites && strcmp(p->sites[s].name, site); s++)
		;
	for (c = 0; c < p->n_contexts && strcmp(p->contexts[c].name, context); c++)
		;
	for (i = 0; i < p->n_cells; i++)
		if (p->cells[i].run == run && p->cells[i].site == s && p->cells[i].context == c)
			return &p->cells[i].stats;
	return NULL;
}

static void assert_conflict(const struct profile *a, const struct profile *b, const char *text)
{
	char *conflict = profile_merge_conflict(a, b);

	if (!conflict || !strstr(conflict, text))
		fail_msg("expected '%s', got '%s'", text, conflict ? conflict : "(none)");
	free(conflict);
}

/* Two recordings of one boot stay one boot. Recordings without a boot's identity count as separate boots. */
TEST(recordings_of_one_boot_stay_one)
{
	struct profile *a = fixture_big_fork(2, 943), *b = fixture_big_fork(1, 1000),
		       *c = fixture_big_fork(1, 1000), *d = fixture_big_fork(1, 1000),
		       *again = fixture_big_fork(2, 950);

	profile_env_set(a, PROFILE_ENV_BOOTS, "11");
	profile_env_set(again, PROFILE_ENV_BOOTS, "11");
	profile_env_set(b, PROFILE_ENV_BOOTS, "22");
	profile_env_set(d, PROFILE_ENV_BOOTS, "1");
	assert_null(profile_merge_conflict(a, b));
	assert_int_equal(profile_merge(a, again), 1);
	assert_int_equal(a->runs[3].boot, 0);
	assert_int_equal(profile_merge(a, b), 0);
	assert_int_equal(profile_merge(a, c), 0);
	assert_int_equal(profile_merge(a, c), 0);
	assert_int_equal(profile_merge(a, d), 0);
	assert_string_equal(profile_env_get(a, PROFILE_ENV_BOOTS), "11,22,,,1");
	assert_int_equal(a->runs[7].boot, 4);
	/* Merge the recordings in the other order. */
	assert_int_equal(profile_merge(c, b), 0);
	assert_string_equal(profile_env_get(c, PROFILE_ENV_BOOTS), ",22");
	assert_int_equal(profile_merge(c, a), 1);
	assert_int_equal(c->n_runs, 10);
	assert_int_equal(c->runs[2].boot, 2);
	assert_int_equal(c->runs[6].boot, 1);
	assert_string_equal(profile_env_get(c, PROFILE_ENV_BOOTS), ",22,11,,,1");
	profile_destroy(a);
	profile_destroy(b);
	profile_destroy(c);
	profile_destroy(d);
	profile_destroy(again);
}

TEST(recordings_of_one_kernel_are_united)
{
	struct profile *a = fixture_big_fork(2, 943), *b = fixture_big_fork(3, 1000);
	uint32_t n_locations = a->n_locations, i;

	profile_env_set(b, PROFILE_ENV_TIME, "2026-01-01T00:00:20Z");
	assert_null(profile_merge_conflict(a, b));
	profile_merge(a, b);
	profile_merge(a, b);
	assert_int_equal(a->n_runs, 8);
	assert_string_equal(profile_env_get(a, PROFILE_ENV_RECORDINGS), "2,3,3");
	assert_string_equal(profile_env_get(a, PROFILE_ENV_TIMES),
			    "2026-01-01T00:00:10Z,2026-01-01T00:00:20Z,2026-01-01T00:00:20Z");
	for (i = 0; i < 8; i++)
		assert_int_equal(a->runs[i].boot, i < 2 ? 0 : i < 5 ? 1 : 2);
	assert_int_equal(a->n_sites, 2);
	assert_int_equal(a->n_contexts, 3);
	assert_int_equal(a->n_locations, n_locations);
	assert_int_equal(a->n_stacks, 2);
	assert_int_equal(a->n_cells, 8 * 3);
	assert_int_equal(a->n_samples, 8 * 2);
	assert_int_equal(a->runs[7].reports[0].iterations, 20);
	assert_true(a->runs[7].wall == b->runs[2].wall);
	for (i = 0; i < 3; i++) {
		assert_true(cell(a, 2 + i, "allocate_slab", "clone")->sumsq ==
			    cell(b, i, "allocate_slab", "clone")->sumsq);
		assert_true(cell(a, 5 + i, "context", "wait4")->errors == 1);
	}
	assert_true(cell(a, 0, "allocate_slab", "clone")->oncpu <
		    cell(a, 2, "allocate_slab", "clone")->oncpu);
	/* The merge does not change its source, and its result can be written. */
	assert_int_equal(b->n_runs, 3);
	assert_int_equal(profile_file_write(a, path), 0);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(entries_are_found_in_any_order)
{
	struct profile *a = fixture_big_fork(1, 943), *b = profile_create();
	uint32_t vm, slab, page_fault, clone, locations[2], stack, run;

	page_fault = profile_context_add(b, profile_context_name(PROFILE_CONTEXT_PAGE_FAULT));
	clone = profile_context_add(b, "clone");
	vm = fixture_function(b, "vm_area_dup", 0x89000);
	slab = fixture_function(b, "allocate_slab", 0x2a5d10);
	fixture_location(b, 0x111, "handle_mm_fault");
	locations[0] = fixture_location(b, 0x2a8001, "kmem_cache_alloc");
	locations[1] = profile_location_add(b, 0x2a5e4c, "ext4");
	stack = profile_stack_add(b, locations, 2);
	run = fixture_run(b, 77);
	fixture_call(profile_cell(b, run, vm, clone), 10);
	fixture_call(profile_cell(b, run, slab, clone), 20);
	fixture_call(profile_cell(b, run, 0, page_fault), 30);
	profile_sample_add(b, &(struct profile_sample){ .stack = stack, .count = 5 });

	profile_merge(a, b);
	assert_int_equal(a->n_sites, 3);
	assert_int_equal(a->n_contexts, 4);
	assert_int_equal(cell(a, 1, "vm_area_dup", "clone")->max, 10);
	assert_int_equal(cell(a, 1, "allocate_slab", "clone")->max, 20);
	assert_int_equal(cell(a, 1, "context", "[page_fault]")->max, 30);
	assert_null(cell(a, 0, "vm_area_dup", "clone"));

	/* Both profiles have the address of kmem_cache_alloc. The other two locations are new. */
	assert_int_equal(a->n_locations, 6);
	assert_int_equal(a->n_stacks, 3);
	assert_int_equal(a->stacks[2].locations[0], 1);
	assert_string_equal(a->locations[a->stacks[2].locations[1]].module, "ext4");
	assert_int_equal(a->samples[2].run, 1);
	assert_int_equal(a->samples[2].stack, 2);
	assert_string_equal(a->contexts[a->samples[2].context].name, "[page_fault]");
	profile_destroy(a);
	profile_destroy(b);
}

TEST(boots_of_merged_files_stay_apart)
{
	struct profile *a = fixture_big_fork(2, 943), *b = fixture_big_fork(2, 943);

	profile_merge(b, a);
	profile_merge(a, b);
	assert_int_equal(a->n_runs, 6);
	assert_int_equal(a->runs[0].boot, 0);
	assert_int_equal(a->runs[2].boot, 1);
	assert_int_equal(a->runs[5].boot, 2);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(recordings_that_differ_are_refused)
{
	struct profile *a = fixture_big_fork(1, 943), *b = fixture_big_fork(1, 943);
	char *both;

	profile_env_set(b, PROFILE_ENV_TIME, "later");
	profile_env_set(b, "record.extra", "1");
	assert_null(profile_merge_conflict(a, b));

	profile_env_set(b, PROFILE_ENV_BUILD_ID, "ffff");
	assert_conflict(a, b,
			"kernel.build_id \"ffff\" instead of "
			"\"6f1c0ffee0ddba11deadbeef0123456789abcdef\"");
	profile_env_set(b, PROFILE_ENV_CPUS, "2");
	both = profile_merge_conflict(a, b);
	assert_non_null(strstr(both, "kernel.build_id"));
	assert_non_null(strstr(both, "; machine.cpus \"2\" instead of \"1\""));
	free(both);
	profile_destroy(b);

	b = fixture_big_fork(1, 943);
	profile_env_set(
		b, PROFILE_ENV_CONFIG,
		"CONFIG_SLAB_FREELIST_RANDOM=y\nCONFIG_SLUB=y\nCONFIG_KPROBES=y\nCONFIG_X=y\n");
	assert_conflict(a, b, "kernel.config differs");
	profile_destroy(b);

	b = fixture_big_fork(1, 943);
	profile_env_set(b, PROFILE_ENV_GOVERNOR, "powersave");
	assert_conflict(a, b, "machine.governor \"powersave\" instead of unknown");
	assert_conflict(b, a, "machine.governor unknown instead of \"powersave\"");
	profile_destroy(b);

	b = fixture_big_fork(1, 943);
	b->clock = PROFILE_CLOCK_NS;
	b->freq = 99;
	profile_arg_add(b, "--more");
	assert_conflict(a, b, "times in ns instead of instructions");
	assert_conflict(a, b, "99 samples per second instead of 997");
	assert_conflict(a, b, "a different command was run");
	b->freq = a->freq;
	b->sample_period++;
	assert_conflict(a, b, "a sample every 1003010 ns instead of every 1003009");
	profile_destroy(b);

	b = fixture_big_fork(1, 943);
	b->sites[1].mech = PROFILE_MECH_KPROBE;
	assert_conflict(a, b, "allocate_slab was timed by kprobe instead of fentry");
	fixture_function(b, "vm_area_dup", 0x89000);
	assert_conflict(a, b, "different functions were timed (vm_area_dup)");
	assert_conflict(b, a, "different functions were timed (vm_area_dup)");
	profile_destroy(b);
	profile_destroy(a);
}

TEST(bodies_differ_by_place_and_by_being_timed)
{
	struct profile *a = fixture_big_fork(1, 943), *b = fixture_big_fork(1, 943);
	uint32_t site = fixture_range(a, "want_init_on_alloc", "slab_alloc_node", "kmalloc", 3400);

	fixture_entries(profile_cell(a, 0, site, 0), 7, 9, 20, 30);
	assert_conflict(a, b, "different functions were timed (want_init_on_alloc)");
	fixture_range(b, "want_init_on_alloc", NULL, "kmalloc", 3400);
	assert_conflict(a, b, "different functions were timed (want_init_on_alloc and others)");
	site = fixture_range(b, "want_init_on_alloc", "slab_alloc_node", "kmalloc", 3400);
	fixture_entries(profile_cell(b, 0, site, 0), 1, 2, 10, 11);
	profile_merge(a, b);
	assert_int_equal(a->n_sites, 4);
	assert_string_equal(a->sites[2].chain, "slab_alloc_node");
	assert_null(a->sites[3].chain);
	assert_string_equal(a->sites[3].into, "kmalloc");
	assert_int_equal(cell(a, 0, "want_init_on_alloc", "clone")->entries, 9);
	assert_int_equal(cell(a, 1, "want_init_on_alloc", "clone")->entries, 2);

	b->sites[site].mech = PROFILE_UNTIMED;
	b->sites[site].estimated = profile_intern(b, "an indirect jump");
	profile_merge(a, b);
	assert_int_equal(a->n_sites, 5);
	assert_string_equal(a->sites[4].estimated, "an indirect jump");
	assert_int_equal(profile_file_write(a, path), 0);
	profile_destroy(a);
	profile_destroy(b);
}

/* With --force, entries of other code stay apart, and addresses of another kernel get a module of their own. */
TEST(force_keeps_other_code_separate)
{
	struct profile *a = fixture_big_fork(1, 943), *b = fixture_big_fork(1, 943);
	uint32_t i, same_addr = 0;

	a->sites[1].missed = 5;
	b->sites[1].missed = 7;
	b->sites[1].mech = PROFILE_MECH_KPROBE;
	profile_env_set(b, PROFILE_ENV_BUILD_ID, "ffff0000ffff0000");
	b->locations[3].frames[0].name = profile_intern(b, "do_wait");
	profile_merge(a, b);
	assert_int_equal(a->n_sites, 3);
	assert_int_equal(a->sites[2].mech, PROFILE_MECH_KPROBE);
	assert_int_equal(a->sites[1].missed, 5);
	assert_int_equal(a->sites[2].missed, 7);
	assert_int_equal(a->n_locations, 5);
	for (i = 0; i < a->n_locations; i++)
		same_addr += a->locations[i].addr == 0x08c1d7;
	assert_int_equal(same_addr, 2);
	assert_string_equal(a->locations[4].frames[0].name, "do_wait");
	assert_string_equal(a->locations[4].module, "kernel ffff0000");
	profile_destroy(a);
	profile_destroy(b);
}

TEST(names_of_one_side_are_used_for_both)
{
	struct profile *a = profile_create(), *b = profile_create();

	profile_location_add(a, 0x100, NULL);
	fixture_location(b, 0x100, "schedule");
	profile_merge(a, b);
	assert_int_equal(a->n_locations, 1);
	assert_string_equal(a->locations[0].frames[0].name, "schedule");
	profile_merge(a, b);
	assert_int_equal(a->locations[0].n_frames, 1);
	profile_destroy(a);
	profile_destroy(b);
}

/* Run cmd_merge() in another process, because argp exits on wrong usage. */
static int run_merge(char **argv, struct rusage *usage)
{
	int argc = 0, status;
	struct rusage unused;
	pid_t pid;

	while (argv[argc])
		argc++;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		argp_err_exit_status = CMD_USAGE;
		exit(cmd_merge(argc, argv));
	}
	assert_true(pid > 0);
	assert_int_equal(wait4(pid, &status, 0, usage ? usage : &unused), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static const char *said_by_merge(int want_status, char **argv)
{
	int status;

	listen_start();
	status = run_merge(argv, NULL);
	if (status != want_status)
		fail_msg("exit status %d: %s", status, listen_end());
	return listen_end();
}

TEST(the_command_writes_the_union)
{
	struct profile *p = fixture_big_fork(2, 943), *back;
	char out[64];

	snprintf(out, sizeof(out), "%s/out.data", dir);
	assert_int_equal(profile_file_write(p, path), 0);
	assert_int_equal(profile_file_write(p, other), 0);
	assert_string_equal(said_by_merge(0, (char *[]){ "merge", "-o", out, path, other, NULL }),
			    "");
	assert_int_equal(profile_file_read(out, &back), 0);
	assert_int_equal(back->n_runs, 4);
	assert_int_equal(back->runs[3].boot, 1);
	profile_destroy(back);

	/* The output may replace an input, because merge has read the input before. */
	assert_int_equal(
		run_merge((char *[]){ "merge", path, other, "--output", path, NULL }, NULL), 0);
	assert_int_equal(profile_file_read(path, &back), 0);
	assert_int_equal(back->n_runs, 4);
	profile_destroy(back);

	profile_env_set(p, PROFILE_ENV_BUILD_ID, "ffff");
	assert_int_equal(profile_file_write(p, other), 0);
	unlink(out);
	assert_non_null(
		strstr(said_by_merge(1, (char *[]){ "merge", "-o", out, path, other, NULL }),
		       "kernel.build_id \"ffff\" instead of"));
	assert_int_not_equal(access(out, F_OK), 0);
	assert_non_null(strstr(
		said_by_merge(0, (char *[]){ "merge", "--force", "-o", out, path, other, NULL }),
		"warning: "));
	assert_int_equal(profile_file_read(out, &back), 0);
	assert_int_equal(back->n_runs, 6);
	profile_destroy(back);
	unlink(out);
	profile_destroy(p);
}

TEST(the_command_refuses_what_differs)
{
	struct profile *p = fixture_big_fork(1, 943);
	char linked[64], out[64];

	snprintf(out, sizeof(out), "%s/out.data", dir);
	snprintf(linked, sizeof(linked), "%s/linked.data", dir);
	assert_int_equal(profile_file_write(p, path), 0);
	profile_destroy(p);
	assert_int_equal(link(path, linked), 0);

	assert_non_null(strstr(said_by_merge(2, (char *[]){ "merge", path, NULL }), "-o OUT"));
	assert_non_null(strstr(said_by_merge(2, (char *[]){ "merge", "-o", out, NULL }),
			       "no files to merge"));
	assert_non_null(strstr(said_by_merge(2, (char *[]){ "merge", "--bogus", NULL }), "bogus"));
	assert_non_null(
		strstr(said_by_merge(1, (char *[]){ "merge", "-o", out, path, linked, NULL }),
		       "linked.data is specified twice"));
	unlink(linked);
	assert_non_null(
		strstr(said_by_merge(1, (char *[]){ "merge", "-o", out, path, linked, NULL }),
		       "No such file"));
	assert_int_equal(truncate(path, 300), 0);
	assert_non_null(strstr(said_by_merge(1, (char *[]){ "merge", "-o", out, path, NULL }),
			       "truncated or damaged"));
	assert_int_not_equal(access(out, F_OK), 0);
}

#define MANY_FILES 100
#define MANY_RUNS  50

/* Create one boot of a wide recording: 25 contexts, 10 functions in 3 of them, 300 stacks. */
static struct profile *wide_boot(uint32_t seed)
{
	struct profile *p = fixture_big_fork(MANY_RUNS, 900 + seed % 100);
	uint32_t run, i, j, locations[20];
	char name[40];

	for (i = 0; i < 22; i++) {
		snprintf(name, sizeof(name), "syscall_%u", i);
		profile_context_add(p, name);
	}
	for (i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		fixture_function(p, name, i * 4096);
	}
	for (i = 0; i < 300; i++) {
		for (j = 0; j < 20; j++) {
			uint64_t addr = (i * (j + 1) * 2654435761U) % 3000 * 16;

			snprintf(name, sizeof(name), "kernel_function_%u", (uint32_t)(addr / 64));
			locations[j] = fixture_location(p, addr, name);
		}
		profile_stack_add(p, locations, 20);
	}
	for (run = 0; run < MANY_RUNS; run++) {
		for (i = 0; i < 22; i++)
			fixture_calls(profile_cell(p, run, 0, 3 + i), 2 + i, 1000 + seed + run,
				      9000 + i * 1000);
		for (i = 0; i < 27; i++)
			fixture_calls(profile_cell(p, run, 2 + i / 3, i % 3), 20, 1000 + seed + i,
				      2500 + run * 10);
		for (i = 0; i < 30; i++)
			profile_sample_add(p, &(struct profile_sample){
						      .run = run,
						      .context = i % 3,
						      .stack = 2 + (run * 7 + i * 11 + seed) % 300,
						      .count = 1 });
	}
	return p;
}

TEST(many_boots_are_merged)
{
	char *argv[MANY_FILES + 4] = { "merge", "-o", path }, names[MANY_FILES][64];
	struct profile *back;
	struct rusage usage;
	uint32_t i;

	for (i = 0; i < MANY_FILES; i++) {
		struct profile *p = wide_boot(i);

		snprintf(names[i], sizeof(names[i]), "%s/many.%u", dir, i);
		assert_int_equal(profile_file_write(p, names[i]), 0);
		profile_destroy(p);
		argv[3 + i] = names[i];
	}
	assert_int_equal(run_merge(argv, &usage), 0);
	for (i = 0; i < MANY_FILES; i++)
		unlink(names[i]);
	print_message("# %d files of %d runs: %ld MB\n", MANY_FILES, MANY_RUNS,
		      usage.ru_maxrss / 1024);
	assert_int_equal(profile_file_read(path, &back), 0);
	assert_int_equal(back->n_runs, MANY_FILES * MANY_RUNS);
	assert_int_equal(back->runs[back->n_runs - 1].boot, MANY_FILES - 1);
	assert_int_equal(back->n_cells, MANY_FILES * MANY_RUNS * 52);
	assert_int_equal(back->n_stacks, 302);
	profile_destroy(back);
#ifndef __SANITIZE_ADDRESS__
	/* Merging and comparing together may take 200 MB, which tests/statistics/many.t checks. Merging alone takes less. */
	assert_true(usage.ru_maxrss < 150 * 1024);
#endif
}

TEST(block_counts_belong_to_function_and_run)
{
	struct profile *a = fixture_big_fork(2, 943), *b = fixture_big_fork(2, 943),
		       *changed = fixture_big_fork(2, 943);
	uint64_t counts[2];
	struct analyze_counted counted;

	fixture_add_blocks(a, 1);
	fixture_add_blocks(b, 1);
	fixture_add_blocks(changed, 1);
	profile_merge(a, b);
	assert_int_equal(a->n_blocks, 1);
	assert_int_equal(a->n_block_counts, 4);
	assert_int_equal(a->block_counts[2].run, 2);
	assert_int_equal(a->block_counts[3].run, 3);
	analyze_counted_init(&counted, a);
	assert_int_equal(analyze_counted_sum(&counted, 0, 0, counts, NULL), 20);
	assert_int_equal(counts[0], 20);
	assert_int_equal(counts[1], 6);
	assert_int_equal(analyze_counted_sum(&counted, 0, ANALYZE_IN_ALL_CONTEXTS, counts, NULL),
			 34);
	analyze_counted_deinit(&counted);
	assert_true(counts[1] == PROFILE_NOT_COUNTED);
	/* The same function with other code gets separate blocks. */
	changed->blocks[0].items[1].insns++;
	profile_merge(a, changed);
	assert_int_equal(a->n_blocks, 2);
	assert_int_equal(a->n_block_counts, 6);
	assert_int_equal(profile_file_write(a, path), 0);
	profile_destroy(a);
	profile_destroy(changed);
	profile_destroy(b);
}

/* Variables are matched by name. Calls of one recording lack values that only the other one captured. */
TEST(variables_are_matched_by_name)
{
	struct profile *a = fixture_big_fork(1, 943), *b = fixture_big_fork(1, 943),
		       *plain = fixture_big_fork(1, 943), *many = fixture_big_fork(1, 943);
	const char *names[PROFILE_VALUES_MAX];
	const struct profile_capture *c;

	fixture_add_captures(a, 1, 2, (const char *[]){ "n", "flags" });
	fixture_add_captures(b, 1, 3, (const char *[]){ "return", "n", "size" });
	fixture_add_captures(plain, 0, 1, (const char *[]){ "n" });
	profile_capture_add(a, &a->captures[0]);
	profile_name_add(a, "dentry");
	assert_int_equal(profile_name_add(b, "kmalloc-64"), profile_name_value("kmalloc-64"));
	profile_name_add(b, "dentry");
	assert_int_equal(a->n_captures, 2);
	assert_true(a->captures[0].calls == 6 && a->captures[0].time == -10);
	assert_true(a->captures[0].sumsq == 0.2 && a->captures[0].min == 1);
	profile_merge(a, b);
	assert_int_equal(a->n_names, 2);
	assert_string_equal(profile_name_of(a, profile_name_value("kmalloc-64")), "kmalloc-64");
	assert_null(profile_name_of(a, 1));
	assert_int_equal(a->n_variables, 4); /* n, flags, return, size */
	assert_string_equal(a->variables[2].name, "return");
	assert_int_equal(a->n_captures, 4);
	c = a->captures;
	assert_true(c[0].absent == 0xc && c[1].absent == 0xe &&
		    c[1].values[0] == 'n' * (1ull << 56));
	assert_true(c[2].run == 1 && c[2].absent == 2 && c[3].absent == 0xa);
	assert_true(c[2].values[0] == ('n' * (1ull << 56) | 1) && !c[2].values[1]);
	assert_true(c[2].values[2] == 'r' * (1ull << 56));
	assert_true(c[2].values[3] == ('s' * (1ull << 56) | 2) && !c[3].values[3]);
	/* Rows of calls are found after the variables got new positions. */
	profile_capture_add(a, &c[1]);
	assert_int_equal(a->n_captures, 4);
	profile_merge(a, plain);
	assert_int_equal(a->n_variables, 5);
	assert_int_equal(a->captures[4].absent, 0);
	/* Variables beyond the maximum per function are left out. */
	for (size_t i = 0; i < PROFILE_VALUES_MAX; i++)
		names[i] = (const char *[]){ "A", "B", "C", "D", "E", "F", "G", "H",
					     "I", "J", "K", "L", "M", "N", "n", "size" }[i];
	fixture_add_captures(many, 1, PROFILE_VALUES_MAX, names);
	profile_merge(a, many);
	assert_int_equal(a->n_variables, PROFILE_VALUES_MAX + 1);
	assert_int_equal(a->captures[6].absent, 6);
	assert_true(a->captures[6].values[15] == ('L' * (1ull << 56) | 11));
	assert_int_equal(profile_file_write(a, path), 0);
	profile_destroy(a);
	profile_destroy(b);
	profile_destroy(plain);
	profile_destroy(many);
}

RUN_TESTS(setup, teardown)
