/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of a call that was kept whole, as people read them. */
#pragma once

#include "analyze/code/trace.h"

/* "    mm/slub.c:1978 shuffle_freelist", indented by its depth; to be freed. */
char *view_trace_text(const struct analyze_trace_line *of);
