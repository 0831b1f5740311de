/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of list --protections. */
#ifndef KPROTPERF_CMD_PROTECTIONS_H
#define KPROTPERF_CMD_PROTECTIONS_H

#include "catalogue/catalogue.h"
#include "cmd/view.h"

/* All of the catalogue, or ONLY one; with its state on the running kernel. Returns the exit status. */
int protections_list(const struct catalogue_protection *only, const struct view_options *options);

#endif
