/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock that BPF programs read too (bpf_ktime_get_ns()).
 */
#ifndef KPROTPERF_BASE_CLOCK_H
#define KPROTPERF_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void); /* CLOCK_MONOTONIC */

#endif
