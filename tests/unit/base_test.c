// SPDX-License-Identifier: GPL-2.0-or-later
/* Test hash tables, searches and joins of sorted arrays, parsing of numbers, and messages about progress. */
#include <math.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "base/file.h"
#include "base/system/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sorted.h"

static bool square_is(const void *ctx, uint32_t item, const void *key)
{
	const uint64_t *squares = ctx;

	return squares[item] == *(const uint64_t *)key;
}

TEST(a_hash_table_finds_what_was_added)
{
	enum {
		N = 5000
	};
	uint64_t squares[N];
	struct hash_index index = { 0 };

	for (uint32_t i = 0; i < N; i++) {
		uint32_t hash;

		squares[i] = (uint64_t)i * i;
		hash = hash_bytes(&squares[i], sizeof(squares[i]));
		assert_int_equal(hash_find(&index, hash, square_is, squares, &squares[i]),
				 HASH_NONE);
		/* Every fifth item has the same hash. */
		hash_add(&index, i % 5 ? hash : 7, i);
	}
	for (uint32_t i = 0; i < N; i++) {
		uint32_t hash = i % 5 ? hash_bytes(&squares[i], sizeof(squares[i])) : 7;

		assert_int_equal(hash_find(&index, hash, square_is, squares, &squares[i]), i);
	}
	hash_deinit(&index);
	assert_int_equal(hash_find(&index, 7, square_is, squares, &squares[0]), HASH_NONE);
	assert_int_equal(hash_string("clone"), hash_bytes("clones", 5));
}

/* In a table with reserved room, the first of equal items is found, also in a chain that wraps around the table's end. */
TEST(the_first_of_equal_items_is_found)
{
	enum {
		N = 1000
	};
	const uint32_t chains[] = { 0, 1500, UINT32_MAX };
	uint64_t items[N];

	for (uint32_t i = 0; i < N; i++)
		items[i] = i % 100;
	for (size_t c = 0; c < sizeof(chains) / sizeof(*chains); c++) {
		struct hash_index index = { 0 };
		uint32_t chain = chains[c];

		hash_reserve(&index, N);
		for (uint32_t i = 0; i < N; i++)
			hash_add(&index, chain, i);
		for (uint32_t i = 0; i < 100; i++)
			assert_int_equal(hash_find(&index, chain, square_is, items, &items[i]), i);
		hash_deinit(&index);
	}
}

TEST(bisect_finds_the_first_that_is_not_before)
{
	const int items[] = { 1, 3, 3, 3, 8 };
	const uint32_t n = sizeof(items) / sizeof(items[0]);

	for (int key = 0; key < 10; key++) {
		uint32_t before = 0, up_to = 0;

		while (before < n && items[before] < key)
			before++;
		while (up_to < n && items[up_to] <= key)
			up_to++;
		assert_int_equal(bisect(n, i, items[i] < key), before);
		assert_int_equal(bisect(n, i, items[i] <= key), up_to);
	}
	assert_int_equal(bisect(0u, i, items[i] < 3), 0);
}

static int compare_int(const void *a, const void *b)
{
	return compare_values(*(const int *)a, *(const int *)b);
}

TEST(sorted_arrays_are_searched)
{
	int items[] = { 3, -1, 2, 2 };
	int key = 3;

	sort_array(NULL, 0, sizeof(int), compare_int);
	sort_array(items, 4, sizeof(int), compare_int);
	assert_memory_equal(items, ((int[]){ -1, 2, 2, 3 }), sizeof(items));
	assert_ptr_equal(search_array(&key, items, 4, sizeof(int), compare_int), &items[3]);
	assert_null(search_array(&key, items, 3, sizeof(int), compare_int));
	assert_null(search_array(&key, NULL, 0, sizeof(int), compare_int));
}

