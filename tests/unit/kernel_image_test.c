// SPDX-License-Identifier: GPL-2.0-or-later
/* Find frames, inlined functions and functions in an ELF file built from tests/symbol/inlines.c. */
#include <errno.h>
#include <sys/stat.h>
#include <inttypes.h>
#include <stdbool.h>

#include "test.h"
#include "kernel/debuginfo/index.h"
#include "kernel/image/image_impl.h"
#include "kernel_fixture.h"

/* The debug symbol index of the image built last. */
static struct kernel_index *idx;

static struct kernel_image *build(const char *name, const char *options)
{
	struct kernel_image *img;

	if (!fixture_build(name, options))
		fixture_skip(FIXTURE_NO_COMPILER);
	assert_int_equal(kernel_image_open(fixture_path(name), &img), 0);
	assert_int_equal(kernel_index_build(img, &idx), 0);
	return img;
}

static void destroy(struct kernel_image *img)
{
	kernel_index_destroy(idx);
	idx = NULL;
	kernel_image_destroy(img);
}

/* Return the address of NAME in the image, relative to _stext, found with libelf alone. */
static uint64_t address_of(struct kernel_image *img, const char *name)
{
	Elf_Data *data = elf_getdata(img->symtab_scn, NULL);
	const Elf64_Sym *syms = data->d_buf;
	size_t strings = elf64_getshdr(img->symtab_scn)->sh_link;

	for (size_t i = 0; i < data->d_size / sizeof(*syms); i++)
		if (!strcmp(elf_strptr(img->elf, strings, syms[i].st_name), name))
			return syms[i].st_value - FIXTURE_BASE;
	fail_msg("the fixture has no symbol %s", name);
	return 0;
}

/* Return the line of inlines.c with the comment TEXT. */
static uint32_t line_of(const char *text)
{
	char *comment = alloc_printf("/* %s */", text), line[512];
	FILE *file = fopen(fixture_source("inlines.c"), "r");
	uint32_t n = 0, found = 0;

	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file)) {
		n++;
		if (strstr(line, comment))
			found = n;
	}
	fclose(file);
	if (!found)
		fail_msg("inlines.c has no %s", comment);
	free(comment);
	return found;
}

struct frames {
	struct kernel_frame items[16];
	size_t n;
};

static int add_frame(const struct kernel_frame *frame, void *arg)
{
	struct frames *f = arg;

	assert_in_range(f->n, 0, 15);
	f->items[f->n++] = *frame;
	return 0;
}

static void check_frame(const struct kernel_frame *frame, const char *name, const char *place,
			bool inlined)
{
	assert_string_equal(frame->name, name);
	assert_int_equal(frame->inlined, inlined);
	assert_non_null(frame->file);
	assert_non_null(strstr(frame->file, "inlines.c"));
	assert_int_equal(frame->line, line_of(place));
	assert_int_equal(frame->symbol == NULL, inlined);
}

TEST(an_address_has_its_frames)
{
	struct kernel_image *img = build("full", "-g");
	struct frames f = { .n = 0 };

	assert_true(kernel_image_has_dwarf(img));
	assert_true(kernel_image_has_symtab(img));
	assert_int_equal(kernel_index_frames(idx, address_of(img, "mark_innermost"), add_frame, &f),
			 0);
	assert_int_equal(f.n, 3);
	check_frame(&f.items[0], "innermost", "in innermost", true);
	check_frame(&f.items[1], "middle", "innermost in middle", true);
	check_frame(&f.items[2], "outer", "middle in outer", false);

	f.n = 0;
	kernel_index_frames(idx, address_of(img, "mark_middle"), add_frame, &f);
	assert_int_equal(f.n, 2);
	check_frame(&f.items[0], "middle", "in middle", true);
	check_frame(&f.items[1], "outer", "middle in outer", false);

	f.n = 0;
	kernel_index_frames(idx, address_of(img, "mark_outer"), add_frame, &f);
	assert_int_equal(f.n, 1);
	check_frame(&f.items[0], "outer", "in outer", false);
	assert_string_equal(f.items[0].symbol, "outer");
	destroy(img);
}

TEST(clones_have_their_own_frames)
{
	struct kernel_image *img = build("full", "-g");
	struct frames f = { .n = 0 };

	kernel_index_frames(idx, address_of(img, "mark_cold"), add_frame, &f);
	assert_int_equal(f.n, 2);
	check_frame(&f.items[0], "body", "in body, in split.cold", true);
	check_frame(&f.items[1], "split", "body in split", false);
	assert_string_equal(f.items[1].symbol, "split.cold");

	f.n = 0;
	kernel_index_frames(idx, address_of(img, "mark_cloned"), add_frame, &f);
	assert_int_equal(f.n, 1);
	assert_string_equal(f.items[0].name, "cloned");
	assert_string_equal(f.items[0].symbol, "cloned.constprop.0");
	destroy(img);
}

