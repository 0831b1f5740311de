/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes on functions: a table of mechanisms, one file each, and the probes attached by them.
 */
#pragma once

#include <stdint.h>

#include "profile/profile.h"
#include "record/target/sites.h"

struct record_engine;
struct record_features;
struct record_kernel;
struct record_machine;
struct record_points;
struct record_probes;

/* A mechanism. Its capabilities are in profile/names.h. Functions here report no errors unless their comments say so. */
struct record_mechanism {
	enum profile_mechanism mech;
	/* Mechanisms that replace MECH for a site if the kernel reaches its probe in another way; PROFILE_UNTIMED: none. */
	enum profile_mechanism ways[2];
	/* Return why this kernel does not have the mechanism, one phrase; NULL: it does. */
	const char *(*why_not)(const struct record_features *features);
	/* Return the kernel memory for one function, in bytes. */
	size_t (*memory)(const struct record_machine *machine);
	/*
	 * Return why the function of SITE cannot be probed, one phrase, and set *SKIP to the kind of the reason; NULL: it
	 * can, and SITE's target has what attach() needs.
	 */
	const char *(*refuse)(const struct record_kernel *kernel, struct record_site *site,
			      enum record_skip *skip);
	/*
	 * Load the programs that attach() of TARGET will use, with the costs known by now. Loading takes most of the time of
	 * attaching, and changes nothing in the kernel. Return 0 or -errno. NULL: there is nothing to prepare.
	 */
	int (*prepare)(struct record_probes *probes, const struct record_target *target);
	/*
	 * Attach to the N TARGETS. Set ERR of each to 0 or -errno; -EINTR: the user interrupted before its turn. Each
	 * target has all of its probes or none afterwards.
	 */
	void (*attach)(struct record_probes *probes, struct record_target *targets, uint32_t n);
	/*
	 * Attach the probes that depend on REACHED, how the kernel reaches the probes of attach(), which decides costs.
	 * Return 0, or -errno and leave TARGET without probes. NULL: attach() attaches all probes.
	 */
	int (*complete)(struct record_probes *probes, const struct record_target *target,
			enum profile_mechanism reached);
};

/* All mechanisms, in the order in which `auto` tries them, then NULL. */
extern const struct record_mechanism *const record_mechanisms[];
/* The values of --attach, "auto" first. The function returns the mechanism of value INDEX; PROFILE_UNTIMED for auto. */
extern const char *const record_attach_names[];
enum profile_mechanism record_attach_mechanism(uint32_t index);
/* Return the index of the first value whose mechanism can count events (--event). */
uint32_t record_attach_counting(void);

/* Return the mechanism MECH; NULL if it does not probe functions. */
const struct record_mechanism *record_mechanism(enum profile_mechanism mech);

/* E must be loaded and outlive the result. */
struct record_probes *record_probes_create(struct record_engine *e,
					   const struct record_features *features);
void record_probes_destroy(struct record_probes *probes); /* detaches; accepts NULL */

struct record_engine *record_probes_engine(const struct record_probes *probes);
/* Probes inside of functions: record/probe/point.h. */
struct record_points *record_probes_points(const struct record_probes *probes);

/* Maximum number of descriptors that an attached function keeps open. */
#define RECORD_FILES_A_SITE 4

/* Prepare TARGET's function as site SITE: see struct record_mechanism. Return 0 or -errno. */
int record_probes_prepare(struct record_probes *probes, enum profile_mechanism mech, uint32_t site,
			  const struct record_target *target);
/* Call MECH's attach() for TARGET's function as site SITE, then complete() with REACHED = MECH. Return 0 or -errno. */
int record_probes_attach(struct record_probes *probes, enum profile_mechanism mech, uint32_t site,
			 const struct record_target *target);
/* Detach the site attached last, in the background: see record_detach_wait(). */
void record_probes_detach_last(struct record_probes *probes);
/* Detach all functions; accepts NULL. */
void record_probes_detach(struct record_probes *probes);

/* Probe hits that the kernel missed since record_probes_reset(). */
struct record_probe_misses {
	uint64_t recursion; /* programs skipped because one was running on the CPU already */
	uint64_t hits; /* missed by kprobes and kprobe.multi; PROFILE_NOT_COUNTED before 6.7 */
};
struct record_probe_misses record_probes_misses(const struct record_probes *probes);
void record_probes_reset(struct record_probes *probes);
