// SPDX-License-Identifier: GPL-2.0-or-later
/* Damaged, hostile and foreign files are refused with one clear line, without a crash. */
#include <errno.h>

#include "test.h"
#include "fixture_file.h"
#include "base/alloc.h"
#include "profile/file/section.h"

TEST(a_truncated_file_is_refused)
{
	struct profile *p = fixture_big_fork(2, 943);
	unsigned char *bytes;
	size_t n, i;

	assert_int_equal(profile_file_write(p, path), 0);
	profile_destroy(p);
	n = load(path, &bytes);
	for (i = 0; i < n; i++) {
		assert_int_equal(truncate(path, 0), 0);
		store(path, bytes, i);
		assert_refused(-EBADMSG, i < FILE_HEADER_SIZE ? "not a kprotperf data file" :
								"truncated or damaged");
	}
	/* An extra byte at the end is refused, too. */
	bytes[n] = 0;
	store(path, bytes, n + 1);
	assert_refused(-EBADMSG, "section \"end\": trailing bytes");
	free(bytes);
}

TEST(a_flip_of_any_bit_is_found)
{
	struct profile *p = fixture_big_fork(1, 943), *back;
	unsigned char *bytes;
	size_t n, i;
	int bit, fd;

	assert_int_equal(profile_file_write(p, path), 0);
	profile_destroy(p);
	n = load(path, &bytes);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	for (i = 0; i < n; i++) {
		for (bit = 0; bit < 8; bit++) {
			unsigned char wrong = bytes[i] ^ (1 << bit);
			const char *said;
			int err;

			assert_int_equal(pwrite(fd, &wrong, 1, i), 1);
			listen_start();
			err = profile_file_read(path, &back);
			said = listen_end();
			if (!err || back || !strstr(said, path))
				fail_msg("bit %d of byte %zu: %d, '%s'", bit, i, err, said);
		}
		assert_int_equal(pwrite(fd, bytes + i, 1, i), 1);
	}
	close(fd);
	free(bytes);
}

TEST(errors_name_the_file)
{
	struct profile *p = fixture_big_fork(1, 943);
	unsigned char *bytes;
	char what[100];
	size_t n, at;
	uint32_t type;

	assert_int_equal(profile_file_write(p, path), 0);
	profile_destroy(p);
	n = load(path, &bytes);
	for (at = FILE_HEADER_SIZE; at + SECTION_HEADER_SIZE < n;) {
		type = wire_load32(bytes + at);
		bytes[at + SECTION_HEADER_SIZE] ^= 1;
		store(path, bytes, n);
		snprintf(what, sizeof(what),
			 "section \"%s\": checksum does not match (file truncated or damaged)",
			 profile_sections[type].name);
		assert_refused(-EBADMSG, what);
		bytes[at + SECTION_HEADER_SIZE] ^= 1;
		at += SECTION_HEADER_SIZE + wire_load64(bytes + at + 16);
	}
	free(bytes);
}

/* Write a section with a correct CRC, whatever its content. */
static size_t put_section(unsigned char *at, uint32_t type, uint32_t flags, uint64_t raw,
			  const void *stored, uint64_t n_stored, size_t n)
{
	unsigned long crc;

	wire_store32(at, type);
	wire_store32(at + 4, flags);
	wire_store64(at + 8, raw);
	wire_store64(at + 16, n_stored);
	crc = crc32(0, at, SECTION_CHECKED_SIZE);
	if (n)
		crc = crc32_z(crc, stored, n);
	wire_store32(at + SECTION_CHECKED_SIZE, crc);
	if (n)
		memcpy(at + SECTION_HEADER_SIZE, stored, n);
	return SECTION_HEADER_SIZE + n;
}

static size_t put_header(unsigned char *at, uint32_t version)
{
	memcpy(at, FILE_MAGIC, FILE_MAGIC_SIZE);
	wire_store32(at + FILE_MAGIC_SIZE, version);
	wire_store32(at + FILE_MAGIC_SIZE + 4, FILE_BYTE_ORDER);
	return FILE_HEADER_SIZE;
}

TEST(other_files_are_refused)
{
	store(path, "", 0);
	assert_refused(-EBADMSG, "not a kprotperf data file");
	store(path, "PERFILE2 and some more of it", 28);
	assert_refused(-EBADMSG, "not a kprotperf data file");
	unlink(path);
	assert_refused(-ENOENT, "No such file or directory");
	assert_int_equal(mkdir(path, 0700), 0);
	assert_refused(-EINVAL, "not a regular file");
	rmdir(path);
}

