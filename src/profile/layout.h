/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptions of the structs of profile.h: fields.c has one line for each field. The generic functions that free, compare, merge,
 * check, write and read entries use these descriptions. Internal to profile/.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "profile/profile.h"

/* The parts of a profile, in the order in which they are in a file: a section refers only to sections before it. */
enum section_type {
	SECTION_STRINGS = 1,
	SECTION_RECORDING,
	SECTION_ENVIRONMENT,
	SECTION_SITES,
	SECTION_CONTEXTS,
	SECTION_RUNS,
	SECTION_CELLS,
	SECTION_LOCATIONS,
	SECTION_STACKS,
	SECTION_SAMPLES,
	SECTION_BLOCKS,
	SECTION_BLOCK_COUNTS,
	SECTION_COSTS,
	SECTION_EDGES,
	SECTION_TRACES,
	SECTION_MISSES,
	SECTION_EXECUTIONS,
	SECTION_OBJECTS,
	SECTION_VARIABLES,
	SECTION_CAPTURES,
	SECTION_CONDITIONS,
	SECTION_NAMES,
	SECTION_COUNTERS,
	SECTION_COUNTED,
	SECTION_COUNTER_COSTS,
	SECTION_LAST = SECTION_COUNTER_COSTS,
	SECTION_END = 0x7fffffff, /* empty, the last in every file */
};

enum field_kind {
	FIELD_NUMBER, /* unsigned, of 1, 4 or 8 bytes */
	FIELD_SIGNED, /* int64_t */
	FIELD_COUNT, /* uint64_t that may be PROFILE_NOT_COUNTED */
	FIELD_DOUBLE,
	FIELD_FLAG, /* bool */
	FIELD_STEP, /* uint32_t that ascends in its list: written as the difference to the entry before */
	FIELD_STRING,
	FIELD_LIST, /* a growing array (vec_push()) of entries of layout OF */
	FIELD_PART, /* a struct of layout OF */
	FIELD_LOSS_KINDS, /* in the file only: names of the losses, in the order of FIELD_LOSSES */
	FIELD_LOSSES, /* a run's losses, indexed by enum profile_loss */
};

/* The treatment of a field when an entry is merged into an equal one. */
enum field_merge {
	MERGE_KEEP,
	MERGE_SUM, /* a FIELD_COUNT stays NOT_COUNTED only if both are NOT_COUNTED */
	MERGE_LEAST,
	MERGE_MOST,
};

/* The fields that make two entries equal. */
enum field_key {
	KEY_SAME = 1, /* fields that identify an entry */
	KEY_DISTINCT = 2, /* further fields that must be equal before two such entries are merged */
};

struct layout;

struct field {
	enum field_kind kind;
	enum field_merge merge;
	uint8_t key; /* enum field_key */
	bool required; /* a string: not NULL. A double: not NAN */
	bool adds; /* counts towards PROFILE_TOTAL_MAX, the limit of the sum over all of a section's entries */
	uint16_t n; /* an array: number of its elements; else 0 */
	uint16_t size; /* bytes of the member, or of one element, in memory */
	size_t offset, n_offset, cap_offset; /* a list: offsets of its number and capacity too */
	enum section_type table; /* the field is an index into this table; 0: no index */
	/*
	 * MAX is the maximum of a number, of a string's length or of a list's length. WRONG is the message for a larger value,
	 * or for an index without an entry. Numbers without WRONG, and strings and lists with MAX 0, have no limit.
	 */
	uint64_t max, bias; /* BIAS is added before the check: addresses are signed */
	const char *wrong;
	const struct layout *of;
	/* Return the length of a list whose length is not in the file; LIST_UNKNOWN: error. NULL: the length is in the file. */
	uint32_t (*length)(const struct profile *p, const void *entry);
};

/* Limits of blocks. record uses at most 4,096 probes, about one per two blocks. The emulator counts 15,000 blocks in a fork. */
#define BLOCKS_MAX     16384
#define FUNCTIONS_MAX  8192
#define ALL_BLOCKS_MAX 131072
#define ALL_COUNTS_MAX (1 << 21) /* counts of all blocks in all contexts together */

#define LIST_UNKNOWN UINT32_MAX

/* Limit of sums over a section's entries, so that sums and differences of two do not overflow: 146 years in ns. */
#define PROFILE_TOTAL_MAX (1ull << 62)

