/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By which mechanism each function is to be probed, and which functions are left out.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "record/target/sites.h"

/* With more functions than this, auto takes kprobe.multi for those of globs. */
#define RECORD_MAX_FENTRY 32

const char *record_skip_text(enum record_skip skip);

/*
 * Chooses mechanisms, HOW alone unless that is PROFILE_UNTIMED, for those of SITES that have none yet, and leaves out those that are there already or cannot be
 * measured. Reports, one line each, every function named and every glob of whose functions none can be measured, with
 * the reason, and returns -errno if there was any.
 */
int record_sites_choose(struct record_sites *sites, const struct record_kernel *kernel,
			enum profile_mechanism how);

/*
 * If there are many functions, those of globs go to kprobe.multi, or to kprobes on a kernel without it: detaching a fentry
 * trampoline takes 0.1 s.
 * Not for callees, whatever their number: what its probes cost varies from one function to the next, and they are
 * there for exact self times.
 */
void record_sites_limit_fentry(struct record_sites *sites, const struct record_kernel *kernel,
			       enum profile_mechanism how);
/* Functions whose values may be captured leave kprobe.multi, which has one program for all functions, for kprobes: where they are few. */
void record_sites_prefer_kprobe(struct record_sites *sites, const struct record_kernel *kernel,
				enum profile_mechanism how);

/* The mechanism for page faults. */
enum profile_mechanism record_choose_faults(const struct record_features *features);
/* The next mechanism that auto tries for a function for which the kernel refused REFUSED; PROFILE_UNTIMED: there is none. */
enum profile_mechanism record_choose_after(const struct record_features *features,
					   enum profile_mechanism refused);

/*
 * Tells FN of each function whose name, less clone suffixes, matches GLOB: how `record` would probe
 * it, and WHY it leaves it out of globs, if it does; or, with MECH NONE, WHY it would not at all.
 * Returns how many matched, or -errno, reported. Only where some do are KERNEL's functions loaded and its
 * features probed, both of which take a while.
 */
typedef void (*record_site_fn)(const struct kernel_sym *sym, enum profile_mechanism mech,
			       const char *why, void *arg);
int record_sites_list(const struct record_kernel *kernel, const char *glob, record_site_fn fn,
		      void *arg);

/*
 * The kernel memory that probes will take, known before they are attached.
 */

struct btf;

/* The kernel's places for returns of calls in flight are as many as MACHINE may have CPUs, and of the size that its BTF tells. */
struct record_machine {
	uint32_t n_cpus;
	const struct btf *btf;
};

/* The memory of a call in flight, a struct TYPE of the kernel, in bytes; 0: it has none. */
size_t record_call_memory(const struct record_machine *machine, const char *type);
/* In bytes, about: N functions timed by MECH. */
size_t record_probe_memory(const struct record_machine *machine, enum profile_mechanism mech,
			   uint32_t n);
/* N addresses inside functions. */
size_t record_point_memory(uint32_t n);