TEST(other_versions_are_refused)
{
	unsigned char bytes[FILE_HEADER_SIZE + 2 * SECTION_HEADER_SIZE];
	size_t n;

	n = put_header(bytes, FILE_VERSION + 1);
	store(path, bytes, n);
	assert_refused(-EPROTONOSUPPORT, "newer kprotperf (format 3, this one reads 2): update");
	n = put_header(bytes, FILE_VERSION - 1);
	store(path, bytes, n);
	assert_refused(-EPROTONOSUPPORT, "written by an older kprotperf: record again");
	n = put_header(bytes, FILE_VERSION);
	memcpy(bytes, FILE_MAGIC_OLD, FILE_MAGIC_SIZE);
	store(path, bytes, n);
	assert_refused(-EPROTONOSUPPORT, "written by an older kprotperf: record again");
	n = put_header(bytes, 0);
	store(path, bytes, n);
	assert_refused(-EBADMSG, "invalid file header");
	n = put_header(bytes, FILE_VERSION);
	bytes[FILE_MAGIC_SIZE + 4] = 1;
	store(path, bytes, n);
	assert_refused(-EBADMSG, "invalid file header");
	n = put_header(bytes, FILE_VERSION);
	n += put_section(bytes + n, 77, 0, 0, NULL, 0, 0);
	store(path, bytes, n);
	assert_refused(-EPROTONOSUPPORT, "unknown section 77 is needed");
}

TEST(unknown_optional_sections_are_skipped)
{
	struct profile *p = fixture_big_fork(1, 943), *back;
	unsigned char *bytes, *longer;
	size_t n, m;

	assert_int_equal(profile_file_write(p, path), 0);
	n = load(path, &bytes);
	longer = malloc(n + 200);
	memcpy(longer, bytes, FILE_HEADER_SIZE);
	m = FILE_HEADER_SIZE;
	m += put_section(longer + m, 99, SECTION_FLAG_OPTIONAL, 1 << 30, "later", 5, 5);
	memcpy(longer + m, bytes + FILE_HEADER_SIZE, n - FILE_HEADER_SIZE);
	store(path, longer, m + n - FILE_HEADER_SIZE);
	assert_int_equal(profile_file_read(path, &back), 0);
	assert_same(p, back);
	profile_destroy(back);
	profile_destroy(p);
	free(bytes);
	free(longer);
}

TEST(lengths_beyond_the_file_are_refused)
{
	static const uint64_t lengths[] = { 1,          1000,       UINT32_MAX, 1ULL << 29,
					    1ULL << 40, 1ULL << 63, UINT64_MAX, UINT64_MAX - 27 };
	unsigned char bytes[200];
	size_t n, i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		n = put_header(bytes, FILE_VERSION);
		n += put_section(bytes + n, SECTION_STRINGS, 0, 1, NULL, lengths[i], 0);
		store(path, bytes, n);
		assert_refused(-EBADMSG, "section \"strings\"");

		n = put_header(bytes, FILE_VERSION);
		n += put_section(bytes + n, SECTION_STRINGS, 0, lengths[i], "\x78\x9c\x03", 3, 3);
		store(path, bytes, n);
		assert_refused(-EBADMSG, "section \"strings\"");
	}
}

static size_t deflated(unsigned char *out, size_t room, const void *raw, size_t n)
{
	uLongf stored = room;

	assert_int_equal(compress2(out, &stored, raw, n, 9), Z_OK);
	return stored;
}

TEST(sections_that_inflate_too_much_are_refused)
{
	size_t size = 64 << 20, room = 1 << 20, n, stored;
	unsigned char *zeros = calloc(size, 1), *packed = malloc(room), *bytes = malloc(room);

	stored = deflated(packed, room, zeros, size);
	n = put_header(bytes, FILE_VERSION);
	n += put_section(bytes + n, SECTION_STRINGS, 0, size, packed, stored, stored);
	store(path, bytes, n);
	assert_refused(-EBADMSG, "section \"strings\":");

	/* The declared length is harmless, but the content is longer. */
	n = put_header(bytes, FILE_VERSION);
	n += put_section(bytes + n, SECTION_STRINGS, 0, 100, packed, stored, stored);
	store(path, bytes, n);
	assert_refused(-EBADMSG, "does not decompress to 100 bytes");

	/* A byte follows the end of the compressed stream. */
	stored = deflated(packed, room, "\0", 1);
	packed[stored] = 0;
	n = put_header(bytes, FILE_VERSION);
	n += put_section(bytes + n, SECTION_STRINGS, 0, 1, packed, stored + 1, stored + 1);
	store(path, bytes, n);
	assert_refused(-EBADMSG, "does not decompress to 1 bytes");
	free(zeros);
	free(packed);
	free(bytes);
}

