/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a protection's name to the functions and inlined bodies that carry its cost on this kernel. */
#ifndef KPROTPERF_RECORD_PROTECTION_H
#define KPROTPERF_RECORD_PROTECTION_H

#include "record/features.h"
#include "record/session.h"
#include "record/symbols.h"

/* An inlined function with more bodies than this is left to --range, which can choose among them. */
#define RECORD_PROTECTION_PLACES 32

/*
 * OPTIONS with the functions and ranges of its protections added; what this kernel does not have, or what
 * cannot be timed on it, is left out, which is said where nothing remains. Each protection's state goes into P's
 * environment, which has been read. Returns 0 or -errno, reported. OUT's functions and ranges are to be freed by
 * record_protections_deinit(), whose strings belong to OPTIONS and the catalogue.
 */
int record_protections_expand(const struct record_options *options, struct record_symbols *symbols,
			      struct record_features *features, struct profile *p,
			      struct record_options *out);
void record_protections_deinit(struct record_options *out);

#endif
