/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a function is captured where nothing else is asked for, as expressions. */
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