/*
 * Contents without meaning, with correct checksums. Each case is the raw bytes of one section, after the sections of a small
 * profile with 1 run, 2 functions (sites), 3 contexts.
 */
struct nonsense {
	enum section_type type;
	const char *raw;
	size_t n;
	const char *what;
};

#define NONSENSE(type, raw, what)                \
	{                                        \
		type, raw, sizeof(raw) - 1, what \
	}
#define ZEROS7                       "\0\0\0\0\0\0\0"
#define CELL(indices, min_max)       "\1" indices "\1\0\0\1\1\1\0" ZEROS7 "\0" min_max
#define SITE(name, kind, mech, tail) "\1" name "\0" kind mech "\0\0\0\0" tail

#define BLOCK(addr, location)            addr "\1\1" location "\1\0"
#define BLOCKS(site, entry, block, arcs) "\1" site entry "\1" block arcs

static const struct nonsense nonsenses[] = {
	NONSENSE(SECTION_STRINGS, "", "ends in the middle"),
	NONSENSE(SECTION_STRINGS, "\1\5abc", "ends in the middle"),
	NONSENSE(SECTION_STRINGS, "\1\3a\0c", "NUL inside"),
	NONSENSE(SECTION_STRINGS, "\5\1a", "more entries than it contains"),
	NONSENSE(SECTION_STRINGS, "\1\1ab", "more bytes than entries"),
	NONSENSE(SECTION_STRINGS, "\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", "in the middle"),
	NONSENSE(SECTION_STRINGS, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "64 bits"),
	NONSENSE(SECTION_RECORDING, "\2\0\0\0", "unknown clock"),
	NONSENSE(SECTION_RECORDING, "\0\xff\xff\xff\xff\x7f\0\0", "out of range"),
	NONSENSE(SECTION_RECORDING, "\0\0\0\1\0", "without a name"),
	NONSENSE(SECTION_RECORDING, "\0\0\0\1\x7f", "nonexistent string"),
	NONSENSE(SECTION_ENVIRONMENT, "\1\1\0", "without a name"),
	NONSENSE(SECTION_ENVIRONMENT, "\2\1\1\1\2", "twice"),
	NONSENSE(SECTION_SITES, "\0", "is empty"),
	NONSENSE(SECTION_SITES, SITE("\1", "\1", "\0", "\0\0\0"), "contexts' own site"),
	NONSENSE(SECTION_SITES, "\2\1\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0",
		 "contexts' own site"),
	NONSENSE(SECTION_SITES, SITE("\1", "\3", "\0", "\0\0\0"), "unknown kind"),
	NONSENSE(SECTION_SITES, SITE("\1", "\0", "\10", "\0\0\0"), "unknown mechanism"),
	NONSENSE(SECTION_SITES, SITE("\0", "\0", "\0", "\0\0\0"), "without a name"),
	NONSENSE(SECTION_SITES, SITE("\1", "\2", "\0", "\0\0\0"),
		 "range without an enclosing function"),
	NONSENSE(SECTION_SITES, SITE("\1", "\0", "\0", "\1\0\0"),
		 "an enclosing function without a range"),
	NONSENSE(SECTION_SITES, SITE("\1", "\0", "\0", "\0\1\0"),
		 "an enclosing function without a range"),
	NONSENSE(SECTION_SITES, SITE("\1", "\0", "\0", "\0\0\1"),
		 "an enclosing function without a range"),
	NONSENSE(SECTION_CONTEXTS, "\2\1\1", "twice"),
	NONSENSE(SECTION_CONTEXTS, "\1\0", "without a name"),
	NONSENSE(SECTION_RUNS, "\0\1\2\0\0\0\0\0\0\0\0", "unknown kind"),
	NONSENSE(SECTION_RUNS, "\0\1\0\1\0\0\0\0\0\0\0", "more boots than runs"),
	NONSENSE(SECTION_RUNS, "\0\1\0\0\0\0\0\3\0\0\0", "ended in an unknown way"),
	NONSENSE(SECTION_RUNS, "\1\0\0", "without a name"),
	NONSENSE(SECTION_RUNS, "\0\1\0\0\0\0\0\0\0\0\1", "more entries than it contains"),
	NONSENSE(SECTION_CELLS, CELL("\1\0\0", "\1\1\0"), "nonexistent run"),
	NONSENSE(SECTION_CELLS, CELL("\0\2\0", "\1\1\0"), "nonexistent site"),
	NONSENSE(SECTION_CELLS, CELL("\0\0\3", "\1\1\0"), "nonexistent context"),
	NONSENSE(SECTION_CELLS, CELL("\0\0\0", "\2\1\0"), "minimum above its maximum"),
	NONSENSE(SECTION_CELLS, CELL("\0\0\0", "\1\1\1\xd0\4\1"), "nonexistent histogram slot"),
	NONSENSE(SECTION_CELLS, CELL("\0\0\0", "\1\1\1\0\0"), "empty histogram slot"),
	NONSENSE(SECTION_CELLS, CELL("\0\0\0", "\1\1\2\1\1\0\1"), "out of order"),
	NONSENSE(SECTION_CELLS, CELL("\0\0\0", "\1\1\2\1\1\xff\xff\xff\xff\xf\1"), "out of order"),
	NONSENSE(SECTION_CELLS,
		 CELL("\0\0\0", "\1\1\2\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1\1"), "too large"),
	NONSENSE(SECTION_CELLS,
		 "\2\0\0\0\1\0\0\1\1\1\0" ZEROS7 "\0\1\1\0\0\0\0\1\0\0\1\1\1\0" ZEROS7 "\0\1\1\0",
		 "twice"),
	NONSENSE(SECTION_LOCATIONS, "\2\5\0\0\5\0\0", "twice"),
	NONSENSE(SECTION_LOCATIONS, "\1\5\0\1\0\0\0\0", "without a name"),
	NONSENSE(SECTION_LOCATIONS, "\1\5\0\1\1\0\0\2", "neither 0 nor 1"),
	NONSENSE(SECTION_STACKS, "\1\1\4", "nonexistent location"),
	NONSENSE(SECTION_STACKS, "\2\1\1\1\1", "twice"),
	NONSENSE(SECTION_SAMPLES, "\1\1\0\0\0\1", "nonexistent run"),
	NONSENSE(SECTION_SAMPLES, "\1\0\3\0\0\1", "nonexistent context"),
	NONSENSE(SECTION_SAMPLES, "\1\0\0\2\0\1", "nonexistent stack"),
	NONSENSE(SECTION_SAMPLES, "\1\0\0\0\20\1", "unknown flag"),
	NONSENSE(SECTION_SAMPLES, "\2\0\0\0\0\1\0\0\0\0\1", "twice"),
	NONSENSE(SECTION_BLOCKS, BLOCKS("\0", "\0", BLOCK("\7", "\0"), "\0"), "function"),
	NONSENSE(SECTION_BLOCKS, BLOCKS("\2", "\0", BLOCK("\7", "\0"), "\0"), "function"),
	NONSENSE(SECTION_BLOCKS, BLOCKS("\1", "\1", BLOCK("\7", "\0"), "\0"), "its entry"),
	NONSENSE(SECTION_BLOCKS, BLOCKS("\1", "\0", BLOCK("\7", "\77"), "\0"), "location"),
	NONSENSE(SECTION_BLOCKS, BLOCKS("\1", "\0", BLOCK("\7", "\0"), "\1\1\0"), "block"),
	NONSENSE(SECTION_BLOCKS, BLOCKS("\1", "\0", BLOCK("\7", "\0"), "\1\0\1"), "block"),
	NONSENSE(SECTION_BLOCKS, "\1\1\0\2" BLOCK("\7", "\0") BLOCK("\7", "\0") "\0",
		 "out of order"),
	NONSENSE(SECTION_BLOCK_COUNTS, "\1\0\0\0\0\0", "nonexistent function"),
	NONSENSE(SECTION_VARIABLES, "\1\1\1\0\11\0\0", "variable of an unknown size"),
	NONSENSE(SECTION_VARIABLES, "\1\1\1\0\201\2\0\0", "number that is too large"),
};

