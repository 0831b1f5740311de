/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find the conditions under which loops continue, such as "i < n", in functions whose basic blocks were counted. */
#pragma once

#include "kernel/cfg/graph.h"
#include "profile/profile.h"

/* Return the control flow graph of a function. The caller frees it by kernel_graph_clear(). */
struct kernel_graph profile_blocks_graph(const struct profile_blocks *blocks);

/*
 * Find the conditions under which loops continue, for the loops in which most instructions were executed. The code and the DWARF
 * come from profile_image(P, VMLINUX) and the modules in P's environment. If an image is not found, its loops get no conditions.
 */
void profile_resolve_conditions(struct profile *p, const char *vmlinux);
