// SPDX-License-Identifier: GPL-2.0-or-later
/* Plan the probes of inlined functions in tests/symbol/inlines.c. The compiled code imitates a running kernel. */
#include "test.h"
#include "record/engine/features.h"
#include "record/target/range_plan.h"
#include "kernel_fixture.h"

#define SLIDE      0x2000000 /* offset of the running kernel from the file's addresses */
#define FIRST_SITE 7
#define TEXT_MAX   4096

static struct record_symbols symbols;
static uint8_t text[TEXT_MAX];
static char kcore[160];

/* Write the file's code at the running kernel's address. */
static void write_core(void)
{
	snprintf(kcore, sizeof(kcore), "%s",
		 fixture_core("kcore", FIXTURE_BASE + SLIDE, text, sizeof(text)));
}

/* Write the file's symbols as the running kernel has them. */
static void write_kallsyms(void)
{
	char command[256], line[256], name[128], type;
	FILE *nm, *out;
	unsigned long addr;

	snprintf(command, sizeof(command), "nm '%s'", fixture_path("kernel"));
	nm = popen(command, "re");
	out = fopen(fixture_path("kallsyms"), "we");
	assert_true(nm && out);
	while (fgets(line, sizeof(line), nm))
		if (sscanf(line, "%lx %c %127s", &addr, &type, name) == 3)
			fprintf(out, "%016lx %c %s\n", addr + SLIDE, type == 'A' ? 'T' : type,
				name); /* 'A': a symbol made by --defsym */
	assert_int_equal(pclose(nm), 0);
	fprintf(out, "ffffffffc0000000 t of_module\t[some_module]\n");
	fclose(out);
}

static void read_text(void)
{
	char command[512];
	FILE *file;

	snprintf(command, sizeof(command), "objcopy -O binary -j .text '%s' '%s/text'",
		 fixture_path("kernel"), fixture_dir);
	assert_int_equal(system(command), 0);
	file = fopen(fixture_path("text"), "re");
	assert_non_null(file);
	assert_in_range(fread(text, 1, sizeof(text), file), 64, sizeof(text) - 1);
	fclose(file);
}

static int setup(void **state)
{
	if (fixture_setup(state) || !fixture_build("kernel", "-g -fno-asynchronous-unwind-tables"))
		return -1;
	write_kallsyms();
	read_text();
	write_core();
	symbols = (struct record_symbols){ .kernel = { .image_tried = true, .index_tried = true },
					   .kcore = kcore };
	if (kernel_kallsyms_load(fixture_path("kallsyms"), &symbols.ks) ||
	    kernel_image_open(fixture_path("kernel"), &symbols.kernel.image) ||
	    kernel_tracing_load(symbols.ks, NULL, 0, NULL, NULL, &symbols.tracing) ||
	    kernel_index_build(symbols.kernel.image, &symbols.kernel.index))
		return -1;
	symbols.kernel.base = symbols.ks->stext;
	return 0;
}

static int teardown(void **state)
{
	record_symbols_deinit(&symbols);
	return fixture_teardown(state);
}

static int add_body(const struct kernel_body *body, void *ranges)
{
	record_ranges_add(ranges, &symbols.kernel, body, false);
	return 0;
}

static struct record_ranges plan(const char *glob)
{
	struct record_ranges ranges = { .first_site = FIRST_SITE };

	assert_int_equal(
		kernel_index_bodies_each(symbols.kernel.index, glob, add_body, &ranges, NULL), 0);
	record_ranges_plan(&ranges, &symbols);
	return ranges;
}

static bool is_in(const struct kernel_body *body, uint64_t addr)
{
	for (size_t i = 0; i < body->n_ranges; i++)
		if (addr >= body->ranges[i].start && addr < body->ranges[i].end)
			return true;
	return false;
}

/* Return the action of probe P for the inlined function I, or NULL. */
static const struct record_action *action(const struct record_ranges *ranges,
					  const struct record_point *p, uint32_t i)
{
	for (uint32_t k = 0; k < p->n_actions; k++)
		if (p->actions[k].site == ranges->first_site + i)
			return &p->actions[k];
	return NULL;
}

