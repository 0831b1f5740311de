// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "profile/file/section.h"

static void encode_fields(struct wire_out *out, const struct layout *of, const void *entry,
			  const void *before, struct profile_strings *pool);

/* Strings are numbers: 0 for NULL, else 1 + the place in the section of strings. */
static void put_string(struct wire_out *out, struct profile_strings *pool, const char *s)
{
	wire_put_varint(out, s ? (uint64_t)profile_strings_add(pool, s, strlen(s)) + 1 : 0);
}

void section_encode_strings(struct wire_out *out, const struct profile_strings *pool)
{
	uint32_t i, n = profile_strings_count(pool);

	wire_put_varint(out, n);
	for (i = 0; i < n; i++) {
		wire_put_varint(out, profile_strings_length(pool, i));
		wire_put(out, profile_strings_get(pool, i), profile_strings_length(pool, i));
	}
}

static void encode_list(struct wire_out *out, const struct field *f, const void *entry,
			struct profile_strings *pool)
{
	uint32_t i, n = list_count(f, entry);

	if (!f->length)
		wire_put_varint(out, n);
	for (i = 0; i < n; i++)
		encode_fields(out, f->of, list_at(f, entry, i), i ? list_at(f, entry, i - 1) : NULL,
			      pool);
}

static void encode_losses(struct wire_out *out, const uint64_t *losses,
			  struct profile_strings *pool)
{
	if (!losses)
		wire_put_varint(out, PROFILE_N_LOSSES);
	for (enum profile_loss loss = 0; loss < PROFILE_N_LOSSES; loss++) {
		if (losses)
			wire_put_count(out, losses[loss]);
		else
			put_string(out, pool, profile_loss_key(loss));
	}
}

/* BEFORE is the entry before this one in its list, or NULL. */
static void encode_field(struct wire_out *out, const struct field *f, const void *entry,
			 const void *before, struct profile_strings *pool)
{
	const char *at = (const char *)entry + f->offset;
	double v;

	switch (f->kind) {
	case FIELD_SIGNED:
		return wire_put_signed(out, (int64_t)field_load(f, at));
	case FIELD_COUNT:
		return wire_put_count(out, field_load(f, at));
	case FIELD_DOUBLE:
		memcpy(&v, at, sizeof(v));
		return wire_put_double(out, v);
	case FIELD_STEP:
		return wire_put_varint(
			out,
			(uint32_t)(field_load(f, at) -
				   (before ? field_load(f, (const char *)before + f->offset) : 0)));
	case FIELD_STRING:
		return put_string(out, pool, field_string(f, entry));
	case FIELD_LIST:
		return encode_list(out, f, entry, pool);
	case FIELD_PART:
		return encode_fields(out, f->of, at, NULL, pool);
	case FIELD_LOSS_KINDS:
		return encode_losses(out, NULL, pool);
	case FIELD_LOSSES:
		return encode_losses(out, (const uint64_t *)(const void *)at, pool);
	case FIELD_NUMBER:
	case FIELD_FLAG:
		for (int i = 0; i < (f->n ?: 1); i++)
			wire_put_varint(out, field_load(f, at + (size_t)i * f->size));
	}
}

static void encode_fields(struct wire_out *out, const struct layout *of, const void *entry,
			  const void *before, struct profile_strings *pool)
{
	for_each_field(f, of)
		encode_field(out, f, entry, before, pool);
}

void section_encode(struct wire_out *out, enum section_type type, const struct profile *p,
		    struct profile_strings *pool)
{
	encode_fields(out, &profile_sections[type].layout, p, NULL, pool);
}
