// SPDX-License-Identifier: GPL-2.0-or-later
/* A data file is read back equal, and is written whole or not at all. */
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "test.h"
#include "fixture_file.h"
#include "profile/layout.h"

static void assert_round_trip(const struct profile *p)
{
	struct profile *back;

	assert_int_equal(profile_file_write(p, path), 0);
	assert_int_equal(profile_file_read(path, &back), 0);
	assert_same(p, back);
	profile_destroy(back);
}

/* Create a profile with every field at its extremes, and with all optional values absent. */
static struct profile *rich_profile(void)
{
	struct profile *p = fixture_big_fork(3, 943);
	struct profile_site range = {
		.name = "shuffle_freelist",
		.kind = PROFILE_SITE_RANGE,
		.mech = PROFILE_MECH_MULTI,
		.addr = UINT64_MAX,
		.symbol = "allocate_slab.isra.0",
		.into = "allocate_slab",
		.chain = "new_slab" PROFILE_CHAIN "___slab_alloc",
		.estimated = "an instruction that cannot be probed",
		.file = "mm/slub.c",
		.line = UINT32_MAX,
		.missed = PROFILE_TOTAL_MAX,
	};
	struct profile_stats *s;
	uint32_t run, site = profile_site_add(p, &range), stack;
	char *big = malloc(400000);
	int i;

	for (i = 0; i < 399999; i++)
		big[i] = "CONFIG_=ymn\n\xc3\xa9"[i * 7919U % 14];
	big[399999] = '\0';
	profile_env_set(p, PROFILE_ENV_CONFIG, big);
	free(big);
	profile_env_set(p, "empty", "");

	run = profile_run_add(p, PROFILE_RUN_CONTROL);
	p->runs[run].boot = 3;
	p->runs[run].wall = 1ull << 61;
	p->runs[run].cpu = 123456789;
	p->runs[run].status = 255;
	p->runs[run].losses[PROFILE_LOSS_CELLS_FULL] = 1ull << 60;
	p->runs[run].samples_received = 0;
	profile_report_add(p, run,
			   &(struct profile_report){ .name = "x",
						     .iterations = UINT64_MAX,
						     .mean = -1e308,
						     .p50 = -0.0,
						     .min = NAN });
	profile_report_add(p, run,
			   &(struct profile_report){ .name = "y", .mean = 0.1, .p50 = 5e-324 });

	s = profile_cell(p, run, site, profile_context_add(p, "compat:clone"));
	*s = (struct profile_stats){ .calls = 1ull << 59,
				     .entries = 1ull << 58,
				     .wall = 1ull << 59,
				     .oncpu = 1ull << 58,
				     .self = -(1ll << 58),
				     .cost = 1ull << 58,
				     .sumsq = 1.7976931348623157e308,
				     .min = 1ull << 58,
				     .max = 1ull << 58 };
	for (i = 0; i < HIST_SLOTS; i++)
		profile_stats_bucket_add(s, i, (i + 1) * 1000000007ULL);
	profile_cell(p, 0, site, 0);
	/* The probes' estimated cost exceeds the time of the calls. */
	s = profile_cell(p, 0, site, 1);
	s->calls = 3;
	s->cost = 100;
	s->self = -100;
	profile_cell(p, 0, site, 2)->self = 1ll << 59;

	profile_location_add(p, UINT64_MAX, "nf_tables");
	stack = profile_stack_add(p, (uint32_t[]){ 0, 0, 0, p->n_locations - 1 }, 4);
	profile_sample_add(p,
			   &(struct profile_sample){
				   .run = run, .stack = stack, .flags = 3, .count = 1ull << 61 });
	fixture_add_blocks(p, 1);
	fixture_add_captures(p, 1, 3, (const char *[]){ "n", "s->object_size", "return" });
	fixture_add_counted(p);
	return p;
}

TEST(what_is_written_is_read)
{
	struct profile *p = profile_create();

	assert_round_trip(p);
	profile_destroy(p);
	p = fixture_big_fork(5, 943);
	assert_round_trip(p);
	profile_destroy(p);
	p = rich_profile();
	assert_round_trip(p);
	profile_destroy(p);
}

TEST(entries_that_were_read_are_found)
{
	struct profile *p = fixture_big_fork(2, 943), *back;
	uint32_t n;

	assert_int_equal(profile_file_write(p, path), 0);
	assert_int_equal(profile_file_read(path, &back), 0);
	n = back->n_contexts;
	assert_int_equal(profile_context_add(back, "wait4"), profile_context_add(p, "wait4"));
	assert_int_equal(back->n_contexts, n);
	assert_int_equal(profile_location_add(back, 0x08c1d7, NULL), 3);
	assert_int_equal(profile_cell(back, 1, 1, 0)->calls, 2200);
	assert_int_equal(profile_stack_add(back, NULL, 0), 1);
	profile_destroy(p);
	profile_destroy(back);
}