static int stop(const struct kernel_frame *frame, void *arg)
{
	(void)frame;
	++*(int *)arg;
	return 77;
}

TEST(iteration_ends_with_the_callbacks_value)
{
	struct kernel_image *img = build("full", "-g");
	int calls = 0;

	assert_int_equal(kernel_index_frames(idx, address_of(img, "mark_innermost"), stop, &calls),
			 77);
	assert_int_equal(calls, 1);
	assert_int_equal(kernel_index_frames(idx, 1 << 24, stop, &calls), -ENOENT);
	assert_int_equal(kernel_index_frames(idx, UINT64_MAX, stop, &calls), -ENOENT);
	assert_int_equal(calls, 1);
	destroy(img);
}

struct places {
	struct {
		char into[32], symbol[32], caller[32];
		uint64_t addr, entry;
		uint32_t id, line, declared;
		struct kernel_range ranges[4];
		size_t n_ranges;
	} items[8];
	size_t n;
};

static int add_place(const struct kernel_body *body, void *arg)
{
	struct places *p = arg;

	assert_in_range(p->n, 0, 7);
	snprintf(p->items[p->n].into, 32, "%s", body->function.name);
	snprintf(p->items[p->n].symbol, 32, "%s", body->function.symbol);
	snprintf(p->items[p->n].caller, 32, "%s", body->caller);
	p->items[p->n].id = body->id;
	p->items[p->n].addr = body->function.addr;
	p->items[p->n].entry = body->entry;
	p->items[p->n].line = body->call_line;
	p->items[p->n].declared = body->line;
	assert_in_range(body->n_ranges, 1, 4);
	memcpy(p->items[p->n].ranges, body->ranges, body->n_ranges * sizeof(*body->ranges));
	p->items[p->n].n_ranges = body->n_ranges;
	p->n++;
	return 0;
}

TEST(inlined_bodies_are_found)
{
	struct kernel_image *img = build("full", "-g");
	struct places p = { .n = 0 };
	uint64_t mark;
	uint32_t empty;
	char *chain;

	assert_int_equal(kernel_index_bodies_each(idx, "innermost", add_place, &p, NULL), 0);
	assert_int_equal(p.n, 1);
	assert_string_equal(p.items[0].into, "outer");
	assert_string_equal(p.items[0].caller, "middle");
	assert_int_equal(p.items[0].addr, address_of(img, "outer"));
	assert_int_equal(p.items[0].line, line_of("innermost in middle"));
	chain = kernel_index_chain(idx, p.items[0].id, " < ");
	assert_string_equal(chain, "middle");
	free(chain);
	mark = address_of(img, "mark_innermost");
	assert_in_range(mark, p.items[0].ranges[0].start, p.items[0].ranges[0].end - 1);

	p.n = 0;
	assert_int_equal(kernel_index_bodies_each(idx, "tw?ce", add_place, &p, NULL), 0);
	assert_int_equal(p.n, 2);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(p.items[i].into, "caller");
		assert_null(kernel_index_chain(idx, p.items[i].id, " < "));
		assert_int_equal(p.items[i].declared, line_of("twice itself"));
		assert_string_equal(p.items[i].caller, "caller");
	}
	assert_int_equal(p.items[0].line + p.items[1].line,
			 line_of("twice, first") + line_of("twice, second"));

	p.n = 0;
	assert_int_equal(kernel_index_bodies_each(idx, "body", add_place, &p, NULL), 0);
	assert_int_equal(p.n, 1);
	assert_string_equal(p.items[0].symbol, "split");
	assert_true(p.items[0].n_ranges >= 2);
	mark = address_of(img, "mark_cold");
	assert_in_range(mark, p.items[0].ranges[0].start, p.items[0].ranges[0].end - 1);
	for (size_t i = 1; i < p.items[0].n_ranges; i++)
		assert_true(p.items[0].ranges[i - 1].end <= p.items[0].ranges[i].start);

	/* Ask for an inlined function without code, for a function that is not inlined, and for an unknown name. */
	p.n = 0;
	assert_int_equal(kernel_index_bodies_each(idx, "nothing", add_place, &p, &empty), 0);
	assert_int_equal(empty, 0);
	assert_int_equal(kernel_index_bodies_each(idx, "outer", add_place, &p, &empty), -ENOENT);
	assert_int_equal(kernel_index_bodies_each(idx, "nowhere", add_place, &p, NULL), -ENOENT);
	assert_int_equal(kernel_index_bodies_each(idx, "", add_place, &p, NULL), -ENOENT);
	assert_int_equal(p.n, 0);
	destroy(img);
}

