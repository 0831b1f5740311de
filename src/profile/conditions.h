/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The conditions of loops in functions whose blocks were counted. */
#pragma once

#include "kernel/cfg/graph.h"
#include "profile/profile.h"

/* Return the flow graph of a function; for kernel_graph_clear(). */
struct kernel_graph profile_blocks_graph(const struct profile_blocks *blocks);

/*
 * Conditions of the loops in which most instructions were executed, from the code and the DWARF of profile_image(P, VMLINUX);
 * where there is none, P stays as it is. Not of modules.
 */
void profile_resolve_conditions(struct profile *p, const char *vmlinux);
