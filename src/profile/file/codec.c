// SPDX-License-Identifier: GPL-2.0-or-later
/* Decoding checks only the encoding. layout_wrong() then checks the values of a decoded section (indices, kinds, order). */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "profile/file/section.h"

static void decode_fields(struct wire_in *in, const struct section_decoder *d,
			  const struct layout *of, void *entry, const void *before);

static const char *get_string(struct wire_in *in, const struct section_decoder *d)
{
	uint64_t number = wire_get_varint(in);

	if (number > d->n_strings) {
		wire_fail(in, "refers to a nonexistent string");
		return NULL;
	}
	return number ? d->strings[number - 1] : NULL;
}

/* Bytes of memory for a string besides its text, including its entry in the hash table. */
#define STRING_MEMORY 48

static void decode_strings(struct wire_in *in, struct section_decoder *d)
{
	uint32_t i, n = wire_get_n(in, 1);

	for (i = 0; i < n; i++) {
		uint64_t len = wire_get_varint(in);
		const char *bytes = (const char *)wire_get(in, len);

		if (!bytes || !wire_take(in, len + STRING_MEMORY))
			return;
		if (memchr(bytes, '\0', len))
			return wire_fail(in, "has a string with a NUL inside");
		vec_push(d, strings,
			 profile_strings_get(d->p->strings,
					     profile_strings_add(d->p->strings, bytes, len)));
	}
}

/* Return the minimum size of an entry in the file, in bytes. */
static size_t least_size(const struct layout *of)
{
	size_t size = 0;

	for_each_field(f, of) {
		if (f->length || f->kind == FIELD_LOSSES)
			continue;
		if (f->kind == FIELD_PART)
			size += least_size(f->of);
		else
			size += f->kind == FIELD_DOUBLE ? 8 : f->n ?: 1;
	}
	return size;
}

static uint32_t decode_length(struct wire_in *in, const struct section_decoder *d,
			      const struct field *f, const void *entry)
{
	size_t size = least_size(f->of);
	uint32_t n;

	if (!f->length) {
		n = wire_get_n(in, size);
		if (f->max && n > f->max)
			wire_fail(in, f->wrong);
		return n;
	}
	n = f->length(d->p, entry);
	if (n == LIST_UNKNOWN)
		wire_fail(in, f->wrong);
	else if (size && n > (size_t)(in->end - in->at) / size)
		wire_fail(in, "ends in the middle of an entry");
	return n;
}

static void decode_list(struct wire_in *in, const struct section_decoder *d, const struct field *f,
			void *entry)
{
	uint32_t i, n = decode_length(in, d, f, entry);

	for (i = 0; i < n && wire_take(in, f->of->size); i++) {
		void *item = list_push(f, entry, n);

		decode_fields(in, d, f->of, item, i ? list_at(f, entry, i - 1) : NULL);
	}
}

/* Decode the entries of a section's table. A table with TABLE_UNIQUE must not have equal entries. */
static void decode_table(struct wire_in *in, const struct section_decoder *d,
			 enum section_type type)
{
	const struct field *table = section_table(type);
	uint32_t i, n = decode_length(in, d, table, d->p);

	/* Remove the entries of a new profile (site 0), since the file contains them, too. */
	while (section_count(d->p, type))
		list_pop(table, d->p);
	for (i = 0; i < n && wire_take(in, table->of->size + sizeof(struct hash_slot)); i++) {
		decode_fields(in, d, table->of, list_push(table, d->p, n), NULL);
		if (in->error)
			break;
		if (!section_added(d->p, type))
			wire_fail(in, "has the same entry twice");
		if (log_progress_due())
			log_progress("reading: %u of %u %s", i, n, profile_sections[type].name);
	}
}

static enum profile_loss loss_by_key(const char *key)
{
	enum profile_loss loss;

	for (loss = 0; loss < PROFILE_N_LOSSES; loss++)
		if (!strcmp(profile_loss_key(loss), key))
			break;
	return loss;
}