TEST(a_file_that_was_read_is_written_the_same)
{
	struct profile *p = rich_profile(), *back;
	unsigned char *a, *b;
	size_t n;

	assert_int_equal(profile_file_write(p, path), 0);
	assert_int_equal(profile_file_read(path, &back), 0);
	assert_int_equal(profile_file_write(back, other), 0);
	n = load(path, &a);
	assert_int_equal(load(other, &b), n);
	assert_memory_equal(a, b, n);
	free(a);
	free(b);
	profile_destroy(p);
	profile_destroy(back);
}

TEST(data_that_compresses_too_well_is_stored_otherwise)
{
	struct profile *p = profile_create();
	char *big = malloc((8 << 20) + 1);

	memset(big, 'a', 8 << 20);
	big[8 << 20] = '\0';
	profile_env_set(p, "big", big);
	free(big);
	assert_round_trip(p);
	profile_destroy(p);
}

/* Check that the directory contains only the file itself. */
static void assert_no_leftovers(void)
{
	char pattern[80];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s.*", path);
	assert_int_equal(glob(pattern, 0, NULL, &found), GLOB_NOMATCH);
}

static void assert_write_fails(const struct profile *p, const char *to, const char *what)
{
	const char *said;
	int err;

	listen_start();
	err = profile_file_write(p, to);
	said = listen_end();
	if (err >= 0 || !strstr(said, what) || !strstr(said, to) ||
	    strchr(said, '\n') != said + strlen(said) - 1)
		fail_msg("%d: expected one line with '%s', got '%s'", err, what, said);
	assert_no_leftovers();
}

