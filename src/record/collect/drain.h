/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the BPF side counted in one run, turned into the profile.
 */
#pragma once

#include "profile/profile.h"
#include "record/cost/cold.h"
#include "record/probe/probes.h"
#include "record/target/sites.h"
#include "kernel/image/kallsyms.h"

/*
 * Adds everything to run RUN of P, whose sites are numbered as the engine's, and after that of the
 * contexts are SITES. KS names what lies outside the kernel's image. What syscalls' probes cost is added to COLD. The engine
 * is left as it is.
 */
void record_drain(struct profile *p, uint32_t run, const struct record_probes *probes,
		  const struct kernel_kallsyms *ks, const struct record_sites *sites,
		  struct record_cold_costs *cold);
