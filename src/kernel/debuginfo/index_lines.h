/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line table of an index in the making. */
#pragma once

#include "base/alloc.h"
#include "kernel/debuginfo/dwarf.h"
#include "kernel/debuginfo/index_impl.h"
#include "kernel/debuginfo/index_strings.h"

struct index_lines {
	vec_of(struct index_line_block, blocks);
	vec_of(unsigned char, bytes);
	uint32_t addr, file, line; /* of the last row */
	uint64_t end; /* up to which rows have been told */
};

/*
 * The lines of UNIT between START and END, addresses of the file; BASE is that of _stext. To be called
 * by ascending addresses.
 */
void index_lines_add(struct index_lines *l, struct index_strings *s, struct dwarf *d,
		     struct dwarf_unit *unit, uint64_t start, uint64_t end, uint64_t base);
/* After the last of them. */
void index_lines_end(struct index_lines *l, uint64_t base);
void index_lines_deinit(struct index_lines *l);
