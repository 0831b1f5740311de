// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/session.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "base/system/worker.h"
#include "base/system/privileges.h"
#include "base/system/clock.h"
#include "base/system/interrupt.h"
#include "base/log.h"
#include "base/output.h"
#include "profile/file/file.h"
#include "profile/profile.h"
#include "profile/resolve.h"
#include "record/attach.h"
#include "record/collect/collect.h"
#include "record/collect/environment.h"
#include "record/cost/calibrate.h"
#include "record/cost/measure.h"
#include "record/engine/engine.h"
#include "record/others.h"
#include "record/plan.h"
#include "record/probe/choose.h"
#include "record/probe/links.h"
#include "record/probe/probes.h"
#include "record/target/cgroup.h"
#include "record/workload.h"

#define NS_PER_SEC  1000000000ull
#define MUCH_MEMORY (64ul << 20) /* bytes; if the recording takes more, it prints a note */
#define MANY_PROBES 64 /* detaching so many probes takes seconds */

/* Minimum time between two checkpoints in ms. To write them may take at most 1 / CHECKPOINT_SHARE of the time. */
#define CHECKPOINT_MS    5000
#define CHECKPOINT_SHARE 100

/* Milliseconds between two reads of the numbers of calls. */
#define COUNT_MS 1

/* Capabilities that a recording keeps: they allow reading counts, and handling processes and files of other users. */
#define CAPABILITIES                                                                        \
	(1ull << CAP_BPF | 1ull << CAP_PERFMON | 1ull << CAP_SYSLOG | 1ull << CAP_KILL |    \
	 1ull << CAP_SETUID | 1ull << CAP_SETGID | 1ull << CAP_CHOWN | 1ull << CAP_FOWNER | \
	 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_DAC_READ_SEARCH | 1ull << CAP_SYS_RESOURCE)

struct session {
	const struct record_options *o;
	char *path; /* path of the command's executable */
	struct profile *p;
	struct record_plan plan;
	struct record_engine *engine;
	struct record_probes *probes;
	struct record_calibration calibration;
	struct record_cold_costs cold; /* cost of probes of syscalls, over all runs so far */
	/* Meters of other load. NULL if the clock counts instructions, since other load then takes no time from the command. */
	struct record_meters *meters;
	struct invoker invoker;
	struct record_code code; /* all zero if no stacks are sampled */
	struct record_others others;
	uint64_t cgroup; /* the cgroup's number; 0: --cgroup was not given */
	bool is_invoked; /* the command runs as the user INVOKER */
	struct checkpoint {
		pid_t pid; /* process that writes the checkpoint; 0: none */
		uint64_t begun, due; /* clock_ns() of the last checkpoint; of the next one */
	} checkpoint;
	uint64_t run_start; /* clock_ns() at the start of the current probed run; 0: no such run */
};

static int interrupted(void)
{
	log_error("interrupted before the first run: nothing was recorded");
	return 128 + interrupt_signal();
}

/* Check that the requested recording can be made and written. Return 0 or the exit status. */
static int check_options(struct session *s)
{
	const struct record_options *o = s->o;
	int status = o->argv ? record_workload_find(o->argv[0], &s->path) : 0;

	if (status)
		return status;
	if (profile_file_try(o->output))
		return EXIT_FAILURE;
	if (o->pid && record_workload_check(o->pid))
		return EXIT_FAILURE;
	if (o->cgroup && !record_cgroup_find(o->cgroup, &s->cgroup))
		return EXIT_FAILURE;
	return 0;
}

/* If the command may use only one of several CPUs (taskset), note this CPU in the profile. */
static void describe_cpu(struct profile *p)
{
	scoped_free char *cpu = NULL;
	cpu_set_t cpus;
	int n = 0;

	if (sysconf(_SC_NPROCESSORS_ONLN) == 1 || sched_getaffinity(0, sizeof(cpus), &cpus) ||
	    CPU_COUNT(&cpus) != 1)
		return;
	while (!CPU_ISSET(n, &cpus))
		n++;
	cpu = alloc_printf("%d", n);
	profile_env_set(p, PROFILE_ENV_PINNED, cpu);
}

/* Note in the profile how the recording is made. SAMPLE_PERIOD is in ns. */
static void describe(struct session *s, uint64_t sample_period)
{
	const struct record_options *o = s->o;

	s->p->freq = o->freq;
	s->p->sample_period = sample_period;
	record_environment_tasks(s->p, o->system_wide, o->cgroup, o->pid);
	if (o->syscalls)
		profile_env_set(s->p, PROFILE_ENV_SYSCALLS, o->syscalls);
	if (o->argv && !o->system_wide)
		describe_cpu(s->p);
	for (uint32_t i = 0; i < o->n_events; i++)
		profile_counter_add(s->p, o->events[i].name);
	for (char **arg = o->argv; arg && *arg; arg++)
		profile_arg_add(s->p, *arg);
}

