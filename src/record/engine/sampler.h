/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler's perf events: the software CPU clock, one on each CPU, on a fixed period, so that
 * the number of samples to expect is known.
 */
#pragma once

#include <stdint.h>

struct bpf_program;
struct record_sampler;

/* PERIOD in ns. CPUs that are offline are left out. Reports its errors. */
int record_sampler_start(struct bpf_program *prog, uint64_t period, struct record_sampler **out);
/* Detaches; what was expected up to then is kept. Accepts NULL, as all of these. */
void record_sampler_stop(struct record_sampler *s);
void record_sampler_destroy(struct record_sampler *s);

/* Periods that elapsed on all CPUs since the last reset. */
uint64_t record_sampler_expected(struct record_sampler *s);
void record_sampler_reset(struct record_sampler *s);
