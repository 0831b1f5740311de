/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command's reports are lines that it writes to a descriptor. The environment variable below has the descriptor's number. */
#pragma once

#include <stdint.h>

#include "profile/profile.h"

#define RECORD_REPORT_FD_ENV "KPROTPERF_REPORT_FD"

/*
 * Open a file in memory for reports. Unlike a pipe, the file needs no reader while the command writes. Return a descriptor above
 * 2, since the command uses 0 to 2 otherwise, or -errno.
 */
int record_reports_open(void);

/* Add the reports in the file FD to run RUN of P. Warn of lines that are not reports. */
void record_reports_read(struct profile *p, uint32_t run, int fd);
