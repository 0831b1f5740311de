/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined functions (ranges): find the code of each inlined call (a body) of a name, and the addresses at which probes see control
 * enter and leave it. Calls of functions that cannot be probed are timed in the same way.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "record/target/point.h"
#include "record/target/sites.h"
#include "record/target/symbols.h"

struct profile;

/* Maximum number of probes for one inlined call. With more probes, the probes would take longer than the call. */
#define RECORD_RANGE_MAX_POINTS 64
/* Maximum number of inlined calls in a recording. */
#define RECORD_MAX_RANGES 1024

/* An inlined body: the code of one inlined call. The struct owns its strings unless a comment says otherwise. */
struct record_range {
	struct record_image *in; /* kernel or module; ENTRY and INTO_ADDR are relative to IN */
	uint32_t body; /* number of the inlined call in the image's index */
	const char *name; /* name of the inlined function; owned by the index */
	char *into; /* name of the containing function, without clone suffixes */
	const char *symbol; /* symbol of the containing function; owned by the index */
	char *chain; /* names of the functions inlined between NAME and INTO; NULL: none */
	const char *file; /* source file of the call; owned by the index; NULL: unknown */
	uint32_t line;
	uint64_t entry;
	uint64_t into_addr;
	uint64_t size; /* code size in bytes */
	bool named; /* FUNC in the pattern INLINED@FUNC is a name without wildcards */
	char *why_not; /* why the inlined call is not timed; NULL: it is timed */
	uint32_t n_probes; /* number of probes for the inlined call, including shared ones */
	uint32_t n_breakpoints; /* number of probes for which the optimizer writes no jump */
};

struct record_ranges {
	uint32_t first_site; /* number of items[0] in the engine; the next items follow */
	vec_of(struct record_range, items);
	vec_of(struct record_point, points); /* sorted by address */
	uint32_t n_lists; /* number of points that have several actions */
};

/*
 * Find the inlined functions for the PATTERNS of --range: INLINED or INLINED@FUNC, names or globs. Plan the probes for these, and
 * for calls that RANGES has already. Call this before any probe is attached, since it reads the running kernel's code. Warn of
 * each pattern that matches nothing. Return 0 or -errno, reported. An inlined function that cannot be timed is no error.
 */
int record_ranges_resolve(struct record_ranges *ranges, const struct record_kernel *kernel,
			  const struct record_names *patterns, uint32_t first_site);
void record_ranges_deinit(struct record_ranges *ranges);

/*
 * Call FN for each image that may have inlined functions for INLINED@FUNCTION, until FN returns non-zero. Return FN's last result.
 * The images are modules with a function that FUNCTION matches, and the kernel's image, unless FUNCTION is a name that only
 * modules have. If FUNCTION is NULL (INLINED without @), only the kernel's image is searched.
 */
typedef int (*record_image_fn)(struct record_image *in, void *arg);
int record_range_images_each(struct record_symbols *symbols, const char *function,
			     record_image_fn fn, void *arg);

/* Add BODY, an inlined call in IN's index, to RANGES. NAMED: see struct record_range. */
void record_ranges_add(struct record_ranges *ranges, struct record_image *in,
		       const struct kernel_body *body, bool named);

/* Mark range I as not timed. FMT and its arguments give the reason, like printf(); an earlier reason is kept. */
void record_range_give_up(struct record_ranges *ranges, uint32_t i, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Remove actions of inlined functions given up, and points that then have no action. Call DROP (may be NULL) for these. */
void record_ranges_prune(struct record_ranges *ranges, void (*drop)(struct record_point *p));

/* Add the inlined functions to P, after the other functions. */
void record_ranges_store(const struct record_ranges *ranges, struct profile *p);
