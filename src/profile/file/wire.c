// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/file/wire.h"

#include <string.h>

#include "base/alloc.h"

uint32_t wire_load32(const unsigned char *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t wire_load64(const unsigned char *at)
{
	return wire_load32(at) | (uint64_t)wire_load32(at + 4) << 32;
}

void wire_store32(unsigned char *at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = v >> (8 * i);
}

void wire_store64(unsigned char *at, uint64_t v)
{
	wire_store32(at, v);
	wire_store32(at + 4, v >> 32);
}

void wire_out_init(struct wire_out *out, int strategy)
{
	memset(out, 0, offsetof(struct wire_out, pending));
	/* Use level 1: the data is small and repetitive, and higher levels take three times as long. */
	if (deflateInit2(&out->zlib, Z_BEST_SPEED, Z_DEFLATED, 15, 8, strategy) != Z_OK)
		abort(); /* memory ran out: the arguments are constants */
}

static void out_deflate(struct wire_out *out, int flush)
{
	out->zlib.next_in = out->pending;
	out->zlib.avail_in = out->n_pending;
	do {
		size_t room = out->cap_stored - out->n_stored;

		if (room < sizeof(out->pending) / 2) {
			out->cap_stored += out->cap_stored / 2 + sizeof(out->pending);
			out->stored = alloc_resize(out->stored, out->cap_stored, 1);
			room = out->cap_stored - out->n_stored;
		}
		if (room > sizeof(out->pending))
			room = sizeof(out->pending);
		out->zlib.next_out = out->stored + out->n_stored;
		out->zlib.avail_out = room;
		deflate(&out->zlib, flush);
		out->n_stored += room - out->zlib.avail_out;
	} while (!out->zlib.avail_out);
	out->n_pending = 0;
}

void wire_out_finish(struct wire_out *out)
{
	out_deflate(out, Z_FINISH);
}

void wire_out_deinit(struct wire_out *out)
{
	deflateEnd(&out->zlib);
	free(out->stored);
	out->stored = NULL;
}

void wire_put(struct wire_out *out, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	out->raw += n;
	while (n) {
		size_t part = sizeof(out->pending) - out->n_pending;

		if (part > n)
			part = n;
		memcpy(out->pending + out->n_pending, at, part);
		out->n_pending += part;
		at += part;
		n -= part;
		if (out->n_pending == sizeof(out->pending))
			out_deflate(out, Z_NO_FLUSH);
	}
}

void wire_put_varint(struct wire_out *out, uint64_t v)
{
	unsigned char bytes[WIRE_VARINT_MAX];
	int n = 0;

	while (v >= 0x80) {
		bytes[n++] = v | 0x80;
		v >>= 7;
	}
	bytes[n++] = v;
	wire_put(out, bytes, n);
}

void wire_put_signed(struct wire_out *out, int64_t v)
{
	uint64_t twice = (uint64_t)v << 1;

	wire_put_varint(out, v < 0 ? ~twice : twice);
}

void wire_put_double(struct wire_out *out, double v)
{
	unsigned char bytes[8];
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	wire_store64(bytes, bits);
	wire_put(out, bytes, sizeof(bytes));
}

void wire_put_count(struct wire_out *out, uint64_t v)
{
	/* PROFILE_NOT_COUNTED, the largest number, becomes 0. */
	wire_put_varint(out, v + 1);
}

void wire_fail(struct wire_in *in, const char *error)
{
	if (!in->error)
		in->error = error;
	in->at = in->end;
}

bool wire_take(struct wire_in *in, uint64_t size)
{
	if (size > in->room)
		wire_fail(in, "would take too much memory for a file of this size");
	if (in->error)
		return false;
	in->room -= size;
	return true;
}

const unsigned char *wire_get(struct wire_in *in, size_t n)
{
	const unsigned char *bytes = in->at;

	if (n > (size_t)(in->end - in->at)) {
		wire_fail(in, "ends in the middle of an entry");
		return NULL;
	}
	in->at += n;
	return bytes;
}

uint64_t wire_get_varint(struct wire_in *in)
{
	uint64_t v = 0;

	for (int shift = 0; shift < 64; shift += 7) {
		const unsigned char *byte = wire_get(in, 1);

		if (!byte)
			return 0;
		/* The tenth byte may have only one bit. */
		if (shift == 63 && *byte > 1)
			break;
		v |= (uint64_t)(*byte & 0x7f) << shift;
		if (!(*byte & 0x80))
			return v;
	}
	wire_fail(in, "has a number of more than 64 bits");
	return 0;
}

uint32_t wire_get_u32(struct wire_in *in)
{
	uint64_t v = wire_get_varint(in);

	if (v > UINT32_MAX) {
		wire_fail(in, "has a number that is out of range");
		return 0;
	}
	return v;
}

int64_t wire_get_signed(struct wire_in *in)
{
	uint64_t v = wire_get_varint(in);

	return (int64_t)(v & 1 ? ~(v >> 1) : v >> 1);
}

double wire_get_double(struct wire_in *in)
{
	const unsigned char *bytes = wire_get(in, 8);
	uint64_t bits;
	double v = 0;

	if (bytes) {
		bits = wire_load64(bytes);
		memcpy(&v, &bits, sizeof(v));
	}
	return v;
}

uint64_t wire_get_count(struct wire_in *in)
{
	uint64_t v = wire_get_varint(in);

	return in->error ? 0 : v - 1;
}

uint32_t wire_get_n(struct wire_in *in, size_t entry_size)
{
	uint64_t n = wire_get_varint(in);

	/* UINT32_MAX means "none" in some tables, so a table has fewer entries. */
	if (n >= UINT32_MAX || n > (size_t)(in->end - in->at) / entry_size) {
		wire_fail(in, "announces more entries than it contains");
		return 0;
	}
	return n;
}
