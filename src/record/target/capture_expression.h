/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expressions such as "s->object_size": what is loaded from where. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct btf;
struct btf_type;
struct record_symbols;
struct record_value;

/* The part of an expression that has been parsed. */
struct record_place {
	const char *expression; /* for messages */
	const struct btf *btf;
	const struct btf_type *proto; /* of the function */
	struct record_symbols *symbols;
	struct record_value *value;
	uint32_t type; /* BTF id of the place's type; 0: unknown */
	bool in_register; /* it is the base itself, and not what that points to */
	bool is_target; /* of a base: TYPE is that of what it points to */
};

/*
 * Makes AT's value what the expression TEXT says. -errno, reported; -ENOENT, not reported, if it begins with a name that this
 * function does not have, nor the kernel.
 */
int record_expression_parse(struct record_place *at, const char *text);

/* A type of the kernel's own, not of a module; 0: there is none. */
uint32_t record_kernel_type(const struct btf *btf, const char *name, uint32_t kind);