TEST(functions_have_their_lines)
{
	struct kernel_image *img = build("full", "-g");
	uint64_t size = 0, offset, outer = address_of(img, "outer");
	const char *file;
	uint32_t line;

	assert_true(kernel_image_is_function(img, "outer", outer, &size));
	assert_in_range(size, 8, 200);
	assert_false(kernel_image_is_function(img, "outer", outer + 1, NULL));
	assert_false(kernel_image_is_function(img, "caller", outer, NULL));
	assert_false(
		kernel_image_is_function(img, "mark_outer", address_of(img, "mark_outer"), NULL));
	assert_false(
		kernel_image_is_function(img, "split.cold", address_of(img, "split.cold"), NULL));
	assert_string_equal(kernel_image_symbol_at(img, outer + 5, &offset), "outer");
	assert_int_equal(offset, 5);
	assert_null(kernel_image_symbol_at(img, UINT64_MAX, NULL));
	assert_int_equal(kernel_index_declaration(idx, outer, &file, &line), 0);
	assert_int_equal(line, line_of("outer"));
	assert_non_null(strstr(file, "inlines.c"));
	assert_int_equal(kernel_index_declaration(idx, 1 << 24, &file, &line), -ENOENT);
	destroy(img);
}

TEST(a_file_without_dwarf_has_symbols)
{
	struct kernel_image *img = build("plain", "-g0");
	struct frames f = { .n = 0 };
	struct places p = { .n = 0 };

	assert_false(kernel_image_has_dwarf(img));
	assert_int_equal(
		kernel_index_frames(idx, address_of(img, "cloned.constprop.0") + 1, add_frame, &f),
		0);
	assert_int_equal(f.n, 1);
	assert_string_equal(f.items[0].name, "cloned");
	assert_string_equal(f.items[0].symbol, "cloned.constprop.0");
	assert_null(f.items[0].file);
	assert_false(kernel_index_has_dwarf(idx));
	assert_int_equal(kernel_index_bodies_each(idx, "twice", add_place, &p, NULL), -ENOENT);
	destroy(img);
}

TEST(other_versions_of_dwarf_are_read)
{
	static const char *const options[] = { "-gdwarf-4", "-g -gz", "-gdwarf-4 -gz",
					       "-g -fdebug-types-section", "-g -gdwarf64" };

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		struct kernel_image *img = build("other", options[i]);
		struct frames f = { .n = 0 };
		struct places p = { .n = 0 };

		assert_int_equal(kernel_index_bodies_each(idx, "twice", add_place, &p, NULL), 0);
		assert_int_equal(p.n, 2);
		kernel_index_frames(idx, address_of(img, "mark_innermost"), add_frame, &f);
		assert_int_equal(f.n, 3);
		check_frame(&f.items[2], "outer", "middle in outer", false);
		destroy(img);
	}
}

TEST(a_file_without_symbols_has_frames)
{
	struct kernel_image *img;
	struct frames f = { .n = 0 };
	uint64_t mark;
	char command[512];

	img = build("full", "-g");
	mark = address_of(img, "mark_innermost");
	destroy(img);
	snprintf(command, sizeof(command), "objcopy --strip-all --keep-section='.debug*' '%s' '%s'",
		 fixture_path("full"), fixture_path("stripped"));
	if (system(command))
		fixture_skip("missing: objcopy");
	assert_int_equal(kernel_image_open(fixture_path("stripped"), &img), 0);
	assert_int_equal(kernel_index_build(img, &idx), 0);
	assert_false(kernel_image_has_symtab(img));
	/* Without symbols, the start of .text is used as _stext. */
	assert_int_equal(kernel_index_frames(idx, mark, add_frame, &f), 0);
	assert_int_equal(f.n, 3);
	assert_string_equal(f.items[2].name, "outer");
	assert_null(f.items[2].symbol);
	destroy(img);
}

