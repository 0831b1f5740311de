// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/output.h"
#include "profile/file/file.h"
#include "profile/file/section.h"

/* Bytes per read if the file's length is unknown. */
#define READ_STEP ((size_t)1 << 20)
#define ZLIB_PART (1u << 30)

struct reader {
	const char *path;
	FILE *file;
	uint64_t left; /* bytes not yet read; UINT64_MAX: unknown (a pipe) */
	uint64_t room; /* bytes of memory that decoding may still use */
	struct section_decoder decoder;
};

struct section {
	uint32_t type, flags;
	uint64_t raw, stored;
	uint32_t crc;
	unsigned char header[SECTION_HEADER_SIZE];
	char name[24]; /* section's name in messages */
};

static int damaged(const struct reader *r, const struct section *s, const char *fmt, ...)
	printf_like(3, 4);

static int damaged(const struct reader *r, const struct section *s, const char *fmt, ...)
{
	va_list args;
	char what[160];

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	if (s)
		log_error("%s: section %s: %s (file truncated or damaged)", r->path, s->name, what);
	else
		log_error("%s: %s (file truncated or damaged)", r->path, what);
	return -EBADMSG;
}

/* Return 0; -ENODATA at the end of the file, without a message; or -EIO after a message. */
static int read_bytes(struct reader *r, void *bytes, size_t n)
{
	if (n > r->left)
		return -ENODATA;
	if (fread(bytes, 1, n, r->file) == n) {
		if (r->left != UINT64_MAX)
			r->left -= n;
		return 0;
	}
	if (!ferror(r->file))
		return -ENODATA;
	log_error("cannot read %s: %s", r->path, log_strerror(errno));
	return -EIO;
}

static int read_file_header(struct reader *r)
{
	unsigned char header[FILE_HEADER_SIZE];
	uint32_t version;
	bool is_old;
	int err = read_bytes(r, header, sizeof(header));

	if (err && err != -ENODATA)
		return err;
	is_old = !err && !memcmp(header, FILE_MAGIC_OLD, FILE_MAGIC_SIZE);
	if (err || (!is_old && memcmp(header, FILE_MAGIC, FILE_MAGIC_SIZE))) {
		log_error("%s: not a kprotperf data file", r->path);
		return -EBADMSG;
	}
	version = wire_load32(header + FILE_MAGIC_SIZE);
	if (wire_load32(header + FILE_MAGIC_SIZE + 4) != FILE_BYTE_ORDER || !version)
		return damaged(r, NULL, "invalid file header");
	if (is_old || version < FILE_VERSION) {
		log_error("%s: written by an older kprotperf: record again", r->path);
		return -EPROTONOSUPPORT;
	}
	if (version > FILE_VERSION) {
		log_error(
			"%s: written by a newer kprotperf (format %u, this one reads %u): update kprotperf, or record again with this one",
			r->path, version, FILE_VERSION);
		return -EPROTONOSUPPORT;
	}
	return 0;
}

/* Return the name of the section TYPE, "end" for SECTION_END, or NULL for an unknown type. */
static const char *name_of(uint32_t type)
{
	if (type == SECTION_END)
		return "end";
	return type <= SECTION_LAST ? profile_sections[type].name : NULL;
}

static int read_section_header(struct reader *r, struct section *s, enum section_type expected)
{
	const char *name;
	int err = read_bytes(r, s->header, SECTION_HEADER_SIZE);

	if (err == -ENODATA) {
		snprintf(s->name, sizeof(s->name), "\"%s\"", name_of(expected));
		return damaged(r, s, "missing");
	}
	if (err)
		return err;
	s->type = wire_load32(s->header);
	s->flags = wire_load32(s->header + 4);
	s->raw = wire_load64(s->header + 8);
	s->stored = wire_load64(s->header + 16);
	s->crc = wire_load32(s->header + SECTION_CHECKED_SIZE);
	name = name_of(s->type);
	if (name)
		snprintf(s->name, sizeof(s->name), "\"%s\"", name);
	else
		snprintf(s->name, sizeof(s->name), "%u", s->type);
	return 0;
}