/* Load the BPF programs that the plan needs. Return 0 or the exit status. */
static int load(struct session *s)
{
	const struct record_options *o = s->o;
	struct record_plan *plan = &s->plan;
	const struct record_engine_config config = {
		.max_tasks = o->max_tasks,
		.sample_period = o->freq ? NS_PER_SEC / o->freq : 0,
		.counters = o->events,
		.n_counters = o->n_events,
		.system_wide = o->system_wide,
		.cgroup = s->cgroup,
		.pid = o->pid,
		.btf = kernel_btf_raw(plan->symbols.btf),
		.left_out = o->left_out,
		.n_functions = plan->sites.n_items + plan->ranges.n_items,
		/* The BPF programs of block probes need the maps of ranges (inlined functions), too. */
		.ranges = plan->ranges.n_points > 0 || plan->blocks.n_points > 0,
		.n_blocks = plan->blocks.n_points,
		.n_range_lists = plan->ranges.n_lists,
		.n_captured = plan->captures.n_items,
		.faults = record_choose_faults(&plan->features),
		.saves = plan->captures.saves,
		.closings = s->p->clock == PROFILE_CLOCK_NS,
		.counts = o->counts != NULL,
		.probe_memory = record_plan_memory(plan),
	};

	const uint32_t n_files = RECORD_FILES_A_SITE * plan->sites.n_items + plan->ranges.n_points +
				 plan->blocks.n_points;

	if (o->counts && record_symbols_load_functions(&plan->symbols))
		return EXIT_FAILURE;
	describe(s, config.sample_period);
	if (open_files_allow(n_files)) {
		log_error(
			"probes would take about %u open files, more than the limit allows: raise it "
			"(ulimit -n), or time fewer functions",
			n_files);
		return EXIT_FAILURE;
	}
	/* Planning thousands of functions takes seconds. So does the allocation of maps below: check for an interrupt first. */
	if (interrupt_signal())
		return interrupted();
	if (record_engine_create(&config, &plan->features, &s->engine))
		return EXIT_FAILURE;
	record_features_end();
	s->probes = record_probes_create(s->engine, &plan->features);
	return 0;
}

static void say_skipped(const struct session *s)
{
	for (int i = 0; i < RECORD_N_SKIPS; i++)
		if (s->plan.sites.skipped[i])
			log_note("%u matching %s left out: %s (-v lists them)",
				 s->plan.sites.skipped[i],
				 plural(s->plan.sites.skipped[i], "function", "functions"),
				 record_skip_text(i));
}

static uint32_t n_attached(const struct session *s)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < s->p->n_sites; i++)
		n += s->p->sites[i].mech != PROFILE_UNTIMED;
	return n;
}

static void say_attached(const struct session *s)
{
	enum profile_mechanism faults = record_engine_fault_mechanism(s->engine);
	size_t memory = record_engine_memory(s->engine);

	say_skipped(s);
	log_verbose(1, "%u functions, page faults by %s, %zu KiB of maps and probes", n_attached(s),
		    profile_mechanism_name(faults), memory >> 10);
	if (memory > MUCH_MEMORY)
		log_note("%u functions take about %zu MiB of the kernel's memory", n_attached(s),
			 memory >> 20);
	if (s->plan.features.interpreted)
		log_note("the kernel interprets BPF programs, so that probes take much longer than "
			 "if it compiled them: " RECORD_COMPILE_BPF);
	if (s->plan.features.rt && n_attached(s))
		log_note(
			"PREEMPT_RT: too much probe cost is subtracted for calls made while a lock is held, so "
			"times of functions that run under locks, and of their callers, are too low; and soft "
			"interrupts are served in the task that raised them: functions called there count "
			"under its system call, not under [irq]");
	if (faults == PROFILE_UNTIMED)
		log_note("page faults are not counted: %s",
			 record_features_why_not_ftrace(&s->plan.features)         ?:
				 record_features_why_not_kprobe(&s->plan.features) ?:
				 "the kernel does not run their probes");
}

