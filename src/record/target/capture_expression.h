/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parse expressions such as "s->object_size" into loads of memory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct btf;
struct btf_type;
struct record_symbols;
struct record_value;

/* The memory or register that the expression means, as far as it has been parsed. */
struct record_place {
	const char *expression; /* the whole text, for messages */
	const struct btf *btf;
	const struct btf_type *proto; /* prototype of the function whose values are captured */
	struct record_symbols *symbols;
	struct record_value *value;
	uint32_t type; /* BTF id of the value's type; 0: unknown */
	bool in_register; /* the value is in the base itself, not in memory behind a pointer */
	bool is_target; /* the base points to a value of the type TYPE */
};

/*
 * Parse the expression TEXT, and set AT's value. Return 0 or -errno, reported; -ENOENT, not reported, if TEXT begins with a name
 * that is neither in this function nor in the kernel.
 */
int record_expression_parse(struct record_place *at, const char *text);

/* Return the type ID without typedefs and qualifiers, and set *ID to its id. */
const struct btf_type *record_resolve_type(const struct btf *btf, uint32_t *id);

/* Return the id of the type NAME in the kernel's own BTF, not in a module's; 0: there is no such type. */
uint32_t record_kernel_type(const struct btf *btf, const char *name, uint32_t kind);
