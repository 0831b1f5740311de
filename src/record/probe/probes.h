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

/*
 * A mechanism. Its capabilities are in profile/names.h. Functions here report no errors unless their comments say so.
 */
struct record_mechanism {
	enum profile_mechanism mech;
	/* Others that are attached as this one, by the way the kernel then takes to the probe; PROFILE_UNTIMED: none. */
	enum profile_mechanism ways[2];
	/* Why this kernel does not have it, one phrase; NULL: it does. */
	const char *(*why_not)(const struct record_features *features);
	/* The kernel's memory for one function, in bytes. */
	size_t (*memory)(const struct record_machine *machine);
	/*
	 * Why the function of SITE cannot be probed by it, one phrase, and in *SKIP of which kind that is; NULL: it can,
	 * and SITE's target has what attach() takes.
	 */
	const char *(*refuse)(const struct record_kernel *kernel, struct record_site *site,
			      enum record_skip *skip);
	/*
	 * Loads what attach() of TARGET will take, with the costs that are known by now. Loading takes most of the
	 * time, and needs nothing of the kernel but memory. NULL: there is nothing. 0 or -errno.
	 */
	int (*prepare)(struct record_probes *probes, const struct record_target *target);
	/*
	 * Attaches to the N TARGETS. ERR of each becomes 0 or -errno; -EINTR for those not reached when the user asked
	 * for an end. A target is left with all of its probes or none.
	 */
	void (*attach)(struct record_probes *probes, struct record_target *targets, uint32_t n);
	/*
	 * Attaches what must wait until it is known how the kernel gets to what attach() has put there: REACHED, by which
	 * the costs go. -errno: then TARGET is left with none. NULL: attach() does it all.
	 */
	int (*complete)(struct record_probes *probes, const struct record_target *target,
			enum profile_mechanism reached);
};

/* All of them, in the order in which they are tried; NULL ends it. */
extern const struct record_mechanism *const record_mechanisms[];
/* Their names in --attach, after "auto"; and which one that is, by the index, PROFILE_UNTIMED for auto. */
extern const char *const record_attach_names[];
enum profile_mechanism record_attach_mechanism(uint32_t index);
/* The index of the first that counts events, as in --event. */
uint32_t record_attach_counting(void);

/* NULL where functions are not probed by MECH. */
const struct record_mechanism *record_mechanism(enum profile_mechanism mech);

/* E must be loaded and outlive the result. */
struct record_probes *record_probes_create(struct record_engine *e,
					   const struct record_features *features);
void record_probes_destroy(struct record_probes *probes); /* detaches; accepts NULL */

struct record_engine *record_probes_engine(const struct record_probes *probes);
/* Probes inside of functions: record/probe/point.h. */
struct record_points *record_probes_points(const struct record_probes *probes);

/* Descriptors that a function attached keeps open, whatever the mechanism. */
#define RECORD_FILES_A_SITE 4

/* TARGET's function as site SITE: see struct record_mechanism. 0 or -errno. */
int record_probes_prepare(struct record_probes *probes, enum profile_mechanism mech, uint32_t site,
			  const struct record_target *target);
/* Attaches to it, and completes that: the kernel gets there by MECH. 0 or -errno. */
int record_probes_attach(struct record_probes *probes, enum profile_mechanism mech, uint32_t site,
			 const struct record_target *target);
/* Undoes the last that succeeded, in the background: until record_detach_wait(). */
void record_probes_detach_last(struct record_probes *probes);
/* Detaches all functions; accepts NULL. */
void record_probes_detach(struct record_probes *probes);

/* Probe hits that the kernel missed since record_probes_reset(). */
struct record_probe_misses {
	uint64_t recursion; /* programs skipped because one was running on the CPU already */
	uint64_t hits; /* of kprobes and kprobe.multi; PROFILE_NOT_COUNTED before 6.7 */
};
struct record_probe_misses record_probes_misses(const struct record_probes *probes);
void record_probes_reset(struct record_probes *probes);
