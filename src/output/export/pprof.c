// SPDX-License-Identifier: GPL-2.0-or-later
/* Export for pprof: a compressed perftools.profiles.Profile. Each frame is a function with one location. */
#include <math.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "output/export/export.h"

/* ---- protocol buffers: protobuf-c, a generator and a library, would need more code than this ---- */

/* A protocol buffer message under construction. All zero: an empty message. */
struct proto {
	uint8_t *bytes;
	size_t n_bytes, cap_bytes;
};

/* Wire types of protocol buffers, as far as used. */
enum {
	VARINT = 0,
	BYTES = 2
};

static void varint(struct proto *p, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		vec_push(p, bytes, (uint8_t)(value | 0x80));
	vec_push(p, bytes, (uint8_t)value);
}

static void bytes(struct proto *p, unsigned int field, const void *data, size_t n)
{
	varint(p, field << 3 | BYTES);
	varint(p, n);
	for (size_t i = 0; i < n; i++)
		vec_push(p, bytes, ((const uint8_t *)data)[i]);
}

static void proto_integer(struct proto *p, unsigned int field, uint64_t value)
{
	varint(p, field << 3 | VARINT);
	varint(p, value);
}

static void proto_text(struct proto *p, unsigned int field, const char *text)
{
	bytes(p, field, text, strlen(text));
}

static void proto_deinit(struct proto *p)
{
	free(p->bytes);
	*p = (struct proto){ 0 };
}

/* Add message M as a field, and free M. */
static void proto_message(struct proto *p, unsigned int field, struct proto *m)
{
	bytes(p, field, m->bytes, m->n_bytes);
	proto_deinit(m);
}

/* ---- profile ---- */

/* Field numbers in pprof's profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRINGS = 6,
	PROFILE_TIME = 9,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	LOCATION_ID = 1,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
};

/* Indexes of the first strings in the string table. The frames' labels follow them. */
enum {
	STRING_NONE,
	STRING_UNIT,
	STRING_COUNT,
	STRING_CPU,
	STRING_TICKS,
	N_STRINGS
};

static void value_type(struct proto *profile, unsigned int field, uint64_t type, uint64_t unit)
{
	struct proto value = { 0 };

	proto_integer(&value, VALUE_TYPE, type);
	proto_integer(&value, VALUE_UNIT, unit);
	proto_message(profile, field, &value);
}

static void write_frame(struct proto *profile, uint32_t i)
{
	struct proto line = { 0 }, location = { 0 }, function = { 0 };

	proto_integer(&line, LINE_FUNCTION, i + 1);
	proto_integer(&location, LOCATION_ID, i + 1);
	proto_message(&location, LOCATION_LINE, &line);
	proto_message(profile, PROFILE_LOCATION, &location);
	proto_integer(&function, FUNCTION_ID, i + 1);
	proto_integer(&function, FUNCTION_NAME, N_STRINGS + i);
	proto_message(profile, PROFILE_FUNCTION, &function);
}

static void write_sample(struct proto *profile, const struct export *e,
			 const struct export_leaf *leaf, bool timed)
{
	struct proto sample = { 0 };

	for (uint32_t n = leaf->node; n != EXPORT_NO_NODE; n = e->nodes[n].parent)
		proto_integer(&sample, SAMPLE_LOCATION, e->nodes[n].frame + 1);
	proto_integer(&sample, SAMPLE_VALUE, export_integer(leaf->counts[0]));
	if (timed)
		proto_integer(&sample, SAMPLE_VALUE, export_integer(leaf->counts[0] * e->period));
	proto_message(profile, PROFILE_SAMPLE, &sample);
}

/* Write PROFILE compressed like gzip, without a time stamp. zlib's gzopen() would need a file. */
static void write_compressed(FILE *out, const struct proto *profile)
{
	z_stream z = { .next_in = profile->bytes, .avail_in = (uInt)profile->n_bytes };
	uint8_t buf[1 << 14] = { 0 };
	int state =
		deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);

	while (state == Z_OK) {
		z.next_out = buf;
		z.avail_out = sizeof(buf);
		state = deflate(&z, Z_FINISH);
		fwrite(buf, 1, sizeof(buf) - z.avail_out, out);
	}
	deflateEnd(&z);
}

void export_write_pprof(FILE *out, const struct export *e)
{
	bool timed = !profile_is_exact(e->p), ns = e->p->clock == PROFILE_CLOCK_NS;
	const char *const strings[] = { "", e->unit, "count", "cpu",
					ns ? "nanoseconds" : "instructions" };
	scoped(proto_deinit) struct proto profile = { 0 };

	value_type(&profile, PROFILE_SAMPLE_TYPE, STRING_UNIT, STRING_COUNT);
	if (timed) {
		value_type(&profile, PROFILE_SAMPLE_TYPE, STRING_CPU, STRING_TICKS);
		value_type(&profile, PROFILE_PERIOD_TYPE, STRING_CPU, STRING_TICKS);
		proto_integer(&profile, PROFILE_PERIOD, e->p->sample_period);
	}
	if (!isnan(e->time))
		proto_integer(&profile, PROFILE_TIME, export_integer(e->time * 1e9));
	for (uint32_t i = 0; i < e->n_leaves; i++)
		write_sample(&profile, e, &e->leaves[i], timed);
	for (uint32_t i = 0; i < N_STRINGS; i++)
		proto_text(&profile, PROFILE_STRINGS, strings[i]);
	for (uint32_t i = 0; i < e->n_frames; i++) {
		write_frame(&profile, i);
		proto_text(&profile, PROFILE_STRINGS, e->frames[i].label);
	}
	write_compressed(out, &profile);
}
