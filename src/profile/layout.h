/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptions of the structs of profile.h: fields.c has one line per field. Generic functions use these descriptions to free,
 * compare, merge, check, write and read entries. Only files of profile/ include this.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "profile/profile.h"

/* The sections of a profile, in the order of the file. A section refers only to entries of earlier sections. */
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
	SECTION_END = 0x7fffffff, /* the empty section at the end of every file */
};

enum field_kind {
	FIELD_NUMBER, /* unsigned, 1, 4 or 8 bytes */
	FIELD_SIGNED, /* int64_t */
	FIELD_COUNT, /* uint64_t; PROFILE_NOT_COUNTED is allowed */
	FIELD_DOUBLE,
	FIELD_FLAG, /* bool */
	FIELD_STEP, /* ascending uint32_t; the file has the difference to the previous entry's */
	FIELD_STRING,
	FIELD_LIST, /* a growing array (vec_push()) of structs, described by OF */
	FIELD_PART, /* an embedded struct, described by OF */
	FIELD_LOSS_KINDS, /* names of the kinds of loss, for FIELD_LOSSES; only in files */
	FIELD_LOSSES, /* counts of lost data in a run, indexed by enum profile_loss */
};

/* Rules for merging a field of two equal entries. */
enum field_merge {
	MERGE_KEEP,
	MERGE_SUM, /* sum; a FIELD_COUNT is NOT_COUNTED only if both are NOT_COUNTED */
	MERGE_LEAST,
	MERGE_MOST,
};

/* Fields that are compared to find equal entries. */
enum field_key {
	KEY_SAME = 1, /* the fields that identify an entry */
	KEY_DISTINCT = 2, /* further fields that must be equal before two entries are merged */
};

struct layout;

struct field {
	enum field_kind kind;
	enum field_merge merge;
	uint8_t key; /* enum field_key */
	bool required; /* a string must not be NULL, a double not NAN */
	bool adds; /* limit the field's sum over a section to PROFILE_TOTAL_MAX */
	uint16_t n; /* number of elements if the field is an array, else 0 */
	uint16_t size; /* size of the member, or of one array element, in bytes */
	size_t offset, n_offset, cap_offset; /* offsets of the member, a list's n_ and cap_ */
	enum section_type table; /* table that the field is an index of; 0: no index */
	/*
	 * MAX is the maximum of a number, of a string's length or of a list's length. WRONG is the error message for a larger
	 * value, or for an index without an entry. Numbers without WRONG, and strings and lists with MAX 0, have no limit.
	 */
	uint64_t max, bias; /* BIAS is added before the check, for signed addresses */
	const char *wrong;
	const struct layout *of;
	/* Return the length of a list whose length the file does not store; LIST_UNKNOWN: error. NULL: the file has it. */
	uint32_t (*length)(const struct profile *p, const void *entry);
};

/* Limits of basic blocks. `record` uses 4,096 probes at most, one per two blocks. A fork executes 15,000 blocks. */
#define BLOCKS_MAX     16384
#define FUNCTIONS_MAX  8192
#define ALL_BLOCKS_MAX 131072
#define ALL_COUNTS_MAX (1 << 21) /* number of counts: one per block and context */

#define LIST_UNKNOWN UINT32_MAX

/* Limit of the sum of a section's numbers, 146 years in ns. Adding or subtracting two such sums does not overflow. */
#define PROFILE_TOTAL_MAX (1ull << 62)

struct layout {
	size_t size; /* size of an entry in memory, in bytes */
	const struct field *fields; /* fields in the order of the file */
	size_t n_fields;
	/* Check an entry whose fields are all valid: return NULL or the error message. If WRONG is NULL, the entry is valid. */
	const char *(*wrong)(const struct profile *p, const void *entry);
};

enum section_flag {
	TABLE_UNIQUE = 1, /* no two entries are equal; section_find() finds entries by P->lookup */
	/* A file omits the section if it has no entries. */
	TABLE_OPTIONAL = 2,
};

