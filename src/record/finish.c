// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "base/system/worker.h"
#include "base/log.h"
#include "base/map.h"
#include "base/output.h"
#include "profile/conditions.h"
#include "profile/file/file.h"
#include "profile/profile.h"
#include "profile/resolve.h"

/*
 * The lab sets this variable to the path of a file to which recordings add their own paths. The lab resolves names outside of the
 * guest, where reading a vmlinux is fast.
 */
#define RESOLVE_LATER_ENV "KPROTPERF_RESOLVE_LATER"

/* Limit of address space for the process that resolves names: to index a vmlinux of 340 MB takes 580 MB, file included. */
#define RESOLVE_SPACE (4ull << 30)

static void note_module(struct profile *p, const char *name, size_t len)
{
	scoped_free char *module = alloc_strndup(name, len),
			 *key = alloc_printf(PROFILE_ENV_MODULE "%s", module);
	char hex[2 * KERNEL_BUILD_ID_MAX + 1];
	struct kernel_build_id id;

	if (!profile_env_get(p, key) && !kernel_module_build_id(module, &id))
		profile_env_set(p, key, kernel_build_id_format(&id, hex, sizeof(hex)));
}

/* Note the build-ids of the modules in which P has addresses. An exact recording has no addresses yet: note all modules. */
static void note_modules(struct profile *p, const struct kernel_kallsyms *ks)
{
	const char *last = NULL;
	const struct kernel_sym *all = ks->syms;

	for (size_t i = 0; profile_is_exact(p) && i < ks->n_syms; i++) {
		if (all[i].module && all[i].module != last)
			note_module(p, all[i].module, strlen(all[i].module));
		last = all[i].module;
	}

	for (uint32_t i = 0; i < p->n_locations; i++) {
		const char *module = p->locations[i].module;

		if (module)
			note_module(p, module, strlen(module));
	}
	for (uint32_t i = 0; i < p->n_sites; i++) {
		const char *open = p->sites[i].symbol ? strstr(p->sites[i].symbol, " [") : NULL;

		if (open)
			note_module(p, open + 2, strcspn(open + 2, "]"));
	}
}

/* Resolve names by kallsyms, which is fast and does not fail. */
static void resolve_kallsyms(struct profile *p, struct record_symbols *symbols)
{
	struct kernel_image *image;

	profile_resolve_kallsyms(p, symbols->ks);
	note_modules(p, symbols->ks);
	if (!record_symbols_image(symbols, &image) && image)
		profile_env_set(p, PROFILE_ENV_VMLINUX, kernel_image_path(image));
}

struct resolution {
	struct profile *p;
	struct record_symbols *symbols;
	const char *output;
	bool keep; /* no file was written yet: write it with profile_file_keep() */
};

static int resolve(void *arg)
{
	struct resolution *r = arg;
	const struct kernel_index *index;

	profile_resolve_modules(r->p);
	if (record_symbols_index(r->symbols, &index) || !index)
		log_note("names are taken from kallsyms, without inlined functions and lines: %s",
			 r->symbols->kernel.why_not ?:
						      "no vmlinux found (specify one with "
						      "--vmlinux)");
	else
		profile_resolve_index(r->p, index);
	profile_resolve_conditions(r->p, NULL);
	map_is_cut();
	return r->keep ? profile_file_keep(r->p, r->output) : profile_file_write(r->p, r->output);
}

/*
 * Resolving reads files of gigabytes, which others may change meanwhile, and takes memory that the machine may lack. So a child
 * process resolves names after the recording has been written. An output that cannot be replaced is written once, with names.
 */
static int write_and_resolve(struct profile *p, struct record_symbols *symbols, const char *output)
{
	bool direct = output_is_direct(output);
	struct resolution r = { p, symbols, output, direct };
	int err = direct ? 0 : profile_file_keep(p, output);
	const char *wrong;
	pid_t pid;

	if (err)
		return err;
	pid = worker_start(resolve, &r, RESOLVE_SPACE);
	wrong = pid < 0 ? log_strerror(pid) : worker_wait(pid, NULL);
	if (direct && wrong == worker_failed)
		return -EIO; /* the child has reported the error */
	if (wrong && direct)
		err = profile_file_keep(p, output);
	if (wrong)
		log_warn("the names of inlined functions and lines could not be looked up: %s; "
			 "run kprotperf resolve to try again",
			 wrong);
	return err;
}