/* Read the stored bytes into *OUT, which the caller frees, and check the CRC. Allocate only as much as the file really has. */
static int read_stored(struct reader *r, struct section *s, unsigned char **out)
{
	unsigned char *bytes = NULL;
	uint64_t have = 0, part;
	unsigned long crc;
	int err;

	if (s->stored > r->left)
		return damaged(r, s, "extends past the end of the file");
	while (have < s->stored) {
		part = s->stored - have;
		if (r->left == UINT64_MAX && part > READ_STEP + have)
			part = READ_STEP + have;
		bytes = alloc_resize(bytes, have + part, 1);
		err = read_bytes(r, bytes + have, part);
		if (err) {
			free(bytes);
			return err == -ENODATA ? damaged(r, s, "extends past the end of the file") :
						 err;
		}
		have += part;
	}
	crc = crc32(0, s->header, SECTION_CHECKED_SIZE);
	if (have) /* for NULL, crc32_z() would return the initial value */
		crc = crc32_z(crc, bytes, have);
	if (crc != s->crc) {
		free(bytes);
		return damaged(r, s, "checksum does not match");
	}
	*out = bytes;
	return 0;
}

/* Return the next number of bytes for zlib, whose counters have 32 bits, and subtract the number from *LEFT. */
static unsigned int zlib_part(uint64_t *left)
{
	unsigned int part = *left < ZLIB_PART ? (unsigned int)*left : ZLIB_PART;

	*left -= part;
	return part;
}

/* Return whether the STORED bytes decompress to exactly RAW bytes in OUT. */
static bool inflate_all(const unsigned char *stored, uint64_t n_stored, unsigned char *out,
			uint64_t raw)
{
	z_stream zlib = { .next_in = (unsigned char *)stored, .next_out = out };
	int status = Z_OK;

	if (inflateInit(&zlib) != Z_OK)
		abort(); /* zlib.h and the library have different versions */
	while (status == Z_OK) {
		if (!zlib.avail_in)
			zlib.avail_in = zlib_part(&n_stored);
		if (!zlib.avail_out)
			zlib.avail_out = zlib_part(&raw);
		/* inflate() returns Z_BUF_ERROR if no progress is possible. */
		status = inflate(&zlib, Z_NO_FLUSH);
	}
	inflateEnd(&zlib);
	return status == Z_STREAM_END && !zlib.avail_in && !zlib.avail_out && !n_stored && !raw;
}

/* Decompress to exactly S->raw bytes, which the caller frees. Another length is an error. */
static int inflate_section(struct reader *r, struct section *s, const unsigned char *stored,
			   unsigned char **out)
{
	unsigned char *raw;

	r->room += FILE_MEMORY_FACTOR * s->stored;
	if (s->raw > r->room || !section_ratio_ok(s->raw, s->stored, SECTION_RATIO_MAX))
		return damaged(r, s, "%llu bytes claim to decompress to %llu: refused",
			       (unsigned long long)s->stored, (unsigned long long)s->raw);
	raw = alloc_array(s->raw, 1);
	if (!inflate_all(stored, s->stored, raw, s->raw)) {
		free(raw);
		return damaged(r, s, "does not decompress to %llu bytes",
			       (unsigned long long)s->raw);
	}
	*out = raw;
	return 0;
}

static int decode_section(struct reader *r, struct section *s, const unsigned char *stored)
{
	scoped_free unsigned char *raw = NULL;
	struct wire_in in;
	int err = inflate_section(r, s, stored, &raw);

	if (err)
		return err;
	in = (struct wire_in){ .at = raw, .end = raw + s->raw, .room = r->room };
	section_decode(&in, s->type, &r->decoder);
	r->room = in.room;
	if (!in.error)
		in.error = section_wrong(s->type, r->decoder.p);
	if (in.error)
		err = damaged(r, s, "%s", in.error);
	return err;
}

static int unknown_section(struct reader *r, struct section *s)
{
	if (s->flags == SECTION_FLAG_OPTIONAL) {
		log_verbose(1, "%s: unknown section %s skipped", r->path, s->name);
		return 0;
	}
	log_error("%s: unknown section %s is needed to read the file: update kprotperf, or "
		  "record again with this one",
		  r->path, s->name);
	return -EPROTONOSUPPORT;
}

static enum section_type section_after(enum section_type type)
{
	return type == SECTION_LAST ? SECTION_END : type + 1;
}

/* Return FOUND if all sections from EXPECTED to FOUND are optional, else the first required section. */
static enum section_type skip_optional(enum section_type expected, enum section_type found)
{
	while (expected != found && section_may_lack(expected))
		expected = section_after(expected);
	return expected;
}

