/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KPROTPERF_RECORD_SYSCALLS_H
#define KPROTPERF_RECORD_SYSCALLS_H

#include <stdint.h>

/*
 * The name of context CTX as the BPF side numbers them (kprotperf/engine.h): "clone",
 * "compat:clone", "[page_fault]". For free().
 */
char *record_context_name(uint32_t ctx);

#endif
