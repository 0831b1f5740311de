/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The conditions of loops in functions whose blocks were counted. */
#pragma once

#include "kernel/cfg/graph.h"
#include "profile/profile.h"

/* Return the flow graph of a function. The caller frees it by kernel_graph_clear(). */
struct kernel_graph profile_blocks_graph(const struct profile_blocks *blocks);

/*
 * Find the conditions of the loops in which most instructions were executed, from the code and the DWARF of
 * profile_image(P, VMLINUX) and of the modules in P's environment. Loops of an image that is not found stay without conditions.
 */
void profile_resolve_conditions(struct profile *p, const char *vmlinux);
