/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations for commands that explain a difference. */
#pragma once

#include "analyze/why/why.h"
#include "cmd/options.h"

/* The option --patch. Its options are a struct why_patches. */
extern const struct cmd_syntax cmd_patches_syntax;

/*
 * Explain the difference between P[0] and P[1], for which why_can_tell() must be true; for why_deinit(). If these are recordings
 * with probes, take the total change from DIFF, which must outlive W. W takes ownership of PATCHES.
 */
void cmd_explain(struct why *w, const struct profile *const p[2], const struct analyze_diff *diff,
		 struct why_patches *patches);