TEST(contradictions_are_refused)
{
	struct profile *p = fixture_big_fork(1, 943);
	unsigned char *good, *bytes, packed[200];
	size_t n, at, length, i, stored;
	char what[100];

	assert_int_equal(profile_file_write(p, path), 0);
	profile_destroy(p);
	n = load(path, &good);
	bytes = malloc(n + 400);
	for (i = 0; i < sizeof(nonsenses) / sizeof(nonsenses[0]); i++) {
		const struct nonsense *c = &nonsenses[i];

		for (at = FILE_HEADER_SIZE; wire_load32(good + at) < c->type; at += length)
			length = SECTION_HEADER_SIZE + wire_load64(good + at + 16);
		memcpy(bytes, good, at);
		stored = deflated(packed, sizeof(packed), c->raw, c->n);
		length = put_section(bytes + at, c->type,
				     c->type == SECTION_VARIABLES ? SECTION_FLAG_OPTIONAL : 0, c->n,
				     packed, stored, stored);
		store(path, bytes, at + length);
		snprintf(what, sizeof(what), "section \"%s\": ", profile_sections[c->type].name);
		assert_refused(-EBADMSG, what);
		assert_refused(-EBADMSG, c->what);
	}
	free(bytes);
	free(good);
}

static size_t put_deflated(unsigned char *at, uint32_t type, const void *raw, size_t n)
{
	unsigned char packed[200];
	size_t stored = deflated(packed, sizeof(packed), raw, n);

	return put_section(at, type, 0, n, packed, stored, stored);
}

