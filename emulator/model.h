/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model of a CPU's caches, TLBs and branch predictor, where one is asked for: docs/misses.md. */
#pragma once

#include "exact.h"
#include "kprotperf/event.h"
#include "qemu_plugin.h"

extern struct model {
	char *name; /* NULL: none is asked for */
	uint64_t cycles[MODEL_N_EVENTS]; /* cycles that each adds */
} model;

/* False: PATH is not there, or is no model. */
bool model_read(const char *path);

/* Code that QEMU translates at once. */
struct fetch;

/* Return the fetches of TB, which is BLOCK and ends with ENDING, BY being the jump's distance; never freed. */
struct fetch *model_fetch_of(struct qemu_plugin_tb *tb, struct block *block, enum ending ending,
			     int32_t by);
struct block *model_block(const struct fetch *f);
/* Note that the last executed block goes on to NEXT; call this before the follower's function. */
void model_leave(const struct fetch *next);
/* F is about to be executed: once the follower knows. */
void model_enter(const struct fetch *f);
/* Instruction number INSN of it accesses memory. */
void model_access(qemu_plugin_meminfo_t info, uint64_t vaddr, uint16_t insn);
/* BLOCK switches page tables, or changes what is in the ones in use. */
void model_flush(const struct block *block);
void model_remapped(void);
