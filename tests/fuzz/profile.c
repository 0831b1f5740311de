// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz the commands that read data files. The mutator unpacks a section, mutates its content, and packs it again with a correct
 * checksum; in one of four cases it mutates the file's bytes.
 */
#include "fuzz.h"

#include "cmd/cmd.h"
#include "profile/file/file.h"
#include "profile/file/section.h"

#define RAW_MAX 65536

/* Return the start of section N (modulo the number of sections), or 0 if the file has no section. */
static size_t find_section(const uint8_t *data, size_t size, unsigned int n)
{
	size_t at = FILE_HEADER_SIZE, count = 0, pass;

	for (pass = 0; pass < 2; pass++) {
		for (at = FILE_HEADER_SIZE; at + SECTION_HEADER_SIZE <= size;) {
			uint64_t stored = wire_load64(data + at + 16);

			if (stored > size - at - SECTION_HEADER_SIZE)
				break;
			if (!pass)
				count++;
			else if (!(n-- % count))
				return at;
			at += SECTION_HEADER_SIZE + stored;
		}
		if (!count)
			return 0;
		n %= count;
	}
	return 0;
}

/* Replace the section at AT by the N bytes at RAW, packed. Return the file's new size, or 0 if they do not fit. */
static size_t replace(uint8_t *data, size_t size, size_t max_size, size_t at, const uint8_t *raw,
		      size_t n)
{
	static uint8_t packed[RAW_MAX + 1024];
	uint64_t was = wire_load64(data + at + 16);
	size_t rest = size - at - SECTION_HEADER_SIZE - was;
	uLongf stored = sizeof(packed);
	unsigned long crc;

	if (compress2(packed, &stored, raw, n, Z_BEST_SPEED) != Z_OK ||
	    at + SECTION_HEADER_SIZE + stored + rest > max_size)
		return 0;
	memmove(data + at + SECTION_HEADER_SIZE + stored, data + at + SECTION_HEADER_SIZE + was,
		rest);
	memcpy(data + at + SECTION_HEADER_SIZE, packed, stored);
	wire_store64(data + at + 8, n);
	wire_store64(data + at + 16, stored);
	crc = crc32(0, data + at, SECTION_CHECKED_SIZE);
	wire_store32(data + at + SECTION_CHECKED_SIZE, crc32_z(crc, packed, stored));
	return at + SECTION_HEADER_SIZE + stored + rest;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static uint8_t raw[RAW_MAX];
	size_t at = size > FILE_HEADER_SIZE ? find_section(data, size, seed / 4 % 64) : 0, n;
	uLongf length = sizeof(raw) / 2;

	if (seed % 4 == 0 || !at ||
	    uncompress(raw, &length, data + at + SECTION_HEADER_SIZE,
		       wire_load64(data + at + 16)) != Z_OK)
		return LLVMFuzzerMutate(data, size, max_size);
	n = LLVMFuzzerMutate(raw, length, sizeof(raw));
	return replace(data, size, max_size, at, raw, n) ?: size;
}

static void command(int (*run)(int argc, char **argv), int argc, const char **argv)
{
	run(argc, (char **)argv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(0, data, size), *out = fuzz_file(1, "", 0);
	struct profile *p;

	if (profile_file_read(path, &p))
		return 0;
	/* A profile that was read can be written, and read again. */
	if (profile_file_write(p, out) && p->n_runs < 1000)
		abort();
	profile_destroy(p);
	command(cmd_report, 3, (const char *[]){ "report", "--all", path, NULL });
	command(cmd_report, 3, (const char *[]){ "report", "--format=json", path, NULL });
	command(cmd_report, 3, (const char *[]){ "report", "--why-varies=captured", path, NULL });
	command(cmd_diff, 4, (const char *[]){ "diff", "--all", path, out, NULL });
	command(cmd_diff, 4, (const char *[]){ "diff", "--format=csv", out, path, NULL });
	command(cmd_report, 3,
		(const char *[]){ "report", "--why-varies=allocate_slab", path, NULL });
	command(cmd_report, 3, (const char *[]){ "report", "--trace", path, NULL });
	command(cmd_report, 3, (const char *[]){ "report", "--callers=call1", path, NULL });
	command(cmd_diff, 4, (const char *[]){ "diff", "--trace", path, out, NULL });
	command(cmd_why, 4, (const char *[]){ "why", "--all", path, out, NULL });
	command(cmd_fold, 2, (const char *[]){ "fold", path, NULL });
	command(cmd_merge, 6,
		(const char *[]){ "merge", "--force", "-o", "/dev/null", path, out, NULL });
	return 0;
}