/* Write a data file with a string of LENGTH bytes. Long strings are refused: printed in each row of a table, they fill the disk. */
static size_t put_file_with_name(unsigned char *at, size_t length)
{
	unsigned char strings[PROFILE_NAME_MAX + 10];
	size_t n = put_header(at, FILE_VERSION);

	memset(strings, 'a', sizeof(strings));
	strings[0] = 1;
	strings[1] = (length & 0x7f) | 0x80;
	strings[2] = length >> 7;
	n += put_deflated(at + n, SECTION_STRINGS, strings, 3 + length);
	n += put_deflated(at + n, SECTION_RECORDING, "\0\0\0\0", 4);
	n += put_deflated(at + n, SECTION_ENVIRONMENT, "\0", 1);
	n += put_deflated(at + n, SECTION_SITES, SITE("\1", "\0", "\0", "\0\0\0"), 12);
	return n;
}

TEST(long_names_are_refused)
{
	unsigned char bytes[2000];

	store(path, bytes, put_file_with_name(bytes, PROFILE_NAME_MAX + 1));
	assert_refused(-EBADMSG, "section \"sites\": has a name that is too long");
	/* A name one byte shorter is accepted: the error is that the next section is missing. */
	store(path, bytes, put_file_with_name(bytes, PROFILE_NAME_MAX));
	assert_refused(-EBADMSG, "section \"contexts\": missing");
}

TEST(sections_in_another_order_twice_or_missing_are_refused)
{
	struct profile *p = fixture_big_fork(1, 943);
	size_t n, first, second;
	unsigned char *good, *bytes;

	assert_int_equal(profile_file_write(p, path), 0);
	profile_destroy(p);
	n = load(path, &good);
	bytes = malloc(2 * n);
	first = SECTION_HEADER_SIZE + wire_load64(good + FILE_HEADER_SIZE + 16);
	second = SECTION_HEADER_SIZE + wire_load64(good + FILE_HEADER_SIZE + first + 16);

	memcpy(bytes, good, FILE_HEADER_SIZE + first);
	memcpy(bytes + FILE_HEADER_SIZE + first, good + FILE_HEADER_SIZE, n - FILE_HEADER_SIZE);
	store(path, bytes, n + first);
	assert_refused(-EBADMSG, "section \"strings\": not where it belongs");

	memcpy(bytes, good, FILE_HEADER_SIZE);
	memcpy(bytes + FILE_HEADER_SIZE, good + FILE_HEADER_SIZE + first,
	       n - FILE_HEADER_SIZE - first);
	store(path, bytes, n - first);
	assert_refused(-EBADMSG, "section \"recording\": not where it belongs");

	memcpy(bytes, good, FILE_HEADER_SIZE + first);
	memcpy(bytes + FILE_HEADER_SIZE + first, good + FILE_HEADER_SIZE + first + second,
	       n - FILE_HEADER_SIZE - first - second);
	store(path, bytes, n - second);
	assert_refused(-EBADMSG, "section \"environment\": not where it belongs");
	free(good);
	free(bytes);
}

