// SPDX-License-Identifier: GPL-2.0-or-later
/* The mechanisms that time functions, in the order in which --attach=auto tries them. */
#include <linux/types.h>
#include <stddef.h>

#include "record/probe/probes_impl.h"

const struct record_mechanism *const record_mechanisms[] = {
	&record_fentry_mechanism,
	&record_multi_mechanism,
	&record_kprobe_mechanism,
	NULL,
};

const char *const record_attach_names[] = { "auto", "fentry", "multi", "kprobe", NULL };
