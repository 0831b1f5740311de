/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libRmath's distributions. It prints warnings on stdout, which is for data: call nothing outside
 * of what is tested not to (tests/unit/analyze_statistics_test.c).
 */
#ifndef KPROTPERF_ANALYZE_RMATH_H
#define KPROTPERF_ANALYZE_RMATH_H

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#endif
