/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of protocol buffers, as far as two formats need them: by hand, since a generator and a library at run time
 * (protobuf-c) would be more to carry than these lines.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* All zero is the empty message. */
struct proto {
	uint8_t *bytes;
	size_t n_bytes, cap_bytes;
};

/* Field FIELD of P: an integer, a text, or the message M, which it frees. */
void proto_integer(struct proto *p, unsigned int field, uint64_t value);
void proto_text(struct proto *p, unsigned int field, const char *text);
void proto_message(struct proto *p, unsigned int field, struct proto *m);
void proto_deinit(struct proto *p);
