// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "profile/file.h"
#include "profile/resolve.h"
#include "record/attach.h"
#include "record/block.h"
#include "record/calibrate.h"
#include "record/drain.h"
#include "record/engine.h"
#include "record/environment.h"
#include "record/features.h"
#include "record/function.h"
#include "record/overhead.h"
#include "record/protection.h"
#include "record/range.h"
#include "record/range_attach.h"
#include "record/workload.h"

#define NS_PER_SEC  1000000000ull
#define MUCH_MEMORY (64ul << 20) /* worth a note */

/*
 * Set by the lab: names are resolved outside of the guest, where reading a vmlinux is fast, and the
 * files that want it are to be listed in the file that this names.
 */
#define RESOLVE_LATER_ENV "KPROTPERF_RESOLVE_LATER"

struct session {
	const struct record_options *o;
	struct record_features features;
	struct record_symbols symbols;
	struct record_sites sites;
	struct record_ranges ranges;
	struct record_blocks blocks;
	struct record_options expanded; /* the user's, with what his protections consist of */
	struct record_engine *engine;
	struct profile *p;
	struct record_calibration calibration;
	struct record_overhead *overhead; /* NULL: no --max-overhead */
	char *path; /* of the command */
};

static void say_skipped(const struct session *s)
{
	for (int i = 0; i < RECORD_N_SKIPS; i++)
		if (s->sites.skipped[i])
			log_note("%u matching functions left out: %s (-v lists them)",
				 s->sites.skipped[i], record_skip_text(i));
}

/* The symbol of SYM as kallsyms and perf print it; for free(). */
static char *symbol_text(const struct symbol_sym *sym)
{
	return sym->module ? alloc_printf("%s [%s]", sym->name, sym->module) :
			     alloc_strdup(sym->name);
}

/* Adds the sites to the profile, numbered as in the engine: the context's first. */
static void add_sites(struct session *s)
{
	s->p->sites[0].mech = PROFILE_MECH_TRACEPOINT;
	for (uint32_t i = 0; i < s->sites.n_items; i++) {
		const struct record_site *rs = &s->sites.items[i];
		char *symbol = symbol_text(rs->sym);
		struct profile_site site = {
			.name = rs->name,
			.symbol = symbol,
			.kind = PROFILE_SITE_FUNCTION,
			.mech = rs->mech,
			.addr = rs->sym->addr - symbol_kallsyms_base(s->symbols.ks, rs->sym),
		};

		profile_site_add(s->p, &site);
		free(symbol);
	}
}

/* The inlined functions of --range, and those of --func that this kernel has as nothing else. */
static int resolve_ranges(struct session *s)
{
	uint32_t n = s->o->n_ranges + s->sites.n_inlined;
	char **patterns = alloc_array(n, sizeof(*patterns));
	int err = 0;

	for (uint32_t i = 0; i < n; i++)
		patterns[i] = i < s->o->n_ranges ? s->o->ranges[i] :
						   (char *)s->sites.inlined[i - s->o->n_ranges];
	if (n && s->features.kprobe) {
		log_error("inlined functions cannot be timed on this kernel: kprobes: %s",
			  record_features_why_not_kprobe(&s->features));
		err = -EOPNOTSUPP;
	} else if (n || s->ranges.n_items) {
		err = record_ranges_resolve(&s->ranges, &s->symbols, patterns, n,
					    s->sites.n_items + 1);
	}
	free(patterns);
	return err;
}

/* The functions of --blocks, which are to be timed too. */
static int resolve_blocks(struct session *s)
{
	struct record_options *o = &s->expanded;
	int err;

	if (!o->n_blocks)
		return 0;
	if (s->features.kprobe) {
		log_error("blocks cannot be counted on this kernel: kprobes: %s",
			  record_features_why_not_kprobe(&s->features));
		return -EOPNOTSUPP;
	}
	err = record_blocks_resolve(&s->blocks, &s->symbols, o->blocks, o->n_blocks, o->callees);
	for (uint32_t i = 0; i < o->n_blocks && !err; i++)
		vec_push(o, functions, o->blocks[i]);
	return err;
}

