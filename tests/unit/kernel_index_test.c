// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare the index with libdw's answers to queries like eu-addr2line's. Compare all inlined functions and the frames of thousands
 * of addresses, in the fixture with several forms of DWARF and, if it is built, in the lab's vmlinux.
 */
#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#include "test.h"
#include "kernel/debuginfo/dwarf.h"
#include "kernel/debuginfo/index_impl.h"
#include "kernel_fixture.h"

#define RANDOM_ADDRESSES 4000

struct oracle {
	Dwarf *dw;
	int fd;
	uint64_t base;
	Dwarf_Die *units;
	uint32_t n_units, cap_units;
};

struct lines {
	char **items;
	uint32_t n_items, cap_items;
};

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void lines_free(struct lines *l)
{
	for (uint32_t i = 0; i < l->n_items; i++)
		free(l->items[i]);
	free(l->items);
}

static void oracle_open(struct oracle *o, const char *path, uint64_t base)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	*o = (struct oracle){ .fd = open(path, O_RDONLY | O_CLOEXEC), .base = base };
	assert_true(o->fd >= 0);
	o->dw = dwarf_begin(o->fd, DWARF_C_READ);
	assert_non_null(o->dw);
	while (dwarf_get_units(o->dw, cu, &cu, NULL, NULL, &die, NULL) == 0)
		vec_push(o, units, die);
}

static void oracle_close(struct oracle *o)
{
	free(o->units);
	dwarf_end(o->dw);
	close(o->fd);
}

static const char *last_part(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "?";
}

static const char *call_file(Dwarf_Die *unit, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word index;
	Dwarf_Files *files;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attr), &index) ||
	    dwarf_getsrcfiles(unit, &files, NULL))
		return NULL;
	return dwarf_filesrc(files, index, NULL, NULL);
}

static int call_line(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word line;

	return dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attr), &line) ? 0 : (int)line;
}

/* Add a line "FUNCTION INLINED FILE:LINE entry START-END…" for each inlined function with code below PARENT. */
static void oracle_bodies(struct oracle *o, Dwarf_Die *unit, const char *function,
			  Dwarf_Die *parent, struct lines *out)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die))
		return;
	do {
		uint64_t starts[256], ends[256];
		Dwarf_Addr entry, base, start, end;
		ptrdiff_t at = 0;
		int n = 0, tag = dwarf_tag(&die);
		char *line;

		if (tag == DW_TAG_subprogram && dwarf_diename(&die))
			oracle_bodies(o, unit, dwarf_diename(&die), &die, out);
		else if (tag == DW_TAG_lexical_block)
			oracle_bodies(o, unit, function, &die, out);
		if (tag != DW_TAG_inlined_subroutine)
			continue;
		oracle_bodies(o, unit, function, &die, out);
		while (n < 256 && (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0) {
			int i = n;

			if (start >= end)
				continue;
			for (n++; i > 0 && starts[i - 1] > start; i--) {
				starts[i] = starts[i - 1];
				ends[i] = ends[i - 1];
			}
			starts[i] = start;
			ends[i] = end;
		}
		if (!n || starts[0] < o->base)
			continue;
		if (dwarf_entrypc(&die, &entry))
			entry = starts[0];
		line = alloc_printf("%s %s %s:%d %" PRIx64, function, dwarf_diename(&die),
				    last_part(call_file(unit, &die)), call_line(&die),
				    entry - o->base);
		for (int i = 0; i < n; i++) {
			char *longer;

			while (i + 1 < n && ends[i] >= starts[i + 1]) {
				starts[i + 1] = starts[i];
				i++;
			}
			longer = alloc_printf("%s %" PRIx64 "-%" PRIx64, line, starts[i] - o->base,
					      ends[i] - o->base);
			free(line);
			line = longer;
		}
		vec_push(out, items, line);
	} while (!dwarf_siblingof(&die, &die));
}

/* Return "NAME FILE:LINE" for each frame at ADDR, innermost first, joined by blanks; NULL: not in a function. */
static char *oracle_frames(struct oracle *o, uint64_t addr)
{
	Dwarf_Die *unit = NULL, *scopes, *chain;
	Dwarf_Line *row;
	const char *file;
	char *text = NULL;
	int n, line = 0;

	for (uint32_t i = 0; i < o->n_units && !unit; i++)
		if (dwarf_haspc(&o->units[i], addr) > 0)
			unit = &o->units[i];
	if (!unit)
		return NULL;
	row = dwarf_getsrc_die(unit, addr);
	file = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
	if (row)
		dwarf_lineno(row, &line);
	n = dwarf_getscopes(unit, addr, &scopes);
	if (n <= 0)
		return NULL;
	n = dwarf_getscopes_die(&scopes[0], &chain);
	free(scopes);
	for (int i = 0; i < n; i++) {
		int tag = dwarf_tag(&chain[i]);
		char *longer;

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		longer = alloc_printf("%s%s%s %s:%d", text ? text : "", text ? " " : "",
				      dwarf_diename(&chain[i]), last_part(file), line);
		free(text);
		text = longer;
		if (tag == DW_TAG_subprogram)
			break;
		file = call_file(unit, &chain[i]);
		line = call_line(&chain[i]);
	}
	if (n > 0)
		free(chain);
	return text;
}

static int body_line(const struct kernel_body *body, void *arg)
{
	struct lines *out = arg;
	char *line = alloc_printf("%s %s %s:%u %" PRIx64, body->function.name, body->name,
				  last_part(body->call_file), body->call_line, body->entry);

	for (size_t i = 0; i < body->n_ranges; i++) {
		char *longer = alloc_printf("%s %" PRIx64 "-%" PRIx64, line, body->ranges[i].start,
					    body->ranges[i].end);

		free(line);
		line = longer;
	}
	vec_push(out, items, line);
	return 0;
}

