/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Choose the mechanism that probes each function, and the functions that are left out. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "record/target/sites.h"

/* --attach=auto uses kprobe.multi for the functions of globs if there are more functions than this. */
#define RECORD_MAX_FENTRY 32

const char *record_skip_text(enum record_skip skip);

/*
 * Choose a mechanism for each of SITES that has none: HOW or, if HOW is PROFILE_UNTIMED, any. Leave out functions that were found
 * before, and functions that cannot be probed. For each function given by name that cannot be probed, and each glob without a
 * usable function, report the reason. Return -errno if any was reported.
 */
int record_sites_choose(struct record_sites *sites, const struct record_kernel *kernel,
			enum profile_mechanism how);

/*
 * If fentry times more than RECORD_MAX_FENTRY functions, and HOW is PROFILE_UNTIMED, move the functions of globs to kprobe.multi
 * or, without kprobe.multi, to kprobes: detaching a fentry trampoline takes 0.1 s. Functions given by name keep fentry.
 */
void record_sites_limit_fentry(struct record_sites *sites, const struct record_kernel *kernel,
			       enum profile_mechanism how);
/* To capture values, move functions from kprobe.multi, which has one program for all, to kprobes, if these are few enough. */
void record_sites_prefer_kprobe(struct record_sites *sites, const struct record_kernel *kernel,
				enum profile_mechanism how);

/* Return the mechanism that times page faults; PROFILE_UNTIMED: none. */
enum profile_mechanism record_choose_faults(const struct record_features *features);
/* Return the mechanism that --attach=auto tries after the kernel refused REFUSED for a function; PROFILE_UNTIMED: none is left. */
enum profile_mechanism record_choose_after(const struct record_features *features,
					   enum profile_mechanism refused);

/*
 * Call FN for each function whose name, without clone suffixes, matches GLOB. MECH is the mechanism that `record` would use. WHY
 * is the reason why `record` leaves the function out of globs; NULL: it is not left out. If the function cannot be probed, MECH is
 * PROFILE_UNTIMED, and WHY is the reason. Return the number of matching functions, or -errno, reported. The first match loads
 * KERNEL's functions, which takes a while. KERNEL's features must be known (record_features_probe()).
 */
typedef void (*record_site_fn)(const struct kernel_sym *sym, enum profile_mechanism mech,
			       const char *why, void *arg);
int record_sites_list(const struct record_kernel *kernel, const char *glob, record_site_fn fn,
		      void *arg);

/* ---- estimates of the kernel memory that probes will take ---- */

struct btf;

/* The machine's number of CPUs, and BTF for the sizes of structs. Memory for calls in flight depends on these. */
struct record_machine {
	uint32_t n_cpus;
	const struct btf *btf;
};

/* Return the bytes that the kernel allocates for a struct TYPE, one for each call in flight; 0: the kernel has no such struct. */
size_t record_call_memory(const struct record_machine *machine, const char *type);
/* Return roughly how many bytes of kernel memory the probes of N functions timed by MECH take. */
size_t record_probe_memory(const struct record_machine *machine, enum profile_mechanism mech,
			   uint32_t n);
/* Return roughly how many bytes of kernel memory N probes inside functions take. */
size_t record_point_memory(uint32_t n);
