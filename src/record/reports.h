/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command's report of itself: lines that it writes to a file whose descriptor an environment variable names. */
#pragma once

#include <stdint.h>

#include "profile/profile.h"

#define RECORD_REPORT_FD_ENV "KPROTPERF_REPORT_FD"

/*
 * A file for reports: a memory file, unlike a pipe, takes whatever the command writes without a reader. None of the
 * descriptors 0 to 2, which the command takes for its own. -errno.
 */
int record_reports_open(void);

/* Adds the reports in FD to run RUN of P, and says which lines are none. */
void record_reports_read(struct profile *p, uint32_t run, int fd);