TEST(the_build_id_is_compared)
{
	struct kernel_image *img = build("full", "-g"), *found;
	struct kernel_build_id id = *kernel_image_build_id(img), other, read;
	char hex[2 * KERNEL_BUILD_ID_MAX + 1], *why;
	struct {
		Elf64_Nhdr first;
		char name[8];
		char desc[8];
		Elf64_Nhdr second;
		char gnu[4];
		uint8_t id[3];
	} notes = {
		{ 6, 5, 257 }, "Linux", "four", { 4, 3, NT_GNU_BUILD_ID }, "GNU", { 1, 2, 0xab }
	};

	assert_int_equal(id.len, 20);
	destroy(img);
	assert_int_equal(kernel_build_id_read(fixture_write("notes", &notes, sizeof(notes)), &read),
			 0);
	assert_string_equal(kernel_build_id_format(&read, hex, sizeof(hex)), "0102ab");
	assert_string_equal(kernel_build_id_format(&read, hex, 4), "01");
	for (size_t len = 0; len < offsetof(typeof(notes), id) + 3; len++)
		assert_int_equal(kernel_build_id_read(fixture_write("notes", &notes, len), &read),
				 -ENODATA);
	assert_int_equal(kernel_build_id_read(fixture_path("missing"), &read), -ENOENT);

	other = id;
	other.bytes[3] ^= 1;
	assert_false(kernel_build_id_equal(&id, &other));
	assert_int_equal(kernel_image_find(fixture_path("full"), "x", &id, &found, &why), 0);
	assert_non_null(found);
	kernel_image_destroy(found);
	fixture_quiet();
	assert_int_equal(kernel_image_find(fixture_path("full"), "x", &other, &found, &why),
			 -EINVAL);
	assert_null(found);
	assert_int_equal(kernel_image_find(fixture_path("missing"), "x", NULL, &found, &why),
			 -ENOENT);
	setenv("KPROTPERF_VMLINUX", fixture_path("full"), 1);
	assert_int_equal(kernel_image_find(NULL, "x", &other, &found, &why), -EINVAL);
	fixture_loud();
	assert_int_equal(kernel_image_find(NULL, "x", NULL, &found, &why), 0);
	assert_non_null(found);
	kernel_image_destroy(found);
	unsetenv("KPROTPERF_VMLINUX");
	/* If no file in the usual folders matches, the call succeeds, and gives a reason. */
	assert_int_equal(kernel_image_find(NULL, "0.0-none", &other, &found, &why), 0);
	assert_null(found);
	assert_non_null(strstr(why, "0.0-none"));
	free(why);
}

/*
 * A file named by a user or by a data file is opened only if it is a regular file of root or of the user. Opening never blocks.
 */
TEST(files_of_strangers_are_refused)
{
	char *fifo = alloc_strdup(fixture_path("fifo")), *other;
	struct kernel_image *img;

	assert_int_equal(mkfifo(fifo, 0600), 0);
	fixture_quiet();
	assert_int_equal(kernel_image_try(fifo, &img), -EINVAL);
	assert_int_equal(kernel_image_open(fifo, &img), -EINVAL);
	assert_null(img);
	other = alloc_strdup(fixture_text("other", "#!/bin/sh\n"));
	assert_int_equal(kernel_image_try(other, &img), -ENOEXEC);
	if (!chown(other, 12345, 12345)) {
		assert_int_equal(kernel_image_try(other, &img), -EPERM);
		assert_int_equal(kernel_image_open(other, &img), -ENOEXEC);
		setenv("KPROTPERF_VMLINUX", other, 1);
		assert_int_equal(kernel_image_find(NULL, "x", NULL, &img, NULL), -EPERM);
		unsetenv("KPROTPERF_VMLINUX");
	}
	fixture_loud();
	unlink(fifo);
	free(fifo);
	free(other);
}

TEST(releases_that_are_paths_are_refused)
{
	static const char *const wrong[] = { "",    ".",     "..",    "../x",
					     "a/b", "6.1 x", "6.1\n", "6.1\033[m" };
	size_t i;

	assert_true(kernel_is_release("6.1.0-42-cloud-amd64"));
	assert_true(kernel_is_release("6.12.0~rc3+deb_1"));
	assert_false(kernel_is_release(NULL));
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(kernel_is_release(wrong[i]));
}

TEST(other_files_are_refused)
{
	struct kernel_image *img;

	fixture_quiet();
	assert_int_equal(kernel_image_open(fixture_text("text", "#!/bin/sh\n"), &img), -ENOEXEC);
	assert_null(img);
	assert_int_equal(kernel_image_open(fixture_text("empty", ""), &img), -ENOEXEC);
	assert_int_equal(kernel_image_open(fixture_path("missing"), &img), -ENOENT);
	assert_int_equal(kernel_image_open("/dev/null", &img), -EINVAL);
	assert_int_equal(kernel_image_open(fixture_dir, &img), -EINVAL);
	fixture_loud();
	kernel_image_destroy(NULL);
}

RUN_TESTS(fixture_setup, fixture_teardown)
