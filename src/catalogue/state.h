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
	CATALOGUE_BUILT_IN, /* in the kernel; whether it is on is not known */
	CATALOGUE_ON,
};

/*
 * From the environment in P: the kernel's configuration, its command line, what it says of the CPU's vulnerabilities, its
 * release. LIVE: P is this kernel's, whose files may be read. HOW is one phrase, to be freed; it may be NULL.
 */
enum catalogue_state catalogue_state(const struct catalogue_protection *protection,
				     const struct profile *p, bool live, char **how);

/* Return whether its states in two recordings are known and differ. */
bool catalogue_differs(const struct catalogue_protection *protection, const struct profile *a,
		       const struct profile *b);

const char *catalogue_state_name(enum catalogue_state state);

/* The version of Linux that P was recorded on, for catalogue_span_has(); 0: not known. */
uint32_t catalogue_linux(const struct profile *p);

/*
 * A kernel's settings as text: the options it was configured with (/proc/config.gz) and the parameters of its command
 * line. Whatever reads such text reads it here.
 */

/* A part of a text that somebody else keeps. */
struct catalogue_text {
	const char *s; /* NULL: there is none */
	size_t n;
};

/* An option without CONFIG_, or a parameter, with its value. */
struct catalogue_setting {
	struct catalogue_text name, value;
};

/*
 * The next option of the configuration *AT, which moves behind it; false: there is none. One that "is not set" has the
 * value "n".
 */
bool catalogue_next_option(const char **at, struct catalogue_setting *setting);
/* The same of a command line, where double quotes keep blanks together. Without '=' the value is "". */
bool catalogue_next_parameter(const char **at, struct catalogue_setting *setting);

/* The value of SYMBOL, "n" where it is not set; none where there is no configuration (NULL). */
struct catalogue_text catalogue_option_value(const char *config, const char *symbol);
/* The last value that the kernel takes for PARAMETER, or none. CMDLINE may be NULL. */
struct catalogue_text catalogue_parameter_value(const char *cmdline, const char *parameter);

/* An option's name since Linux 6.9, which renamed some. */
struct catalogue_text catalogue_option_name(struct catalogue_text name);

bool catalogue_text_is(struct catalogue_text text, const char *s);
/* A copy, to be freed; NULL of none. */
char *catalogue_text_dup(struct catalogue_text text);