/* Each inlined function is entered at addresses inside it, and left at addresses outside. One address counts its calls. */
TEST(bodies_are_entered_and_left)
{
	struct record_ranges ranges = plan("*");

	assert_int_equal(ranges.n_items, 7);
	for (uint32_t i = 0; i < ranges.n_items; i++) {
		uint32_t enters = 0, leaves = 0, calls = 0;
		struct kernel_body body;

		assert_null(ranges.items[i].why_not);
		assert_int_equal(
			kernel_index_body(symbols.kernel.index, ranges.items[i].body, &body), 0);
		for (uint32_t k = 0; k < ranges.n_points; k++) {
			const struct record_point *p = &ranges.points[k];
			const struct record_action *a = action(&ranges, p, i);
			uint64_t addr = p->addr - FIXTURE_BASE - SLIDE;

			if (!a)
				continue;
			assert_int_equal(is_in(&body, addr), a->op != ENGINE_RANGE_LEAVE);
			enters += a->op == ENGINE_RANGE_ENTER;
			leaves += a->op == ENGINE_RANGE_LEAVE;
			calls += a->flags & ENGINE_RANGE_CALL || a->op == ENGINE_RANGE_COUNT;
		}
		assert_true(enters && leaves);
		assert_int_equal(calls, 1);
		assert_true(ranges.items[i].n_probes >= enters + leaves);
	}
	record_ranges_deinit(&ranges);
}

/* Points (probe addresses) are sorted and unique. A point with several actions has a list. Frame offsets are those of CFI. */
TEST(points_are_shared)
{
	struct record_ranges ranges = plan("*");
	uint32_t lists = 0;

	for (uint32_t k = 0; k < ranges.n_points; k++) {
		const struct record_point *p = &ranges.points[k];
		struct kernel_frame_base base;

		assert_true(!k || ranges.points[k - 1].addr < p->addr);
		assert_true(p->n_actions > 0);
		assert_int_equal(p->link, -1);
		if (p->n_actions > 1)
			assert_int_equal(p->list, lists++);
		assert_int_equal(kernel_image_frame_base(symbols.kernel.image,
							 p->addr - FIXTURE_BASE - SLIDE, &base),
				 0);
		assert_int_equal(p->frame & ~ENGINE_RANGE_FRAME_FP, base.offset / 8);
		assert_int_equal((p->frame & ENGINE_RANGE_FRAME_FP) != 0, base.from_fp);
	}
	assert_int_equal(ranges.n_lists, lists);
	record_ranges_deinit(&ranges);
}

/* If nested inlined functions end at the same address, the inner is left first; if they start there, the inner is entered last. */
TEST(inner_bodies_come_first_and_go_last)
{
	struct record_ranges ranges = plan("*");
	uint32_t shared = 0;

	for (uint32_t k = 0; k < ranges.n_points; k++) {
		const struct record_point *p = &ranges.points[k];

		for (uint32_t i = 1; i < p->n_actions; i++) {
			const struct record_action *a = &p->actions[i - 1], *b = &p->actions[i];
			const struct record_range *x = &ranges.items[a->site - FIRST_SITE],
						  *y = &ranges.items[b->site - FIRST_SITE];

			shared++;
			if (a->op == b->op && a->op == ENGINE_RANGE_LEAVE)
				assert_true(x->size <= y->size);
			else if (a->op == b->op && a->op == ENGINE_RANGE_ENTER)
				assert_true(x->size >= y->size);
			else
				assert_true(a->op == ENGINE_RANGE_LEAVE ||
					    b->op == ENGINE_RANGE_COUNT);
		}
	}
	assert_true(shared > 0); /* last() and ends() end at the same address */
	record_ranges_deinit(&ranges);
}

/* An inlined function that is given up loses its probes; probes of others stay. */
TEST(what_is_given_up_is_pruned)
{
	struct record_ranges ranges = plan("*"), alone;
	uint32_t before = ranges.n_points, n = 0;

	for (uint32_t i = 0; i < ranges.n_items; i++)
		if (strcmp(ranges.items[i].name, "twice"))
			record_range_give_up(&ranges, i, "for the test");
	record_ranges_prune(&ranges, NULL);
	assert_true(ranges.n_points && ranges.n_points < before);
	alone = plan("twice");
	assert_int_equal(alone.n_items, 2);
	assert_int_equal(ranges.n_points, alone.n_points);
	for (uint32_t k = 0; k < alone.n_points; k++) {
		assert_int_equal(ranges.points[k].addr, alone.points[k].addr);
		n += alone.points[k].n_actions;
	}
	assert_true(n >= 4);
	record_ranges_deinit(&alone);
	record_ranges_deinit(&ranges);
}

static void expect_why(struct record_ranges *ranges, const char *name, const char *why)
{
	for (uint32_t i = 0; i < ranges->n_items; i++) {
		if (strcmp(ranges->items[i].name, name))
			continue;
		if (why)
			assert_non_null(strstr(ranges->items[i].why_not ?: "timed", why));
		else
			assert_null(ranges->items[i].why_not);
	}
}

