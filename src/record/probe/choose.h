/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Choosing the mechanism that probes each function, and the functions that are left out.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "record/target/sites.h"

/* If there are more functions than this, auto uses kprobe.multi for those of globs. */
#define RECORD_MAX_FENTRY 32

const char *record_skip_text(enum record_skip skip);

/*
 * Choose a mechanism for each of SITES that has none: HOW or, if HOW is PROFILE_UNTIMED, any. Leave out sites on the same function
 * as another site, and sites that cannot be probed. Report, with the reason, each named function that cannot be probed, and each
 * glob of which no function can be probed. Return -errno if there is any.
 */
int record_sites_choose(struct record_sites *sites, const struct record_kernel *kernel,
			enum profile_mechanism how);

/*
 * If fentry times more than RECORD_MAX_FENTRY functions, and HOW is PROFILE_UNTIMED, move those of globs to kprobe.multi, or to
 * kprobes on a kernel without it: detaching a fentry trampoline takes 0.1 s. Named functions keep fentry.
 */
void record_sites_limit_fentry(struct record_sites *sites, const struct record_kernel *kernel,
			       enum profile_mechanism how);
/* Move functions whose values may be captured, if few, from kprobe.multi to kprobes: kprobe.multi has one program for all. */
void record_sites_prefer_kprobe(struct record_sites *sites, const struct record_kernel *kernel,
				enum profile_mechanism how);

/* Return the mechanism that times page faults. */
enum profile_mechanism record_choose_faults(const struct record_features *features);
/* Return the mechanism that auto tries after the kernel refused REFUSED for a function; PROFILE_UNTIMED: none. */
enum profile_mechanism record_choose_after(const struct record_features *features,
					   enum profile_mechanism refused);

/*
 * Call FN for each function whose name, without clone suffixes, matches GLOB. MECH is the mechanism that `record` would use. WHY is
 * the reason why `record` leaves the function out of globs; NULL: it does not. If the function cannot be probed, MECH is
 * PROFILE_UNTIMED, and WHY is the reason. Return the number of matches, or -errno, reported. If there is a match, load KERNEL's
 * functions and probe its features, which takes a while.
 */
typedef void (*record_site_fn)(const struct kernel_sym *sym, enum profile_mechanism mech,
			       const char *why, void *arg);
int record_sites_list(const struct record_kernel *kernel, const char *glob, record_site_fn fn,
		      void *arg);

/* ---- estimates of the kernel memory that probes will take ---- */

struct btf;

/* The machine's properties on which the memory for calls in flight depends: number of CPUs, and sizes of structs in BTF. */
struct record_machine {
	uint32_t n_cpus;
	const struct btf *btf;
};

/* Return the bytes that the kernel's struct TYPE takes for a call in flight; 0: the kernel has no such struct. */
size_t record_call_memory(const struct record_machine *machine, const char *type);
/* Return roughly how many bytes the probes of N functions timed by MECH take. */
size_t record_probe_memory(const struct record_machine *machine, enum profile_mechanism mech,
			   uint32_t n);
/* Return roughly how many bytes N probes inside functions take. */
size_t record_point_memory(uint32_t n);
