/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of `kprotperf changes`, which compares two kernels. */
#pragma once

#include "analyze/changes/changes.h"
#include "view/page/table.h"

struct view_changes {
	struct view_data common;
	struct kernel_image *images[2];
	const struct analyze_changed *functions;
	uint32_t n_functions, n_same;
	struct analyze_structs structs;
	struct analyze_variables variables;
	struct analyze_static_keys keys; /* static keys in the two recordings */
};

extern const struct view_list view_changes_list;