/* What the functions of --blocks call: directly what can be probed, and all other calls where they are made. */
static void add_callees(struct session *s)
{
	uint64_t stext = symbol_kallsyms_stext(s->symbols.ks);

	for (uint32_t i = 0; i < s->blocks.n_items; i++) {
		const struct record_block_function *f = &s->blocks.items[i];
		uint64_t *entries = alloc_array(f->n_callees, sizeof(*entries));

		for (uint32_t k = 0; k < f->n_callees; k++)
			entries[k] = f->callees[k] + stext;
		record_sites_add(&s->sites, &s->symbols, &s->features, s->o->attach, entries,
				 f->n_callees);
		free(entries);
	}
	record_blocks_add_calls(&s->blocks, &s->sites, &s->symbols, &s->ranges);
}

static int interrupted(void)
{
	log_error("interrupted before the first run: nothing was recorded");
	return 128 + record_workload_interrupted();
}

/* Everything up to the first run. Returns 0 or the exit status. */
static int session_prepare(struct session *s)
{
	const struct record_options *o = s->o;
	struct record_engine_config config = {
		.max_tasks = o->max_tasks,
		.sample_period = o->freq ? NS_PER_SEC / o->freq : 0,
		.system_wide = o->system_wide,
		.pid = o->pid,
	};
	int status;

	if (o->argv) {
		status = record_workload_find(o->argv[0], &s->path);
		if (status)
			return status;
	}
	if (profile_file_try(o->output))
		return EXIT_FAILURE;
	if (o->pid && kill(o->pid, 0) && errno == ESRCH) {
		log_error("no process %d", o->pid);
		return EXIT_FAILURE;
	}
	record_features_probe(&s->features);
	if (record_features_check(&s->features) || record_symbols_init(&s->symbols, o->vmlinux))
		return EXIT_FAILURE;
	s->p = profile_create();
	record_environment_read(s->p, &s->symbols.build_id);
	if (record_protections_expand(o, &s->symbols, &s->features, s->p, &s->expanded))
		return EXIT_FAILURE;
	o = s->o = &s->expanded;
	if (resolve_blocks(s))
		return EXIT_FAILURE;
	if (o->n_functions && record_sites_resolve(&s->sites, &s->symbols, &s->features, o->attach,
						   o->functions, o->n_functions))
		return EXIT_FAILURE;
	if (s->o->callees)
		add_callees(s);
	if (resolve_ranges(s))
		return EXIT_FAILURE;
	config.n_functions = s->sites.n_items + s->ranges.n_items;
	record_blocks_find_sites(&s->blocks, &s->sites);
	/* What ranges are measured with, blocks are too. */
	config.ranges = s->ranges.n_points > 0 || s->blocks.n_points > 0;
	config.n_blocks = s->blocks.n_points;
	config.n_range_lists = s->ranges.n_lists;
	record_workload_need_files(RECORD_FILES_A_SITE * s->sites.n_items + s->ranges.n_points +
				   s->blocks.n_points);
	if (s->p->clock == PROFILE_CLOCK_INSN)
		s->features.multi_is.hop = RECORD_MULTI_HOP_INSNS;
	s->p->freq = o->freq;
	s->p->sample_period = config.sample_period;
	for (char **arg = o->argv; arg && *arg; arg++)
		vec_push(s->p, args, profile_intern(s->p, *arg));
	add_sites(s);
	record_ranges_add_sites(&s->ranges, s->p);
	record_blocks_add(&s->blocks, s->p);
	/* Thousands of functions take seconds up to here, and as long to make room for. */
	if (record_workload_interrupted())
		return interrupted();
	return record_engine_create(&config, &s->features, &s->engine) ? EXIT_FAILURE : 0;
}

static uint32_t n_attached(const struct session *s)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < s->p->n_sites; i++)
		n += s->p->sites[i].mech != PROFILE_MECH_NONE;
	return n;
}

static int session_attach(struct session *s)
{
	struct record_attachment attachment = {
		.engine = s->engine,
		.sites = &s->sites,
		.ranges = &s->ranges,
		.blocks = &s->blocks,
		.symbols = &s->symbols,
		.features = &s->features,
		.calibration = &s->calibration,
		.p = s->p,
		.how = s->o->attach,
	};
	size_t memory;
	int err;

	record_calibrate_before(&s->calibration);
	s->calibration.halves = s->o->max_overhead > 0;
	err = record_workload_interrupted() ? -EINTR : record_engine_start(s->engine);
	if (err)
		return err;
	err = record_attach_sites(&attachment);
	if (err)
		return err;
	err = record_engine_arm(s->engine);
	if (err)
		return err;
	if (s->p->sample_period)
		record_calibrate_sampler(s->engine, s->p->sample_period, &s->calibration);
	record_calibration_store(&s->calibration, s->p);
	if (s->o->max_overhead > 0)
		err = record_overhead_create(s->engine, s->p, &s->calibration, s->o->max_overhead,
					     &s->overhead);
	if (err)
		return err;
	say_skipped(s);
	memory = record_engine_memory(s->engine);
	log_verbose(1, "%u functions, page faults by %s, %zu KiB of maps", n_attached(s),
		    profile_mechanism_name(record_engine_fault_mechanism(s->engine)), memory >> 10);
	if (memory > MUCH_MEMORY)
		log_note("%u functions take %zu MiB of the kernel's memory", n_attached(s),
			 memory >> 20);
	if (record_engine_fault_mechanism(s->engine) == PROFILE_MECH_NONE)
		log_note("page faults are not counted: fentry: %s; kprobes: %s",
			 record_features_why_not_fentry(&s->features),
			 record_features_why_not_kprobe(&s->features));
	return 0;
}

