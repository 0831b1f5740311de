/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a protection's name to the functions and inlined bodies that carry its cost on this kernel. */
#pragma once

#include "catalogue/catalogue.h"
#include "record/target/sites.h"

/* An inlined function with more bodies than this is left to --range, which can choose among them. */
#define RECORD_PROTECTION_PLACES 32

/*
 * Adds to FUNCTIONS and INLINED those of the N PROTECTIONS; what this kernel does not have, or what cannot be timed
 * on it, is left out, which is said where nothing remains. Each protection's state goes into P's environment, which
 * has been read. Returns 0 or -errno, reported. The names belong to the catalogue.
 */
int record_protections_expand(const struct record_kernel *kernel,
			      const struct catalogue_protection *const *protections, uint32_t n,
			      struct profile *p, struct record_names *functions,
			      struct record_names *inlined);
