/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler's perf events, one on each CPU: the software CPU clock, or what --sample-event names, with a fixed
 * period, so that the number of samples to expect is known.
 */
#pragma once

#include <stdint.h>

struct bpf_program;
struct record_event;
struct record_sampler;

/* Each PERIOD of EVENT; NULL: of the clock, in ns. CPUs that are offline are left out. Reports its errors. */
int record_sampler_start(struct bpf_program *prog, const struct record_event *event,
			 uint64_t period, struct record_sampler **out);
/* Detaches; what was expected up to then is kept. Accepts NULL, as all of these. */
void record_sampler_stop(struct record_sampler *s);
void record_sampler_destroy(struct record_sampler *s);

/* Periods that elapsed on all CPUs since the last reset. */
uint64_t record_sampler_expected(struct record_sampler *s);
void record_sampler_reset(struct record_sampler *s);