static int follow_caller(void *arg)
{
	struct session *s = arg;

	return record_engine_adopt_caller(s->engine);
}

static void look(void *arg)
{
	struct session *s = arg;

	record_overhead_look(s->overhead);
}

/* The last task of a command may still be on its way out when the command has been waited for. */
static void settle(struct session *s)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	for (int i = 0; i < 50 && record_engine_live_tasks(s->engine); i++)
		nanosleep(&ms, NULL);
}

/* One run. Negative errno where there is nothing to keep of it. */
static int session_run(struct session *s, enum profile_run_kind kind, uint32_t runs_to_come)
{
	const struct record_options *o = s->o;
	struct record_workload_hooks hooks = { .arg = s };
	uint32_t run = profile_run_add(s->p, kind);
	bool follow = kind == PROFILE_RUN_PROBED && !o->system_wide;
	int err;

	if (follow)
		hooks.prepare = follow_caller;
	if (kind == PROFILE_RUN_PROBED) {
		record_engine_reset(s->engine);
		if (s->overhead) {
			record_overhead_begin(s->overhead, runs_to_come);
			hooks.look = look;
			hooks.look_ms = RECORD_OVERHEAD_LOOK_MS;
		}
	}
	if (o->system_wide || o->pid) {
		err = record_engine_adopt(s->engine);
		if (err)
			return err;
	}
	if (o->argv) {
		err = record_workload_run(s->p, run, s->path, o->argv, &hooks);
		if (err)
			return err;
		if (follow)
			settle(s);
	} else {
		err = record_workload_wait(o->pid, &hooks);
		if (err) {
			log_error("cannot wait for process %d: %s", o->pid, log_strerror(err));
			return err;
		}
	}
	if (kind == PROFILE_RUN_PROBED) {
		record_drain(s->p, run, s->engine, s->symbols.ks, &s->sites);
		record_blocks_drain(&s->blocks, s->engine, s->p, run);
	}
	return 0;
}

static void session_stop(struct session *s)
{
	uint64_t start = clock_ns();

	log_progress("detaching");
	record_ranges_detach(&s->ranges);
	record_blocks_detach(&s->blocks);
	record_engine_stop(s->engine);
	log_progress_end();
	log_verbose(1, "detaching took %.1f ms", (clock_ns() - start) / 1e6);
}

/* Runs that only bring caches into the state that later runs find: without probes, and not kept. */
static int session_warm_up(struct session *s)
{
	for (uint32_t i = 0; i < s->o->warmup; i++) {
		struct profile_run *run;
		int err;

		log_progress("warm-up run %u of %u", i + 1, s->o->warmup);
		err = session_run(s, PROFILE_RUN_CONTROL, 0);
		run = &s->p->runs[--s->p->n_runs];
		if (!err && run->status)
			log_note("warm-up run %u ended with status %d", i + 1, run->status);
		free(run->reports);
		if (err || record_workload_interrupted())
			return err ?: -EINTR;
	}
	return 0;
}

/*
 * All runs, after those for warming up the control run first. 0 as soon as there is a probed run to keep: what was measured is
 * written whatever comes after.
 */
static int session_runs(struct session *s)
{
	int err = session_warm_up(s);

	if (err)
		return err;
	if (s->o->control_run) {
		err = session_run(s, PROFILE_RUN_CONTROL, 0);
		if (err || record_workload_interrupted())
			return err ?: -EINTR;
	}
	err = session_attach(s);
	if (!err && record_workload_interrupted())
		err = -EINTR;
	for (uint32_t i = 0; !err && i < s->o->repeat; i++) {
		if (s->o->repeat > 1)
			log_progress("run %u of %u", i + 1, s->o->repeat);
		err = session_run(s, PROFILE_RUN_PROBED, s->o->repeat - i - 1);
		if (err && i > 0) {
			s->p->n_runs--;
			err = 0;
			break;
		}
		if (record_workload_interrupted())
			break;
	}
	log_progress_end();
	session_stop(s);
	return err;
}

