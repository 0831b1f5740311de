/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find the state of a protection in a kernel, and tell how the state is known. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalogue/catalogue.h"
#include "profile/profile.h"

enum catalogue_state {
	CATALOGUE_UNKNOWN,
	CATALOGUE_OFF,
	CATALOGUE_BUILT_IN, /* compiled in; on or off is unknown */
	CATALOGUE_ON,
};

/*
 * Return the state of PROTECTION in the kernel of the recording P, by P's copies of the kernel's configuration, command line,
 * release and reports on CPU vulnerabilities. LIVE: this kernel is the running one, so its files may be read. Set *HOW (may be
 * NULL) to a phrase that tells how the state is known; the caller frees the phrase.
 */
enum catalogue_state catalogue_state(const struct catalogue_protection *protection,
				     const struct profile *p, bool live, char **how);

/* Return whether the states of PROTECTION in A and B are both known and differ. */
bool catalogue_differs(const struct catalogue_protection *protection, const struct profile *a,
		       const struct profile *b);

const char *catalogue_state_name(enum catalogue_state state);

/* Return the version of Linux on which P was recorded, for catalogue_span_has(), or 0 if unknown. */
uint32_t catalogue_linux(const struct profile *p);

/* Parse a kernel's settings: its configuration (/proc/config.gz) and its command line. No other code parses these texts. */

/* A part of another text, without a NUL at the end. The other text must outlive the part. */
struct catalogue_text {
	const char *s; /* NULL: there is none */
	size_t n;
};

/* A kernel option (without CONFIG_) or a kernel parameter, with its value. */
struct catalogue_setting {
	struct catalogue_text name, value;
};

/* Set SETTING to the next option of the configuration *AT, with "n" for "is not set". Advance *AT. Return false at the end. */
bool catalogue_next_option(const char **at, struct catalogue_setting *setting);
/* Set SETTING to the next parameter of the command line *AT. Advance *AT. Without '=' the value is "". Return false at the end. */
bool catalogue_next_parameter(const char **at, struct catalogue_setting *setting);

/* Return the value of the option SYMBOL, or "n" if the option is not set. The result's S is NULL if CONFIG is NULL. */
struct catalogue_text catalogue_option_value(const char *config, const char *symbol);
/* Return the last value of PARAMETER on the command line. The result's S is NULL if there is none. CMDLINE may be NULL. */
struct catalogue_text catalogue_parameter_value(const char *cmdline, const char *parameter);

/* Return the present name of the option NAME. Linux 6.9 and 6.12 renamed some options. */
struct catalogue_text catalogue_option_name(struct catalogue_text name);

bool catalogue_text_is(struct catalogue_text text, const char *s);
/* Return a copy of TEXT, which the caller frees. Return NULL if TEXT.s is NULL. */
char *catalogue_text_dup(struct catalogue_text text);
