// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read damaged indexes. Check sums find flipped bytes and missing ends. In a hostile file with valid check sums, wrong numbers make
 * answers missing, but have no other effect. A crash ends the test by its signal, an endless loop by SIGALRM.
 */
#include <errno.h>
#include <stdbool.h>

#include "test.h"
#include "kernel/debuginfo/index_impl.h"
#include "kernel_fixture.h"

/* The fixture's code has about 400 bytes. */
#define LAST_ADDR 0x200

static size_t text_len(const char *text)
{
	return text ? strlen(text) : 0;
}

static int count_frame(const struct kernel_frame *frame, void *arg)
{
	/* Read all strings, to find invalid pointers. */
	*(size_t *)arg += text_len(frame->name) + text_len(frame->file) + text_len(frame->symbol);
	return 0;
}

static int count_function(const struct kernel_function *f, void *arg)
{
	*(size_t *)arg += text_len(f->name) + text_len(f->symbol) + text_len(f->file);
	for (size_t i = 0; i < f->n_ranges; i++) {
		assert_true(f->ranges[i].start < f->ranges[i].end);
		assert_true(!i || f->ranges[i - 1].end <= f->ranges[i].start);
	}
	return 0;
}

static int count_body(const struct kernel_body *body, void *arg)
{
	count_function(&body->function, arg);
	*(size_t *)arg += text_len(body->name) + text_len(body->file) + text_len(body->caller) +
			  text_len(body->call_file);
	assert_true(body->parent == KERNEL_NONE || body->parent < body->id);
	for (size_t i = 0; i < body->n_ranges; i++)
		assert_true(body->ranges[i].start < body->ranges[i].end);
	return 0;
}

/* Make all queries and ignore the answers. */
static size_t ask(const struct kernel_index *idx)
{
	size_t sum = 0;
	uint32_t empty;

	for (uint64_t addr = 0; addr < LAST_ADDR; addr += 3) {
		struct kernel_place place;
		const char *file;
		uint32_t line;

		if (!kernel_index_at(idx, addr, &place))
			sum += text_len(place.file) + text_len(place.symbol);
		kernel_index_frames(idx, addr, count_frame, &sum);
		kernel_index_declaration(idx, addr, &file, &line);
	}
	kernel_index_bodies_each(idx, "*", count_body, &sum, &empty);
	kernel_index_functions_each(idx, "*", count_function, &sum);
	for (uint32_t id = 0; id < 20; id++) {
		char *chain = kernel_index_chain(idx, id, "/");

		sum += text_len(chain);
		free(chain);
	}
	return sum;
}

/* Return the bytes of the fixture's index. The caller frees them. */
static unsigned char *index_bytes(size_t *size)
{
	struct kernel_image *img;
	struct kernel_index *idx;
	unsigned char *bytes;

	if (!fixture_build("whole", "-g"))
		fixture_skip(FIXTURE_NO_COMPILER);
	assert_int_equal(kernel_image_open(fixture_path("whole"), &img), 0);
	assert_int_equal(kernel_index_build(img, &idx), 0);
	kernel_image_destroy(img);
	assert_true(ask(idx) > 1000);
	bytes = alloc_array(idx->size, 1);
	memcpy(bytes, idx->bytes, idx->size);
	*size = idx->size;
	kernel_index_destroy(idx);
	return bytes;
}

static int open_bytes(const void *bytes, size_t size)
{
	struct kernel_index *idx;
	int err = kernel_index_open(fixture_write("damaged", bytes, size), NULL, &idx);

	assert_int_equal(!err, idx != NULL);
	kernel_index_destroy(idx);
	return err;
}

TEST(a_truncated_index_is_refused)
{
	size_t size;
	unsigned char *bytes = index_bytes(&size);

	for (size_t n = 0; n < size; n += n < 400 ? 1 : 13)
		assert_int_equal(open_bytes(bytes, n), -EBADMSG);
	assert_int_equal(open_bytes(bytes, size), 0);
	free(bytes);
}

TEST(a_flip_of_any_bit_is_found)
{
	size_t size;
	unsigned char *bytes = index_bytes(&size);

	for (size_t i = 0; i < size; i++) {
		int err;

		bytes[i] ^= 0x41;
		err = open_bytes(bytes, size);
		assert_true(err == -EBADMSG || err == -ESTALE);
		bytes[i] ^= 0x41;
	}
	free(bytes);
}

/* Query the index with valid check sums, as a hostile file may have. */
static void ask_hostile(const unsigned char *bytes, size_t size)
{
	struct kernel_index idx = { .size = size };
	unsigned char *copy = alloc_array(size, 1);
	struct index_header *h = (struct index_header *)copy;

	memcpy(copy, bytes, size);
	if (h->size == size)
		kernel_index_seal(h);
	idx.bytes = copy;
	alarm(20);
	if (!kernel_index_attach(&idx, NULL))
		ask(&idx);
	alarm(0);
	free(copy);
}

TEST(hostile_numbers_do_not_crash)
{
	static const unsigned char masks[] = { 0xff, 0x80, 0x01, 0x10 };
	size_t size;
	unsigned char *bytes = index_bytes(&size);

	for (size_t i = 0; i < size; i++) {
		for (size_t m = 0; m < sizeof(masks); m++) {
			bytes[i] ^= masks[m];
			ask_hostile(bytes, size);
			bytes[i] ^= masks[m];
		}
	}
	free(bytes);
}

TEST(many_hostile_numbers_do_not_crash)
{
	size_t size;
	unsigned char *bytes = index_bytes(&size), *copy = alloc_array(size, 1);
	uint32_t random = 1;

	for (int round = 0; round < 3000; round++) {
		memcpy(copy, bytes, size);
		for (int i = 0; i < 1 + round % 60; i++) {
			size_t at;

			random = random * 1664525u + 1013904223u;
			at = sizeof(struct index_header) +
			     (random >> 8) % (size - sizeof(struct index_header));
			copy[at] ^= (unsigned char)random;
		}
		ask_hostile(copy, size);
	}
	free(copy);
	free(bytes);
}

TEST(a_file_cut_off_while_read_gives_an_index_that_is_not_kept)
{
	struct kernel_image *img;
	struct kernel_index *idx;
	const char *path;

	if (!fixture_build("cut", "-g"))
		fixture_skip(FIXTURE_NO_COMPILER);
	assert_int_equal(kernel_image_open(fixture_path("cut"), &img), 0);
	assert_int_equal(truncate(fixture_path("cut"), 4096), 0);
	fixture_quiet();
	assert_int_equal(kernel_index_build(img, &idx), 0);
	path = fixture_path("cut.index");
	assert_int_equal(kernel_index_write(idx, path), -EIO);
	fixture_loud();
	assert_int_not_equal(access(path, F_OK), 0);
	kernel_index_destroy(idx);
	kernel_image_destroy(img);
}

RUN_TESTS(fixture_setup, fixture_teardown)
