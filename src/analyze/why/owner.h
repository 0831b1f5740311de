/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The protection of the catalogue that a cause belongs to. */
#pragma once

#include "analyze/changes/static_keys.h"
#include "analyze/why/causes.h"
#include "base/alloc.h"
#include "catalogue/catalogue.h"

/* The protections that are on on one side and off on the other. */
struct why_switched {
	vec_of(const struct catalogue_protection *, items);
	vec_of(const struct catalogue_protection *, off); /* known to be off on both sides */
};

void why_switched_init(struct why_switched *s, const struct profile *baseline,
		       const struct profile *hardened);
void why_switched_deinit(struct why_switched *s);
bool why_switched_has(const struct why_switched *s, const struct catalogue_protection *protection);

/* Return a switched protection's pattern that matches NAME, as "__x86_indirect_thunk_*"; else NAME. */
const char *why_switched_name(const struct why_switched *s, const char *name);

/*
 * Return the protection for which the catalogue lists a function that PART is, calls, or is in; NULL: none. A protection that
 * is not switched counts by functions of its own, not by those where it runs with other work.
 */
const struct catalogue_protection *
why_owner(const struct why_switched *s, const struct tree_pair *t, const struct why_part *part);

/* Return the static key that differs between the sides and that PART's code tests, in *FUNCTION; NULL: none. */
const struct analyze_static_key *why_static_key(const struct analyze_static_keys *keys,
						const struct tree_pair *t,
						const struct why_part *part, const char **function);