TEST(a_full_disk_leaves_the_previous_file)
{
	struct profile *p = fixture_big_fork(2, 943), *old, *back;
	struct rlimit limit, tiny;

	assert_write_fails(p, "/dev/full", "No space left on device");

	/* If writing fails, the previous file stays. */
	old = fixture_big_fork(1, 943);
	assert_int_equal(profile_file_write(old, path), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	tiny = (struct rlimit){ .rlim_cur = 500, .rlim_max = limit.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
	listen_start(); /* the limit of 500 bytes also applies to the file of stderr */
	assert_int_equal(profile_file_write(p, path), -EFBIG);
	assert_non_null(strstr(listen_end(), "File too large"));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_no_leftovers();
	assert_int_equal(profile_file_read(path, &back), 0);
	assert_same(old, back);
	profile_destroy(back);
	profile_destroy(old);
	profile_destroy(p);
}

TEST(only_files_and_devices_are_written)
{
	struct profile *p = fixture_big_fork(1, 943), *back;
	struct stat st;

	assert_write_fails(p, "/nonexistent/x.data", "No such file or directory");
	assert_write_fails(p, dir, "Is a directory");
	assert_int_equal(profile_file_write(p, "/dev/null"), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));

	assert_int_equal(profile_file_write(p, path), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);

	/* A symbolic link to a data file stays a symbolic link. */
	unlink(other);
	assert_int_equal(symlink(path, other), 0);
	assert_int_equal(profile_file_write(p, other), 0);
	assert_int_equal(lstat(other, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(profile_file_read(other, &back), 0);
	profile_destroy(back);
	unlink(other);
	assert_no_leftovers();
	profile_destroy(p);
}

TEST(a_path_is_checked_before_a_measurement)
{
	const char *const bad[] = { "/nonexistent/x.data", "/proc/x.data", dir };

	unlink(path);
	assert_int_equal(profile_file_try(path), 0);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(profile_file_try("/dev/full"), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *said;

		listen_start();
		assert_true(profile_file_try(bad[i]) < 0);
		said = listen_end();
		if (!strstr(said, bad[i]) || strchr(said, '\n') != said + strlen(said) - 1)
			fail_msg("expected one line about %s, got '%s'", bad[i], said);
	}
	assert_no_leftovers();
}

TEST(a_measurement_is_saved_elsewhere_if_need_be)
{
	struct profile *p = fixture_big_fork(2, 943), *back;
	char pattern[64];
	glob_t found;

	setenv("TMPDIR", dir, 1);
	listen_start();
	assert_int_equal(profile_file_keep(p, "/dev/full"), -ENOSPC);
	snprintf(pattern, sizeof(pattern), "%s/kprotperf.*", dir);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	assert_non_null(strstr(listen_end(), found.gl_pathv[0]));
	assert_int_equal(profile_file_read(found.gl_pathv[0], &back), 0);
	assert_same(p, back);
	unlink(found.gl_pathv[0]);
	globfree(&found);
	unsetenv("TMPDIR");
	profile_destroy(back);
	profile_destroy(p);
}

static int pipe_fds[2];

static void *write_pipe(void *p)
{
	char path_of_pipe[32];
	int err;

	snprintf(path_of_pipe, sizeof(path_of_pipe), "/dev/fd/%d", pipe_fds[1]);
	err = profile_file_write(p, path_of_pipe);
	close(pipe_fds[1]);
	return (void *)(intptr_t)err;
}

TEST(pipes_are_read_and_written)
{
	struct profile *p = rich_profile(), *back;
	char in[32];
	pthread_t writer;
	void *err;

	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	snprintf(in, sizeof(in), "/dev/fd/%d", pipe_fds[0]);

	assert_int_equal(pthread_create(&writer, NULL, write_pipe, p), 0);
	assert_int_equal(profile_file_read(in, &back), 0);
	pthread_join(writer, &err);
	assert_null(err);
	assert_same(p, back);
	profile_destroy(back);
	profile_destroy(p);
	close(pipe_fds[0]);
}

/* A bug in the caller must be found when the file is written, not when it is read weeks later. */
TEST(inconsistency_is_found_when_writing)
{
	struct profile *p = fixture_big_fork(1, 943);

	unlink(path);
	profile_cell(p, 7, 0, 0);
	assert_write_fails(p, path, "section \"cells\" refers to a nonexistent run; this is a bug");
	assert_int_not_equal(access(path, F_OK), 0);
	profile_destroy(p);
	p = fixture_big_fork(1, 943);
	fixture_add_captures(p, 1, 2, (const char *[]){ "n", "flags" });
	p->captures[1].values[1] = 1;
	assert_write_fails(p, path, "section \"captures\" has a value without a variable");
	p->captures[1].absent = 4;
	assert_write_fails(p, path, "section \"captures\" has a value without a variable");
	p->captures[1].calls = 0;
	assert_write_fails(p, path, "section \"captures\" has values without calls");
	for (char name[] = "a"; *name < 'r'; ++*name)
		profile_variable_add(
			p, &(struct profile_variable){ .site = 1, .name = name, .bytes = 8 });
	assert_write_fails(p, path, "section \"variables\" has too many variables of one site");
	profile_destroy(p);
	p = fixture_big_fork(1, 943);
	profile_name_add(p, "kmalloc-64");
	p->names[0].value++;
	assert_write_fails(p, path, "section \"names\" has a name of a different value");
	p->names[0].value--;
	profile_destroy(p);
}

TEST(locations_and_traces_must_be_in_order)
{
	struct profile *p = fixture_big_fork(1, 943);
	uint32_t stack = profile_stack_add(p, (uint32_t[]){ 0 }, 1);

	p->locations[0].addr = 1ull << 61;
	assert_write_fails(p, path, "section \"locations\" has an address that is none");
	p->locations[0].addr = -1ull;
	profile_edge_add(p, &(struct profile_edge){ .stack = profile_stack_add(p, NULL, 0) });
	assert_write_fails(p, path, "section \"calls\" has calls of no function: a stack is empty");
	p->edges[p->n_edges - 1].stack = stack;
	vec_push(p, traces, ((struct profile_trace){ .depth = 1 }));
	assert_write_fails(p, path, "section \"traces\" has a line that is in none");
	p->traces[0].depth = 0;
	profile_destroy(p);
}

TEST(sums_of_a_section_do_not_overflow)
{
	struct profile *p = fixture_big_fork(1, 943);
	struct profile_stats *s = profile_cell(p, 0, 0, 0);

	p->runs[0].status = INT32_MIN;
	assert_write_fails(p, path, "section \"runs\" has a run with an exit status that is none");
	p->runs[0].status = 0;
	*s = (struct profile_stats){ .self = INT64_MIN };
	assert_write_fails(p, path, "section \"cells\" has numbers that are too large");
	s->self = -(1ll << 62);
	assert_write_fails(p, path, "section \"cells\" has numbers that are too large");
	s->self = 1ll << 61;
	assert_int_equal(profile_file_write(p, path), 0);
	s->sumsq = INFINITY;
	assert_write_fails(p, path, "section \"cells\" has a number that is not finite");
	s->sumsq = -1;
	assert_write_fails(p, path, "section \"cells\" has a sum of squares below 0");
	profile_destroy(p);
}

RUN_TESTS(setup, teardown)