TEST(few_bytes_do_not_make_much_work)
{
	struct profile *p = fixture_big_fork(1, 943);
	uint32_t deep[1024], at = fixture_location(p, 0x777, "deep"), stack, i;
	char name[32];

	for (i = 0; i < 1024; i++)
		deep[i] = at;
	stack = profile_stack_add(p, deep, 1024);
	for (i = 0; i < 4000; i++) {
		snprintf(name, sizeof(name), "context%u", i);
		profile_sample_add(
			p, &(struct profile_sample){ .context = profile_context_add(p, name),
						     .stack = stack,
						     .count = 1 });
	}
	listen_start();
	assert_int_equal(profile_file_write(p, path), 0);
	for (i = 0; i < 4000; i++)
		profile_edge_add(p, &(struct profile_edge){ .context = i, .stack = stack });
	assert_int_equal(profile_file_write(p, path), -EINVAL);
	assert_non_null(strstr(listen_end(), "refers to stacks that are too deep too often"));
	profile_destroy(p);
}

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

TEST(random_contents_do_not_crash)
{
	struct profile *p = fixture_big_fork(2, 943), *back;
	unsigned char *good, *bytes, raw[300], packed[400];
	size_t n, at, length, size, stored, i;
	uint64_t seed = 1;
	uint32_t type;
	int round;

	/* Add entries, so that the file has all sections. */
	vec_push(p, traces, ((struct profile_trace){ .times = 1, .insns = 943 }));
	profile_miss_add(p, &(struct profile_miss){ .event = MODEL_L1D, .count = 1 });
	profile_executions_add(p, &(struct profile_edge){ .calls = 1 });
	profile_object_add(p, &(struct profile_object){ .type = "dentry", .count = 1 });
	profile_condition_set(p, 0, "i < n");
	profile_name_add(p, "kmalloc-64");
	fixture_add_captures(p, 1, 2, (const char *[]){ "n", "flags" });
	fixture_add_counted(p);
	assert_int_equal(profile_file_write(p, path), 0);
	profile_destroy(p);
	n = load(path, &good);
	bytes = malloc(n + 500);
	listen_start();
	for (round = 0; round < 30000; round++) {
		type = 1 + next_random(&seed) % SECTION_LAST;
		for (at = FILE_HEADER_SIZE; wire_load32(good + at) != type; at += length)
			length = SECTION_HEADER_SIZE + wire_load64(good + at + 16);
		memcpy(bytes, good, at);
		size = next_random(&seed) % sizeof(raw);
		/* Small numbers pass more checks than random ones. */
		for (i = 0; i < size; i++)
			raw[i] = next_random(&seed) % 4 ? next_random(&seed) % 5 :
							  next_random(&seed);
		stored = deflated(packed, sizeof(packed), raw, size);
		length = put_section(bytes + at, type, 0, size, packed, stored, stored);
		store(path, bytes, at + length);
		assert_int_not_equal(profile_file_read(path, &back), 0);
		assert_null(back);
		if (round % 1000 == 0)
			rewind(said_file);
	}
	listen_end();
	free(bytes);
	free(good);
}

TEST(a_changed_byte_does_not_crash)
{
	struct profile *p = fixture_big_fork(2, 943), *back;
	unsigned char *good, *bytes, *raw, *packed;
	size_t n, at, length, i;
	int value;

	assert_int_equal(profile_file_write(p, path), 0);
	profile_destroy(p);
	n = load(path, &good);
	bytes = malloc(n + 5000);
	packed = malloc(5000);
	listen_start();
	for (at = FILE_HEADER_SIZE; wire_load32(good + at) != SECTION_END; at += length) {
		uLongf size = wire_load64(good + at + 8);

		length = SECTION_HEADER_SIZE + wire_load64(good + at + 16);
		raw = malloc(size);
		assert_int_equal(uncompress(raw, &size, good + at + SECTION_HEADER_SIZE,
					    length - SECTION_HEADER_SIZE),
				 Z_OK);
		for (i = 0; i < size; i++) {
			unsigned char was = raw[i];

			for (value = 0; value < 256; value += value < 5 ? 1 : 25) {
				size_t stored, m;

				raw[i] = value;
				stored = deflated(packed, 5000, raw, size);
				memcpy(bytes, good, at);
				m = at + put_section(bytes + at, wire_load32(good + at), 0, size,
						     packed, stored, stored);
				memcpy(bytes + m, good + at + length, n - at - length);
				store(path, bytes, m + n - at - length);
				profile_file_read(path, &back);
				profile_destroy(back);
			}
			raw[i] = was;
		}
		free(raw);
		rewind(said_file);
	}
	listen_end();
	free(packed);
	free(bytes);
	free(good);
}

RUN_TESTS(setup, teardown)