TEST(joins_pair_equal_items)
{
	const int a[] = { 1, 2, 2, 5 }, b[] = { 2, 3, 5, 5, 5 };
	const struct {
		int key;
		size_t n_a, n_b;
	} steps[] = { { 1, 1, 0 }, { 2, 2, 1 }, { 3, 0, 1 }, { 5, 1, 3 } };
	struct join j = join_sorted(a, 4, b, 5, sizeof(int), compare_int);

	for (size_t i = 0; i < 4; i++) {
		assert_true(join_next(&j));
		assert_int_equal(j.n_a, steps[i].n_a);
		assert_int_equal(j.n_b, steps[i].n_b);
		assert_int_equal(*(const int *)(j.n_a ? j.a : j.b), steps[i].key);
	}
	assert_false(join_next(&j));
	assert_false(join_next(&j));

	j = join_sorted(NULL, 0, b, 2, sizeof(int), compare_int);
	assert_true(join_next(&j) && join_next(&j));
	assert_int_equal(j.n_a, 0);
	assert_int_equal(*(const int *)j.b, 3);
	assert_false(join_next(&j));
	j = join_sorted(NULL, 0, NULL, 0, sizeof(int), compare_int);
	assert_false(join_next(&j));
}

TEST(numbers_are_parsed_whole)
{
	static const char *const not [] = { "",  " 1",  "1 ", "+1", "-1",
					    "x", "0x1", "11", "4",  "18446744073709551616" };
	uint64_t value = 99;

	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++)
		assert_false(number_unsigned(not [i], 5, 10, &value));
	assert_int_equal(value, 99);
	assert_true(number_unsigned("5", 5, 10, &value) && value == 5);
	assert_true(number_unsigned("10", 5, 10, &value) && value == 10);
	assert_true(number_unsigned("18446744073709551615", 0, UINT64_MAX, &value));
	assert_true(value == UINT64_MAX);
}

TEST(fractions_are_parsed_whole)
{
	static const char *const not [] = { "",     "inf",  "nan",   "1e999",
					    "0x10", "2.5%", "100.1", "-0.1" };
	double value = 99;

	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++)
		assert_false(number_double(not [i], 0, 100, &value));
	assert_true(value == 99);
	assert_true(number_double("2.5", 0, 100, &value) && value == 2.5);
	assert_true(number_double("1e2", 0, 100, &value) && value == 100);
}

TEST(times_have_units)
{
	static const char *const not [] = { "",    "s",   "0",     "0s",   "-1s", "1 s",  "1sec",
					    "1ss", "0x1", "1e30h", "infs", "nan", "0.1ns" };
	uint64_t ns = 99;

	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++)
		assert_false(number_time(not [i], &ns));
	assert_int_equal(ns, 99);
	assert_true(number_time("2", &ns) && ns == 2000000000);
	assert_true(number_time("1.5s", &ns) && ns == 1500000000);
	assert_true(number_time("0.3ms", &ns) && ns == 300000);
	assert_true(number_time("10us", &ns) && ns == 10000);
	assert_true(number_time("7ns", &ns) && ns == 7);
	assert_true(number_time("2m", &ns) && ns == 120000000000);
	assert_true(number_time("1h", &ns) && ns == 3600000000000);
}

TEST(numbers_are_scanned_up_to_their_end)
{
	const char *text = "12@clone", *hex = "0xffffFFFF81000000 T x", *none = "zero";
	uint64_t value;
	double number;

	assert_true(number_scan(&text, &value) && value == 12);
	assert_string_equal(text, "@clone");
	assert_false(number_scan(&text, &value));
	assert_string_equal(text, "@clone");
	assert_true(number_scan_hex(&hex, &value) && value == 0xffffffff81000000);
	assert_string_equal(hex, " T x");
	assert_false(number_scan_hex(&none, &value));
	none = "0x";
	assert_false(number_scan_hex(&none, &value));
	assert_string_equal(none, "0x");
	none = "10000000000000000";
	assert_false(number_scan_hex(&none, &value));
	text = "2.5+-1";
	assert_true(number_scan_double(&text, &number) && number == 2.5);
	assert_string_equal(text, "+-1");
}

TEST(versions_are_up_to_three_numbers)
{
	unsigned int v[3];

	assert_int_equal(number_version("6.1.0-13-amd64", v), 3);
	assert_memory_equal(v, ((unsigned int[]){ 6, 1, 0 }), sizeof(v));
	assert_int_equal(number_version("6.12-rc1", v), 2);
	assert_memory_equal(v, ((unsigned int[]){ 6, 12, 0 }), sizeof(v));
	assert_int_equal(number_version("linux", v), 0);
}

