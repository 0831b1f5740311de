/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of a function that are captured unless others are named, as expressions. */
#pragma once

#include "base/alloc.h"
#include "record/target/symbols.h"

struct btf;
struct btf_type;

/*
 * Appends to NAMES, the best first: arguments and what is returned, where they are numbers; names of slab caches; members of what arguments point to and
 * variables of the kernel that the code of SYM reads, those that decide where it goes before others; static keys that it tests. PROTO is SYM's in BTF.
 */
void record_capture_names(const struct btf *btf, const struct btf_type *proto,
			  const struct kernel_sym *sym, struct record_symbols *symbols,
			  struct alloc_texts *names);

/*
 * Add the kernel's variables that LEN bytes of code at ADDR read, a piece of an inlined body: those that decide or (DECIDES
 * false) the others and static keys. The contents of registers at its start are unknown.
 */
void record_capture_piece_names(const struct btf *btf, uint64_t addr, uint64_t len, bool decides,
				struct record_symbols *symbols, struct alloc_texts *names);

/* Facts about the task, which seldom differ in one command. */
void record_capture_task_names(const struct btf *btf, struct alloc_texts *names);

/* Add the numbers in the BYTES at OFFSET of a struct TYPE, to which the pointer NAME leads. */
void record_capture_member_names(const struct btf *btf, uint32_t type, const char *name,
				 int64_t offset, uint32_t bytes, struct alloc_texts *names);
