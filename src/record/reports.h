/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command's reports: lines that it writes to a descriptor, whose number is in the environment variable below. */
#pragma once

#include <stdint.h>

#include "profile/profile.h"

#define RECORD_REPORT_FD_ENV "KPROTPERF_REPORT_FD"

/*
 * Open a memory file for reports: unlike a pipe, it needs no reader while the command writes. Return a descriptor above 2, as the
 * command has other uses for 0 to 2, or -errno.
 */
int record_reports_open(void);

/* Add the reports in FD to run RUN of P, and warn of lines that are no reports. */
void record_reports_read(struct profile *p, uint32_t run, int fd);
