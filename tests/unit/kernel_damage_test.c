// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read damaged ELF files, with flipped bytes and missing ends. Damage may make answers missing, but has no other effect. A crash
 * ends the test by its signal, an endless loop by SIGALRM.
 */
#include <stdbool.h>

#include "test.h"
#include "kernel/debuginfo/index.h"
#include "kernel_fixture.h"

/* The fixture's code has about 400 bytes. */
#define LAST_ADDR 0x200

static int count_frame(const struct kernel_frame *frame, void *arg)
{
	/* Read all strings, to find invalid pointers. */
	*(size_t *)arg += strlen(frame->name) + (frame->file ? strlen(frame->file) : 0) +
			  (frame->symbol ? strlen(frame->symbol) : 0);
	return 0;
}

static int count_body(const struct kernel_body *body, void *arg)
{
	const struct kernel_function *f = &body->function;
	size_t *sum = arg;

	*sum += strlen(f->name) + strlen(body->caller) +
		(body->call_file ? strlen(body->call_file) : 0) +
		(f->symbol ? strlen(f->symbol) : 0);
	for (size_t i = 0; i < body->n_ranges; i++)
		assert_true(body->ranges[i].start < body->ranges[i].end);
	return 0;
}

/* Make all queries and ignore the answers. */
static size_t ask(const char *path)
{
	struct kernel_image *img;
	struct kernel_index *idx;
	size_t sum = 0;
	const char *file;
	uint32_t line;

	if (kernel_image_open(path, &img))
		return 0;
	/* An index built from a damaged file can be used. */
	assert_int_equal(kernel_index_build(img, &idx), 0);
	for (uint64_t addr = 0; addr < LAST_ADDR; addr += 7) {
		kernel_index_frames(idx, addr, count_frame, &sum);
		kernel_index_declaration(idx, addr, &file, &line);
		kernel_image_is_function(img, "outer", addr, NULL);
	}
	kernel_index_bodies_each(idx, "*", count_body, &sum, NULL);
	kernel_index_destroy(idx);
	kernel_image_destroy(img);
	return sum;
}

static char *read_fixture(const char *options, size_t *len)
{
	struct stat st;
	FILE *file;
	char *bytes;

	if (!fixture_build("whole", options))
		fixture_skip(FIXTURE_NO_COMPILER);
	file = fopen(fixture_path("whole"), "r");
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	bytes = alloc_array((size_t)st.st_size, 1);
	*len = fread(bytes, 1, (size_t)st.st_size, file);
	fclose(file);
	assert_true(ask(fixture_path("whole")) > 100);
	return bytes;
}

TEST(a_truncated_vmlinux_does_not_crash)
{
	size_t len;
	char *bytes = read_fixture("-g", &len);

	fixture_quiet();
	for (size_t n = 0; n < len; n += 61) {
		alarm(20);
		ask(fixture_write("damaged", bytes, n));
	}
	alarm(0);
	fixture_loud();
	free(bytes);
}

/* Invert every STEPth byte from FIRST on, one at a time, with several masks. */
static void flip(const char *options, size_t first, size_t step)
{
	static const uint8_t masks[] = { 0xff, 0x80, 0x01 };
	size_t len;
	char *bytes = read_fixture(options, &len);

	fixture_quiet();
	for (size_t i = first; i < len; i += step) {
		for (size_t m = 0; m < sizeof(masks); m++) {
			bytes[i] ^= (char)masks[m];
			alarm(20);
			ask(fixture_write("damaged", bytes, len));
			bytes[i] ^= (char)masks[m];
		}
	}
	alarm(0);
	fixture_loud();
	free(bytes);
}

TEST(flipped_bits_do_not_crash)
{
	/* Flip every 97th byte of the file, and every 5th of the debugging information, which begins at 0x2000. */
	flip("-g", 0, 97);
	flip("-g", 0x2000, 5);
}

TEST(flipped_bits_in_packed_files_do_not_crash)
{
	flip("-gdwarf-4 -gz", 0, 97);
}

TEST(many_flipped_bits_do_not_crash)
{
	size_t len;
	char *bytes = read_fixture("-g", &len), *copy = alloc_array(len, 1);
	uint32_t random = 1;

	fixture_quiet();
	for (int round = 0; round < 300; round++) {
		memcpy(copy, bytes, len);
		/* Damage the debugging information, after the text; leave most headers intact. */
		for (int i = 0; i < 1 + round % 40; i++) {
			random = random * 1664525u + 1013904223u;
			copy[0x2000 + (random >> 8) % (len - 0x2000)] ^= (char)(random & 0xff);
		}
		alarm(20);
		ask(fixture_write("damaged", copy, len));
	}
	alarm(0);
	fixture_loud();
	free(copy);
	free(bytes);
}

RUN_TESTS(fixture_setup, fixture_teardown)