/* Add the path of the written file to the list of files that the lab will resolve. */
static void resolve_later(const struct record_options *o)
{
	const char *list = getenv(RESOLVE_LATER_ENV);
	scoped_free char *path = NULL;
	FILE *f;

	if (!list || o->no_resolve)
		return;
	path = realpath(o->output, NULL);
	f = path ? fopen(list, "ae") : NULL;
	if (f) {
		fprintf(f, "%s\n", path);
		fclose(f);
	}
}

static uint64_t calls_counted(const struct profile *p)
{
	uint64_t calls = 0;

	for (uint32_t i = 0; i < p->n_cells; i++)
		calls += p->cells[i].stats.calls;
	return calls;
}

static uint64_t events_lost(const struct profile *p)
{
	uint64_t lost = 0;

	for (uint32_t run = 0; run < p->n_runs; run++)
		for (int i = 0; i < PROFILE_N_LOSSES; i++)
			if (!profile_loss_is_info(i) &&
			    p->runs[run].losses[i] != PROFILE_NOT_COUNTED)
				lost += p->runs[run].losses[i];
	return lost;
}

/* Warn only of the function with the most missed returns. The report lists all functions. */
static void say_missed(const struct profile *p, const struct record_sites *sites)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i < p->n_sites; i++)
		if (p->sites[i].missed > (most ? p->sites[most].missed : 0))
			most = i;
	if (most && !profile_mechanism(p->sites[most].mech)->in_frame) {
		const char *why = sites->items[most - 1].why_not_fentry;

		log_warn("%" PRIu64 " %s of '%s' not timed: %s missed the return; %s%s",
			 p->sites[most].missed,
			 plural((double)p->sites[most].missed, "call", "calls"),
			 p->sites[most].name, profile_mechanism_name(p->sites[most].mech),
			 why ? "fentry would not miss any, but is not available: " :
			       "--attach=fentry would not miss any",
			 why ?: "");
	}
}

static void say_summary(const struct profile *p, const char *output)
{
	uint64_t samples = 0, calls, lost = events_lost(p);
	char losses[64] = "nothing lost";
	uint32_t runs = profile_probed_runs(p);

	if (!runs || profile_is_exact(p)) {
		fprintf(stderr, "kprotperf: one %s; written to %s\n",
			runs ? "run, counted by the emulator" : "control run", output);
		return;
	}
	for (uint32_t i = 0; i < p->n_samples; i++)
		samples += p->samples[i].count;
	if (lost)
		snprintf(losses, sizeof(losses), "%" PRIu64 " %s lost (see report)", lost,
			 plural((double)lost, "event", "events"));
	calls = calls_counted(p);
	fprintf(stderr, "kprotperf: %u %s, %" PRIu64 " %s, %" PRIu64 " %s, %s; written to %s\n",
		runs, plural(runs, "run", "runs"), calls, plural((double)calls, "call", "calls"),
		samples, plural((double)samples, "sample", "samples"), losses, output);
}

/* Return the exit status of the first run that failed; 0: none failed. Say how the command ended, unless it is still running. */
static int workload_status(const struct profile *p)
{
	for (uint32_t i = 0; i < p->n_runs; i++) {
		scoped_free char *how = profile_run_end_text(&p->runs[i]);

		if (!p->runs[i].status)
			continue;
		if (p->n_args && p->runs[i].end != PROFILE_END_NONE)
			log_warn("the command %s", how);
		return p->runs[i].status;
	}
	return 0;
}

int record_finish(struct record_plan *plan, const struct record_options *o, struct profile *p)
{
	resolve_kallsyms(p, &plan->symbols);
	if (o->no_resolve || getenv(RESOLVE_LATER_ENV) ?
		    profile_file_keep(p, o->output) :
		    write_and_resolve(p, &plan->symbols, o->output))
		return EXIT_FAILURE;
	resolve_later(o);
	say_missed(p, &plan->sites);
	if (!o->quiet)
		say_summary(p, o->output);
	return workload_status(p);
}
