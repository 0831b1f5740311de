/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An optional model of a CPU's caches, TLBs and branch predictor: docs/misses.md. */
#pragma once

#include "exact.h"
#include "kprotperf/event.h"
#include "qemu_plugin.h"

extern struct model {
	char *name; /* NULL: no model is used */
	uint64_t cycles[MODEL_N_EVENTS]; /* cycles that an event adds, indexed by event */
} model;

/* Read a model from PATH. Return false if the file does not exist or is not a model. */
bool model_read(const char *path);

/* The fetches of the code that QEMU translates at once. */
struct fetch;

/* Return the fetches of TB, which is BLOCK and ends with ENDING. BY: distance to a direct target, else 0. They are never freed. */
struct fetch *model_fetch_of(struct qemu_plugin_tb *tb, struct block *block, enum ending ending,
			     int32_t by);
struct block *model_block(const struct fetch *f);
/* Note that control goes from the last executed block to NEXT. Call this before follow_block(). */
void model_leave(const struct fetch *next);
/* Note that F is about to be executed. Call this after follow_block(). */
void model_enter(const struct fetch *f);
/* Note that instruction INSN of the current block accesses VADDR. */
void model_access(qemu_plugin_meminfo_t info, uint64_t vaddr, uint16_t insn);
/* Note that BLOCK switches page tables (flush), or that the current mappings change (remapped). */
void model_flush(const struct block *block);
void model_remapped(void);
