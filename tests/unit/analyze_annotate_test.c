// SPDX-License-Identifier: GPL-2.0-or-later
/* Annotate tests/symbol/inlines.c, a program whose inlining is known. The tests compile it and invent the samples. */
#include <errno.h>

#include "test.h"
#include "analyze/code/annotate.h"
#include "fixture.h"
#undef fixture_fn
#include "arch/disasm.h"
#include "kernel/debuginfo/source.h"
#include "kernel_fixture.h"

/* The opened program, and a profile to fill with samples. */
struct kernel {
	struct kernel_image *img;
	struct kernel_index *idx;
	struct kernel_code *code;
	struct profile *p;
	struct analyze_ranges ranges;
	struct analyze_annotation a;
};

static bool built;

static void open_kernel(struct kernel *k)
{
	memset(k, 0, sizeof(*k));
	if (!built)
		fixture_skip(FIXTURE_NO_COMPILER);
	assert_int_equal(kernel_image_open(fixture_path("kernel"), &k->img), 0);
	assert_int_equal(kernel_index_build(k->img, &k->idx), 0);
	assert_int_equal(kernel_code_create(k->img, NULL, &k->code), 0);
	k->p = profile_create();
	k->p->clock = PROFILE_CLOCK_INSN;
	k->p->sample_period = 1000;
	profile_run_add(k->p, PROFILE_RUN_PROBED);
}

static int annotate(struct kernel *k, const struct analyze_annotate_options *o)
{
	const struct analyze_options figures = { .time = ANALYZE_TIME_ONCPU };

	analyze_ranges_init(&k->ranges, k->p, &figures);
	return analyze_annotation_init(&k->a, k->p, &k->ranges, k->idx, k->code, o);
}

static void close_kernel(struct kernel *k)
{
	analyze_annotation_deinit(&k->a);
	analyze_ranges_deinit(&k->ranges);
	profile_destroy(k->p);
	kernel_code_destroy(k->code);
	kernel_index_destroy(k->idx);
	kernel_image_destroy(k->img);
}

/* Return the address of the symbol NAME. The program has symbols for addresses within its functions. */
static uint64_t address_of(const struct kernel *k, const char *name)
{
	char command[256], line[64] = "";
	FILE *in;

	(void)k;
	snprintf(command, sizeof(command), "nm '%s' | awk '$3 == \"%s\" { print $1 }'",
		 fixture_path("kernel"), name);
	in = popen(command, "r");
	assert_non_null(in);
	assert_non_null(fgets(line, sizeof(line), in));
	pclose(in);
	return strtoull(line, NULL, 16) - FIXTURE_BASE;
}

/* Add COUNT samples in CONTEXT with the stack LEAF, CALLER. CALLER 0: the stack is LEAF only. */
static void sample(struct kernel *k, const char *context, uint32_t flags, uint64_t count,
		   uint64_t leaf, uint64_t caller)
{
	uint32_t at[2], n = 0;

	at[n++] = profile_location_add(k->p, leaf, NULL);
	if (caller)
		at[n++] = profile_location_add(k->p, caller, NULL);
	profile_sample_add(k->p,
			   &(struct profile_sample){ .context = profile_context_add(k->p, context),
						     .stack = profile_stack_add(k->p, at, n),
						     .flags = flags,
						     .count = count });
}

/* Add COUNT samples of an interrupt that hit the instruction at ADDR. */
static void interrupt_sample(struct kernel *k, uint64_t count, uint64_t addr)
{
	uint32_t at[2] = { profile_location_add(k->p, addr + 1000000, NULL),
			   profile_location_add(k->p, addr, NULL) };

	profile_location_frame_add(k->p, at[0],
				   &(struct profile_frame){ .name = "asm_sysvec_timer" });
	profile_sample_add(k->p, &(struct profile_sample){
					 .context = profile_context_add(
						 k->p, profile_context_name(PROFILE_CONTEXT_IRQ)),
					 .stack = profile_stack_add(k->p, at, 2),
					 .count = count });
}

static const struct analyze_instruction *instruction(const struct kernel *k, uint64_t addr)
{
	for (uint32_t i = 0; i < k->a.n_insns; i++)
		if (k->a.insns[i].insn.addr == addr)
			return &k->a.insns[i];
	return NULL;
}