static int attach(struct session *s)
{
	int err;

	record_others_before(&s->others, &s->plan, s->p);
	record_calibrate_before(&s->calibration, s->p->clock);
	s->calibration.counters = s->o->events;
	s->calibration.n_counters = s->o->n_events;
	s->calibration.captures = s->plan.captures.fentry;
	s->calibration.saves = s->plan.captures.saves;
	err = interrupt_signal() ? -EINTR : record_engine_start(s->engine);
	err = err   ?:
		      record_attach(s->probes, &s->plan, &s->calibration, s->p,
				    record_attach_mechanism(s->o->attach));
	err = err ?: record_engine_arm(s->engine);
	if (err)
		return err;
	if (s->p->sample_period)
		record_calibrate_sampler(s->engine, s->p, &s->calibration);
	record_calibration_store(&s->calibration, s->p);
	if (s->o->freq)
		record_code_begin(&s->code, &s->plan.symbols, s->engine);
	say_attached(s);
	if (s->o->counts)
		record_count_begin(s->o->counts, s->engine, &s->plan.symbols);
	record_others_watch(&s->others, s->engine, s->o->counts);
	err = capabilities_keep(CAPABILITIES, 1ull << CAP_BPF | 1ull << CAP_PERFMON);
	if (err)
		log_verbose(1, "cannot give up capabilities: %s", log_strerror(err));
	s->checkpoint.due = clock_ns() + CHECKPOINT_MS * 1000000ull;
	return interrupt_signal() ? -EINTR : 0;
}

static void drain(struct session *s, uint32_t run)
{
	record_drain(s->p, run, s->probes, &s->code, &s->plan.sites, &s->cold);
	record_blocks_drain(&s->plan.blocks, s->engine, s->p, run);
	record_captures_drain(&s->plan.captures, s->engine, s->p, run);
}

/* Write a checkpoint in a forked process, which has a copy of all that was recorded so far. */
static int make_checkpoint(void *arg)
{
	struct session *s = arg;
	uint32_t run = s->p->n_runs - 1;

	if (nice(19) < 0)
		return -errno;
	if (s->run_start) {
		s->p->runs[run].wall = clock_ns() - s->run_start;
		drain(s, run);
	}
	if (!freopen("/dev/null", "w", stderr))
		return -errno;
	profile_env_set(s->p, PROFILE_ENV_UNFINISHED, "killed");
	profile_resolve_kallsyms(s->p, s->plan.symbols.ks);
	return profile_file_write(s->p, s->o->output);
}

static void checkpoint_reap(struct checkpoint *c, bool wait)
{
	uint64_t cpu = 0, pause;

	if (!c->pid || (!wait && worker_is_running(c->pid, &cpu)))
		return;
	if (wait)
		worker_wait(c->pid, &cpu);
	c->pid = 0;
	pause = CHECKPOINT_SHARE * cpu;
	if (c->due < c->begun + pause)
		c->due = c->begun + pause;
}

/* If a checkpoint is due, write the counts so far. SIGKILL then loses only the last few seconds. */
static void checkpoint(struct session *s, bool wait)
{
	struct checkpoint *c = &s->checkpoint;
	uint64_t now = clock_ns();

	checkpoint_reap(c, false);
	if (c->pid || now < c->due || output_is_direct(s->o->output))
		return;
	c->begun = now;
	c->due = now + CHECKPOINT_MS * 1000000ull;
	record_engine_fork_helper(s->engine, true);
	c->pid = worker_start(make_checkpoint, s, 0);
	record_engine_fork_helper(s->engine, false);
	if (c->pid < 0)
		c->pid = 0;
	if (wait)
		checkpoint_reap(c, true);
}

static int follow_caller(void *arg)
{
	struct session *s = arg;

	return record_engine_adopt_caller(s->engine);
}

static void look(void *arg)
{
	struct session *s = arg;

	record_code_look(&s->code, false);
	/* Write no checkpoint while calls are counted: its forked process would keep links open after record_count_look(). */
	if (s->o->counts)
		record_count_look(s->o->counts, s->engine);
	else
		checkpoint(s, false);
}

/* Wait for the last tasks of the command, which may still be exiting after wait4() has returned. */
static void settle(struct session *s)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	for (int i = 0; i < 50 && record_engine_live_tasks(s->engine); i++)
		nanosleep(&ms, NULL);
}

/* Make one run. Return 0, or -errno if the run must not be kept. */
static int run_once(struct session *s, enum profile_run_kind kind)
{
	const struct record_options *o = s->o;
	struct record_workload_hooks hooks = { .arg = s,
					       .limit = o->duration,
					       .user = s->is_invoked ? &s->invoker : NULL };
	uint32_t run = profile_run_add(s->p, kind);
	bool follow = kind == PROFILE_RUN_PROBED && !o->system_wide;
	int err;

	record_meters_begin(s->meters);
	if (follow)
		hooks.prepare = follow_caller;
	if (kind == PROFILE_RUN_PROBED) {
		record_engine_run(s->engine, true);
		record_engine_reset(s->engine);
		record_probes_reset(s->probes);
		hooks.look = look;
		hooks.look_ms = o->counts ? COUNT_MS : CHECKPOINT_MS;
		hooks.look_fd = record_code_fd(&s->code);
		s->run_start = clock_ns();
		err = o->pid ? record_engine_adopt(s->engine) : 0;
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
		s->p->runs[run].wall = clock_ns() - s->run_start;
	}
	record_meters_store(s->meters, s->p, run);
	if (kind == PROFILE_RUN_PROBED) {
		if (o->counts)
			record_count_end(o->counts, s->engine);
		s->run_start = 0;
		record_engine_pause(s->engine);
		record_engine_run(s->engine, false);
		record_code_look(&s->code, true);
		err = record_others_end(&s->others, run);
		if (!err)
			drain(s, run);
	}
	return err;
}

