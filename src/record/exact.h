/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in which nothing is probed: the lab's emulator counts (emulator/exact.h), and this runs the command, says
 * when, and writes what the emulator does not see: the machine's environment and what the command says of itself.
 */
#pragma once

#include "record/options.h"

/* Set by the lab: where the emulator expects the kernel's symbols. */
#define RECORD_EXACT_ENV "KPROTPERF_EXACT"
/* Likewise, where its model of a CPU expects what tells the objects in memory. */
#define RECORD_OBJECTS_ENV "KPROTPERF_EXACT_OBJECTS"

/* As record_session(). */
int record_exact(const struct record_options *options);