static const struct analyze_code_body *body(const struct kernel *k, const char *name)
{
	for (uint32_t i = 0; i < k->a.n_bodies; i++)
		if (!strcmp(k->a.bodies[i].body.name, name))
			return &k->a.bodies[i];
	return NULL;
}

/* Return the address of the call of NAME in the function's code. */
static uint64_t call_of(const struct kernel *k, const char *name)
{
	for (uint32_t i = 0; i < k->a.n_insns; i++)
		if (k->a.insns[i].insn.kind == KERNEL_INSN_CALL &&
		    k->a.insns[i].insn.target == address_of(k, name))
			return k->a.insns[i].insn.addr;
	return 0;
}

static double sum_of_insns(const struct kernel *k)
{
	double sum = 0;

	for (uint32_t i = 0; i < k->a.n_insns; i++)
		sum += analyze_hits_all(&k->a.insns[i].hits);
	return sum;
}

static double sum_of_lines(const struct kernel *k)
{
	double sum = 0;

	for (uint32_t i = 0; i < k->a.n_lines; i++)
		sum += analyze_hits_all(&k->a.lines[i].hits);
	return sum;
}

TEST(samples_are_where_they_were_taken)
{
	const struct analyze_annotate_options o = { .name = "outer" };
	uint64_t innermost, middle, own, call;
	struct kernel k;

	open_kernel(&k);
	innermost = address_of(&k, "mark_innermost");
	middle = address_of(&k, "mark_middle");
	own = address_of(&k, "mark_outer");
	call = address_of(&k, "_start");
	sample(&k, "read", 0, 5, innermost, call);
	sample(&k, "write", 0, 3, middle, call);
	sample(&k, "read", PROFILE_SAMPLE_LATE, 2, own, call);
	/* Do not count samples in other functions, in user space, in a probe, or of an interrupt that arrived in the function. */
	sample(&k, "read", 0, 100, call, 0);
	sample(&k, "read", PROFILE_SAMPLE_USER, 100, own, 0);
	sample(&k, "read", PROFILE_SAMPLE_PROBE, 100, own, call);
	interrupt_sample(&k, 100, own);
	assert_int_equal(annotate(&k, &o), 0);
	assert_int_equal(k.a.n_places, 1);
	assert_int_equal(k.a.samples, 10);
	assert_int_equal(k.a.kernel, 210);
	assert_int_equal(k.a.hits.self, 10);
	assert_int_equal(k.a.hits.late, 2);
	assert_int_equal(instruction(&k, innermost)->hits.self, 5);
	assert_int_equal(instruction(&k, middle)->hits.self, 3);
	assert_int_equal(instruction(&k, own)->hits.late, 2);
	assert_int_equal(sum_of_insns(&k), 10);
	assert_int_equal(sum_of_lines(&k), 10);
	/* An inlined function's samples include those of functions inlined into it; a line's only those of its own function. */
	assert_int_equal(body(&k, "innermost")->hits.self, 5);
	assert_int_equal(body(&k, "middle")->hits.self, 8);
	assert_int_equal(body(&k, "middle")->own.self, 3);
	assert_string_equal(body(&k, "innermost")->path, "innermost < middle");
	assert_int_equal(body(&k, "innermost")->depth, 2);
	assert_string_equal(k.a.lines[instruction(&k, innermost)->line].path, "innermost < middle");
	assert_null(k.a.lines[instruction(&k, own)->line].path);
	/* The function was not timed, so each sample counts as one sampling period of ticks. Costs are per run. */
	assert_false(k.a.tick_is_of_call);
	assert_int_equal(k.a.tick, 1000);
	close_kernel(&k);
}

TEST(a_context_alone)
{
	const struct analyze_annotate_options o = { .name = "outer", .context = "write" };
	struct kernel k;

	open_kernel(&k);
	sample(&k, "read", 0, 5, address_of(&k, "mark_innermost"), 0);
	sample(&k, "write", 0, 3, address_of(&k, "mark_middle"), 0);
	assert_int_equal(annotate(&k, &o), 0);
	assert_int_equal(k.a.samples, 3);
	assert_int_equal(body(&k, "middle")->hits.self, 3);
	assert_int_equal(body(&k, "innermost")->hits.self, 0);
	close_kernel(&k);
}

