/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trip counts in words. All for free(). */
#pragma once

#include "analyze/blocks/paths.h"

/* "16 to 31", "5", "63,488 or more". */
char *view_trips_words(const struct analyze_trips *row);

/* Which share of the calls had which, "0: 2.5 %, 16 to 31: 97 %": not all, where there are many. */
char *view_trips_text(const struct analyze_trips *rows, size_t n);

/* The same of LOOP; NULL where nobody counted it call by call. */
char *view_trips_of_loop(const struct analyze_paths *paths, const struct analyze_loop *loop);

/* "24 at slub.c:1907, 3.5 at slub.c:1874", the means of PATH; "" where no loop iterated, NULL where nobody counted. */
char *view_trips_of_path(const struct analyze_paths *paths, const struct analyze_path *path);
