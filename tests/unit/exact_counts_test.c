// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the emulator's output for a guest into a profile. Refuse files with other contents. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "test.h"
#include "analyze/blocks/blocks.h"
#include "analyze/figures/events.h"
#include "exact/counts.h"
#include "profile/merge.h"
#include "profile/profile.h"
#include "profile/resolve.h"

#define SYMBOLS                                    \
	"ffffffff81000000 T _stext\n"              \
	"ffffffff81000100 T entry_SYSCALL_64\n"    \
	"ffffffff81000200 T __ia32_sys_newuname\n" \
	"ffffffff81000200 T __x64_sys_newuname\n"  \
	"ffffffff81000300 t helper.isra.0\n"       \
	"ffffffff81000400 T _etext\n"

/*
 * Two calls of uname, each with 5 instructions of entry code, 10 of its own, and 10 in each of two executions of helper: one by a
 * call, one by a jump. User space executes 7 instructions. uname queued a callback, which executes helper.
 */
#define COUNTS                                                  \
	"T 87 0 0 1 1 2\n"                                      \
	"F 2 ffffffff81000100\n"                                \
	"F 3 ffffffff81000200\n"                                \
	"F 4 ffffffff81000300\n"                                \
	"C 0 0 1 0 0\n"                                         \
	"C 1 1 1 0 0\n"                                         \
	"C 2 2 1 3 0\n"                                         \
	"C 3 8 1 0 3\n"                                         \
	"B 0 2 ffffffff81000100 0 1 4 4\n"                      \
	"B 0 3 ffffffff81000200 ffffffff81000300 1 1 1 1 1 1\n" \
	"B 0 4 ffffffff81000300 0 0 2 2 2 2 2 2 2 2 2 2\n"      \
	"N 1 0 0 0 0 0 0 7\n"                                   \
	"N 2 0 1 0 0 0 0 0\n"                                   \
	"N 3 2 1 2 0 2 74 10\n"                                 \
	"E 0 5\n"                                               \
	"N 4 0 2 0 0 0 0 0\n"                                   \
	"N 5 4 2 3 ffffffff81000110 2 60 20\n"                  \
	"E 0 4\n"                                               \
	"N 6 5 2 4 ffffffff81000205 2 20 20\n"                  \
	"E 0 2\n"                                               \
	"N 7 5 2 4 ffffffff81000110 2 20 20\n"                  \
	"E 0 2\n"                                               \
	"N 8 0 3 0 0 0 0 0\n"                                   \
	"N 9 8 3 4 0 1 10 10\n"                                 \
	"E 0 1\n"                                               \
	"D 3 4 1 10 100 10 10 10:1\n"                           \
	"D 1 2 2 74 2738 37 37 32:2\n"                          \
	"D 2 3 2 60 1800 30 30 30:2\n"                          \
	"D 2 4 4 40 400 10 10 10:4\n"

#define MODEL "P tiny 10 20 40 200 5 6 7 16\n"

static struct kernel_kallsyms *ks;

