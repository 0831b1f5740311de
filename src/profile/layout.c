// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/layout.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"

const struct field *section_table(enum section_type type)
{
	const struct layout *layout = &profile_sections[type].layout;

	return &layout->fields[layout->n_fields - 1];
}

uint32_t section_count(const struct profile *p, enum section_type type)
{
	return list_count(section_table(type), p);
}

static const void *member(const struct field *f, const void *entry)
{
	return (const char *)entry + f->offset;
}

static void *member_of(const struct field *f, void *entry)
{
	return (char *)entry + f->offset;
}

uint64_t field_load(const struct field *f, const void *at)
{
	uint64_t v64;
	uint32_t v32;

	switch (f->size) {
	case sizeof(v64):
		memcpy(&v64, at, sizeof(v64));
		return v64;
	case sizeof(v32):
		memcpy(&v32, at, sizeof(v32));
		return v32;
	default:
		return *(const uint8_t *)at;
	}
}

void field_store(const struct field *f, void *at, uint64_t value)
{
	uint32_t v32 = value;

	switch (f->size) {
	case sizeof(value):
		memcpy(at, &value, sizeof(value));
		break;
	case sizeof(v32):
		memcpy(at, &v32, sizeof(v32));
		break;
	default:
		*(uint8_t *)at = value;
	}
}

/* Load a pointer of any type. Use memcpy(), since the object's type is not void *. */
static void *pointer_load(const void *at)
{
	void *pointer;

	memcpy(&pointer, at, sizeof(pointer));
	return pointer;
}

const char *field_string(const struct field *f, const void *entry)
{
	return pointer_load(member(f, entry));
}

static void string_store(const struct field *f, void *entry, const char *s)
{
	memcpy(member_of(f, entry), &s, sizeof(s));
}

static uint32_t *list_n(const struct field *f, const void *entry)
{
	return (uint32_t *)((char *)entry + f->n_offset);
}

static uint32_t *list_cap(const struct field *f, const void *entry)
{
	return (uint32_t *)((char *)entry + f->cap_offset);
}

uint32_t list_count(const struct field *f, const void *entry)
{
	return *list_n(f, entry);
}

void *list_at(const struct field *f, const void *entry, uint32_t i)
{
	return (char *)pointer_load(member(f, entry)) + i * f->of->size;
}

void *list_push(const struct field *f, void *entry, uint32_t most)
{
	uint32_t *n = list_n(f, entry), *cap = list_cap(f, entry);
	void *items = pointer_load(member(f, entry));

	if (*n == *cap) {
		*cap = *cap ? *cap * 2 : 8;
		if (*cap > most)
			*cap = most;
		items = alloc_resize(items, *cap, f->of->size);
		memcpy(member_of(f, entry), &items, sizeof(items));
	}
	return memset((char *)items + (*n)++ * f->of->size, 0, f->of->size);
}

void list_pop(const struct field *f, void *entry)
{
	layout_free(f->of, list_at(f, entry, --*list_n(f, entry)));
}

/* Return whether entries can be copied as bytes: they have only numbers, and no indices. */
static bool is_plain(const struct layout *of)
{
	for_each_field(f, of)
		if (f->kind >= FIELD_STRING || f->table)
			return false;
	return true;
}

void layout_free(const struct layout *of, void *entry)
{
	for_each_field(f, of) {
		if (f->kind == FIELD_PART)
			layout_free(f->of, member_of(f, entry));
		if (f->kind != FIELD_LIST)
			continue;
		while (list_count(f, entry) && !is_plain(f->of))
			list_pop(f, entry);
		free(pointer_load(member(f, entry)));
	}
}

static bool field_equal(const struct field *f, const void *a, const void *b, int keys)
{
	uint32_t n;

	switch (f->kind) {
	case FIELD_STRING:
		return same_text(field_string(f, a), field_string(f, b));
	case FIELD_LIST:
		n = list_count(f, a);
		if (n != list_count(f, b))
			return false;
		for (uint32_t i = 0; i < n; i++)
			if (!layout_equal(f->of, list_at(f, a, i), list_at(f, b, i), keys))
				return false;
		return true;
	default:
		return !memcmp(member(f, a), member(f, b), (size_t)f->size * (f->n ?: 1));
	}
}

bool layout_equal(const struct layout *of, const void *a, const void *b, int keys)
{
	for_each_field(f, of)
		if (f->key & keys && !field_equal(f, a, b, keys))
			return false;
	return true;
}

