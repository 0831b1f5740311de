/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Static keys that are on in one recording and off in the other, and the functions whose code they switch. */
#pragma once

#include "base/alloc.h"
#include "kernel/image/image.h"
#include "profile/profile.h"

struct analyze_static_key {
	char *name;
	uint32_t on[2]; /* 1: it is */
	double jumps; /* places in the hardened kernel's code that it switches */
	char *functions; /* in which these are, with blanks between; NULL: none is known */
};

struct analyze_static_keys {
	vec_of(struct analyze_static_key, rows); /* by name */
	bool known; /* both recordings have their state */
};

/* Compare the keys of two recordings. IMG is the hardened kernel's image; NULL: there is none. */
void analyze_static_keys_init(struct analyze_static_keys *s, const struct profile *baseline,
			      const struct profile *hardened, struct kernel_image *img);
void analyze_static_keys_deinit(struct analyze_static_keys *s);

/* The first of S that switches code in FUNCTION; NULL: none does. */
const struct analyze_static_key *analyze_static_keys_of(const struct analyze_static_keys *s,
							const char *function);