/* Create a file with TEXT. Return its path; the caller removes the file and frees the path. */
static char *file_with(const char *text)
{
	char *path = strdup("/tmp/exact-test-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return path;
}

static int setup(void **state)
{
	char *path = file_with(SYMBOLS);

	(void)state;
	assert_int_equal(kernel_kallsyms_load(path, &ks), 0);
	unlink(path);
	free(path);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kernel_kallsyms_destroy(ks);
	return 0;
}

static int read_text(const char *text, struct profile **p)
{
	char *path = file_with(text);
	int err;

	*p = profile_create();
	profile_run_add(*p, PROFILE_RUN_PROBED);
	err = exact_counts_read(*p, path, ks, NULL);
	unlink(path);
	free(path);
	return err;
}

/* Return the figures of the function NAME (NULL: of the context itself) in CONTEXT. */
static const struct profile_stats *cell(struct profile *p, const char *name, const char *context)
{
	for (uint32_t i = 0; i < p->n_cells; i++) {
		const struct profile_site *site = &p->sites[p->cells[i].site];

		if (!strcmp(p->contexts[p->cells[i].context].name, context) &&
		    (name ? site->kind == PROFILE_SITE_FUNCTION && !strcmp(site->name, name) :
			    site->kind == PROFILE_SITE_CONTEXT))
			return &p->cells[i].stats;
	}
	return NULL;
}

TEST(counts_become_rows)
{
	const struct profile_stats *s;
	struct profile *p;

	assert_int_equal(read_text(COUNTS, &p), 0);
	assert_int_equal(p->sample_period, 1);
	s = cell(p, NULL, "uname");
	assert_non_null(s);
	assert_int_equal(s->calls, 2);
	assert_int_equal(s->oncpu, 60);
	assert_int_equal(s->min, 30);
	s = cell(p, "helper", "uname");
	assert_non_null(s);
	assert_int_equal(s->calls, 4);
	assert_int_equal(s->oncpu, 40);
	assert_int_equal(s->self, 40);
	s = cell(p, "entry_SYSCALL_64", "[none]");
	assert_non_null(s);
	assert_int_equal(s->self, 10);
	assert_null(cell(p, NULL, "[none]"));
	s = cell(p, NULL, "uname [rcu]");
	assert_non_null(s);
	assert_int_equal(s->calls, 1);
	assert_int_equal(s->oncpu, 10);
	assert_int_equal(p->runs[0].cpu, 87);
	assert_int_equal(p->runs[0].losses[PROFILE_INFO_OPEN_AT_END], 1);
	assert_int_equal(p->runs[0].losses[PROFILE_INFO_CLOSED_BY_EXIT], 2);
	profile_destroy(p);
}

TEST(calling_contexts_become_stacks)
{
	uint64_t sum = 0, user = 0, by_jump = 0;
	struct profile *p;

	assert_int_equal(read_text(COUNTS, &p), 0);
	for (uint32_t i = 0; i < p->n_samples; i++) {
		const struct profile_sample *s = &p->samples[i];
		const struct profile_stack *stack = &p->stacks[s->stack];

		sum += s->count;
		if (s->flags & PROFILE_SAMPLE_USER)
			user += s->count;
		/* In a stack, a jump's target is below the jumping function's first instruction, a callee is below the call. */
		else if (stack->n_locations == 2)
			by_jump += p->locations[stack->locations[1]].addr == 0x200 ? s->count : 0;
	}
	assert_int_equal(sum, 87);
	assert_int_equal(user, 7);
	assert_int_equal(by_jump, 20);
	profile_destroy(p);
}

/* Return the row of FUNCTION in the callback that uname queued. */
static const struct analyze_misses_row *missed(const struct analyze_misses *m, const char *function)
{
	for (uint32_t i = 0; i < m->n_rows; i++)
		if (!strcmp(m->rows[i].function, function) &&
		    !strncmp(m->rows[i].context, "uname [", 7))
			return &m->rows[i];
	return NULL;
}

TEST(misses_have_their_function)
{
	struct profile *p[2];
	struct analyze_misses m;
	const struct analyze_misses_row *row;

	assert_int_equal(read_text(COUNTS MODEL "M 1 2 1:3 2:2\nM 0 0 7:4\n"
						"O 2 1 3 signalfd_ctx\nO 3 1 2 signalfd_ctx\n",
				   &p[0]),
			 0);
	assert_int_equal(read_text(COUNTS MODEL "M 1 2 1:13 2:2\nO 2 1 11 signalfd_ctx\n", &p[1]),
			 0);
	for (int i = 0; i < 2; i++)
		profile_resolve_kallsyms(p[i], ks);
	analyze_misses_init(&m, p[0], p[1], ANALYZE_MISSES_BY_FUNCTION);
	assert_string_equal(m.model, "tiny");
	row = missed(&m, "helper.isra.0");
	assert_non_null(row);
	assert_true(row->sides[0].events[MODEL_L1D] == 3);
	assert_true(row->sides[0].cycles == 3 * 20 + 2 * 40 + 4 * 16);
	assert_true(row->sides[0].instructions == 10);
	assert_true(row->delta.events[MODEL_L1D] == 10);
	assert_true(row->delta.cycles == 10 * 20 - 4 * 16);
	assert_true(row->delta.instructions == 0);
	assert_true(isnan(row->plus_minus));
	row = missed(&m, "*");
	assert_non_null(row);
	assert_true(row->sides[1].instructions == 10);
	analyze_misses_deinit(&m);
	/* Misses by type of data: a row per context, and one for all contexts. */
	analyze_misses_init(&m, p[0], p[1], ANALYZE_MISSES_BY_OBJECT);
	assert_int_equal(m.n_rows, 3);
	assert_string_equal(m.rows[0].function, "signalfd_ctx");
	assert_string_equal(m.rows[0].context, "uname");
	assert_true(m.rows[0].delta.events[MODEL_L1D] == 8 && m.rows[0].delta.data == 8 * 20);
	assert_string_equal(m.rows[1].context, "*");
	assert_true(m.rows[1].delta.events[MODEL_L1D] == 6);
	analyze_misses_deinit(&m);
	/* Recordings with different cache models are not compared. */
	profile_env_set(p[1], PROFILE_ENV_MODEL, "other");
	analyze_misses_init(&m, p[0], p[1], ANALYZE_MISSES_BY_FUNCTION);
	assert_int_equal(m.n_rows, 0);
	analyze_misses_deinit(&m);
	profile_destroy(p[0]);
	profile_destroy(p[1]);
}

/*
 * Two calls of helper, which has a loop of two instructions at 302. FIRST: executions of the emulator's block that ends with the
 * first iteration. TURNS: further iterations. LAST: executions of its blocks after the loop, which an exception may have split.
 */
#define LOOP(first, turns, last) LOOP_AND("", first, turns, last)
#define LOOP_AND(pieces, first, turns, last)                            \
	"T 87 0 0 0 0 0\n"                                              \
	"F 4 ffffffff81000300\n"                                        \
	"C 0 0 1 0 0\n"                                                 \
	"B 0 4 ffffffff81000300 ffffffff81000302 1 2 2 2\n"             \
	"B 1 4 ffffffff81000302 ffffffff81000302 1 2 2\n"               \
	"B 2 4 ffffffff81000306 0 0 2 2 2\n"                            \
	"B 3 4 ffffffff81000308 0 0 2 2\n" pieces "N 1 0 0 0 0 0 0 0\n" \
	"N 2 1 0 4 0 2 26 26\n"                                         \
	"E 0 " #first "\nE 1 " #turns "\n" last "D 0 4 2 26 1 1 1 1:2\n"

static const struct analyze_loop *the_loop(const struct analyze_loops *loops)
{
	assert_int_equal(loops->n_rows, 2);
	assert_string_equal(loops->rows[0].function, "helper");
	assert_string_equal(loops->rows[1].context, "[none]");
	return &loops->rows[0];
}

static struct profile *loop_profile(const char *text, struct analyze_loops *loops)
{
	struct profile *p;

	assert_int_equal(read_text(text, &p), 0);
	profile_env_set(p, PROFILE_ENV_ENGINE, PROFILE_ENGINE_EXACT);
	analyze_loops_init(loops, p);
	return p;
}

TEST(loops_have_iterations_and_conditions)
{
	struct analyze_loops loops;
	struct analyze_blocks blocks;
	struct profile *p[2];

	p[0] = loop_profile(LOOP(2, 8, "E 2 2\n"), &loops);
	assert_true(the_loop(&loops)->trips == 5);
	assert_true(the_loop(&loops)->offset == 2);
	assert_true(the_loop(&loops)->insns_per_iteration == 2);
	analyze_loops_deinit(&loops);
	/* Blocks start at 300, 302 and 306. */
	assert_int_equal(p[0]->blocks[0].n_items, 3);
	p[1] = loop_profile(LOOP(2, 4, "E 2 1\nE 3 1\n"), &loops);
	assert_true(the_loop(&loops)->trips == 3);
	analyze_loops_deinit(&loops);
	p[1]->blocks[0].items[0].addr -= 2; /* the emulator's blocks differ between boots */
	p[1]->blocks[0].items[0].bytes += 2;
	p[1]->blocks[0].items[0].insns += 1;
	profile_merge(p[0], p[1]);
	assert_int_equal(p[0]->n_blocks, 1);
	analyze_loops_init(&loops, p[0]);
	assert_true(the_loop(&loops)->trips == 4);
	analyze_loops_deinit(&loops);
	analyze_blocks_init(&blocks, p[0]);
	assert_true(blocks.functions[0].blocks == 5);
	/* 4 calls; 2 of them execute one instruction more; 16 iterations in total. */
	assert_true(blocks.functions[0].insns_per_call ==
		    (4 * 1 + 2 * 1 + 16 * 2 + 3 * 1 + 4 * 2) / 4.);
	analyze_blocks_deinit(&blocks);
	profile_destroy(p[0]);
	profile_destroy(p[1]);
}

/* One iteration of the loop at 302 is interrupted after its first instruction. */
#define CUT(times)                                                \
	LOOP_AND("B 4 4 ffffffff81000302 0 1 2\n"                 \
		 "B 5 4 ffffffff81000304 ffffffff81000302 1 2\n", \
		 2, 7, "E 2 2\nE 4 1\nE 5 " #times "\n")

/* A block that is interrupted and then resumed stays one block, so that it equals another boot's. Otherwise it is split. */
TEST(an_interrupted_block_is_one)
{
	struct analyze_loops loops;
	struct profile *p[3];

	for (uint64_t times = 0; times < 2; times++) {
		const struct profile_blocks *b;

		p[times] = times ? loop_profile(CUT(1), &loops) : loop_profile(CUT(0), &loops);
		b = &p[times]->blocks[0];
		assert_true(the_loop(&loops)->trips == 5);
		assert_true(the_loop(&loops)->offset == 2);
		assert_int_equal(b->n_items, times ? 3 : 4);
		assert_int_equal(b->items[1].bytes, times ? 4 : 2);
		assert_int_equal(b->items[1].insns, times ? 2 : 1);
		assert_int_equal(b->items[2].addr, times ? 0x306 : 0x304);
		assert_int_equal(b->n_arcs, times ? 3 : 4);
		assert_int_equal(p[times]->block_counts[0].n_counts, b->n_items);
		assert_true(p[times]->block_counts[0].counts[1] == 10);
		assert_true(p[times]->block_counts[0].counts[2] == (times ? 2 : 9));
		analyze_loops_deinit(&loops);
	}
	p[2] = loop_profile(LOOP(2, 8, "E 2 2\n"), &loops);
	analyze_loops_deinit(&loops);
	profile_merge(p[1], p[2]);
	assert_int_equal(p[1]->n_blocks, 1);
	assert_int_equal(p[1]->blocks[0].n_items, 3);
	for (int i = 0; i < 3; i++)
		profile_destroy(p[i]);
}

TEST(pieces_may_be_empty)
{
	struct analyze_loops loops;
	struct profile *p[2];
	const struct profile_blocks *b;

	for (int i = 0; i < 2; i++) {
		p[i] = loop_profile(LOOP(2, 8, "E 2 2\n"), &loops);
		analyze_loops_deinit(&loops);
	}
	for (uint32_t i = 0; i < p[1]->blocks[0].n_items; i++) {
		p[1]->blocks[0].items[i].addr += i ? 0x100 : -0x100ull;
		p[1]->blocks[0].items[i].bytes = 0;
	}
	profile_merge(p[0], p[1]);
	b = &p[0]->blocks[0];
	assert_int_equal(b->n_items, 3);
	for (uint32_t i = 0; i < b->n_arcs; i++)
		assert_true(b->arcs[i].from < 3 && b->arcs[i].to < 3);
	profile_destroy(p[0]);
	profile_destroy(p[1]);
}

TEST(damaged_lines_are_refused)
{
	static const char *const wrong[] = {
		"",
		"X 1\n",
		"T 1 2\n",
		"F 1\n",
		"C 1 0 1 0 0\n",
		"C 0 0 1 0 1\n",
		"C 0 8 1 0 0\n",
		"C 0 0 1 0 0\nC 1 1 1 0 1\n",
		"C 0 99 1 0 0\n",
		"N 1 0 0 0 0 0 0 0\n",
		"F 2 ffffffff81000100\nC 0 0 1 0 0\nN 2 0 0 0 0 0 0 0\n",
		"F 2 ffffffff81000100\nE 0 5\n",
		"F 2 ffffffff81000100\nB 0 3 ffffffff81000100 0 1 1\n",
		"F 9999999999 ffffffff81000100\n",
		"P tiny 1 2\n",
		"M 0 0 1:1\n",
		COUNTS "B 1 4 ffffffff81000320 0 2 1\n",
		COUNTS "B 1 4 ffffffff81000320 0 0 1\n",
		COUNTS "M 1 0 99:1\n",
		COUNTS "M 1 0 1\n",
		COUNTS "O 99 1 1 dentry\n",
		COUNTS "O 1 99 1 dentry\n",
		COUNTS "O 1 1\n",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct profile *p;

		assert_int_not_equal(read_text(wrong[i], &p), 0);
		profile_destroy(p);
	}
}

RUN_TESTS(setup, teardown)