/* Samples in callees are attributed to the call instruction. The .cold part belongs to the function. */
TEST(what_it_calls_is_below)
{
	const struct analyze_annotate_options o = { .name = "split", .all = true };
	uint64_t cold, call;
	struct kernel k;

	open_kernel(&k);
	assert_int_equal(annotate(&k, &o), 0);
	call = call_of(&k, "rare");
	assert_true(call != 0);
	analyze_annotation_deinit(&k.a);
	analyze_ranges_deinit(&k.ranges);
	cold = address_of(&k, "mark_cold");
	/* The caller's address is the return address less 1: within the call. */
	sample(&k, "read", 0, 7, address_of(&k, "rare"), call + 4);
	sample(&k, "read", 0, 2, cold, 0);
	assert_int_equal(annotate(&k, &o), 0);
	assert_int_equal(instruction(&k, call)->hits.callees, 7);
	assert_int_equal(instruction(&k, call)->hits.self, 0);
	assert_int_equal(instruction(&k, cold)->hits.self, 2);
	assert_string_equal(instruction(&k, cold)->symbol, "split.cold");
	assert_int_equal(body(&k, "body")->hits.callees, 7);
	assert_int_equal(body(&k, "body")->hits.self, 2);
	assert_int_equal(k.a.samples, 9);
	close_kernel(&k);
}

/* A function without code of its own is annotated in the functions that it is inlined into. */
TEST(inlined_only)
{
	struct analyze_annotate_options o = { .name = "innermost" };
	struct kernel k;

	open_kernel(&k);
	sample(&k, "read", 0, 5, address_of(&k, "mark_innermost"), 0);
	sample(&k, "read", 0, 4, address_of(&k, "mark_middle"), 0);
	assert_int_equal(annotate(&k, &o), 0);
	assert_int_equal(k.a.n_places, 1);
	assert_true(k.a.places[0].is_inlined);
	assert_string_equal(k.a.places[0].function.name, "outer");
	assert_string_equal(k.a.places[0].chain, "middle");
	assert_int_equal(k.a.samples, 5);
	/* The function's own lines have no path of inlined functions. */
	assert_null(k.a.lines[instruction(&k, address_of(&k, "mark_innermost"))->line].path);
	assert_null(instruction(&k, address_of(&k, "mark_middle")));
	analyze_annotation_deinit(&k.a);
	analyze_ranges_deinit(&k.ranges);
	o.within = "outer";
	assert_int_equal(annotate(&k, &o), 0);
	assert_int_equal(k.a.n_places, 1);
	analyze_annotation_deinit(&k.a);
	analyze_ranges_deinit(&k.ranges);
	o.within = "caller";
	assert_int_equal(annotate(&k, &o), -ENOENT);
	close_kernel(&k);
}

TEST(two_places)
{
	const struct analyze_annotate_options all = { .name = "twice", .all = true };
	const struct analyze_annotate_options o = { .name = "twice" };
	struct kernel k;
	uint64_t second;

	open_kernel(&k);
	assert_int_equal(annotate(&k, &all), 0);
	assert_int_equal(k.a.n_places, 2);
	assert_true(k.a.places[0].body.call_line != k.a.places[1].body.call_line);
	/* Both inlined copies have the same source, so each line occurs once. */
	for (uint32_t i = 1; i < k.a.n_lines; i++)
		assert_true(k.a.lines[i - 1].line < k.a.lines[i].line);
	second = k.a.insns[k.a.places[1].first_insn].insn.addr;
	analyze_annotation_deinit(&k.a);
	analyze_ranges_deinit(&k.ranges);
	sample(&k, "read", 0, 1, second, 0);
	assert_int_equal(annotate(&k, &o), 0);
	assert_int_equal(k.a.n_places, 1);
	assert_int_equal(k.a.n_other_places, 1);
	assert_int_equal(k.a.insns[0].insn.addr, second);
	close_kernel(&k);
}

/*
 * In a timed function, each sample gets an equal share of the measured time. Samples at the return are counted separately: only 10
 * samples fit into the time, so at most 4 of these 9 are inside the function.
 */
