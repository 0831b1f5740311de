/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine, kernel and clock a recording was made on.
 */
#pragma once

#include "profile/profile.h"

struct record_symbols;

/*
 * Fills the environment and the clock of P; before probes are there. What cannot be read is left out, and what only SYMBOLS
 * tell where that is NULL.
 */
void record_environment_read(struct profile *p, struct record_symbols *symbols);

/*
 * Its part that is the configuration of the kernel RELEASE: the running one's, or what its package has in /boot or
 * /lib/modules. ROOT is "" or the folder that these are in.
 */
void record_environment_config(struct profile *p, const char *root, const char *release);

/* What else ran: ns since the machine was booted, PROFILE_NOT_COUNTED where the kernel does not tell. */
struct record_load {
	uint64_t waited, stolen;
};

struct record_load record_load_read(void);

/* Run RUN of P made it grow from BEFORE. */
void record_load_store(const struct record_load *before, struct profile *p, uint32_t run);