struct layout {
	size_t size; /* bytes of an entry in memory */
	const struct field *fields; /* in the file's order */
	size_t n_fields;
	/* Return the message for an invalid entry whose fields are each valid, or NULL. No function: all such entries are valid. */
	const char *(*wrong)(const struct profile *p, const void *entry);
};

enum section_flag {
	TABLE_UNIQUE =
		1, /* no two entries are equal: section_find() finds them through P->lookup */
	/* A file without entries lacks the section. */
	TABLE_OPTIONAL = 2,
};

struct profile_section {
	const char *name; /* section name in messages */
	int flags; /* enum section_flag */
	struct layout layout; /* its fields in struct profile; the last one is its table */
};

extern const struct profile_section profile_sections[SECTION_LAST + 1];
extern const struct layout layout_frame, layout_report, layout_stats;

#define for_each_section(type) \
	for (enum section_type type = SECTION_STRINGS + 1; type <= SECTION_LAST; type++)

#define for_each_field(f, layout)                                                                 \
	for (const struct field *f = (layout)->fields; f < (layout)->fields + (layout)->n_fields; \
	     f++)

/* Return the table of TYPE: a list in struct profile. */
const struct field *section_table(enum section_type type);
/* Return the number of entries of P's table of TYPE. */
uint32_t section_count(const struct profile *p, enum section_type type);

/* Load or store a number or flag of F's size at AT, as unsigned. */
uint64_t field_load(const struct field *f, const void *at);
void field_store(const struct field *f, void *at, uint64_t value);
const char *field_string(const struct field *f, const void *entry);

uint32_t list_count(const struct field *f, const void *entry);
/* Return entry number I of the list F of ENTRY. */
void *list_at(const struct field *f, const void *entry, uint32_t i);
/* Append an entry, all 0, and return it; never make room for more than MOST entries. */
void *list_push(const struct field *f, void *entry, uint32_t most);
/* Free and remove the last entry. */
void list_pop(const struct field *f, void *entry);

/* Frees what ENTRY owns, not ENTRY itself. */
void layout_free(const struct layout *of, void *entry);
bool layout_equal(const struct layout *of, const void *a, const void *b, int key);
/* Return a hash of the KEY_SAME fields. Strings are hashed by their text, so entries of two profiles compare. */
uint32_t layout_hash(const struct layout *of, const void *entry);
/* Merge FROM into TO, field by field; TO keeps its lists. */
void layout_merge(const struct layout *of, void *to, const void *from);
/* Makes TO, in DST, a copy of FROM, which may be another profile's. */
void layout_copy(const struct layout *of, struct profile *dst, void *to, const void *from);
/*
 * Do as layout_copy(), but replace each index into a table by MAPS[table][index]. Lists of numbers are moved, not copied:
 * afterwards only layout_free() may use FROM. If MAPS is NULL, copy all.
 */
void layout_move(const struct layout *of, struct profile *dst, void *to, void *from,
		 uint32_t *const *maps);
/* Return NULL, or the message for what is wrong with ENTRY, such as an unknown kind. Add its fields with ADDS to *SUM. */
const char *layout_wrong(const struct layout *of, const struct profile *p, const void *entry,
			 uint64_t *sum);

/* Indexes of the entries of unique tables. */
struct profile_lookup {
	struct hash_index of[SECTION_LAST + 1];
};

/* Set INDEX to the entries of P's table of TYPE. Of equal entries, INDEX has only the first. */
void section_index(struct hash_index *index, const struct profile *p, enum section_type type);
/* Return the entry of P's table of TYPE, by INDEX, that equals ENTRY in the fields of KEYS (enum field_key); or HASH_NONE. */
uint32_t section_find_in(const struct hash_index *index, const struct profile *p,
			 enum section_type type, const void *entry, int keys);
/* Return the entry of a unique table that equals ENTRY in all key fields, or HASH_NONE. */
uint32_t section_find(const struct profile *p, enum section_type type, const void *entry);
/* Appends a copy of ENTRY with its lists and strings; returns its index. A unique table must not have an equal one. */
uint32_t section_add(struct profile *p, enum section_type type, const void *entry);
/* Return the index of the entry of a unique table that equals ENTRY. If there is none, add a copy of ENTRY. */
uint32_t section_find_or_add(struct profile *p, enum section_type type, const void *entry);
/* Add the last entry, whose fields are set, to section_find(). Return false if the table is unique and has an equal entry. */
bool section_added(struct profile *p, enum section_type type);