static int read_section(struct reader *r, enum section_type *expected)
{
	scoped_free unsigned char *stored = NULL;
	struct section s;
	int err = read_section_header(r, &s, *expected);

	if (!err)
		err = read_stored(r, &s, &stored);
	if (err)
		return err;
	if (!name_of(s.type)) {
		err = unknown_section(r, &s);
	} else if (s.flags != section_flags(s.type)) {
		err = damaged(r, &s, "unknown flags");
	} else if (s.type != skip_optional(*expected, s.type)) {
		err = damaged(r, &s, "not where it belongs");
	} else if (s.type == SECTION_END) {
		if (s.raw || s.stored || (r->left && getc(r->file) != EOF))
			err = damaged(r, &s, "trailing bytes");
		*expected = 0;
	} else {
		err = decode_section(r, &s, stored);
		*expected = section_after(s.type);
	}
	return err;
}

static int read_profile(struct reader *r)
{
	enum section_type expected = SECTION_STRINGS;
	struct stat st;
	int err;

	r->room = FILE_MEMORY_FREE;
	r->left = UINT64_MAX;
	if (!fstat(fileno(r->file), &st) && S_ISREG(st.st_mode))
		r->left = st.st_size;
	err = read_file_header(r);
	while (!err && expected)
		err = read_section(r, &expected);
	if (!err && r->decoder.unknown_loss)
		log_note("%s: written by a newer kprotperf: losses of kind \"%s\" are not shown",
			 r->path, r->decoder.unknown_loss);
	return err;
}

/* Open PATH: a regular file, or a descriptor of this process such as /dev/stdin, which may be a pipe. */
static FILE *open_data(const char *path, int *err)
{
	bool is_descriptor = !strncmp(path, "/dev/fd/", 8) || !strcmp(path, "/dev/stdin") ||
			     !strncmp(path, "/proc/self/fd/", 14);
	int fd = is_descriptor ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) :
				 file_open(path, false);

	*err = fd >= 0 ? 0 : is_descriptor ? -errno : fd;
	return fd >= 0 ? fdopen(fd, "r") : NULL;
}

int profile_file_read(const char *path, struct profile **out)
{
	int err;
	struct reader r = { .path = path, .file = open_data(path, &err) };

	*out = NULL;
	if (!r.file) {
		log_error("cannot open %s: %s", path, file_strerror(err));
		return err;
	}
	r.decoder.p = profile_create();
	err = read_profile(&r);
	log_progress_end();
	fclose(r.file);
	free(r.decoder.strings);
	if (err)
		profile_destroy(r.decoder.p);
	else
		*out = r.decoder.p;
	return err;
}

/* ---- write ---- */

/* A whole encoded file. Nothing is written before all sections are encoded. */
struct image {
	unsigned char headers[SECTION_LAST + 1][SECTION_HEADER_SIZE];
	struct wire_out *sections[SECTION_LAST + 1];
};

static void header_fill(unsigned char *header, uint32_t type, const struct wire_out *out)
{
	unsigned long crc;

	wire_store32(header, type);
	wire_store32(header + 4, section_flags(type));
	wire_store64(header + 8, out ? out->raw : 0);
	wire_store64(header + 16, out ? out->n_stored : 0);
	crc = crc32(0, header, SECTION_CHECKED_SIZE);
	if (out)
		crc = crc32_z(crc, out->stored, out->n_stored);
	wire_store32(header + SECTION_CHECKED_SIZE, crc);
}

static struct wire_out *encode(enum section_type type, const struct profile *p,
			       struct profile_strings *pool, int strategy)
{
	struct wire_out *out = alloc_new(struct wire_out);

	wire_out_init(out, strategy);
	if (type == SECTION_STRINGS)
		section_encode_strings(out, pool);
	else
		section_encode(out, type, p, pool);
	wire_out_finish(out);
	return out;
}

static void out_free(struct wire_out *out)
{
	if (out)
		wire_out_deinit(out);
	free(out);
}

static void image_add(struct image *image, enum section_type type, const struct profile *p,
		      struct profile_strings *pool)
{
	struct wire_out *out;

	if (log_progress_due())
		log_progress("writing: %s", profile_sections[type].name);
	out = encode(type, p, pool, Z_DEFAULT_STRATEGY);

