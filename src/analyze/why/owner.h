/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which protection of the catalogue a cause belongs to. */
#pragma once

#include "analyze/changes/static_keys.h"
#include "analyze/why/causes.h"
#include "base/alloc.h"
#include "catalogue/catalogue.h"

/* The protections whose state is known on both sides, and differs. */
struct why_switched {
	vec_of(const struct catalogue_protection *, items);
	vec_of(const struct catalogue_protection *, off); /* those known to be off on both */
};

void why_switched_init(struct why_switched *s, const struct profile *baseline,
		       const struct profile *hardened);
void why_switched_deinit(struct why_switched *s);
bool why_switched_has(const struct why_switched *s, const struct catalogue_protection *protection);

/* The catalogue's pattern for NAME in what is switched, "__x86_indirect_thunk_*"; else NAME itself. */
const char *why_switched_name(const struct why_switched *s, const char *name);

/*
 * The protection that the catalogue lists a function for that PART executes, is in, or is of; NULL: none. Of one that is not
 * switched its own functions alone count, not those in which it runs with other work.
 */
const struct catalogue_protection *
why_owner(const struct why_switched *s, const struct tree_pair *t, const struct why_part *part);

/* The static key that both sides have otherwise and that switches PART's code; NULL: none. In *FUNCTION: that tests it. */
const struct analyze_static_key *why_static_key(const struct analyze_static_keys *keys,
						const struct tree_pair *t,
						const struct why_part *part, const char **function);