/* Inlined functions are given up only in a function with blacklisted addresses. */
TEST(blacklisted_places_give_a_body_up)
{
	struct kernel_tracing *before = symbols.tracing;
	const struct kernel_sym *const *outer;
	struct record_ranges ranges;
	char list[128];
	size_t n;

	outer = kernel_kallsyms_named(symbols.ks, "outer", &n);
	assert_int_equal(n, 1);
	snprintf(
		list, sizeof(list), "0x%016lx-0x%016lx\touter\n", (unsigned long)outer[0]->addr,
		(unsigned long)(outer[0]->addr + kernel_kallsyms_size(symbols.ks, outer[0]) + 256));
	assert_int_equal(kernel_tracing_load(symbols.ks, NULL, 0, NULL,
					     fixture_text("blacklist", list), &symbols.tracing),
			 0);
	ranges = plan("[im]*");
	expect_why(&ranges, "innermost", "cannot be probed");
	expect_why(&ranges, "middle", "cannot be probed");
	assert_int_equal(ranges.n_points, 0);
	record_ranges_deinit(&ranges);
	ranges = plan("body");
	kernel_tracing_destroy(symbols.tracing);
	symbols.tracing = before;
	record_ranges_deinit(&ranges);
}

/* Forget the running kernel's code. The next plan reads it from PATH. */
static void read_from(const char *path)
{
	kernel_code_destroy(symbols.kernel.code);
	kernel_kcore_destroy(symbols.live);
	symbols.kernel.code = NULL;
	symbols.live = NULL;
	symbols.live_tried = false;
	symbols.kcore = path;
}

/* Probes are planned in the running kernel's code. The file's code does not replace it. */
TEST(code_that_cannot_be_read)
{
	struct record_ranges ranges;

	read_from("/nonexistent");
	ranges = plan("twice");
	expect_why(&ranges, "twice", "/proc/kcore");
	assert_int_equal(ranges.n_points, 0);
	record_ranges_deinit(&ranges);
	memset(text, 0x06, sizeof(text)); /* an invalid instruction */
	write_core();
	read_from(kcore);
	ranges = plan("twice");
	expect_why(&ranges, "twice", "cannot be decoded");
	assert_int_equal(ranges.n_points, 0);
	record_ranges_deinit(&ranges);
	read_text();
	write_core();
	read_from(kcore);
}

/* Return the message that resolving PATTERN prints. */
static const char *said(const char *pattern)
{
	static char message[512];
	struct record_ranges ranges = {};
	const struct record_names names = { .items = &pattern, .n_items = 1 };
	struct record_features features = {};
	const struct record_kernel kernel = { &symbols, &features };
	int before = dup(STDERR_FILENO), err;
	FILE *file = fopen(fixture_path("said"), "w+e");

	assert_non_null(file);
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	err = record_ranges_resolve(&ranges, &kernel, &names, FIRST_SITE);
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	close(before);
	assert_int_equal(err, 0);
	rewind(file);
	message[fread(message, 1, sizeof(message) - 1, file)] = '\0';
	fclose(file);
	record_ranges_deinit(&ranges);
	return message;
}

/* A pattern without a match is reported, but is no error, because it may match on the other kernel. */
TEST(what_fits_nothing_is_said)
{
	assert_string_equal(said("twice"), "");
	assert_non_null(strstr(said("never"), "no inlined function matches 'never'"));
	assert_non_null(
		strstr(said("twice@outer"), "inlined in 2 places, none of them in a matching"));
	assert_non_null(strstr(said("twice@of_module"), "module some_module has no build-id"));
}

/* With the index of an earlier recording, but no vmlinux, inlined functions cannot be timed. */
TEST(an_index_alone_times_nothing)
{
	struct kernel_image *image = symbols.kernel.image;
	const char *said_of_it;

	read_from(kcore);
	symbols.kernel.image = NULL;
	symbols.kernel.why_not = alloc_strdup("no vmlinux of 6.1 below /boot");
	said_of_it = said("twice");
	assert_non_null(strstr(said_of_it, "no vmlinux of 6.1 below /boot"));
	assert_non_null(strstr(said_of_it, record_symbols_vmlinux_missing));
	free(symbols.kernel.why_not);
	symbols.kernel.why_not = NULL;
	symbols.kernel.image = image;
}

RUN_TESTS(setup, teardown)
