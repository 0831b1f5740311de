/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encode numbers as bytes, little-endian on every machine. Most integers are varints: 7 bits per byte, the lowest first,
 * the top bit set in all bytes but the last. Only files of profile/ include this.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#define WIRE_VARINT_MAX 10 /* maximum length in bytes */

uint32_t wire_load32(const unsigned char *at);
uint64_t wire_load64(const unsigned char *at);
void wire_store32(unsigned char *at, uint32_t v);
void wire_store64(unsigned char *at, uint64_t v);

/* A zlib stream that is being written. Only the compressed bytes are kept. */
struct wire_out {
	z_stream zlib;
	unsigned char *stored; /* compressed bytes */
	size_t n_stored, cap_stored;
	uint64_t raw; /* number of bytes written so far, before compression */
	size_t n_pending;
	unsigned char pending[(size_t)32 << 10];
};

/* Start a zlib stream. STRATEGY is one of zlib's, such as Z_HUFFMAN_ONLY. */
void wire_out_init(struct wire_out *out, int strategy);
/* End the stream. Then STORED and N_STORED are complete. */
void wire_out_finish(struct wire_out *out);
void wire_out_deinit(struct wire_out *out);

void wire_put(struct wire_out *out, const void *bytes, size_t n);
void wire_put_varint(struct wire_out *out, uint64_t v);
/* Write a signed number: 0, -1, 1, -2, … become the varints 0, 1, 2, 3, … */
void wire_put_signed(struct wire_out *out, int64_t v);
void wire_put_double(struct wire_out *out, double v); /* all 64 bits, also of NAN */
/* Write a count. PROFILE_NOT_COUNTED takes one byte. */
void wire_put_count(struct wire_out *out, uint64_t v);

/* Bytes to decode. The first error sets ERROR and moves AT to END; all later wire_get functions return 0. */
struct wire_in {
	const unsigned char *at, *end;
	uint64_t room; /* bytes of memory that decoded data may still use */
	const char *error; /* error message, or NULL */
};

void wire_fail(struct wire_in *in, const char *error);
/* Subtract SIZE bytes from ROOM. Return false if ROOM is smaller, or after an error. */
bool wire_take(struct wire_in *in, uint64_t size);
const unsigned char *wire_get(struct wire_in *in, size_t n); /* NULL if fewer bytes are left */
uint64_t wire_get_varint(struct wire_in *in);
uint32_t wire_get_u32(struct wire_in *in); /* reads a varint */
int64_t wire_get_signed(struct wire_in *in);
double wire_get_double(struct wire_in *in);
uint64_t wire_get_count(struct wire_in *in);
/* Read the number of entries that follow. The number is an error if the input has less than ENTRY_SIZE bytes for each entry. */
uint32_t wire_get_n(struct wire_in *in, size_t entry_size);
