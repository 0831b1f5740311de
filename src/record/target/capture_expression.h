/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsing expressions such as "s->object_size" into loads. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct btf;
struct btf_type;
struct record_symbols;
struct record_value;

/* The memory or register to which the parsed part of an expression refers. */
struct record_place {
	const char *expression; /* the whole text, for messages */
	const struct btf *btf;
	const struct btf_type *proto; /* prototype of the function */
	struct record_symbols *symbols;
	struct record_value *value;
	uint32_t type; /* BTF id of the place's type; 0: unknown */
	bool in_register; /* the place is the base itself, not memory it points to */
	bool is_target; /* the base is a pointer, and TYPE the type it points to */
};

/*
 * Fill AT's value from the expression TEXT. Return 0 or -errno, reported; -ENOENT, not reported, if TEXT begins with a name that
 * neither this function nor the kernel has.
 */
int record_expression_parse(struct record_place *at, const char *text);

/* Return the BTF id of the type NAME in the kernel's own BTF, not a module's; 0: there is none. */
uint32_t record_kernel_type(const struct btf *btf, const char *name, uint32_t kind);
