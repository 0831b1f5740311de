/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that a livepatch has replaced: their own code is not executed any more.
 */
#pragma once

#include <stdint.h>

#include "base/alloc.h"

#define KERNEL_LIVEPATCH_DIR "/sys/kernel/livepatch"

struct kernel_sym;

struct kernel_livepatches {
	struct kernel_livepatched {
		char *patch, *object, *function; /* one allocation, PATCH's */
	} * items;
	uint32_t n_items, cap_items;
};

/* Load the functions that the patches below FOLDER have replaced; none if there is no such folder. */
void kernel_livepatches_load(const char *folder, struct kernel_livepatches *out);
void kernel_livepatches_deinit(struct kernel_livepatches *l);

/* The patch that has replaced SYM, or another function of its name and module: L's; NULL: none. */
const char *kernel_livepatch_of(const struct kernel_livepatches *l, const struct kernel_sym *sym);