TEST(timed)
{
	const struct analyze_annotate_options o = { .name = "outer" };
	struct profile_stats *s;
	uint64_t entry;
	struct kernel k;

	open_kernel(&k);
	entry = address_of(&k, "outer");
	s = profile_cell(k.p, 0, fixture_function(k.p, "outer", entry),
			 profile_context_add(k.p, "read"));
	fixture_calls(s, 40, 250, 250); /* 10,000 ticks: 10 sampling periods */
	sample(&k, "read", 0, 6, address_of(&k, "mark_innermost"), 0);
	sample(&k, "read", PROFILE_SAMPLE_AT_RETURN, 9, entry + 4, 0);
	assert_int_equal(annotate(&k, &o), 0);
	assert_int_equal(k.a.at_return, 9);
	assert_int_equal(k.a.unplaced, 4);
	assert_int_equal(k.a.samples, 10);
	assert_true(k.a.tick_is_of_call);
	assert_int_equal(k.a.figures.calls, 40);
	assert_int_equal(k.a.tick, 25);
	assert_int_equal(analyze_annotation_cost(&k.a, &k.a.hits), 150);
	assert_int_equal(sum_of_insns(&k), 6);
	close_kernel(&k);
}

/* Blocks are counted per run and context; each instruction has its block's count. */
TEST(executions)
{
	struct analyze_annotate_options o = { .name = "outer" };
	struct profile_blocks blocks = { 0 };
	struct profile_block_counts *counts;
	uint32_t read, write, place;
	struct kernel k;
	uint64_t entry, mark;

	open_kernel(&k);
	entry = address_of(&k, "outer");
	mark = address_of(&k, "mark_innermost");
	read = profile_context_add(k.p, "read");
	write = profile_context_add(k.p, "write");
	blocks.site = fixture_function(k.p, "outer", entry);
	vec_push(&blocks, items,
		 ((struct profile_block){ .addr = entry, .bytes = (uint32_t)(mark - entry) }));
	vec_push(&blocks, items, ((struct profile_block){ .addr = mark, .bytes = 1 }));
	place = profile_blocks_add(k.p, &blocks);
	counts = profile_block_counts(k.p, 0, place, read);
	counts->calls = 10;
	counts->counts[0] = 10;
	counts->counts[1] = 30;
	counts = profile_block_counts(k.p, 0, place, write);
	counts->calls = 10;
	counts->counts[0] = 10;
	counts->counts[1] = PROFILE_NOT_COUNTED;
	assert_int_equal(annotate(&k, &o), 0);
	assert_true(k.a.counted);
	assert_int_equal(instruction(&k, entry)->executions, 20);
	assert_int_equal(instruction(&k, entry)->per_call, 1);
	assert_true(isnan(instruction(&k, mark)->executions));
	/* An instruction outside of all blocks was not counted. */
	assert_true(isnan(k.a.insns[k.a.n_insns - 1].executions));
	analyze_annotation_deinit(&k.a);
	analyze_ranges_deinit(&k.ranges);
	o.context = "read";
	assert_int_equal(annotate(&k, &o), 0);
	assert_int_equal(instruction(&k, mark)->executions, 30);
	assert_int_equal(instruction(&k, mark)->per_call, 3);
	assert_int_equal(k.a.lines[instruction(&k, mark)->line].per_call, 3);
	close_kernel(&k);
}

TEST(no_such_function)
{
	const struct analyze_annotate_options o = { .name = "nowhere" };
	const struct analyze_annotate_options empty = { .name = "nothing" };
	struct kernel k;

	open_kernel(&k);
	assert_int_equal(annotate(&k, &o), -ENOENT);
	analyze_annotation_deinit(&k.a);
	analyze_ranges_deinit(&k.ranges);
	assert_int_equal(annotate(&k, &empty), -ENOENT);
	close_kernel(&k);
}

static void expect_text(enum arch_syntax syntax, const uint8_t *code, size_t len,
			const char *operands, const char *want)
{
	struct arch_disasm *d = arch_disasm_create(syntax);
	char *text;

	if (!d)
		fixture_skip("this capstone does not know the syntax");
	text = arch_disasm_text(d, code, len, 0x1000, operands);
	assert_string_equal(text, want);
	free(text);
	arch_disasm_destroy(d);
}

