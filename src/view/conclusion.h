/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one place where a comparison's answer becomes English. */
#pragma once

#include "analyze/diff/conclusion.h"

/* A sentence, safe on a terminal, for the caller to free. */
char *view_conclusion(const struct analyze_conclusion *c);