static uint64_t field_hash(const struct field *f, const void *entry)
{
	uint64_t parts[2] = { 0 };
	const char *s;

	switch (f->kind) {
	case FIELD_STRING:
		s = field_string(f, entry);
		return s ? hash_bytes(s, strlen(s)) : 0;
	case FIELD_LIST:
		for (uint32_t i = 0; i < list_count(f, entry); i++) {
			parts[1] = layout_hash(f->of, list_at(f, entry, i));
			parts[0] = hash_bytes(parts, sizeof(parts));
		}
		return parts[0];
	default:
		return f->n ? hash_bytes(member(f, entry), (size_t)f->size * f->n) :
			      field_load(f, member(f, entry));
	}
}

uint32_t layout_hash(const struct layout *of, const void *entry)
{
	uint64_t words[8];
	size_t n = 0;

	for_each_field(f, of)
		if (f->key & KEY_SAME)
			words[n++] = field_hash(f, entry);
	return hash_bytes(words, n * sizeof(*words));
}

static void field_add(const struct field *f, void *to, const void *from)
{
	uint64_t sum = field_load(f, to), more = field_load(f, from);
	double a, b;

	if (f->kind == FIELD_DOUBLE) {
		memcpy(&a, to, sizeof(a));
		memcpy(&b, from, sizeof(b));
		a += b;
		memcpy(to, &a, sizeof(a));
		return;
	}
	/* Add signed fields as unsigned: a file may have any values, and signed sums must not overflow. */
	if (f->kind == FIELD_COUNT)
		profile_count_add(&sum, more);
	else
		sum += more;
	field_store(f, to, sum);
}

void layout_merge(const struct layout *of, void *to, const void *from)
{
	for_each_field(f, of) {
		void *at = member_of(f, to);

		if (f->merge == MERGE_SUM) {
			field_add(f, at, member(f, from));
		} else if (f->merge != MERGE_KEEP) {
			uint64_t was = field_load(f, at), more = field_load(f, member(f, from));

			if ((more > was) == (f->merge != MERGE_LEAST))
				field_store(f, at, more);
		}
	}
}

static void list_transfer(const struct field *f, struct profile *dst, void *to, void *from,
			  uint32_t *const *maps)
{
	uint32_t i, n = list_count(f, from);
	char *items;

	if (maps && is_plain(f->of)) { /* layout_move() has already copied the pointer to TO */
		items = NULL;
		memcpy(member_of(f, from), &items, sizeof(items));
		*list_n(f, from) = *list_cap(f, from) = 0;
		return;
	}
	items = n ? alloc_array(n, f->of->size) : NULL;
	for (i = 0; i < n; i++)
		layout_move(f->of, dst, items + i * f->of->size, list_at(f, from, i), maps);
	memcpy(member_of(f, to), &items, sizeof(items));
	*list_n(f, to) = *list_cap(f, to) = n;
}

void layout_move(const struct layout *of, struct profile *dst, void *to, void *from,
		 uint32_t *const *maps)
{
	memcpy(to, from, of->size);
	for_each_field(f, of) {
		if (f->kind == FIELD_STRING)
			string_store(f, to, profile_intern(dst, field_string(f, from)));
		else if (f->kind == FIELD_LIST)
			list_transfer(f, dst, to, from, maps);
		else if (f->kind == FIELD_PART)
			layout_move(f->of, dst, member_of(f, to), member_of(f, from), maps);
		else if (f->table && maps && maps[f->table])
			field_store(f, member_of(f, to),
				    maps[f->table][field_load(f, member(f, from))]);
	}
}

void layout_copy(const struct layout *of, struct profile *dst, void *to, const void *from)
{
	layout_move(of, dst, to, (void *)from, NULL);
}

static const char *string_wrong(const struct field *f, const char *s)
{
	if (!s)
		return f->required ? "has an entry without a name" : NULL;
	return f->max && strnlen(s, f->max + 1) > f->max ? "has a name that is too long" : NULL;
}

static const char *list_wrong(const struct field *f, const struct profile *p, const void *entry,
			      uint64_t *sum)
{
	uint32_t i, n = list_count(f, entry);
	const char *wrong = NULL;

	if ((f->max && n > f->max) || (f->length && n != f->length(p, entry)))
		return f->wrong;
	for (i = 0; i < n && !wrong; i++)
		wrong = layout_wrong(f->of, p, list_at(f, entry, i), sum);
	return wrong;
}

static const char *number_wrong(const struct field *f, const struct profile *p, const void *entry)
{
	static const char *const missing[SECTION_LAST + 1] = {
		[SECTION_SITES] = "refers to a nonexistent site",
		[SECTION_CONTEXTS] = "refers to a nonexistent context",
		[SECTION_RUNS] = "refers to a nonexistent run",
		[SECTION_LOCATIONS] = "refers to a nonexistent location",
		[SECTION_STACKS] = "refers to a nonexistent stack",
		[SECTION_BLOCKS] = "refers to a nonexistent function",
		[SECTION_COUNTERS] = "refers to a nonexistent event",
	};
	uint64_t value;

	if (!f->table && !f->wrong)
		return NULL;
	value = field_load(f, member(f, entry));
	if (f->table)
		return value >= section_count(p, f->table) ? f->wrong ?: missing[f->table] : NULL;
	return value + f->bias > f->max ? f->wrong : NULL;
}

