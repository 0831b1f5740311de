/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A section as comma-separated values, RFC 4180: one header line, all rows, all columns. */
#pragma once

#include <stdio.h>

#include "output/section.h"

/* Control bytes in text are escaped as in tables, so that a file is one line a row. */
void output_csv_write(FILE *out, const struct output_section *section);
