/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections of a data file (docs/internals/file-format.md) and their content. Only files of profile/ include this. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "profile/layout.h"
#include "profile/profile.h"
#include "profile/file/wire.h"

#define FILE_MAGIC      "\x8bKPERF\r\n"
#define FILE_MAGIC_OLD  "\x8bKPROT\r\n" /* magic number before version 1 */
#define FILE_MAGIC_SIZE 8
#define FILE_VERSION    2 /* older versions are not read */
#define FILE_BYTE_ORDER 0x01020304
/* Magic number, u32 version, u32 byte order mark. */
#define FILE_HEADER_SIZE (FILE_MAGIC_SIZE + 4 + 4)

/* u32 type, u32 flags, u64 raw length, u64 stored length, u32 CRC-32 of these 24 bytes and the content. */
#define SECTION_HEADER_SIZE  28
#define SECTION_CHECKED_SIZE 24

#define SECTION_FLAG_OPTIONAL 1 /* readers skip an unknown section with this flag */

/*
 * Limits that no real file reaches. A file may take FILE_MEMORY_FREE + FILE_MEMORY_FACTOR * its size bytes of memory. A section
 * may decompress to SECTION_RATIO_MAX times its stored size, or to SECTION_RAW_FREE bytes. profile/fields.c limits the tables.
 */
#define FILE_MEMORY_FREE   ((uint64_t)64 << 20)
#define FILE_MEMORY_FACTOR 128
#define SECTION_RAW_FREE   ((uint64_t)1 << 20)
#define SECTION_RATIO_MAX  100
/* Maximum ratio in written files: short entries take eight times their raw size in memory, and FILE_MEMORY_FACTOR is 8 * 16. */
#define SECTION_RATIO_WRITTEN 16
#define FILE_LOSSES_MAX       1024

/* Return whether a file may omit the section TYPE. Files omit such a section if it has no entries. */
static inline bool section_may_lack(enum section_type type)
{
	return type <= SECTION_LAST && profile_sections[type].flags & TABLE_OPTIONAL;
}

static inline uint32_t section_flags(enum section_type type)
{
	return section_may_lack(type) ? SECTION_FLAG_OPTIONAL : 0;
}

/* Return whether RAW is at most MOST times STORED, or at most SECTION_RAW_FREE (always allowed). */
static inline bool section_ratio_ok(uint64_t raw, uint64_t stored, uint64_t most)
{
	return raw <= SECTION_RAW_FREE || raw / most <= stored;
}

/* Write the section TYPE to OUT and add its strings to POOL. For SECTION_STRINGS call section_encode_strings(). */
void section_encode(struct wire_out *out, enum section_type type, const struct profile *p,
		    struct profile_strings *pool);
void section_encode_strings(struct wire_out *out, const struct profile_strings *pool);

struct section_decoder {
	struct profile *p;
	vec_of(const char *, strings); /* the file's strings, by number; P owns them */
	enum profile_loss losses[FILE_LOSSES_MAX]; /* the file's kinds of loss, by number */
	uint32_t n_losses;
	const char *unknown_loss; /* name of a kind of loss that is unknown here, or NULL */
};

/* Add the section's content to D->p. Set IN->error if the content is wrong. */
void section_decode(struct wire_in *in, enum section_type type, struct section_decoder *d);

/* Return NULL, or the message for an error in the section TYPE of P. Writers call this, so that every file can be read. */
static inline const char *section_wrong(enum section_type type, const struct profile *p)
{
	uint64_t sum = 0;

	return layout_wrong(&profile_sections[type].layout, p, p, &sum);
}