struct profile_section {
	const char *name; /* section's name in messages */
	int flags; /* enum section_flag */
	struct layout layout; /* fields in struct profile; the last one is the list of entries */
};

extern const struct profile_section profile_sections[SECTION_LAST + 1];
extern const struct layout layout_frame, layout_report, layout_stats;

#define for_each_section(type) \
	for (enum section_type type = SECTION_STRINGS + 1; type <= SECTION_LAST; type++)

#define for_each_field(f, layout)                                                                 \
	for (const struct field *f = (layout)->fields; f < (layout)->fields + (layout)->n_fields; \
	     f++)

/* Return the table of section TYPE: the description of a list in struct profile. */
const struct field *section_table(enum section_type type);
uint32_t section_count(const struct profile *p, enum section_type type);

/* Load or store the number or flag of field F at address AT, as unsigned. */
uint64_t field_load(const struct field *f, const void *at);
void field_store(const struct field *f, void *at, uint64_t value);
const char *field_string(const struct field *f, const void *entry);

uint32_t list_count(const struct field *f, const void *entry);
void *list_at(const struct field *f, const void *entry, uint32_t i);
/* Append an entry of zeros and return it. The list's capacity never exceeds MOST entries. */
void *list_push(const struct field *f, void *entry, uint32_t most);
void list_pop(const struct field *f, void *entry);

/* Free the memory that ENTRY owns, but not ENTRY itself. */
void layout_free(const struct layout *of, void *entry);
bool layout_equal(const struct layout *of, const void *a, const void *b, int key);
/* Return a hash of the KEY_SAME fields. Equal entries of two profiles have the same hash: strings are hashed by their text. */
uint32_t layout_hash(const struct layout *of, const void *entry);
/* Merge FROM into TO field by field. The lists of TO stay unchanged. */
void layout_merge(const struct layout *of, void *to, const void *from);
/* Set TO, an entry of DST, to a copy of FROM, an entry of any profile. */
void layout_copy(const struct layout *of, struct profile *dst, void *to, const void *from);
/*
 * Copy like layout_copy(), but replace each index into a table by MAPS[table][index]. Lists of numbers are moved, not copied: then
 * only layout_free() may use FROM. If MAPS is NULL, copy all lists.
 */
void layout_move(const struct layout *of, struct profile *dst, void *to, void *from,
		 uint32_t *const *maps);
/* Return NULL, or the error message for ENTRY, such as an unknown kind. Add the values of fields with ADDS to *SUM. */
const char *layout_wrong(const struct layout *of, const struct profile *p, const void *entry,
			 uint64_t *sum);

/* Hash tables to find the entries of sections with TABLE_UNIQUE. */
struct profile_lookup {
	struct hash_index of[SECTION_LAST + 1];
};

/* Fill INDEX with the entries of P's table of TYPE. INDEX has only the first of several equal entries. */
void section_index(struct hash_index *index, const struct profile *p, enum section_type type);
/* Return the entry of P's table of TYPE that equals ENTRY in the fields of KEYS (enum field_key), found by INDEX, or HASH_NONE. */
uint32_t section_find_in(const struct hash_index *index, const struct profile *p,
			 enum section_type type, const void *entry, int keys);
/* Return the entry of a TABLE_UNIQUE section that equals ENTRY in all key fields, or HASH_NONE. */
uint32_t section_find(const struct profile *p, enum section_type type, const void *entry);
/* Append a copy of ENTRY and return its index. A TABLE_UNIQUE section must not have an equal entry. */
uint32_t section_add(struct profile *p, enum section_type type, const void *entry);
/* Return the index of the entry of a TABLE_UNIQUE section that equals ENTRY. If there is none, add a copy of ENTRY. */
uint32_t section_find_or_add(struct profile *p, enum section_type type, const void *entry);
/* Tell section_find() of the table's last entry. Return false if the section is TABLE_UNIQUE and already has an equal entry. */
bool section_added(struct profile *p, enum section_type type);
