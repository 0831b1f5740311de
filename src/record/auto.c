// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/auto.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/system/worker.h"
#include "base/system/interrupt.h"
#include "base/log.h"
#include "base/output.h"
#include "base/sorted.h"
#include "profile/file/file.h"
#include "profile/merge.h"
#include "profile/profile.h"
#include "record/cost/measure.h"
#include "record/session.h"

/*
 * Maximum share of the command's CPU time that probes of functions take in a run. On a real clock probes distort times. A clock
 * that counts instructions allows more: probes then have a known cost, and only slow down the run.
 */
#define ALLOWED       0.02
#define ALLOWED_INSNS 0.5
/* Maximum share of the CPU time that samples and the probes of syscalls take together. */
#define ALLOWED_REST 0.03

static double allowed(const struct profile *p)
{
	return p->clock == PROFILE_CLOCK_INSN ? ALLOWED_INSNS : ALLOWED;
}

/* Number of samples that is enough to find the functions worth timing. */
#define ENOUGH_SAMPLES 300
#define MAX_FREQ       20000

/* ---- choosing functions by samples ---- */

struct callee {
	uint32_t of, function; /* caller and callee: indexes in all_sampled.items */
	uint64_t samples; /* number of samples taken while OF called FUNCTION */
};

struct sampled {
	const char *name; /* function's name, owned by the profile */
	size_t length; /* length of NAME, not counting a clone suffix */
	/* Samples with the function on the stack. Samples of its largest callee are subtracted later, so a wrapper keeps few. */
	uint64_t samples;
	uint64_t last; /* number of the last sample added, plus 1: recursion counts once */
	bool protections; /* the function is part of a protection */
};

struct all_sampled {
	vec_of(struct sampled, items);
	vec_of(struct callee, callees);
};

/*
 * Return whether a protection runs in the function NAME. Such a function is worth timing even with few samples, since the other
 * kernel of a comparison may spend more time in it.
 */
static bool is_protections(const char *name, size_t length)
{
	for (size_t i = 0; i < catalogue_size; i++)
		for (const struct catalogue_function *f = catalogue[i].functions; f && f->name; f++)
			if (f->code <= CATALOGUE_HOST && strlen(f->name) == length &&
			    !strncmp(f->name, name, length))
				return true;
	return false;
}

static uint32_t find(struct all_sampled *all, const char *name)
{
	struct sampled new = { .name = name, .length = strcspn(name, ".") };

	for (uint32_t i = 0; i < all->n_items; i++)
		if (all->items[i].length == new.length &&
		    !strncmp(all->items[i].name, name, new.length))
			return i;
	new.protections = is_protections(name, new.length);
	vec_push(all, items, new);
	return all->n_items - 1;
}

static void add_sample(struct all_sampled *all, const struct profile *p, uint32_t number)
{
	const struct profile_sample *sample = &p->samples[number];
	const struct profile_stack *stack = &p->stacks[sample->stack];

	for (uint32_t i = 0, callee = UINT32_MAX; i < stack->n_locations; i++) {
		const struct profile_location *l = &p->locations[stack->locations[i]];
		uint32_t at;

		if (!l->n_frames)
			continue;
		at = find(all, l->frames[l->n_frames - 1].name);
		if (all->items[at].last != number + 1) {
			all->items[at].samples += sample->count;
			if (callee != UINT32_MAX)
				vec_push(all, callees,
					 ((struct callee){ at, callee, sample->count }));
		}
		all->items[at].last = number + 1;
		callee = at;
	}
}

define_compare(callee_compare, struct callee,
	       compare_values(a->of, b->of) ?: compare_values(a->function, b->function));

static void callee_add(void *to, void *from)
{
	((struct callee *)to)->samples += ((struct callee *)from)->samples;
}

static void take_off_callees(struct all_sampled *all)
{
	uint32_t k = 0;

	vec_unite(all, callees, callee_compare, callee_add);
	for (uint32_t i = 0; i < all->n_items; i++) {
		uint64_t most = 0;

		for (; k < all->n_callees && all->callees[k].of == i; k++)
			if (all->callees[k].samples > most)
				most = all->callees[k].samples;
		all->items[i].samples -= most;
	}
}

