/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An optional model of a CPU's caches, TLBs and branch predictor: docs/misses.md. */
#pragma once

#include "exact.h"
#include "kprotperf/event.h"
#include "qemu_plugin.h"

extern struct model {
	char *name; /* NULL: no model */
	uint64_t cycles[MODEL_N_EVENTS]; /* for each event: cycles that it adds */
} model;

/* Read a model from PATH. Return false, after a message, if there is no such file or it is no model. */
bool model_read(const char *path);

/* Instruction fetches of a block that QEMU translates at once. */
struct fetch;

/* Return the fetches of TB, which is BLOCK and ends with ENDING. BY is the distance to a direct target, or 0. Never free them. */
struct fetch *model_fetch_of(struct qemu_plugin_tb *tb, struct block *block, enum ending ending,
			     int32_t by);
struct block *model_block(const struct fetch *f);
/* Control goes from the last executed block to NEXT. Call this before follow_block(). */
void model_leave(const struct fetch *next);
/* F will be executed next. Call this after follow_block(). */
void model_enter(const struct fetch *f);
/* Instruction INSN of the current block accesses the virtual address VADDR. */
void model_access(qemu_plugin_meminfo_t info, uint64_t vaddr, uint16_t insn);
/* BLOCK switches page tables (flush), or the guest changes mappings in its present page tables (remapped). */
void model_flush(const struct block *block);
void model_remapped(void);