static void stop(struct session *s)
{
	uint64_t start = clock_ns();
	bool hurry = 2 * n_attached(s) + s->plan.ranges.n_points + s->plan.blocks.n_points >=
			     MANY_PROBES &&
		     record_detach_hurry();

	log_progress("detaching");
	record_detach_inside(&s->plan.ranges, &s->plan.blocks);
	record_probes_detach(s->probes);
	record_engine_stop(s->engine);
	record_detach_hurried(hurry);
	log_progress_end();
	log_verbose(1, "detaching took %.1f ms", (clock_ns() - start) / 1e6);
}

/* Make the warm-up runs, so that later runs find warm caches. Warm-up runs have no probes and are not kept. */
static int warm_up(struct session *s)
{
	for (uint32_t i = 0; i < s->o->warmup; i++) {
		struct profile_run *run;
		int err;

		log_progress("warm-up run %u of %u", i + 1, s->o->warmup);
		err = run_once(s, PROFILE_RUN_CONTROL);
		run = &s->p->runs[--s->p->n_runs];
		if (!err && run->status) {
			scoped_free char *how = profile_run_end_text(run);

			log_note("warm-up run %u %s", i + 1, how);
		}
		free(run->reports);
		if (err || interrupt_signal())
			return err ?: -EINTR;
	}
	return 0;
}

/*
 * Make all runs: warm-up runs, the control run, probed runs. Return 0 as soon as one probed run is complete: that run is written
 * even if a later run fails. Attach probes even if no probed run follows: the file then says how each function would be timed, and
 * can be merged with files that time functions in the same way.
 */
static int run_all(struct session *s)
{
	int err = warm_up(s);

	if (err)
		return err;
	if (s->o->control_run) {
		if (s->o->repeat && !s->o->warmup)
			log_note("the control run comes first and has colder caches than later "
				 "runs; --warmup=1 makes them comparable");
		err = run_once(s, PROFILE_RUN_CONTROL);
		if (err || interrupt_signal())
			return err ?: -EINTR;
	}
	err = attach(s);
	for (uint32_t i = 0; !err && i < s->o->repeat; i++) {
		if (s->o->repeat > 1)
			log_progress("run %u of %u", i + 1, s->o->repeat);
		err = run_once(s, PROFILE_RUN_PROBED);
		if (err && i > 0) {
			s->p->n_runs--;
			err = 0;
			break;
		}
		if (interrupt_signal())
			break;
		if (i + 1 < s->o->repeat)
			checkpoint(s, true);
	}
	log_progress_end();
	checkpoint_reap(&s->checkpoint, true);
	if (!err)
		record_calibrate_again(s->engine, &s->calibration);
	stop(s);
	if (!err) {
		record_others_after(&s->others);
		record_calibrate_after(&s->calibration, &s->cold);
		record_calibration_store(&s->calibration, s->p);
	}
	return err;
}

int record_session(const struct record_options *options)
{
	struct session s = { .o = options };
	int status, err = 0;

	interrupt_catch();
	s.is_invoked = options->argv && !options->keep_root && invoker_find(&s.invoker);
	if (s.is_invoked)
		log_note("the command runs as user %u, who invoked sudo; --user=root runs it as "
			 "root",
			 s.invoker.uid);
	status = check_options(&s);
	if (!status) {
		s.p = profile_create();
		status = record_plan_make(&s.plan, options, s.p) ? EXIT_FAILURE : 0;
	}
	if (!status && s.p->clock == PROFILE_CLOCK_NS)
		s.meters = record_meters_create("");
	if (!status)
		status = load(&s);
	if (!status)
		err = run_all(&s);
	if (!status && !err)
		status = record_finish(&s.plan, options, s.p);
	else if (err)
		status = err == -EINTR ? interrupted() : EXIT_FAILURE;
	record_code_deinit(&s.code);
	record_detach_inside(&s.plan.ranges, &s.plan.blocks);
	record_probes_destroy(s.probes);
	record_engine_destroy(s.engine);
	record_meters_destroy(s.meters);
	record_others_deinit(&s.others);
	record_plan_deinit(&s.plan);
	profile_destroy(s.p);
	free(s.path);
	return status;
}