static void decode_loss_kinds(struct wire_in *in, struct section_decoder *d)
{
	uint32_t i, n = wire_get_n(in, 1);

	if (n > FILE_LOSSES_MAX)
		return wire_fail(in, "has too many kinds of losses");
	for (i = 0; i < n; i++) {
		const char *key = get_string(in, d);

		if (!key)
			return wire_fail(in, "has a kind of loss without a name");
		d->losses[i] = loss_by_key(key);
		if (d->losses[i] == PROFILE_N_LOSSES)
			d->unknown_loss = key;
	}
	d->n_losses = n;
}

static void decode_losses(struct wire_in *in, const struct section_decoder *d, uint64_t *losses)
{
	for (uint32_t i = 0; i < PROFILE_N_LOSSES; i++)
		losses[i] = PROFILE_NOT_COUNTED;
	for (uint32_t i = 0; i < d->n_losses; i++) {
		uint64_t count = wire_get_count(in);

		if (d->losses[i] < PROFILE_N_LOSSES)
			losses[d->losses[i]] = count;
	}
}

static uint64_t decode_number(struct wire_in *in, const struct field *f)
{
	uint64_t v;

	switch (f->kind) {
	case FIELD_SIGNED:
		return (uint64_t)wire_get_signed(in);
	case FIELD_COUNT:
		return wire_get_count(in);
	case FIELD_FLAG:
		v = wire_get_u32(in);
		if (v > 1)
			wire_fail(in, "has a flag that is neither 0 nor 1");
		return v;
	default:
		if (f->size == sizeof(v))
			return wire_get_varint(in);
		v = wire_get_u32(in);
		if (v >> (8 * f->size))
			wire_fail(in, "has a number that is too large");
		return v;
	}
}

/* BEFORE is the previous entry in the list, or NULL. */
static void decode_field(struct wire_in *in, const struct section_decoder *d, const struct field *f,
			 void *entry, const void *before)
{
	char *at = (char *)entry + f->offset;
	const char *s;
	double v;

	switch (f->kind) {
	case FIELD_DOUBLE:
		v = wire_get_double(in);
		memcpy(at, &v, sizeof(v));
		return;
	case FIELD_STRING:
		s = get_string(in, d);
		memcpy(at, &s, sizeof(s));
		return;
	case FIELD_LIST:
		return decode_list(in, d, f, entry);
	case FIELD_PART:
		return decode_fields(in, d, f->of, at, NULL);
	case FIELD_LOSSES:
		return decode_losses(in, d, (uint64_t *)(void *)at);
	case FIELD_STEP:
		/* If the sum overflows, the order is not ascending, and layout_wrong() refuses the file. */
		field_store(f, at,
			    wire_get_u32(in) +
				    (before ? field_load(f, (const char *)before + f->offset) : 0));
		return;
	default:
		for (int i = 0; i < (f->n ?: 1); i++)
			field_store(f, at + (size_t)i * f->size, decode_number(in, f));
	}
}

static void decode_fields(struct wire_in *in, const struct section_decoder *d,
			  const struct layout *of, void *entry, const void *before)
{
	for_each_field(f, of)
		decode_field(in, d, f, entry, before);
}

void section_decode(struct wire_in *in, enum section_type type, struct section_decoder *d)
{
	if (type == SECTION_STRINGS)
		decode_strings(in, d);
	for_each_field(f, &profile_sections[type].layout) {
		if (f->kind == FIELD_LOSS_KINDS)
			decode_loss_kinds(in, d);
		else if (f == section_table(type))
			decode_table(in, d, type);
		else
			decode_field(in, d, f, d->p, NULL);
	}
	if (!in->error && in->at != in->end)
		wire_fail(in, "has more bytes than entries");
}

/* ---- encode ---- */

static void encode_fields(struct wire_out *out, const struct layout *of, const void *entry,
			  const void *before, struct profile_strings *pool);

/* Write a string as a number: 0 for NULL, else 1 + its index in the section of strings. */
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

/* BEFORE is the previous entry in the list, or NULL. */
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
