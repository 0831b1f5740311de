// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/output.h"
#include "profile/file/file.h"
#include "profile/file/section.h"

/* A whole file, encoded: what is written is known before anything is. */
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

	/* Readers take more for an attack. Huffman codes alone make it 8 at most. */
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
	/* First in the file, yet only the others' encoding tells which strings there are. */
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

/* To a new file in FOLDER. */
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

/* The command has had the limit that it was to have. */
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
