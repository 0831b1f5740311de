/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes on functions: a table of mechanisms, which have a file each, and the attached probes. */
#pragma once

#include <stdint.h>

#include "profile/profile.h"
#include "record/target/sites.h"

struct record_engine;
struct record_features;
struct record_kernel;
struct record_machine;
struct record_probes;

/* A mechanism that times functions. profile/names.h tells what the mechanism can do. These hooks report no errors to the user. */
struct record_mechanism {
	enum profile_mechanism mech;
	/* Mechanisms that MECH becomes if the kernel reaches the probe by a jump or a breakpoint; PROFILE_UNTIMED: none. */
	enum profile_mechanism ways[2];
	/* Return why this kernel lacks the mechanism, as one phrase; NULL: the kernel has it. */
	const char *(*why_not)(const struct record_features *features);
	/* Return the kernel memory that a function's probes take, in bytes. */
	size_t (*memory)(const struct record_machine *machine);
	/*
	 * Return why the function of SITE cannot be probed, as one phrase, and set *SKIP to the kind of reason. Return NULL if the
	 * function can be probed; SITE's target then has the data that attach() needs.
	 */
	const char *(*refuse)(const struct record_kernel *kernel, struct record_site *site,
			      enum record_skip *skip);
	/*
	 * Attach probes to the N TARGETS. Set ERR of each target to 0 or -errno; -EINTR: the user interrupted before. With an
	 * error, a target has no probes.
	 */
	void (*attach)(struct record_probes *probes, struct record_target *targets, uint32_t n);
	/*
	 * Attach the probes whose cost depends on REACHED, the way in which the kernel reaches the probes of attach(). Return 0,
	 * or -errno and leave TARGET without probes. NULL: attach() attaches all probes.
	 */
	int (*complete)(struct record_probes *probes, const struct record_target *target,
			enum profile_mechanism reached);
};

/* All mechanisms, in the order in which --attach=auto tries them, then NULL. */
extern const struct record_mechanism *const record_mechanisms[];
/* The values of --attach, "auto" first. record_attach_mechanism() returns the mechanism with that index; PROFILE_UNTIMED: auto. */
extern const char *const record_attach_names[];
enum profile_mechanism record_attach_mechanism(uint32_t index);
/* Return the index in record_attach_names[] of the first mechanism that can count events (--event) in a call. */
uint32_t record_attach_counting(void);

/* Return the table row of the mechanism MECH; NULL if MECH does not probe functions. */
const struct record_mechanism *record_mechanism(enum profile_mechanism mech);

/* Create an empty set of probes. E must be loaded and must outlive the result. */
struct record_probes *record_probes_create(struct record_engine *e,
					   const struct record_features *features);
void record_probes_destroy(struct record_probes *probes); /* detaches functions; accepts NULL */

struct record_engine *record_probes_engine(const struct record_probes *probes);

/* Maximum number of file descriptors that the probes of a function keep open. */
#define RECORD_FILES_A_SITE 4

/* Call MECH's attach() and complete() for TARGET's function, whose number is SITE. REACHED is MECH. Return 0 or -errno. */
int record_probes_attach(struct record_probes *probes, enum profile_mechanism mech, uint32_t site,
			 const struct record_target *target);
/* Detach the function that was attached last, in the background: see record_detach_wait(). */
void record_probes_detach_last(struct record_probes *probes);
/* Detach all functions. PROBES may be NULL. */
void record_probes_detach(struct record_probes *probes);

/* Numbers of hits that ran no program since record_probes_reset(). */
struct record_probe_misses {
	uint64_t recursion; /* a program was already running on the CPU */
	uint64_t hits; /* kprobes and kprobe.multi missed the hit; up to 6.6 PROFILE_NOT_COUNTED */
};
struct record_probe_misses record_probes_misses(const struct record_probes *probes);
void record_probes_reset(struct record_probes *probes);
