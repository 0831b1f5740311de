/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other load of a real machine during a run: other tasks, other guests, and the speed of its CPUs.
 */
#pragma once

#include "profile/profile.h"

/* Counters of each CPU that have to be kept open. */
struct record_meters;

/* ROOT is "", or the folder that has proc and sys. Figures that the machine does not have are left out. */
struct record_meters *record_meters_create(const char *root);
void record_meters_destroy(struct record_meters *m); /* accepts NULL */

#define RECORD_N_LOADS 5

/* Since the machine was booted, or M created, in the order of load.c; PROFILE_NOT_COUNTED where the kernel does not tell. */
struct record_load {
	uint64_t counts[RECORD_N_LOADS];
};

struct record_load record_load_read(const struct record_meters *m);

/* Run RUN of P made it grow from BEFORE. */
void record_load_store(const struct record_meters *m, const struct record_load *before,
		       struct profile *p, uint32_t run);