TEST(instructions_as_text)
{
	static const uint8_t add[] = { 0x48, 0x83, 0xc4, 0x28 }, call[] = { 0xe8, 0, 0, 0, 0 };
	static const uint8_t bad[] = { 0x06 };

	expect_text(ARCH_SYNTAX_ATT, add, sizeof(add), NULL, "addq $0x28, %rsp");
	expect_text(ARCH_SYNTAX_INTEL, add, sizeof(add), NULL, "add rsp, 0x28");
	expect_text(ARCH_SYNTAX_INTEL, call, sizeof(call), "kfree", "call kfree");
	expect_text(ARCH_SYNTAX_ATT, bad, sizeof(bad), NULL, "(bad)");
}

TEST(data_by_name)
{
	/* mov 0x10(%rip),%eax: relative to the instruction's end; add %gs:0x10(%rip),%eax: a per-CPU variable */
	static const uint8_t load[] = { 0x8b, 0x05, 0x10, 0, 0, 0 };
	static const uint8_t cpu[] = { 0x65, 0x03, 0x05, 0x10, 0, 0, 0 };
	struct arch_disasm *d = arch_disasm_create(ARCH_SYNTAX_ATT);
	uint64_t addr, offset;
	struct kernel k;

	open_kernel(&k);
	free(arch_disasm_text(d, load, sizeof(load), 0x1000, NULL));
	assert_true(arch_disasm_data(d, &addr));
	assert_int_equal(addr, 0x1016);
	free(arch_disasm_text(d, cpu, sizeof(cpu), 0x1000, NULL));
	assert_false(arch_disasm_data(d, &addr));
	arch_disasm_destroy(d);
	addr = address_of(&k, "sink") + FIXTURE_BASE;
	assert_string_equal(kernel_image_object_at(k.img, addr + 1, &offset), "sink");
	assert_int_equal(offset, 1);
	assert_null(kernel_image_object_at(k.img, addr + 4, &offset));
	assert_null(kernel_image_object_at(k.img, address_of(&k, "outer") + FIXTURE_BASE, &offset));
	assert_null(kernel_image_object_at(k.img, 0, &offset));
	close_kernel(&k);
}

TEST(lines_of_source)
{
	struct kernel_source *s;
	struct kernel k;
	char *tree = alloc_printf("%s/tree", fixture_dir);
	char *beside = alloc_printf("%s/source", fixture_dir);

	open_kernel(&k);
	assert_int_equal(mkdir(tree, 0700), 0);
	fixture_text("tree/Makefile", "# none\nVERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 192\n");
	fixture_text("tree/a.c", "one\n\ttwo\nthree");
	fixture_text("secret", "no\n");
	s = kernel_source_create(k.img, tree);
	assert_string_equal(kernel_source_line(s, "a.c", 2), "\ttwo");
	assert_string_equal(kernel_source_line(s, "a.c", 3), "three");
	assert_null(kernel_source_line(s, "a.c", 4));
	assert_null(kernel_source_line(s, "a.c", 0));
	assert_null(kernel_source_line(s, "b.c", 1));
	assert_null(kernel_source_line(s, "../secret", 1));
	assert_null(kernel_source_line(s, "x/../../secret", 1));
	assert_true(kernel_source_fits(s, "6.1.192-hardened"));
	assert_false(kernel_source_fits(s, "6.12.1"));
	kernel_source_destroy(s);
	/* The program has no init/main.c, so its source tree is not found. */
	s = kernel_source_create(k.img, NULL);
	assert_null(kernel_source_dir(s));
	assert_null(kernel_source_line(s, "a.c", 1));
	kernel_source_destroy(s);
	/* Patched files beside the image are found without a tree. */
	assert_int_equal(mkdir(beside, 0700), 0);
	fixture_text("source/a.c", "patched\n");
	s = kernel_source_create(k.img, NULL);
	assert_string_equal(kernel_source_line(s, "a.c", 1), "patched");
	kernel_source_destroy(s);
	free(beside);
	free(tree);
	close_kernel(&k);
}

static int setup(void **state)
{
	int err = fixture_setup(state);

	built = !err && fixture_build("kernel", "-g");
	return err;
}

RUN_TESTS(setup, fixture_teardown)
