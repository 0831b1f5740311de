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
 * Choose mechanisms for those of SITES that have none yet: only HOW, unless that is PROFILE_UNTIMED. Leave out sites on the same
 * function as another, and those that cannot be probed. Report, with the reason, each named function that cannot be probed and each
 * glob that has no function which can, and return -errno if there is any.
 */
int record_sites_choose(struct record_sites *sites, const struct record_kernel *kernel,
			enum profile_mechanism how);

/*
 * If there are many functions, move those of globs to kprobe.multi, or to kprobes on a kernel without it: detaching a fentry
 * trampoline takes 0.1 s. Not for callees, whatever their number: what its probes cost varies from one function to the next,
 * and they are there for exact self times.
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
 * Call FN for each function whose name, without clone suffixes, matches GLOB, with the mechanism MECH that `record` would
 * use and WHY it leaves the function out of globs, if it does; or with MECH PROFILE_UNTIMED and WHY it cannot probe it.
 * Return the number of matches, or -errno, reported. KERNEL's functions are loaded and its features probed, which takes a
 * while, only if there is a match.
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
/* Likewise for N probes inside functions. */
size_t record_point_memory(uint32_t n);
