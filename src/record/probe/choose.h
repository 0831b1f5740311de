/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Choose the functions to leave out, and the mechanisms for the other functions. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "record/target/sites.h"

/* If more functions match globs than this, --attach=auto uses kprobe.multi for them. */
#define RECORD_MAX_FENTRY 32

const char *record_skip_text(enum record_skip skip);

/*
 * Choose a mechanism for each of SITES that has none: HOW or, if HOW is PROFILE_UNTIMED, the best possible one. Leave out
 * functions that occur twice or cannot be probed. For each function given by name that cannot be probed, and each glob without a
 * usable function, report the reason. Return -errno after such a report.
 */
int record_sites_choose(struct record_sites *sites, const struct record_kernel *kernel,
			enum profile_mechanism how);

/*
 * If fentry times more than RECORD_MAX_FENTRY functions, and HOW is PROFILE_UNTIMED, functions that globs matched get kprobe.multi
 * or, without kprobe.multi, kprobes: detaching a fentry trampoline takes 0.1 s. Functions given by name keep fentry.
 */
void record_sites_limit_fentry(struct record_sites *sites, const struct record_kernel *kernel,
			       enum profile_mechanism how);
/* kprobe.multi has one program for all functions, and cannot capture values. Change its functions to kprobes, if these are few. */
void record_sites_prefer_kprobe(struct record_sites *sites, const struct record_kernel *kernel,
				enum profile_mechanism how);

/* Return the mechanism that times page faults; PROFILE_UNTIMED: none. */
enum profile_mechanism record_choose_faults(const struct record_features *features);
/* Return the mechanism that --attach=auto tries next if the kernel has refused REFUSED for a function; PROFILE_UNTIMED: none. */
enum profile_mechanism record_choose_after(const struct record_features *features,
					   enum profile_mechanism refused);

/*
 * Call FN for each function whose name, without clone suffixes, matches GLOB. MECH is the mechanism that `record` would use. WHY
 * is the reason why `record` leaves the function out of globs; NULL: it is not left out. If the function cannot be probed, MECH is
 * PROFILE_UNTIMED, and WHY is the reason. Return the number of matching functions, or -errno, reported. The first match loads
 * KERNEL's tables of functions, which takes a while. KERNEL's features must be known (record_features_probe()).
 */
typedef void (*record_site_fn)(const struct kernel_sym *sym, enum profile_mechanism mech,
			       const char *why, void *arg);
int record_sites_list(const struct record_kernel *kernel, const char *glob, record_site_fn fn,
		      void *arg);

/* ---- estimates of the kernel memory that probes will take ---- */

struct btf;

/* The number of CPUs, and BTF with the sizes of structs. The kernel's memory for open calls depends on both. */
struct record_machine {
	uint32_t n_cpus;
	const struct btf *btf;
};

/* Return the bytes that the kernel allocates per open call, for a struct called TYPE; 0: the kernel has no such struct. */
size_t record_call_memory(const struct record_machine *machine, const char *type);
/* Return roughly how many bytes of kernel memory the probes of N functions timed by MECH take. */
size_t record_probe_memory(const struct record_machine *machine, enum profile_mechanism mech,
			   uint32_t n);
/* Return roughly how many bytes of kernel memory N probes inside functions take. */
size_t record_point_memory(uint32_t n);
