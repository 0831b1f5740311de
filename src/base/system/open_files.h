/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/* A recording has these open besides probes: programs, maps, links, the samplers of a few CPUs. */
#define OPEN_FILES_LEAST 128

/* Raises this process's limit, to N more files than any recording needs if that is allowed. -EMFILE if not even to the least. */
int open_files_allow(uint32_t n);

/* Sets the limit as it was before: for the command. */
void open_files_restore(void);
