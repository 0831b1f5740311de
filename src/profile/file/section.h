/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sections of a data file (docs/internals/file-format.md) and what each of them holds. Internal to
 * profile/.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "profile/layout.h"
#include "profile/profile.h"
#include "profile/file/wire.h"

#define FILE_MAGIC      "\x8bKPERF\r\n"
#define FILE_MAGIC_OLD  "\x8bKPROT\r\n" /* before version 1 */
#define FILE_MAGIC_SIZE 8
#define FILE_VERSION    2 /* no older one is read */
#define FILE_BYTE_ORDER 0x01020304
/* magic, u32 version, u32 byte order mark */
#define FILE_HEADER_SIZE (FILE_MAGIC_SIZE + 4 + 4)

/* u32 type, u32 flags, u64 raw length, u64 stored length, u32 CRC-32 of those 24 and the payload */
#define SECTION_HEADER_SIZE  28
#define SECTION_CHECKED_SIZE 24

#define SECTION_FLAG_OPTIONAL 1 /* a reader that does not know the type skips it */

/*
 * Limits that no real file reaches. The size of a file limits the memory for it (FILE_MEMORY_*), and the stored size of a section
 * limits its decompressed size (SECTION_*). profile/fields.c limits the tables.
 */
#define FILE_MEMORY_FREE   ((uint64_t)64 << 20) /* any file may take this many bytes of memory */
#define FILE_MEMORY_FACTOR 128
#define SECTION_RAW_FREE   ((uint64_t)1 << 20) /* any section may have this many bytes */
#define SECTION_RATIO_MAX  100
/* Writers stay well below the limit: a short entry takes eight times as many bytes in memory as in the file. */
#define SECTION_RATIO_WRITTEN 16
#define FILE_LOSSES_MAX       1024

/* Return whether a file may lack the section TYPE, which it does if there are no entries. */
static inline bool section_may_lack(enum section_type type)
{
	return type <= SECTION_LAST && profile_sections[type].flags & TABLE_OPTIONAL;
}

/* The flags of a section in the file. */
static inline uint32_t section_flags(enum section_type type)
{
	return section_may_lack(type) ? SECTION_FLAG_OPTIONAL : 0;
}

/* Return whether STORED bytes may claim to decompress to RAW bytes, at most MOST times as many. */
static inline bool section_ratio_ok(uint64_t raw, uint64_t stored, uint64_t most)
{
	return raw <= SECTION_RAW_FREE || raw / most <= stored;
}

/* Write the content of the section TYPE to OUT (STRINGS: by section_encode_strings()), and add the strings it uses to POOL. */
void section_encode(struct wire_out *out, enum section_type type, const struct profile *p,
		    struct profile_strings *pool);
void section_encode_strings(struct wire_out *out, const struct profile_strings *pool);

/* The state of decoding. */
struct section_decoder {
	struct profile *p;
	vec_of(const char *, strings); /* the file's strings, by number; owned by P */
	enum profile_loss losses[FILE_LOSSES_MAX]; /* the file's kinds; N_LOSSES: not known here */
	uint32_t n_losses;
	const char *unknown_loss; /* a kind of loss that this version has no name for, or NULL */
};

/* Adds the content to D->p. Sets IN->error where there is something wrong with it. */
void section_decode(struct wire_in *in, enum section_type type, struct section_decoder *d);

/*
 * Return NULL, or the message for an error in the section TYPE of P: an index without an entry, an unknown kind. Checked before
 * writing too, so that every written file can be read.
 */
static inline const char *section_wrong(enum section_type type, const struct profile *p)
{
	uint64_t sum = 0;

	return layout_wrong(&profile_sections[type].layout, p, p, &sum);
}