static const char *double_wrong(const struct field *f, const void *entry)
{
	double v;

	memcpy(&v, member(f, entry), sizeof(v));
	if (isinf(v) || (f->required && isnan(v)))
		return "has a number that is not finite";
	return f->adds && v < 0 ? "has a sum of squares below 0" : NULL;
}

/* Add the integers of a field to *SUM. Return an error if *SUM is too large. Skip doubles, whose sum cannot overflow. */
static const char *add_size(const struct field *f, const void *at, uint64_t *sum)
{
	for (int i = 0; f->adds && f->kind != FIELD_DOUBLE && i < (f->n ?: 1); i++) {
		uint64_t v = field_load(f, (const char *)at + (size_t)i * f->size);

		if (f->kind == FIELD_SIGNED && v >> 63)
			v = -v;
		if (v == PROFILE_NOT_COUNTED && f->kind >= FIELD_COUNT)
			continue;
		if (__builtin_add_overflow(*sum, v, sum) || *sum > PROFILE_TOTAL_MAX)
			return "has numbers that are too large";
	}
	return NULL;
}

const char *layout_wrong(const struct layout *of, const struct profile *p, const void *entry,
			 uint64_t *sum)
{
	const char *wrong = NULL;

	for_each_field(f, of) {
		if (f->kind == FIELD_STRING)
			wrong = string_wrong(f, field_string(f, entry));
		else if (f->kind == FIELD_LIST)
			wrong = list_wrong(f, p, entry, sum);
		else if (f->kind == FIELD_PART)
			wrong = layout_wrong(f->of, p, member(f, entry), sum);
		else if (f->kind == FIELD_DOUBLE)
			wrong = double_wrong(f, entry);
		else
			wrong = number_wrong(f, p, entry);
		wrong = wrong ?: add_size(f, member(f, entry), sum);
		if (wrong)
			return wrong;
	}
	return of->wrong ? of->wrong(p, entry) : NULL;
}

struct finder {
	const struct field *table;
	const struct profile *p;
	int keys;
};

static bool finder_equal(const void *ctx, uint32_t item, const void *key)
{
	const struct finder *finder = ctx;

	return layout_equal(finder->table->of, list_at(finder->table, finder->p, item), key,
			    finder->keys);
}

uint32_t section_find_in(const struct hash_index *index, const struct profile *p,
			 enum section_type type, const void *entry, int keys)
{
	struct finder finder = { .table = section_table(type), .p = p, .keys = keys };

	return hash_find(index, layout_hash(finder.table->of, entry), finder_equal, &finder, entry);
}

void section_index(struct hash_index *index, const struct profile *p, enum section_type type)
{
	const struct field *table = section_table(type);

	*index = (struct hash_index){ 0 };
	for (uint32_t i = 0; i < section_count(p, type); i++) {
		const void *entry = list_at(table, p, i);

		if (section_find_in(index, p, type, entry, KEY_SAME | KEY_DISTINCT) == HASH_NONE)
			hash_add(index, layout_hash(table->of, entry), i);
	}
}

uint32_t section_find(const struct profile *p, enum section_type type, const void *entry)
{
	return section_find_in(&p->lookup->of[type], p, type, entry, KEY_SAME | KEY_DISTINCT);
}

bool section_added(struct profile *p, enum section_type type)
{
	const struct field *table = section_table(type);
	uint32_t last = section_count(p, type) - 1;
	const void *entry = list_at(table, p, last);
	struct finder finder = { .table = table, .p = p, .keys = KEY_SAME | KEY_DISTINCT };

	return !(profile_sections[type].flags & TABLE_UNIQUE) ||
	       hash_find_or_add(&p->lookup->of[type], layout_hash(table->of, entry), finder_equal,
				&finder, entry, last) == last;
}

uint32_t section_add(struct profile *p, enum section_type type, const void *entry)
{
	const struct field *table = section_table(type);

	layout_copy(table->of, p, list_push(table, p, UINT32_MAX), entry);
	if (profile_sections[type].flags & TABLE_UNIQUE)
		hash_add(&p->lookup->of[type], layout_hash(table->of, entry),
			 section_count(p, type) - 1);
	return section_count(p, type) - 1;
}

uint32_t section_find_or_add(struct profile *p, enum section_type type, const void *entry)
{
	uint32_t found = section_find(p, type, entry);

	return found == HASH_NONE ? section_add(p, type, entry) : found;
}
