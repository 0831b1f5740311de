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
	struct record_names functions; /* names and globs of functions to time */
	struct record_names ranges; /* inlined functions to time: INLINED or INLINED@FUNC */
	struct record_names blocks; /* functions whose basic blocks are counted */
	struct record_names captures; /* expressions of values to capture */
	vec_of(struct record_event, events); /* events to count with each call */
	/* Protections, whose functions and inlined functions are timed, too. */
	vec_of(const struct catalogue_protection *, protections);
	bool *left_out; /* indexed by context; true: left out; NULL: all contexts are timed */
	char *syscalls; /* names of the contexts to time, separated by commas; NULL: all */
	char **argv; /* the command, or NULL */
	const char *output;
	const char *vmlinux; /* path of the kernel's vmlinux; NULL: search for a vmlinux */
	uint32_t freq; /* samples per second; 0: no samples */
	uint32_t repeat, warmup;
	uint32_t max_tasks; /* maximum number of tasks followed at once; 0: the default */
	int32_t pid;
	uint64_t duration; /* maximum length of a run in ns; 0: no limit */
	uint32_t attach; /* index in record_attach_names[]; 0: any mechanism */
	const char *cgroup; /* with system_wide: follow only this cgroup's tasks; NULL: all */
	bool system_wide, control_run, no_resolve;
	uint32_t budget; /* --auto: all runs may take this multiple of the command's CPU time */
	const char *write_plan; /* --auto: file to write the chosen functions to; NULL: none */
	bool automatic; /* --auto: choose the functions to time from samples */
	struct record_counts *counts; /* functions whose calls to count; NULL: none */
	bool quiet; /* print no summary of the recording */
	bool exact; /* attach no probes: the lab's emulator counts */
	bool keep_root; /* run the command as root even if sudo was used */
	bool context; /* capture each function's arguments */
	int verbose;
};
