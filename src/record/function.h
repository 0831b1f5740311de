/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Function sites attached: copies of the fentry pair, or the one kprobe pair with cookies.
 */
#ifndef KPROTPERF_RECORD_FUNCTION_H
#define KPROTPERF_RECORD_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "record/multi.h"

struct kprotperf_bpf;
struct record_functions;

/* A function to attach to. */
struct record_target {
	uint64_t addr; /* absolute */
	int32_t btf_id; /* for fentry, */
	int btf_fd; /* in the BTF object of a module, or 0 in the kernel's own */
	uint32_t n_args; /* which fentry passes on */
	uint32_t extra; /* what a kprobe costs here beyond what is calibrated, in ticks */
};

/* SKEL must be loaded and outlive the result. */
struct record_functions *record_functions_create(struct kprotperf_bpf *skel,
						 const struct record_multi *multi);
void record_functions_destroy(struct record_functions *f); /* accepts NULL */

/* What a fentry pair attached from now on is to take off; for the others the engine has variables. */
struct record_cost;
void record_functions_set_fentry_cost(struct record_functions *f, const struct record_cost *cost);

/* Descriptors that a function attached keeps open, whatever the mechanism. */
#define RECORD_FILES_A_SITE 2

/* See record_engine_attach(). A site whose second probe is refused is left with none. */
int record_functions_attach(struct record_functions *f, uint32_t site, enum profile_mechanism mech,
			    const struct record_target *target);
/*
 * Loads what record_functions_attach() of SITE by PROFILE_MECH_FENTRY will attach, with the costs that are
 * known by now. That takes most of its time, and needs nothing of the kernel but memory.
 */
int record_functions_prepare(struct record_functions *f, uint32_t site,
			     const struct record_target *target);
/*
 * A kprobe pair in two steps: how the kernel will reach the one on the entry, which says what program
 * the other one takes, is known only some time after it is there. Where that one is refused, SITE is left
 * with none.
 */
int record_functions_attach_entry(struct record_functions *f, uint32_t site,
				  const struct record_target *target);
int record_functions_attach_return(struct record_functions *f, uint32_t site,
				   enum profile_mechanism mech, const struct record_target *target);
/*
 * The same by kprobe.multi for all N at once, which is much faster than one by one. ERR of each
 * becomes 0 or -errno; -EINTR for those not reached when the user asked for an end.
 */
struct record_multi_site {
	uint32_t site;
	uint64_t addr;
	int err;
	uint32_t extra; /* set when it is attached: as in struct engine_multi */
};
void record_functions_attach_multi(struct record_functions *f, struct record_multi_site *items,
				   uint32_t n);
/*
 * Whether calls of the function of ITEM, which stays attached, are timed. Hidden, it costs what it takes to
 * find that it is none of ours.
 */
int record_functions_show_multi(struct record_functions *f, const struct record_multi_site *item,
				bool show);
/* Of SITE only the return probe stays, as while it is being detached. */
void record_functions_halve(struct record_functions *f, uint32_t site);
/* The same for all by kprobe.multi, and then with both halves again. */
void record_functions_halve_multi(struct record_functions *f);
int record_functions_restore_multi(struct record_functions *f);
/* Undoes the last record_functions_attach() that succeeded, which was by MECH: until record_closer_wait(). */
void record_functions_detach_last(struct record_functions *f, enum profile_mechanism mech);
void record_functions_detach(struct record_functions *f); /* accepts NULL */

/*
 * Hits that the kernel missed of kprobes and kprobe.multi attached here, ever; PROFILE_NOT_COUNTED
 * where it does not tell (before 6.7) and there are such.
 */
uint64_t record_functions_probe_misses(const struct record_functions *f);

/*
 * Detaches the N sites while calls of them may be open. By kprobe.multi all functions have one link:
 * it is replaced by one without these, and what is called in between is not seen. -errno where that
 * failed; MISSES as below.
 */
int record_functions_detach_sites(struct record_functions *f, const uint32_t *sites, uint32_t n,
				  uint64_t (*misses)(int prog_fd));

/* The sum of what MISSES gives for each program loaded here, ever. */
uint64_t record_functions_misses(const struct record_functions *f, uint64_t (*misses)(int prog_fd));

#endif
