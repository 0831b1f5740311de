// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/mechanism.h"

#include <string.h>

static const struct profile_mechanism_traits mechanisms[PROFILE_N_COSTS] = {
	[PROFILE_UNTIMED] = { .name = "none" },
	[PROFILE_MECH_TRACEPOINT] = { .name = "tracepoint", .counted = true, .cold = true },
	[PROFILE_MECH_FENTRY] = { .name = "fentry",
				  .in_frame = true,
				  .counted = true,
				  .holds_module = true,
				  .arguments = PROFILE_ARGUMENTS_ALL },
	[PROFILE_MECH_KPROBE] = { .name = "kprobe",
				  .is_kprobe = true,
				  .arguments = PROFILE_ARGUMENTS_IN_REGISTERS },
	/* Some kernels hold modules for it, others do not. */
	[PROFILE_MECH_MULTI] = { .name = "kprobe.multi",
				 .holds_module = true,
				 .costs_by_number = true },
	[PROFILE_MECH_KPROBE_OPTIMIZED] = { .name = "kprobe-optimized",
					    .is_kprobe = true,
					    .arguments = PROFILE_ARGUMENTS_IN_REGISTERS },
	[PROFILE_MECH_KPROBE_INT3] = { .name = "kprobe-int3",
				       .is_kprobe = true,
				       .arguments = PROFILE_ARGUMENTS_IN_REGISTERS },
	[PROFILE_MECH_RANGE] = { .name = "kprobe-range", .is_kprobe = true },
	[PROFILE_COSTS_BLOCK] = { .name = "block" },
	[PROFILE_COSTS_SAMPLE] = { .name = "sample" },
	[PROFILE_COSTS_FAULT] = { .name = "page_fault" },
	[PROFILE_COSTS_CAPTURE] = { .name = "capture" },
	[PROFILE_COSTS_CAPTURE_KPROBE] = { .name = "capture-kprobe" },
};

enum profile_mechanism profile_mechanism_of_ranges(void)
{
	return PROFILE_MECH_RANGE;
}

const struct profile_mechanism_traits *profile_mechanism(enum profile_mechanism mech)
{
	return &mechanisms[mech < PROFILE_N_COSTS ? mech : PROFILE_UNTIMED];
}

const char *profile_mechanism_name(enum profile_mechanism mech)
{
	return mech < PROFILE_N_COSTS ? mechanisms[mech].name : "unknown";
}

enum profile_mechanism profile_mechanism_by_name(const char *name)
{
	enum profile_mechanism mech;

	for (mech = 0; mech < PROFILE_N_COSTS; mech++)
		if (name && !strcmp(mechanisms[mech].name, name))
			break;
	return mech;
}
