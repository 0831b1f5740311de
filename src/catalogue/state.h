/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a protection in a kernel, and how it is known. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalogue/catalogue.h"
#include "profile/profile.h"

enum catalogue_state {
	CATALOGUE_UNKNOWN,
	CATALOGUE_OFF,
	CATALOGUE_BUILT_IN, /* in the kernel, on or off: unknown */
	CATALOGUE_ON,
};

/*
 * Return the state of PROTECTION by P's environment: the kernel's configuration, command line, release and reports on CPU
 * vulnerabilities. LIVE: P's kernel is the running one, so its files may be read. Set *HOW to a phrase that tells how the state is
 * known, for free(); HOW may be NULL.
 */
enum catalogue_state catalogue_state(const struct catalogue_protection *protection,
				     const struct profile *p, bool live, char **how);

/* Return whether the states of PROTECTION in A and B are known and differ. */
bool catalogue_differs(const struct catalogue_protection *protection, const struct profile *a,
		       const struct profile *b);

const char *catalogue_state_name(enum catalogue_state state);

/* Return the version of Linux that P was recorded on, for catalogue_span_has(); 0: unknown. */
uint32_t catalogue_linux(const struct profile *p);

/* A kernel's settings as text: its configuration (/proc/config.gz) and its command line. No other code parses these. */

/* A part of another text, which must outlive it; not terminated by NUL. */
struct catalogue_text {
	const char *s; /* NULL: there is none */
	size_t n;
};

/* An option without CONFIG_, or a parameter, with its value. */
struct catalogue_setting {
	struct catalogue_text name, value;
};

/* Set SETTING to the next option of the configuration *AT ("n" if it "is not set"), and move *AT after it. False: end. */
bool catalogue_next_option(const char **at, struct catalogue_setting *setting);
/* Set SETTING to the next parameter of the command line *AT, and move *AT after it. Without '=' the value is "". False: end. */
bool catalogue_next_parameter(const char **at, struct catalogue_setting *setting);

/* Return the value of SYMBOL, "n" if it is not set; S is NULL if CONFIG is NULL. */
struct catalogue_text catalogue_option_value(const char *config, const char *symbol);
/* Return the last value of PARAMETER on the command line; S is NULL if there is none. CMDLINE may be NULL. */
struct catalogue_text catalogue_parameter_value(const char *cmdline, const char *parameter);

/* Return the option's present name: Linux 6.9 and 6.12 renamed some. */
struct catalogue_text catalogue_option_name(struct catalogue_text name);

bool catalogue_text_is(struct catalogue_text text, const char *s);
/* Return a copy of TEXT, for free(); NULL if TEXT.s is NULL. */
char *catalogue_text_dup(struct catalogue_text text);
