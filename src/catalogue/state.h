/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a protection in a kernel, and how it is known. */
#pragma once

#include "catalogue/catalogue.h"
#include "profile/profile.h"

enum catalogue_state {
	CATALOGUE_UNKNOWN,
	CATALOGUE_OFF,
	CATALOGUE_BUILT_IN, /* whether it is on depends on what cannot be told */
	CATALOGUE_ON,
};

/*
 * From the environment in P: the kernel's configuration, its command line, what it says of the CPU's
 * vulnerabilities, its release. LIVE: P is this kernel's, whose files may be read. HOW is one phrase, to be
 * freed; it may be NULL.
 */
enum catalogue_state catalogue_state(const struct catalogue_protection *protection,
				     const struct profile *p, bool live, char **how);

/* Return whether its states in two recordings are known and differ. */
bool catalogue_differs(const struct catalogue_protection *protection, const struct profile *a,
		       const struct profile *b);

const char *catalogue_state_name(enum catalogue_state state);

/* The version of Linux that P was recorded on, for catalogue_span_has(); 0: not known. */
uint32_t catalogue_linux(const struct profile *p);