define_compare(worth_compare, struct sampled,
	       compare_values(b->protections, a->protections) ?:
		       compare_values(b->samples, a->samples) ?:
								strcmp(a->name, b->name));

void record_auto_choose(struct record_counts *counts, const struct profile *p, double cost)
{
	struct all_sampled all = {};

	for (uint32_t i = 0; i < p->n_samples; i++)
		if (!(p->samples[i].flags & (PROFILE_SAMPLE_USER | PROFILE_SAMPLE_PROBE)))
			add_sample(&all, p, i);
	take_off_callees(&all);
	sort_array(all.items, all.n_items, sizeof(*all.items), worth_compare);
	for (uint32_t i = 0; i < all.n_items && i < ENGINE_COUNTED; i++) {
		const struct sampled *s = &all.items[i];
		/* Share of CPU time that timing one function may take. If its calls would take more, counting them stops. */
		double most = allowed(p) / (s->protections ? 2 : 4);

		if (s->protections || s->samples)
			counts->items[counts->n_items++] =
				(struct record_count){ .name = alloc_strndup(s->name, s->length),
						       .most = (uint64_t)(most / cost) };
	}
	free(all.items);
	free(all.callees);
}

/* ---- runs ---- */

struct rounds {
	const struct record_options *o;
	struct profile *p, *sampled; /* profiles of the unprobed run and of the sampled run */
	struct record_counts counts; /* the functions that may be timed */
	double cost; /* cost of timing one call, as a fraction of the unprobed run's CPU time */
	double unprobed, spent; /* CPU time of the unprobed run, and of all runs together, in ns */
	uint32_t n; /* number of runs so far */
};

/* Return the share of a run's CPU time that all probes together may take. */
static double target(const struct rounds *r)
{
	return allowed(r->p) + ALLOWED_REST;
}

static int run_session(void *arg)
{
	return record_session(arg);
}

static void say_run(struct rounds *r, double cpu, const char *what)
{
	scoped_free char *above = NULL;
	double more;

	r->unprobed = r->unprobed ?: cpu;
	r->spent += cpu;
	more = cpu / r->unprobed - 1;
	if (r->p && more > target(r))
		above = alloc_printf(", above the target of %.0f %%", 100 * target(r));
	log_note("run %u, %s: %.1f ms of CPU time (%+.1f %%%s)", ++r->n, what, cpu / 1e6,
		 100 * more, above ?: "");
}

/*
 * Make the runs that O asks for in another process, because a session gives up privileges that the next session needs. Print WHAT
 * and the runs' extra time. Return the profile; NULL: the error was reported.
 */
static struct profile *run(struct rounds *r, struct record_options *o, const char *what)
{
	pid_t pid = worker_start(run_session, o, WORKER_UNLIMITED);
	const char *wrong = pid < 0 ? log_strerror(pid) : worker_wait(pid, NULL);
	struct profile *p;

	if (wrong) {
		log_error("--auto: a run, or the command in it, failed: %s", wrong);
		return NULL;
	}
	if (profile_file_read(o->output, &p))
		return NULL;
	for (uint32_t i = 0; i < p->n_runs; i++)
		say_run(r, (double)p->runs[i].cpu, what);
	return p;
}

/* Split the counted functions: TIMED gets those that a run can time, LEFT those called too often. Both are globs "a|b". */
static void take(const struct rounds *r, char **timed, char **left)
{
	double sum = 0;

	vec_each(const struct record_count, c, &r->counts, items) {
		double cost = (double)c->calls * r->cost;
		bool fits = c->calls <= c->most && sum + cost <= allowed(r->sampled);
		char **list = fits ? timed : left;

		if (c->calls)
			alloc_append(list, "%s%s", *list ? "|" : "", c->name);
		sum += fits ? cost : 0;
	}
}

/* Return how many more runs with timed functions the budget allows. */
static uint32_t runs_left(const struct rounds *r)
{
	double left = r->o->budget * (1 + target(r)) * r->unprobed - r->spent;
	double run = (double)r->sampled->runs[0].cpu + allowed(r->sampled) * r->unprobed;

	return left > 0 ? (uint32_t)(left / run) : 0;
}