static void session_resolve(struct session *s)
{
	const struct symbol_index *index;
	struct symbol_image *image;

	profile_resolve_kallsyms(s->p, s->symbols.ks);
	if (record_symbols_image(&s->symbols, &image))
		return;
	if (image)
		profile_env_set(s->p, PROFILE_ENV_VMLINUX, symbol_image_path(image));
	if (s->o->no_resolve || getenv(RESOLVE_LATER_ENV))
		return;
	record_symbols_index(&s->symbols, &index);
	if (!index) {
		log_note("names are from kallsyms, without inlined functions and lines: %s",
			 s->symbols.image_why_not ?: "no vmlinux found (--vmlinux)");
		return;
	}
	profile_resolve_index(s->p, index);
}

/* Notes the file that was written for whoever resolves it. */
static void session_resolve_later(const struct session *s)
{
	const char *list = getenv(RESOLVE_LATER_ENV);
	char *path;
	FILE *f;

	if (!list || s->o->no_resolve)
		return;
	path = realpath(s->o->output, NULL);
	f = path ? fopen(list, "ae") : NULL;
	if (f) {
		fprintf(f, "%s\n", path);
		fclose(f);
	}
	free(path);
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

/* The function whose returns were missed most often: one line, the report has more. */
static void say_missed(const struct session *s)
{
	const struct profile *p = s->p;
	uint32_t most = 0;

	for (uint32_t i = 1; i < p->n_sites; i++)
		if (p->sites[i].missed > (most ? p->sites[most].missed : 0))
			most = i;
	if (most && p->sites[most].mech != PROFILE_MECH_FENTRY) {
		const char *why = s->sites.items[most - 1].why_not_fentry;

		log_warn("%" PRIu64 " calls of '%s' are not timed: %s missed their return; %s%s",
			 p->sites[most].missed, p->sites[most].name,
			 profile_mechanism_name(p->sites[most].mech),
			 why ? "fentry, which would not, cannot be had: " :
			       "--attach=fentry would not",
			 why ?: "");
	}
}

static void say_summary(const struct session *s)
{
	const struct profile *p = s->p;
	uint64_t samples = 0, lost = events_lost(p);
	char losses[64] = "nothing lost";
	uint32_t runs = 0;

	for (uint32_t i = 0; i < p->n_runs; i++)
		runs += p->runs[i].kind == PROFILE_RUN_PROBED;

	for (uint32_t i = 0; i < p->n_samples; i++)
		samples += p->samples[i].count;
	if (lost)
		snprintf(losses, sizeof(losses), "%" PRIu64 " events lost (see report)", lost);
	fprintf(stderr,
		"kprotperf: %u run%s, %" PRIu64 " calls, %" PRIu64 " samples, %s; written to %s\n",
		runs, runs == 1 ? "" : "s", calls_counted(p), samples, losses, s->o->output);
}

/* The last run's own status, or that of the first that failed. */
static int workload_status(const struct profile *p)
{
	for (uint32_t i = 0; i < p->n_runs; i++)
		if (p->runs[i].status)
			return p->runs[i].status;
	return 0;
}

int record_session(const struct record_options *options)
{
	struct session s = { .o = options };
	int status, err;

	record_workload_catch_signals();
	status = session_prepare(&s);
	if (status)
		goto out;
	status = EXIT_FAILURE;
	err = session_runs(&s);
	if (err == -EINTR)
		status = interrupted();
	if (err)
		goto out;
	session_resolve(&s);
	if (profile_file_keep(s.p, options->output))
		goto out;
	session_resolve_later(&s);
	say_missed(&s);
	say_summary(&s);
	status = workload_status(s.p);
	if (status && options->argv)
		log_warn("the command ended with status %d", status);
out:
	record_overhead_destroy(s.overhead);
	record_ranges_deinit(&s.ranges);
	record_blocks_deinit(&s.blocks);
	record_engine_destroy(s.engine);
	record_sites_deinit(&s.sites);
	record_protections_deinit(&s.expanded);
	record_symbols_deinit(&s.symbols);
	profile_destroy(s.p);
	free(s.path);
	return status;
}
