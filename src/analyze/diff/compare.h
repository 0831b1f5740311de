/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that two profiles may be compared. */
#pragma once

#include "analyze/figures/warnings.h"
#include "profile/profile.h"

/*
 * Adds what makes a comparison of the two invalid (different work, machines, probes or sampling rates) or
 * questionable, and either side's own warnings. RAW: probe cost is left in on both sides. TABLES are both sides', as
 * for analyze_warnings_of_profile().
 */
void analyze_warnings_of_pair(struct analyze_warnings *w, const struct profile *baseline,
			      const struct profile *hardened, const struct analyze_table *tables,
			      bool raw);
