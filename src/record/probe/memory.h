/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel memory that probes will take, known before they are attached.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

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