	/* Readers refuse a higher ratio as an attack. Huffman codes alone compress to 1/8 at most. */
	if (!section_ratio_ok(out->raw, out->n_stored, SECTION_RATIO_WRITTEN)) {
		out_free(out);
		out = encode(type, p, pool, Z_HUFFMAN_ONLY);
	}
	header_fill(image->headers[type], type, out);
	image->sections[type] = out;
}

static void image_deinit(struct image *image)
{
	for (enum section_type type = SECTION_STRINGS; type <= SECTION_LAST; type++)
		out_free(image->sections[type]);
}

static int image_init(struct image *image, const struct profile *p, const char *path)
{
	struct profile_strings *pool;

	*image = (struct image){ 0 };
	for (enum section_type type = SECTION_STRINGS; type <= SECTION_LAST; type++) {
		const char *wrong = section_wrong(type, p);

		if (wrong) {
			log_error("%s: not written: section \"%s\" %s; this is a bug in kprotperf",
				  path, profile_sections[type].name, wrong);
			return -EINVAL;
		}
	}
	pool = profile_strings_create();
	for (enum section_type type = SECTION_STRINGS + 1; type <= SECTION_LAST; type++)
		if (!section_may_lack(type) || section_count(p, type))
			image_add(image, type, p, pool);
	/* Strings come first in the file, but encoding the other sections collects them. */
	image_add(image, SECTION_STRINGS, p, pool);
	profile_strings_destroy(pool);
	log_progress_end();
	return 0;
}

static int image_write(int fd, const void *arg)
{
	const struct image *image = arg;
	unsigned char header[FILE_HEADER_SIZE], end[SECTION_HEADER_SIZE];
	int err;

	memcpy(header, FILE_MAGIC, FILE_MAGIC_SIZE);
	wire_store32(header + FILE_MAGIC_SIZE, FILE_VERSION);
	wire_store32(header + FILE_MAGIC_SIZE + 4, FILE_BYTE_ORDER);
	err = file_write_all(fd, header, sizeof(header));
	for (enum section_type type = SECTION_STRINGS; !err && type <= SECTION_LAST; type++) {
		if (!image->sections[type])
			continue;
		err = file_write_all(fd, image->headers[type], SECTION_HEADER_SIZE);
		if (!err)
			err = file_write_all(fd, image->sections[type]->stored,
					     image->sections[type]->n_stored);
	}
	header_fill(end, SECTION_END, NULL);
	return err ? err : file_write_all(fd, end, sizeof(end));
}

static int image_put(const struct image *image, const char *path)
{
	const struct output output = { image_write, image, .mode = 0600, .invokers = true };

	return output_is_direct(path) ? output_direct(path, &output) :
					output_replace(path, &output);
}

/* Write the file IMAGE to a new file in FOLDER. */
static int image_put_aside(const struct image *image, const char *folder)
{
	scoped_free char *path = alloc_printf("%s/kprotperf.XXXXXX", folder);
	int fd = mkostemp(path, O_CLOEXEC), err = fd < 0 ? -errno : 0;

	if (!err) {
		close(fd);
		err = image_put(image, path);
		if (err)
			unlink(path);
	}
	if (!err)
		log_note("the recording was saved in %s", path);
	return err;
}

/* Remove this process's limit of file size, which the user may have set for the command. */
static void lift_size_limit(void)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	if (!setrlimit(RLIMIT_FSIZE, &limit) || getrlimit(RLIMIT_FSIZE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

static void image_keep(const struct image *image)
{
	const char *folders[] = { getenv("TMPDIR"), "/var/tmp", "/tmp", "/dev/shm" };

	lift_size_limit();
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (folders[i] && *folders[i] && !image_put_aside(image, folders[i]))
			return;
}

static int write_or_keep(const struct profile *p, const char *path, bool keep)
{
	struct image image;
	int err;

	err = image_init(&image, p, path);
	if (err)
		return err;
	err = image_put(&image, path);
	if (err)
		log_error("cannot write %s: %s", path, output_strerror(err));
	if (err && keep)
		image_keep(&image);
	image_deinit(&image);
	return err;
}

int profile_file_write(const struct profile *p, const char *path)
{
	return write_or_keep(p, path, false);
}

int profile_file_keep(const struct profile *p, const char *path)
{
	return write_or_keep(p, path, true);
}

int profile_file_try(const char *path)
{
	int err = !output_is_direct(path) ? output_try(path) : access(path, W_OK) ? -errno : 0;

	if (err)
		log_error("cannot write %s: %s", path, output_strerror(err));
	return err;
}
