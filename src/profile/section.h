/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sections of a data file (docs/file-format.md) and what each of them holds. Internal to
 * profile/.
 */
#ifndef KPROTPERF_PROFILE_SECTION_H
#define KPROTPERF_PROFILE_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/strings.h"
#include "profile/wire.h"

#define FILE_MAGIC      "\x8bKPROT\r\n"
#define FILE_MAGIC_SIZE 8
#define FILE_VERSION    8
#define FILE_BYTE_ORDER 0x01020304
/* magic, u32 version, u32 byte order mark */
#define FILE_HEADER_SIZE (FILE_MAGIC_SIZE + 4 + 4)

/* u32 type, u32 flags, u64 raw length, u64 stored length, u32 CRC-32 of those 24 and the payload */
#define SECTION_HEADER_SIZE  28
#define SECTION_CHECKED_SIZE 24

#define SECTION_FLAG_OPTIONAL 1 /* a reader that does not know the type skips it */

/*
 * What no real file exceeds, and no hostile one may: the memory needed to read a file is bounded
 * by these and by the file's own size.
 */
#define FILE_RAW_MAX      ((uint64_t)256 << 20) /* all sections, decompressed */
#define SECTION_RAW_FREE  ((uint64_t)1 << 20) /* a section so small may have any ratio */
#define SECTION_RATIO_MAX 100
#define FILE_ENVS_MAX     4096
#define FILE_LOSSES_MAX   1024
#define FILE_RUNS_MAX     ((uint32_t)1 << 20)
#define FILE_FRAMES_MAX   1024 /* at one address */
#define FILE_BLOCKS_MAX   1024 /* functions whose blocks are counted */

/*
 * In the order in which they are in the file, each exactly once: what a section refers to is in
 * those before it.
 */
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
	SECTION_PATHS,
	SECTION_TURNS,
	SECTION_LAST = SECTION_TURNS,
	SECTION_END = 0x7fffffff, /* empty, the last in every file */
};

/* Whether STORED bytes may be said to decompress to RAW ones. */
static inline bool section_ratio_ok(uint64_t raw, uint64_t stored)
{
	return raw <= SECTION_RAW_FREE || raw / SECTION_RATIO_MAX <= stored;
}

/* "cells"; NULL where TYPE is not known. */
const char *section_name(uint32_t type);

/* Puts the section's content (not STRINGS) and adds the strings it uses to POOL. */
void section_encode(struct wire_out *out, enum section_type type, const struct profile *p,
		    struct profile_strings *pool);
/* The content of STRINGS. */
void section_encode_strings(struct wire_out *out, const struct profile_strings *pool);

/* What is decoded so far. */
struct section_decoder {
	struct profile *p;
	const char **strings; /* the file's, by number, owned by p */
	uint32_t n_strings, cap_strings;
	const char *unknown_loss; /* a kind of loss that this version has no name for, or NULL */
};

/* Adds the content to D->p. Sets IN->error where there is something wrong with it. */
void section_decode(struct wire_in *in, enum section_type type, struct section_decoder *d);

/*
 * NULL, or what is wrong with that part of the profile: an index without an entry, an unknown kind.
 * Asked before writing as well, so that no file is written that cannot be read.
 */
const char *section_check(enum section_type type, const struct profile *p);

#endif
