/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of inlined bodies: where DWARF has their parameters where they are entered, and what their code reads. */
#pragma once

#include <stdint.h>

#include "base/alloc.h"
#include "kernel/debuginfo/variables.h"
#include "record/target/capture.h"
#include "record/target/symbols.h"

struct btf;
struct record_place;

#define RECORD_BODY_PARAMETERS 16

struct record_body {
	const struct record_range *range;
	const struct btf *btf;
	struct kernel_body body;
	struct kernel_parameter parameters[RECORD_BODY_PARAMETERS];
	uint32_t n_parameters;
	vec_of(uint64_t, entries); /* the addresses at which the body is entered */
	uint8_t saved[ENGINE_ARGS]; /* parameters that values come from */
	uint32_t n_saved;
};

/* Initialize B for range I. */
void record_body_init(struct record_body *b, const struct record_ranges *ranges, uint32_t i,
		      const struct btf *btf);
void record_body_deinit(struct record_body *b);

/*
 * Makes AT, of a body, the parameter NAME, whose value is saved at entries from now on. 0: it has none of that name; -ENODATA: it has,
 * but nowhere where it is entered; -ENOSPC: others have all the places that there are.
 */
int record_body_parameter(struct record_place *at, const char *name);

/* Appends to NAMES what is worth capturing, as expressions. */
void record_body_names(const struct record_body *b, struct record_symbols *symbols,
		       struct alloc_texts *names);

/* Adds the entries of B to ALL, and tells the points of RANGES of them, and of CAPTURE, which is to be number SLOT. */
void record_body_finish(const struct record_body *b, struct record_ranges *ranges,
			struct record_captures *all, struct record_capture *capture, uint32_t slot);

/* ---- values of a function that are captured unless others are named, as expressions ---- */

struct btf;
struct btf_type;

/*
 * Appends to NAMES, the best first: arguments and what is returned, where they are numbers; names of slab caches; members of what arguments point to and
 * variables of the kernel that the code of SYM reads, those that decide where it goes before others; static keys that it tests. PROTO is SYM's in BTF.
 */
void record_capture_names(const struct btf *btf, const struct btf_type *proto,
			  const struct kernel_sym *sym, struct record_symbols *symbols,
			  struct alloc_texts *names);