/* A clock with 4 ms ticks, read three times per tick, with one tick missed. */
static uint64_t now_by_ticks(void)
{
	static uint64_t reads;
	uint64_t tick = reads++ / 3;

	return 4000000 * (tick < 2 ? tick : tick + 1);
}

/* A clock with a step of 10 ns that takes 30 or 40 ns to read. */
static uint64_t now_by_tens(void)
{
	static uint64_t reads, now;

	return now += reads++ % 3 ? 30 : 40;
}

TEST(the_clocks_step_is_found)
{
	assert_int_equal(clock_step_ns(now_by_ticks), 4000000);
	assert_int_equal(clock_step_ns(now_by_tens), 10);
	assert_in_range(clock_step_ns(clock_ns), 1, 100000000);
}

/* Start a child with FD as stderr. It exits with 0 if a progress line is due after a second, 1 if not, 2 if one is due at once. */
static pid_t ask_progress(int fd)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	dup2(fd, STDERR_FILENO);
	if (log_progress_due())
		_exit(2);
	usleep(1100000);
	_exit(!log_progress_due());
}

TEST(progress_is_written_to_terminals_alone)
{
	int terminal, other_end, pipes[2], status;
	pid_t on_terminal, on_pipe;

	assert_int_equal(openpty(&other_end, &terminal, NULL, NULL, NULL), 0);
	assert_int_equal(pipe(pipes), 0);
	on_terminal = ask_progress(terminal);
	on_pipe = ask_progress(pipes[1]);
	assert_int_equal(waitpid(on_terminal, &status, 0), on_terminal);
	assert_int_equal(status, 0);
	assert_int_equal(waitpid(on_pipe, &status, 0), on_pipe);
	assert_int_equal(WEXITSTATUS(status), 1);
}

static bool letters_same(const void *arg, uint32_t i, uint32_t j)
{
	const char *const *words = arg;

	return words[0][i] == words[1][j];
}

/* Match the letters of A with those of B. Check their positions in B, or "-" for letters without a match. */
static void check_subsequence(const char *a, const char *b, const char *expected)
{
	const char *const words[] = { a, b };
	char places[16] = "";
	uint32_t of[16];

	assert_true(subsequence_match(of, strlen(a), strlen(b), letters_same, words));
	for (size_t i = 0; i < strlen(a); i++)
		places[i] = of[i] == SUBSEQUENCE_NONE ? '-' : '0' + (char)of[i];
	assert_string_equal(places, expected);
}

TEST(the_longest_common_subsequence_is_matched)
{
	uint32_t of[2] = {};

	check_subsequence("abcd", "abcd", "0123");
	check_subsequence("abcd", "bxd", "-0-2");
	check_subsequence("xaby", "ab", "-01-");
	check_subsequence("aab", "ab", "0-1");
	check_subsequence("abc", "", "---");
	check_subsequence("", "abc", "");
	/* Sequences that are too large for memory are not compared. */
	assert_false(subsequence_match(of, 2, UINT32_MAX, letters_same, NULL));
	assert_true(of[0] == SUBSEQUENCE_NONE && of[1] == SUBSEQUENCE_NONE);
}

static bool first_line(const char *text, char *line, size_t size)
{
	char path[] = "/tmp/kprotperf-base-XXXXXX";
	int fd = mkstemp(path);
	bool read;

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	read = file_read_line(path, line, size);
	close(fd);
	unlink(path);
	return read;
}

TEST(the_first_line_is_read)
{
	char line[8];

	assert_true(first_line("12 34\n56\n", line, sizeof(line)));
	assert_string_equal(line, "12 34");
	assert_true(first_line("123456789\n", line, sizeof(line)));
	assert_string_equal(line, "1234567");
	assert_true(first_line("\n2\n", line, sizeof(line)));
	assert_string_equal(line, "");
	assert_false(first_line("", line, sizeof(line)));
	assert_false(file_read_line("/nowhere", line, sizeof(line)));
}

RUN_TESTS(NULL, NULL)
