/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers as bytes: little-endian whatever the machine, whole numbers mostly as varints (7 bits a
 * byte, the low ones first, the top bit set on all but the last byte). Internal to profile/.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#define WIRE_VARINT_MAX 10 /* bytes */

uint32_t wire_load32(const unsigned char *at);
uint64_t wire_load64(const unsigned char *at);
void wire_store32(unsigned char *at, uint32_t v);
void wire_store64(unsigned char *at, uint64_t v);

/* A zlib stream being written: only the compressed bytes are kept. */
struct wire_out {
	z_stream zlib;
	unsigned char *stored; /* the compressed bytes */
	size_t n_stored, cap_stored;
	uint64_t raw; /* number of bytes written to the stream so far, before compression */
	size_t n_pending;
	unsigned char pending[(size_t)32 << 10];
};

/* STRATEGY is one of zlib's. */
void wire_out_init(struct wire_out *out, int strategy);
/* Ends the stream: stored and n_stored are complete. */
void wire_out_finish(struct wire_out *out);
void wire_out_deinit(struct wire_out *out);

void wire_put(struct wire_out *out, const void *bytes, size_t n);
void wire_put_varint(struct wire_out *out, uint64_t v);
/* A number that may be negative: 0, -1, 1, -2, … become the varints 0, 1, 2, 3, … */
void wire_put_signed(struct wire_out *out, int64_t v);
void wire_put_double(struct wire_out *out, double v); /* all 64 bits, NANs too */
/* A count that may be PROFILE_NOT_COUNTED, which takes one byte. */
void wire_put_count(struct wire_out *out, uint64_t v);

/* Bytes being decoded. The first error sets ERROR and moves AT to END. All later gets return 0, so loops may check ERROR rarely. */
struct wire_in {
	const unsigned char *at, *end;
	uint64_t room; /* bytes of memory that decoded data may still take */
	const char *error; /* the message for a fault, or NULL */
};

void wire_fail(struct wire_in *in, const char *error);
/* Take SIZE bytes of ROOM. False: there are fewer, or there was an error before. */
bool wire_take(struct wire_in *in, uint64_t size);
const unsigned char *wire_get(struct wire_in *in, size_t n); /* NULL where there are less than N */
uint64_t wire_get_varint(struct wire_in *in);
uint32_t wire_get_u32(struct wire_in *in); /* a varint */
int64_t wire_get_signed(struct wire_in *in);
double wire_get_double(struct wire_in *in);
uint64_t wire_get_count(struct wire_in *in);
/* Return the number of entries of at least ENTRY_SIZE bytes that follow, never more than there are bytes for. */
uint32_t wire_get_n(struct wire_in *in, size_t entry_size);
