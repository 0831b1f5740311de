/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's protections: their purpose, the means of switching them, and the code that carries their cost. One table (table.c)
 * serves the commands `list`, `record` and `diff`, the lab (scripts/lab) and the documentation.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A version of Linux as a number that can be compared. 0 means any version. */
#define CATALOGUE_LINUX(major, minor) ((major)*1000u + (minor))

/* The versions from FROM up to, but not including, UNTIL. */
struct catalogue_span {
	uint32_t from, until;
};

enum catalogue_role {
	CATALOGUE_BUILDS, /* if set, the protection is in the kernel; one of several is enough */
	CATALOGUE_DEFAULT, /* if set, the protection is on unless a parameter says otherwise */
	CATALOGUE_ALONG, /* another option to set: to OFF without the protection, to ON with it */
	CATALOGUE_TOOL, /* like ALONG: an option that is required to compile the protection */
};

/* A kconfig symbol, without CONFIG_, and its values without and with the protection. "n" means that the option is not set. */
struct catalogue_option {
	const char *symbol, *off, *on;
	enum catalogue_role role;
	struct catalogue_span span;
};

/*
 * A parameter of the kernel's command line. OFF and ON list values with the same meaning, separated by '|', the recommended value
 * first. "" means the parameter without a value. NULL means that no value exists.
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
	CATALOGUE_INLINE, /* the protection's own function, which the compiler inlines */
	CATALOGUE_MACRO, /* a macro, which leaves no symbol to probe */
	CATALOGUE_ASSEMBLY, /* assembly without calling conventions: cannot be timed */
	CATALOGUE_UNPROBEABLE, /* a function that takes no probe: noinstr, or gone when boot ends */
};

struct catalogue_function {
	const char *name;
	const char *file; /* source file of the definition, in the kernel's tree */
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
	CATALOGUE_BY_BOOT, /* a kernel parameter, in two boots of one kernel */
	CATALOGUE_BY_FEW, /* a second kernel, built by recompiling a few files */
	CATALOGUE_BY_ALL, /* a second kernel, built by recompiling all files */
	CATALOGUE_BY_USE, /* programs switch it at run time */
	CATALOGUE_BY_NOTHING, /* the protection is always on */
};

struct catalogue_protection {
	const char *name, *title;
	const char *against; /* the attack that the protection prevents */
	/* Each list ends in an entry of zeroes. NULL is an empty list. */
	const struct catalogue_option *options;
	const struct catalogue_parameter *parameters;
	const struct catalogue_file *file;
	const struct catalogue_function *functions;
	const char *const *workloads; /* workloads that trigger the protection, the best first */
	const char *contexts; /* system calls and the like that trigger the protection */
	enum catalogue_origin origin;
	enum catalogue_position position;
	enum catalogue_runs runs;
	enum catalogue_extent in_syscall; /* the cost lies between sys_enter and sys_exit */
	enum catalogue_extent in_instructions; /* instruction counts show the cost */
	enum catalogue_switch by;
	/* The state of a kernel without any of the options and parameters: 1 on, 0 off, -1 unknown. */
	int assumed;
	bool forced; /* the parameter switches it on even if the CPU is not affected */
	struct catalogue_span span; /* versions of the kernel that have the protection */
	const char *lab_cpu; /* CPU features that QEMU must report; NULL: the usual features */
	const char *missing; /* reason why the lab cannot switch the protection, or NULL */
	const char *note; /* hint for readers of the protection's figures, or NULL */
};

extern const struct catalogue_protection catalogue[];
extern const size_t catalogue_size;

const struct catalogue_protection *catalogue_find(const char *name);
/* Return the message that there is no protection NAME. The caller frees the text. */
char *catalogue_unknown(const char *name);

/* Return whether the kernel option SYMBOL (N bytes, without CONFIG_) builds a protection into the kernel or switches it on. */
bool catalogue_has_option(const char *symbol, size_t n);

const char *catalogue_origin_name(enum catalogue_origin origin);
const char *catalogue_position_name(enum catalogue_position position);
const char *catalogue_runs_name(enum catalogue_runs runs);
const char *catalogue_extent_name(enum catalogue_extent extent);
const char *catalogue_switch_name(enum catalogue_switch by);
const char *catalogue_code_name(enum catalogue_code code);
const char *catalogue_role_name(enum catalogue_role role);

bool catalogue_span_has(struct catalogue_span span, uint32_t version);
