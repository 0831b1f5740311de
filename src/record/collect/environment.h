/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine, kernel and clock a recording was made on.
 */
#ifndef KPROTPERF_RECORD_COLLECT_ENVIRONMENT_H
#define KPROTPERF_RECORD_COLLECT_ENVIRONMENT_H

#include "profile/profile.h"
#include "kernel/image/image.h"

/* Fills the environment and the clock of P. What cannot be read is left out. */
void record_environment_read(struct profile *p, const struct kernel_build_id *build_id);

#endif