/* Make the runs that time the functions TIMED (NULL: none). Then add the earlier, unprobed run to the written file. */
static int time_functions(struct rounds *r, const char *timed)
{
	scoped_free char *glob = alloc_printf("@(%s)", timed),
			 *plan = alloc_printf("--func=%s\n", glob),
			 *what = alloc_printf("timed %s", timed ?: "no function");
	struct record_options o = *r->o;
	struct profile *p = NULL;
	int err = -1;

	o.functions = (struct record_names){};
	record_names_add_all(&o.functions, &r->o->functions);
	if (timed)
		record_names_add(&o.functions, glob);
	o.quiet = true;
	o.repeat = runs_left(r);
	if (o.repeat) {
		p = run(r, &o, what);
	} else {
		log_note(
			"no functions were timed, as the budget was used up: use --budget=%u, or --plan",
			o.budget + 1);
		p = r->sampled;
		r->sampled = NULL;
	}
	if (p) {
		profile_merge(p, r->p);
		err = profile_file_write(p, o.output);
		profile_destroy(p);
	}
	if (!err && timed && o.write_plan)
		err = output_replace_text(o.write_plan, plan);
	record_names_deinit(&o.functions);
	return err;
}

static int time_chosen(struct rounds *r)
{
	scoped_free char *timed = NULL, *left = NULL;

	take(r, &timed, &left);
	if (left)
		log_note("called too often to be timed, covered by samples only: %s", left);
	return time_functions(r, timed);
}

static void say_stdin(void)
{
	struct stat st;

	if (!fstat(STDIN_FILENO, &st) && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode)))
		log_note("--auto runs the command several times, but only the first run can read "
			 "standard input");
}

/* Return the frequency of samples for choosing functions. A clock of instructions allows a higher one for short commands. */
static int frequency(const struct rounds *r)
{
	double wanted = ENOUGH_SAMPLES / (r->unprobed / 1e9);

	if (r->p->clock != PROFILE_CLOCK_INSN || !r->o->freq)
		return r->o->freq;
	return (int)fmax(r->o->freq, fmin(wanted, MAX_FREQ));
}

/* Make the runs before timing: a run without probes, a run with samples, and a run that counts calls. */
static int look_around(struct rounds *r)
{
	struct record_options o = *r->o;
	struct profile *counted;
	double full = 1;

	o.functions = o.blocks = (struct record_names){};
	o.n_protections = 0;
	o.no_resolve = o.quiet = o.control_run = true;
	o.repeat = o.freq = 0;
	r->p = run(r, &o, "unprobed");
	o.control_run = false;
	o.repeat = 1;
	o.freq = r->p ? frequency(r) : 0;
	r->sampled = r->p ? run(r, &o, "sampled") : NULL;
	if (!r->sampled)
		return -1;
	for (uint32_t i = 0; i < r->sampled->n_costs; i++)
		if (r->sampled->costs[i].kind == PROFILE_COST_FULL)
			full = fmax(full, r->sampled->costs[i].value);
	r->cost = full / r->unprobed;
	record_auto_choose(&r->counts, r->sampled, r->cost);
	o.freq = 0;
	o.counts = &r->counts;
	counted = run(r, &o, "counted");
	profile_destroy(counted);
	return counted ? 0 : -1;
}

int record_auto(const struct record_options *o)
{
	const size_t size = ENGINE_COUNTED * sizeof(struct record_count);
	struct rounds r = { .o = o };
	int err;

	interrupt_catch();
	say_stdin();
	r.counts.items =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r.counts.items == MAP_FAILED) {
		log_error("no memory for counts: %m");
		return EXIT_FAILURE;
	}
	err = look_around(&r) ?: time_chosen(&r);
	if (!err)
		log_note("%u runs took %.2f times the CPU time of the first (limit %.2f with "
			 "--budget=%u); written to %s",
			 r.n, r.spent / r.unprobed, o->budget * (1 + target(&r)), o->budget,
			 o->output);
	profile_destroy(r.p);
	profile_destroy(r.sampled);
	while (r.counts.n_items)
		free(r.counts.items[--r.counts.n_items].name);
	munmap(r.counts.items, size);
	return err ? EXIT_FAILURE : 0;
}
