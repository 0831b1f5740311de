// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/proto.h"

#include <string.h>

#include "base/alloc.h"

/* The wire types of the two encodings that are used. */
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

void proto_integer(struct proto *p, unsigned int field, uint64_t value)
{
	varint(p, field << 3 | VARINT);
	varint(p, value);
}

void proto_text(struct proto *p, unsigned int field, const char *text)
{
	bytes(p, field, text, strlen(text));
}

void proto_message(struct proto *p, unsigned int field, struct proto *m)
{
	bytes(p, field, m->bytes, m->n_bytes);
	proto_deinit(m);
}

void proto_deinit(struct proto *p)
{
	free(p->bytes);
	*p = (struct proto){ 0 };
}
