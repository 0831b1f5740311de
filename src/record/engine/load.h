/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages about loading the BPF programs, and a trial of loading them. */
#pragma once

#include "record/engine/features.h"

/* The oldest Linux release known to have all features that the programs need. Only messages use it. */
#define RECORD_OLDEST_KERNEL "5.15"

/* Print libbpf's messages only with -vv. */
void record_bpf_log(void);

/* Return an explanation or advice, for the user, about the error ERR of loading the programs. */
const char *record_bpf_advice(int err);
/* Test whether the kernel accepts all programs that recordings need. Unload them afterwards. Return 0 or -errno, reported. */
int record_bpf_try(const struct record_features *features);
