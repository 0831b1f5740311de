/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Range sites: from the names of inlined functions to their bodies, and to the probes at which control enters
 * and leaves each. Calls of functions that cannot be probed are timed in the same way.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "record/target/point.h"
#include "record/target/sites.h"
#include "record/target/symbols.h"

struct profile;

/* A body that needs more probes than this is not timed: the probes would take longer than the body. */
#define RECORD_RANGE_MAX_POINTS 64
/* Maximum number of bodies in a recording. */
#define RECORD_MAX_RANGES 1024

/* One inlined body. Strings are its own unless said otherwise. */
struct record_range {
	struct record_image *in; /* the kernel or the module; ENTRY, INTO_ADDR are relative to IN */
	uint32_t body; /* id in the image's index */
	const char *name; /* the index's */
	char *into; /* name of the function around it, without clone suffixes */
	const char *symbol; /* symbol of the function around it; the index's */
	char *chain; /* see struct profile_site; NULL: none */
	const char *file; /* file of the call, in the index; NULL: unknown */
	uint32_t line;
	uint64_t entry;
	uint64_t into_addr;
	uint64_t size; /* code size in bytes */
	bool named; /* a pattern INLINED@FUNC gives the function around it by name, not by a glob */
	char *why_not; /* why it is not timed; NULL: it is */
	uint32_t n_probes; /* number of its probes, shared ones included */
	uint32_t n_breakpoints; /* probes that the optimizer is not expected to make jumps */
};

struct record_ranges {
	uint32_t first_site; /* the engine's number of items[0]; the others follow */
	vec_of(struct record_range, items);
	vec_of(struct record_point, points); /* sorted by address */
	uint32_t n_lists; /* number of points with several actions */
};

/*
 * Resolve the PATTERNS of --range: INLINED or INLINED@FUNC, names or globs. Plan the probes of the bodies and of
 * calls added before. Call this before any probe is attached, as it reads the running kernel's code. Warn of each
 * pattern that matches nothing. Return 0 or -errno, reported. A body that cannot be timed is no error.
 */
int record_ranges_resolve(struct record_ranges *ranges, const struct record_kernel *kernel,
			  const struct record_names *patterns, uint32_t first_site);
void record_ranges_deinit(struct record_ranges *ranges);

/*
 * Call FN for each image that may have bodies of INLINED@FUNCTION, until FN returns non-zero; return its last result.
 * These images are the modules with a matching function, and the kernel's image unless FUNCTION is a name that only
 * modules have. FUNCTION is NULL for INLINED alone: then it is the kernel's image.
 */
typedef int (*record_image_fn)(struct record_image *in, void *arg);
int record_range_images_each(struct record_symbols *symbols, const char *function,
			     record_image_fn fn, void *arg);

/* Add BODY of IN's index. NAMED: see struct record_range. */
void record_ranges_add(struct record_ranges *ranges, struct record_image *in,
		       const struct kernel_body *body, bool named);

/* Do not time range I after all. FMT gives the reason, as for printf(); an earlier reason is kept. */
void record_range_give_up(struct record_ranges *ranges, uint32_t i, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Remove the actions of bodies that were given up. Call DROP (may be NULL) for each point left without actions, and remove it. */
void record_ranges_prune(struct record_ranges *ranges, void (*drop)(struct record_point *p));

/* Add the ranges as sites to P, after the sites of functions. */
void record_ranges_store(const struct record_ranges *ranges, struct profile *p);
