/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's protections: what each is, how it is switched, which code carries its cost. One table
 * (table.c) for list, record, diff, the lab and the docs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Versions of Linux, comparable; 0: any. */
#define CATALOGUE_LINUX(major, minor) ((major)*1000u + (minor))

/* Versions from FROM up to, not including, UNTIL. */
struct catalogue_span {
	uint32_t from, until;
};

enum catalogue_role {
	CATALOGUE_BUILDS, /* if set, the protection is in the kernel; one of several is enough */
	CATALOGUE_DEFAULT, /* if set, the protection is on unless a parameter says otherwise */
	CATALOGUE_ALONG, /* another option: its values in the kernels without and with the protection */
	CATALOGUE_TOOL, /* like ALONG: an option that is required to compile the protection */
};

/* A kconfig symbol, without CONFIG_, and its values. "n" means that it is not set. */
struct catalogue_option {
	const char *symbol, *off, *on;
	enum catalogue_role role;
	struct catalogue_span span;
};

/*
 * A parameter of the kernel's command line. OFF and ON list values with the same meaning, separated by '|', the recommended one
 * first. "": the parameter without a value; NULL: no value has this meaning.
 */
struct catalogue_parameter {
	const char *name, *off, *on;
	struct catalogue_span span;
};

/* A file that tells the state by its first line. OFF and ON are prefixes of that line, separated by '|'. */
struct catalogue_file {
	const char *path, *off, *on;
};

enum catalogue_code {
	CATALOGUE_FUNCTION, /* the protection's own function */
	CATALOGUE_HOST, /* a function that does the protection's work among other work */
	CATALOGUE_INLINE, /* a function of its own that the compiler inlines: an inline range */
	CATALOGUE_MACRO, /* a macro: cannot be timed by name */
	CATALOGUE_ASSEMBLY, /* assembly without calling conventions: cannot be timed */
	CATALOGUE_UNPROBEABLE, /* a function that takes no probe: noinstr, or gone when boot ends */
};

struct catalogue_function {
	const char *name;
	const char *file; /* file of the definition, in the kernel's tree */
	enum catalogue_code code;
	struct catalogue_span span;
};

enum catalogue_origin {
	CATALOGUE_SOURCE,
	CATALOGUE_COMPILER,
	CATALOGUE_LAYOUT
};

enum catalogue_position {
	CATALOGUE_CODE,
	CATALOGUE_DATA,
	CATALOGUE_STRUCTURE
};

enum catalogue_runs {
	CATALOGUE_BUILD,
	CATALOGUE_BOOT,
	CATALOGUE_SELDOM,
	CATALOGUE_OFTEN
};

enum catalogue_extent {
	CATALOGUE_NO,
	CATALOGUE_PARTLY,
	CATALOGUE_YES
};

/* The means of switching a protection on and off. */
enum catalogue_switch {
	CATALOGUE_BY_BOOT, /* a kernel parameter: two boots of one kernel */
	CATALOGUE_BY_FEW, /* a second kernel, built by recompiling a few files */
	CATALOGUE_BY_ALL, /* a second kernel, built by recompiling all files */
	CATALOGUE_BY_USE, /* programs, at run time */
	CATALOGUE_BY_NOTHING, /* nothing: it is always on */
};

struct catalogue_protection {
	const char *name, *title;
	const char *against; /* the attack it protects against */
	/* Each list ends in an entry of zeroes; NULL: none. */
	const struct catalogue_option *options;
	const struct catalogue_parameter *parameters;
	const struct catalogue_file *file;
	const struct catalogue_function *functions;
	const char *const *workloads; /* workloads that trigger it, the best first */
	const char *contexts; /* system calls and the like that trigger it */
	enum catalogue_origin origin;
	enum catalogue_position position;
	enum catalogue_runs runs;
	enum catalogue_extent in_syscall; /* is its cost between sys_enter and sys_exit? */
	enum catalogue_extent in_instructions; /* do instruction counts show it, or only cycles? */
	enum catalogue_switch by;
	/* The state without options and parameters: 1 on, 0 off, -1 unknown. */
	int assumed;
	bool forced; /* its parameter has an effect even if the CPU is not affected */
	struct catalogue_span span; /* versions of the kernel that have it */
	const char *lab_cpu; /* CPU features that QEMU must report for it; NULL: the usual ones */
	const char *missing; /* the reason that the lab cannot switch it, or NULL */
	const char *note; /* a fact that readers of its figures need, or NULL */
};

extern const struct catalogue_protection catalogue[];
extern const size_t catalogue_size;

/* Return the protection NAME, or NULL. */
const struct catalogue_protection *catalogue_find(const char *name);
/* The message that there is no protection NAME, for free(). */
char *catalogue_unknown(const char *name);

/* Return whether the kernel option of N bytes, without CONFIG_, builds a protection or switches it on. */
bool catalogue_has_option(const char *symbol, size_t n);

const char *catalogue_origin_name(enum catalogue_origin origin);
const char *catalogue_position_name(enum catalogue_position position);
const char *catalogue_runs_name(enum catalogue_runs runs);
const char *catalogue_extent_name(enum catalogue_extent extent);
const char *catalogue_switch_name(enum catalogue_switch by);
const char *catalogue_code_name(enum catalogue_code code);
const char *catalogue_role_name(enum catalogue_role role);

bool catalogue_span_has(struct catalogue_span span, uint32_t version);