static int frame_text(const struct kernel_frame *frame, void *arg)
{
	char **text = arg, *longer;

	longer = alloc_printf("%s%s%s %s:%u", *text ? *text : "", *text ? " " : "", frame->name,
			      last_part(frame->file), frame->line);
	free(*text);
	*text = longer;
	return 0;
}

static void compare_bodies(struct oracle *o, const struct kernel_index *idx)
{
	struct lines ours = { 0 }, theirs = { 0 };

	for (uint32_t i = 0; i < o->n_units; i++)
		oracle_bodies(o, &o->units[i], "?", &o->units[i], &theirs);
	kernel_index_bodies_each(idx, "*", body_line, &ours, NULL);
	assert_int_equal(ours.n_items, kernel_index_n_bodies(idx));
	assert_true(ours.n_items > 0);
	qsort(ours.items, ours.n_items, sizeof(*ours.items), compare_text);
	qsort(theirs.items, theirs.n_items, sizeof(*theirs.items), compare_text);
	for (uint32_t i = 0; i < ours.n_items && i < theirs.n_items; i++)
		assert_string_equal(ours.items[i], theirs.items[i]);
	assert_int_equal(ours.n_items, theirs.n_items);
	lines_free(&ours);
	lines_free(&theirs);
}

/* Compare the frames at ADDR. Return the number of inlined frames. */
static uint32_t compare_frames(struct oracle *o, const struct kernel_index *idx, uint64_t addr)
{
	char *theirs = oracle_frames(o, addr + o->base), *ours = NULL;
	struct kernel_place place;
	uint32_t n = 0;

	kernel_index_at(idx, addr, &place);
	/* Without a function in DWARF, the index still has the symbol. */
	assert_int_equal(!theirs, place.function == KERNEL_NONE);
	if (theirs) {
		assert_int_equal(kernel_index_frames(idx, addr, frame_text, &ours), 0);
		if (strcmp(ours, theirs))
			fail_msg("at %" PRIx64 ": index %s, libdw %s", addr, ours, theirs);
		for (const char *p = ours; (p = strchr(p, ':')); p++)
			n++;
		n--;
	}
	free(theirs);
	free(ours);
	return n;
}

static struct kernel_index *build_fixture(const char *options)
{
	struct kernel_image *img;
	struct kernel_index *idx;

	if (!fixture_build("kernel", options))
		fixture_skip(FIXTURE_NO_COMPILER);
	assert_int_equal(kernel_image_open(fixture_path("kernel"), &img), 0);
	assert_int_equal(kernel_index_build(img, &idx), 0);
	kernel_image_destroy(img);
	return idx;
}

TEST(test_fixture)
{
	static const char *const options[] = { "-g",           "-gdwarf-4",
					       "-g -gz",       "-gdwarf-4 -gz",
					       "-g -gdwarf64", "-g -fdebug-types-section",
					       "-g -O1",       "-g -O3" };

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		struct kernel_index *idx = build_fixture(options[i]);
		struct oracle o;
		uint32_t inlined = 0;

		oracle_open(&o, fixture_path("kernel"), FIXTURE_BASE);
		compare_bodies(&o, idx);
		for (uint64_t addr = 0; addr < 0x400; addr++)
			inlined += compare_frames(&o, idx, addr);
		assert_true(inlined > 20);
		oracle_close(&o);
		kernel_index_destroy(idx);
	}
}

/* Return the path of the lab's vmlinux, or NULL if it is not built. */
static const char *lab_vmlinux(void)
{
	static char path[512];
	char *command =
		alloc_printf("%s/../../scripts/lab path hardened 2>/dev/null", fixture_source("."));
	FILE *p = popen(command, "re");
	size_t n;

	free(command);
	if (!p || !fgets(path, sizeof(path) - sizeof("/vmlinux"), p))
		*path = '\0';
	if (p)
		pclose(p);
	n = strcspn(path, "\n");
	strcpy(path + n, "/vmlinux");
	return n && !access(path, R_OK) ? path : NULL;
}

TEST(test_lab)
{
	const char *path = getenv("KPROTPERF_TEST_VMLINUX") ?: lab_vmlinux();
	struct kernel_image *img;
	struct kernel_index *idx;
	struct oracle o;
	uint32_t random = 1, inlined = 0;
	uint64_t end = 0;

	if (!path)
		fixture_skip(FIXTURE_NO_KERNEL);
	assert_int_equal(kernel_image_open(path, &img), 0);
	assert_int_equal(kernel_index_build(img, &idx), 0);
	oracle_open(&o, path, kernel_image_base(img));
	kernel_image_destroy(img);
	compare_bodies(&o, idx);
	for (uint32_t i = 0;; i++) {
		struct kernel_function f;

		if (kernel_index_function(idx, i, &f))
			break;
		for (size_t j = 0; j < f.n_ranges; j++)
			end = f.ranges[j].end > end ? f.ranges[j].end : end;
	}
	for (uint32_t i = 0; i < RANDOM_ADDRESSES; i++) {
		random = random * 1664525u + 1013904223u;
		inlined += compare_frames(&o, idx, random % end);
	}
	assert_true(inlined > RANDOM_ADDRESSES / 8);
	oracle_close(&o);
	kernel_index_destroy(idx);
}

RUN_TESTS(fixture_setup, fixture_teardown)
