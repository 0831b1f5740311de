/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Range sites: from the names of inlined functions to their bodies, and to the probes that tell when
 * control enters and leaves each. Calls of what cannot be probed itself are timed in the same way.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "record/target/point.h"
#include "record/target/sites.h"
#include "record/target/symbols.h"

struct profile;

/* With more probes than this a body is not timed: it would take more time than it tells of. */
#define RECORD_RANGE_MAX_POINTS 64
/* Bodies at once. */
#define RECORD_MAX_RANGES 1024

/* One inlined body. Strings are its own unless said otherwise. */
struct record_range {
	struct record_image *in; /* the kernel or the module; its addresses are relative to that */
	uint32_t body; /* its id in the index */
	const char *name; /* the index's */
	char *into; /* the function around it, less the clone suffixes */
	const char *symbol; /* and as in the symbol table; the index's */
	char *chain; /* as in struct profile_site; NULL: none */
	const char *file; /* file of the call, in the index; NULL: unknown */
	uint32_t line;
	uint64_t entry;
	uint64_t into_addr;
	uint64_t size; /* of its code, in bytes */
	bool named; /* its function is, by a name and not by a glob */
	char *why_not; /* it is not timed, and why; NULL: it is */
	uint32_t n_probes; /* number of its probes, shared ones included */
	uint32_t n_breakpoints; /* of these, as far as can be told beforehand */
};

struct record_ranges {
	uint32_t first_site; /* the engine's number of items[0]; the others follow */
	vec_of(struct record_range, items);
	vec_of(struct record_point, points); /* by address */
	uint32_t n_lists; /* of points with several things to do */
};

/*
 * Resolves the PATTERNS of --range: INLINED or INLINED@FUNC, names or globs, and plans their probes and those of
 * calls added before. To be
 * called before any probe is there: the running kernel's code is read. Reports every pattern that fits
 * nothing, and returns -ENOENT if there was any. A body that cannot be timed is no error.
 */
int record_ranges_resolve(struct record_ranges *ranges, const struct record_kernel *kernel,
			  const struct record_names *patterns, uint32_t first_site);
void record_ranges_deinit(struct record_ranges *ranges);

/*
 * Calls FN for what the bodies INLINED@FUNCTION may be in, until it returns other than 0, and returns that: the modules
 * that have a function which matches, and the kernel's image unless FUNCTION is a name that only modules have. FUNCTION
 * NULL, of INLINED alone: the kernel's image.
 */
typedef int (*record_image_fn)(struct record_image *in, void *arg);
int record_range_images_each(struct record_symbols *symbols, const char *function,
			     record_image_fn fn, void *arg);

/* Adds BODY of IN's index. NAMED: its function is, by a name and not by a glob. */
void record_ranges_add(struct record_ranges *ranges, struct record_image *in,
		       const struct kernel_body *body, bool named);

/* Range I is not timed after all; the reason, as printf() has it, unless there was one already. */
void record_range_give_up(struct record_ranges *ranges, uint32_t i, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Takes the actions of bodies that were given up off the points; those left without any go, each by DROP unless NULL. */
void record_ranges_prune(struct record_ranges *ranges, void (*drop)(struct record_point *p));

/* Adds the sites to P, after those of functions. */
void record_ranges_store(const struct record_ranges *ranges, struct profile *p);
