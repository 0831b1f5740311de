/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of `record`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "catalogue/catalogue.h"
#include "record/engine/counters.h"
#include "record/target/sites.h"

struct record_options {
	struct record_names functions; /* names and globs */
	struct record_names ranges; /* INLINED[@FUNC], names and globs */
	struct record_names blocks; /* functions */
	struct record_names captures; /* expressions */
	vec_of(struct record_event, events); /* counted with each call */
	/* Protections whose functions and ranges are added. */
	vec_of(const struct catalogue_protection *, protections);
	bool *left_out; /* contexts that are not timed, indexed by their number in kprotperf/engine.h; NULL: none */
	char *syscalls; /* names of the contexts not left out, separated by commas; NULL: all */
	char **argv; /* the command, or NULL */
	const char *output;
	const char *vmlinux; /* NULL: look in the usual places */
	uint32_t freq; /* samples per second; 0: none */
	uint32_t repeat, warmup;
	uint32_t max_tasks; /* 0: the default */
	int32_t pid;
	uint64_t duration; /* maximum length of a run in ns; 0: none */
	uint32_t attach; /* an index of record_attach_names[]; 0: any */
	const char *cgroup; /* the cgroup whose tasks system_wide follows; NULL: all tasks */
	bool system_wide, control_run, no_resolve;
	uint32_t budget; /* the most runs of the command that --auto makes */
	const char *write_plan; /* NULL: nowhere */
	bool automatic; /* --auto: functions to time are chosen from samples */
	struct record_counts *counts; /* functions whose calls are counted; NULL: none */
	bool quiet; /* print no summary of the recording */
	bool exact; /* nothing is probed: the lab's emulator counts */
	bool keep_root; /* the command runs as root although sudo was used */
	bool context; /* each function's arguments are captured */
	int verbose;
};
