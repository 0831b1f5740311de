/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one place where warnings become English. */
#pragma once

#include <jansson.h>

#include "analyze/figures/warnings.h"

/* Without "warning:" before or a full stop behind, safe on a terminal; for the caller to free. */
char *view_warning(const struct analyze_warning *w);

/* All of them as a list of strings: a new reference. */
json_t *view_warnings_json(const struct analyze_warnings *warnings);
