// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write a data file with known content: make_fixture NAME FILE. The tests of report, diff and fold run on these files; the
 * expected output is beside the tests.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fixture.h"
#include "profile/file/file.h"

/* Create a run of big-fork with figures of lab kernels whose random generator is not seeded. */
static struct profile *forks(bool hardened)
{
	struct profile *p = fixture_big_fork(1, hardened ? 11456 : 943);
	uint32_t run = 0, clone = profile_context_add(p, "clone"), slab, calls, fault;
	uint32_t locations[3], stack, none, user;
	struct profile_stats *s;

	profile_env_set(p, PROFILE_ENV_RELEASE, hardened ? "6.1.192-hardened" : "6.1.192-baseline");
	profile_env_set(p, PROFILE_ENV_VERSION, hardened ? "#2 SMP PREEMPT_DYNAMIC" : "#1 SMP");
	profile_env_set(p, PROFILE_ENV_BUILD_ID, hardened ? "bb22" : "aa11");
	profile_env_set(p, PROFILE_ENV_CONFIG,
			hardened ?
				"# made by hand\nCONFIG_SLUB=y\nCONFIG_STACKPROTECTOR_STRONG=y\n"
				"CONFIG_SLAB_FREELIST_RANDOM=y\nCONFIG_CC_VERSION_TEXT=\"gcc\"\n" :
				"# made by hand\nCONFIG_SLUB=y\nCONFIG_STACKPROTECTOR_STRONG=y\n"
				"# CONFIG_SLAB_FREELIST_RANDOM is not set\n"
				"CONFIG_CC_VERSION_TEXT=\"gcc\"\n");
	profile_env_set(p, PROFILE_ENV_CPU, "QEMU TCG CPU version 2.5+");
	profile_env_set(p, PROFILE_ENV_SYMBOLS, "dwarf");
	p->runs[run].losses[PROFILE_LOSS_PROBE_MISSED] = PROFILE_NOT_COUNTED;
	p->runs[run].losses[PROFILE_INFO_CLOSED_BY_EXIT] = 20;

	/* Add other calls of an ordinary program, for tables to leave out. */
	static const struct {
		const char *name;
		uint32_t calls;
		uint64_t time;
	} others[] = {
		{ "mmap", 6024, 2310 },        { "execve", 1, 412000 },
		{ "exit_group", 21, 5210000 }, { "brk", 3, 1900 },
		{ "openat", 4, 6120 },         { "read", 2, 2950 },
		{ "close", 4, 810 },           { "mprotect", 5, 4400 },
		{ "newfstatat", 3, 2100 },     { "write", 2, 5300 },
		{ "arch_prctl", 1, 402 },      { "rseq", 1, 377 },
		{ "prlimit64", 1, 560 },       { "clock_gettime", 40, 350 },
		{ "getrandom", 1, 1420 },
	};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		s = profile_cell(p, run, 0, profile_context_add(p, others[i].name));
		s->errors = !strcmp(others[i].name, "openat");
		fixture_calls(s, others[i].calls, others[i].time,
			      others[i].time + others[i].time / 16 + hardened);
	}
	fault = profile_context_add(p, profile_context_name(PROFILE_CONTEXT_PAGE_FAULT));
	s = profile_cell(p, run, 0, fault);
	s->errors = 0;
	fixture_calls(s, 310, 4200, 4800);

	slab = 1;
	/* With the fixture's 2,200 calls, these are 230 in each of the 20 forks. */
	fixture_calls(profile_cell(p, run, slab, clone), 2400, hardened ? 11456 : 943,
		      hardened ? 11458 : 945);
	fixture_calls(profile_cell(p, run, slab, profile_context_add(p, "mmap")), 310,
		      hardened ? 11456 : 943, hardened ? 12100 : 1010);
	s = profile_cell(p, run, slab, fault);
	fixture_calls(s, 3, 930, 1100);
	calls = fixture_function(p, "vm_area_dup", 0x8a000);
	fixture_calls(profile_cell(p, run, calls, clone), 120180, 72, 81);
	fixture_function(p, "allocate_slab_never", 0x2a6000);
	if (hardened)
		fixture_calls(profile_cell(p, run,
					   fixture_function(p, "shuffle_freelist", 0x2a5000),
					   clone),
			      4600, 10900, 11100);

	/* Only the hardened kernel has samples in extract_entropy. */
	locations[0] =
		fixture_location(p, 0x40f000, hardened ? "extract_entropy" : "clear_page_orig");
	locations[1] = p->stacks[0].locations[0];
	locations[2] = p->stacks[0].locations[3];
	stack = profile_stack_add(p, locations, 3);
	profile_sample_add(p, &(struct profile_sample){ .run = run,
							.context = clone,
							.stack = stack,
							.count = hardened ? 61 : 9 });
	profile_sample_add(p, &(struct profile_sample){ .run = run,
							.context = clone,
							.stack = stack,
							.flags = PROFILE_SAMPLE_LATE,
							.count = 2 });
	none = profile_context_add(p, profile_context_name(PROFILE_CONTEXT_NONE));
	user = profile_stack_add(p, NULL, 0);
	profile_sample_add(p, &(struct profile_sample){ .run = run,
							.context = clone,
							.stack = user,
							.flags = PROFILE_SAMPLE_USER,
							.count = 1 });
	profile_sample_add(p, &(struct profile_sample){
				      .run = run, .context = none, .stack = user, .count = 1 });
	p->runs[run].reports[0].mean = hardened ? 14137000 : 11803112;
	p->runs[run].reports[0].p50 = hardened ? 14118000 : 11801907;
	p->runs[run].reports[0].min = hardened ? 14027000 : 11790450;
	return p;
}

/* Add COST ticks of probes to the calls of SITE in CONTEXT. */
static void add_cost(struct profile *p, uint32_t site, const char *context, uint64_t cost)
{
	struct profile_stats *s = profile_cell(p, 0, site, profile_context_add(p, context));

	s->wall += cost;
	s->oncpu += cost;
	s->cost += cost;
}

/* Indexes of functions in the array of sites, in the order in which forks() adds them. */
enum {
	SLAB = 1,
	DUP,
	NEVER,
	SHUFFLE
};

/* Subtract PART ticks, the time of timed callees, from the own time of function SITE in CONTEXT. */
static void take_self(struct profile *p, uint32_t site, const char *context, int64_t part)
{
	profile_cell(p, 0, site, profile_context_add(p, context))->self -= part;
}

/*
 * Complete a recording: add the probes' cost to the times, subtract callees from own times, let wait4 sleep, and account for all
 * entries. On-CPU times less the cost stay the same.
 */
static struct profile *recorded(struct profile *p)
{
	bool hardened = p->n_sites > SHUFFLE;
	uint32_t clone = profile_context_add(p, "clone"), i;
	uint64_t shuffles = hardened ? 4600 : 0, calls = 0;

	profile_cost_set(p, PROFILE_COSTS_SAMPLE, PROFILE_COST_LATENCY, 344, NAN);
	profile_cost_set(p, PROFILE_COSTS_SAMPLE, PROFILE_COST_INTERRUPT, 2187, NAN);
	take_self(p, 0, "clone", (int64_t)profile_cell(p, 0, SLAB, clone)->oncpu);
	take_self(p, 0, "mmap",
		  (int64_t)profile_cell(p, 0, SLAB, profile_context_add(p, "mmap"))->oncpu);
	take_self(p, 0, "clone", (int64_t)profile_cell(p, 0, DUP, clone)->oncpu);
	if (hardened)
		take_self(p, SLAB, "clone", (int64_t)profile_cell(p, 0, SHUFFLE, clone)->oncpu);
	add_cost(p, 0, "clone", 20 * 41 + (4600 + 120180 + shuffles) * 332);
	add_cost(p, 0, "mmap", 6024 * 41 + 310 * 332);
	add_cost(p, 0, profile_context_name(PROFILE_CONTEXT_PAGE_FAULT), 310 * 98 + 3 * 332);
	add_cost(p, SLAB, "clone", 4600 * 98 + shuffles * 332);
	add_cost(p, DUP, "clone", 120180 * 98);
	profile_cell(p, 0, 0, profile_context_add(p, "wait4"))->wall += 20 * 12000000;
	for (i = 0; i < p->n_cells; i++)
		calls += p->cells[i].stats.calls;
	p->runs[0].losses[PROFILE_INFO_OPEN_AT_END] = 2;
	p->runs[0].losses[PROFILE_INFO_ENTRIES] = calls + 2;
	return p;
}

/* Add a control run. The workload's figures in it take precedence; its samples and calls do not count. */
static void control_run(struct profile *p, double mean)
{
	uint32_t run = profile_run_add(p, PROFILE_RUN_CONTROL);

	p->runs[run].wall = 300000000;
	profile_report_add(p, run,
			   &(struct profile_report){ .name = "big-fork",
						     .iterations = 20,
						     .mean = mean,
						     .p50 = NAN,
						     .min = mean - 1000 });
	profile_sample_add(p, &(struct profile_sample){ .run = run, .count = 1000 });
	fixture_calls(profile_cell(p, run, 0, profile_context_add(p, "clone")), 5, 1, 2);
}

/*
 * Create a failed run that lost calls and samples. All calls have probe costs. These exceed the time of one function in one
 * context, and are unknown for one mechanism.
 */
static struct profile *troubled(void)
{
	struct profile *p = forks(true);
	uint32_t clone = profile_context_add(p, "clone"), mmap = profile_context_add(p, "mmap");
	uint64_t calls = 0;

	p->runs[0].losses[PROFILE_LOSS_RETURN_WITHOUT_ENTRY] = 12;
	p->runs[0].losses[PROFILE_LOSS_SAMPLES_NOT_RECEIVED] = 31;
	p->runs[0].samples_received -= 31;
	p->runs[0].status = 137;
	p->runs[0].end = PROFILE_END_SIGNAL;
	profile_cell(p, 0, 0, clone)->cost = 20 * 500000;
	profile_cell(p, 0, 1, clone)->cost = 2200 * 60;
	profile_cell(p, 0, 1, mmap)->cost = 310 * 20000;
	profile_cell(p, 0, 0, clone)->self -= 20 * 500000;
	profile_cell(p, 0, 1, clone)->self -= 2200 * 60;
	profile_cell(p, 0, 1, mmap)->self -= 310 * 20000;
	/* Seven entries had no return, and the cost of tracepoints is unknown. */
	for (uint32_t i = 0; i < p->n_cells; i++)
		calls += p->cells[i].stats.calls;
	p->runs[0].losses[PROFILE_INFO_ENTRIES] = calls + 7;
	fixture_forget_cost(p, PROFILE_MECH_TRACEPOINT);
	return p;
}

/* Add COUNT samples in clone, in FUNCTION, which copy_process calls. They are in BODY, inlined into FUNCTION, or BODY is NULL. */
static void body_sample(struct profile *p, uint64_t addr, const char *body, const char *function,
			uint32_t line, uint32_t flags, uint64_t count)
{
	uint32_t at[2] = { profile_location_add(p, addr, NULL), 0 };

	if (body)
		profile_location_frame_add(p, at[0],
					   &(struct profile_frame){ .name = body,
								    .file = "kernel/fork.c",
								    .line = line + 9,
								    .inlined = true });
	profile_location_frame_add(
		p, at[0],
		&(struct profile_frame){ .name = function, .file = "kernel/fork.c", .line = line });
	at[1] = fixture_location(p, 0x08b0f2, "copy_process");
	profile_sample_add(p, &(struct profile_sample){ .context = profile_context_add(p, "clone"),
							.stack = profile_stack_add(p, at, 2),
							.flags = flags,
							.count = count });
}

/*
 * Create a recording with inlined functions. Some are timed, in both recordings or in one. Some are sampled: equally in both, more
 * in one, or late. One could not be timed.
 */
static struct profile *ranges(bool hardened)
{
	struct profile *p = recorded(forks(hardened));
	uint32_t clone = profile_context_add(p, "clone"), site;

	/* Without the random order, the samples are in setup_object, which is inlined into allocate_slab at another line. */
	if (!hardened) {
		p->locations[0].frames[0].name = profile_intern(p, "setup_object");
		p->locations[0].frames[1].line = 1985;
	}
	site = fixture_range(p, "setup_object", NULL, "allocate_slab", 1985);
	fixture_entries(profile_cell(p, 0, site, clone), 4600, 4600, 300, 310);
	take_self(p, SLAB, "clone", (int64_t)profile_cell(p, 0, site, clone)->oncpu);
	if (hardened) {
		site = fixture_range(p, "shuffle_freelist", NULL, "allocate_slab", 1978);
		fixture_entries(profile_cell(p, 0, site, clone), 4600, 9200, 5300, 5310);
		take_self(p, SHUFFLE, "clone", (int64_t)profile_cell(p, 0, site, clone)->oncpu);
	}
	site = fixture_range(p, "page_slab", "virt_to_slab", "allocate_slab", 77);
	p->sites[site].mech = PROFILE_UNTIMED;
	p->sites[site].estimated = profile_intern(p, "an indirect jump");
	profile_cost_set(p, PROFILE_MECH_KPROBE_OPTIMIZED, PROFILE_COST_INNER, 120, 1);
	profile_cost_set(p, PROFILE_MECH_KPROBE_OPTIMIZED, PROFILE_COST_FULL, 400, 2);
	p->runs[0].losses[PROFILE_INFO_ENTRIES] += hardened ? 4600 + 9200 : 4600;
	body_sample(p, 0x8b200, "dup_mm", "copy_process", 2100, 0, 30);
	body_sample(p, 0x8b300, "check_stack", "dup_task_struct", 900, 0, hardened ? 60 : 4);
	body_sample(p, 0x8b310, NULL, "dup_task_struct", 910, 0, 20);
	body_sample(p, 0x8b400, "spin_unlock_irqrestore", "free_task", 500, PROFILE_SAMPLE_LATE,
		    25);
	return p;
}

/* Create a recording with names that could break a terminal, a flame graph or JSON. */
static struct profile *hostile(void)
{
	struct profile *p = forks(false);
	uint32_t evil = profile_context_add(p, "ev\033[31mil;a b"), function, location, stack;

	profile_arg_add(p, "it's\n; rm -rf \xff\xfe");
	profile_env_set(p, "machine.\033]0;cpu\a", "x\ny");
	fixture_calls(profile_cell(p, 0, 0, evil), 1, 10, 10);
	function = fixture_function(p, "f\"un,c\xc3(\t", 1);
	fixture_calls(profile_cell(p, 0, function, evil), 1, 5, 5);
	location = fixture_location(p, 2, "frame one;two\n3");
	stack = profile_stack_add(p, &location, 1);
	profile_sample_add(p, &(struct profile_sample){
				      .run = 0, .context = evil, .stack = stack, .count = 4 });
	return p;
}

/* Add CALLS calls of function SITE in CONTEXT, of TIME each, with captured VALUES. */
static void add_calls(struct profile *p, uint32_t site, uint32_t context, uint64_t calls,
		      uint64_t time, const uint64_t values[4])
{
	struct profile_capture c = { .site = site,
				     .context = context,
				     .calls = calls,
				     .time = (int64_t)(calls * time),
				     .sumsq = (double)calls * (double)time * (double)time,
				     .min = time,
				     .max = time };

	memcpy(c.values, values, 4 * sizeof(*values));
	profile_capture_add(p, &c);
}

/* Add calls of FUNCTION with captured values. Their times follow from the values by allocate_slab's rules, unless NOISE. */
static void capture_calls(struct profile *p, const char *function, bool noise, uint32_t unseeded)
{
	static const struct profile_variable variables[] = {
		{ .name = "crng_init", .kind = PROFILE_VARIABLE_GLOBAL, .bytes = 4 },
		{ .name = "s->objects", .kind = PROFILE_VARIABLE_MEMBER, .bytes = 4 },
		{ .name = "flags",
		  .kind = PROFILE_VARIABLE_ARGUMENT,
		  .bytes = 4,
		  .is_flags = true },
		{ .name = "return", .kind = PROFILE_VARIABLE_RETURN, .bytes = 8 },
	};
	uint32_t site = fixture_function(p, function, noise ? 0x2000 : 0x1000);
	uint64_t seed = 1;

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		struct profile_variable v = variables[i];

		v.site = site;
		profile_variable_add(p, &v);
	}
	for (uint32_t i = 0; i < 4600; i++) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		uint64_t init = i >= unseeded, objects = 8 + (seed >> 59), random = seed >> 40 & 63;
		seed = seed * 6364136223846793005 + 1442695040888963407;
		uint64_t time = noise ? 900 + random :
				init  ? 96 + random / 4 + 20 * objects :
					640 + random + 300 * objects;

		add_calls(p, site, 0, 1, time,
			  (uint64_t[4]){ init, objects, 0xc00 | (seed >> 36 & 3) << 8,
					 0xffffea0000000000 + (seed >> 50 << 6) });
	}
}

/* Create a recording with captured values of FUNCTION, and of a function with times that no variable explains. */
static struct profile *captured(const char *function, uint32_t unseeded)
{
	struct profile *p = profile_create();

	p->clock = PROFILE_CLOCK_INSN;
	profile_env_set(p, PROFILE_ENV_RELEASE, "6.1.192-captured");
	fixture_calibrated(p);
	fixture_run(p, 300000000);
	profile_context_add(p, "clone");
	capture_calls(p, function, false, unseeded);
	capture_calls(p, "vm_area_dup", true, unseeded);
	return p;
}

/* Add a function called by tasks with names that contain escape sequences and other variables' names. */
static void name_tasks(struct profile *p)
{
	static const char *const names[] = { "z\\ flags=1", "x \033]0;y\a" };
	uint32_t site = fixture_function(p, "vfs_read", 0x3000);

	profile_variable_add(p, &(struct profile_variable){ .site = site,
							    .name = "current->comm",
							    .kind = PROFILE_VARIABLE_NAME,
							    .bytes = 8 });
	for (uint32_t i = 0; i < 100; i++)
		add_calls(p, site, 0, 1, 400 + 100 * (i % 2) + i % 5,
			  (uint64_t[4]){ profile_name_add(p, names[i % 2]) });
}

/* Create an exact recording: instructions instead of samples, and one complete call of allocate_slab. */
static struct profile *counted(void)
{
	static const struct profile_trace lines[] = {
		{ .kind = PROFILE_TRACE_CALL, .times = 1, .insns = 100 },
		{ .kind = PROFILE_TRACE_LINE, .depth = 1, .times = 1, .insns = 10 },
		{ .kind = PROFILE_TRACE_LOOP, .depth = 1, .times = 8, .insns = 9 },
		{ .kind = PROFILE_TRACE_LINE, .depth = 2, .times = 8, .insns = 9 },
		{ .kind = PROFILE_TRACE_LINE, .depth = 1, .times = 1, .insns = 18 },
	};
	static const struct profile_frame frames[] = {
		{ .name = "allocate_slab" },
		{ .name = "allocate_slab", .file = "mm/slub.c", .line = 1900 }
	};
	struct profile *p = recorded(forks(true));
	uint32_t at[2];

	for (int i = 0; i < 2; i++) {
		at[i] = profile_location_add(p, 0x700000 + (uint32_t)i, NULL);
		profile_location_frame_add(p, at[i], &frames[i]);
	}
	profile_env_set(p, PROFILE_ENV_ENGINE, PROFILE_ENGINE_EXACT);
	profile_env_set(p, PROFILE_ENV_TRACE, "allocate_slab:1");
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		vec_push(p, traces, lines[i]);
		p->traces[i].location = at[lines[i].kind == PROFILE_TRACE_LINE];
	}
	return p;
}

static struct profile *build(const char *name)
{
	struct profile *p;

	if (!strcmp(name, "exact"))
		return counted();

	if (!strcmp(name, "baseline"))
		return recorded(forks(false));
	if (!strcmp(name, "hardened"))
		return recorded(forks(true));
	if (!strcmp(name, "ranges-baseline") || !strcmp(name, "ranges-hardened"))
		return ranges(!strcmp(name, "ranges-hardened"));
	if (!strcmp(name, "troubled"))
		return troubled();
	if (!strcmp(name, "hostile"))
		return hostile();
	if (!strcmp(name, "control-baseline") || !strcmp(name, "control-hardened")) {
		bool hardened = !strcmp(name, "control-hardened");

		p = recorded(forks(hardened));
		control_run(p, hardened ? 14120000 : 11800000);
		p->runs[p->n_runs - 1].cpu = hardened ? 490000000 : 440000000;
		return p;
	}
	if (!strcmp(name, "nanoseconds")) {
		p = recorded(forks(false));
		p->clock = PROFILE_CLOCK_NS;
		add_cost(p, 0, "mmap", 15000000); /* more than the time that mmap has left */
		return p;
	}
	if (!strcmp(name, "captured"))
		return captured("allocate_slab", 400);
	if (!strcmp(name, "captured-unseeded"))
		return captured("allocate_slab", 4200);
	if (!strcmp(name, "captured-hostile")) {
		p = captured("a'.system('touch owned').'`touch owned`\n!touch owned", 400);
		name_tasks(p);
		return p;
	}
	if (!strcmp(name, "three-runs"))
		return fixture_big_fork(3, 1000);
	if (!strcmp(name, "empty")) {
		p = profile_create();
		p->clock = PROFILE_CLOCK_INSN;
		return p;
	}
	return NULL;
}

/* Add two blocks of FUNCTION: up to MARK, executed CALLS times, and the instruction at MARK, executed COUNT times. */
static void add_blocks(struct profile *p, const char *function, const char *context, uint64_t entry,
		       uint64_t mark, uint64_t calls, uint64_t count)
{
	struct profile_blocks blocks = { .site = fixture_function(p, function, entry) };
	struct profile_block first = { .addr = entry,
				       .bytes = (uint32_t)(mark - entry),
				       .insns = 1,
				       .reached = true,
				       .location = profile_location_add(p, entry, NULL) };
	struct profile_block second = first;
	struct profile_block_counts *counts;
	uint32_t place;

	second.addr = mark;
	second.bytes = 1;
	second.location = profile_location_add(p, mark, NULL);
	vec_push(&blocks, items, first);
	vec_push(&blocks, items, second);
	place = profile_blocks_add(p, &blocks);
	counts = profile_block_counts(p, 0, place, profile_context_add(p, context));
	counts->calls = calls;
	counts->counts[0] = calls;
	counts->counts[1] = count;
}

/*
 * Add WORD: "sample CONTEXT COUNT LEAF [CALLER]", "calls FUNCTION CONTEXT COUNT TIME", "blocks FUNCTION CONTEXT ENTRY MARK
 * CALLS COUNT", or "NAME=VALUE" for the environment. Addresses are hexadecimal, relative to _stext.
 */
static void add_word(struct profile *p, const char *word)
{
	char name[64], value[256];
	unsigned long long leaf, caller = 0, count, ticks, mark;
	uint32_t at[2], n = 1;

	if (sscanf(word, "sample %63s %llu %llx %llx", name, &count, &leaf, &caller) >= 3) {
		at[0] = profile_location_add(p, leaf, NULL);
		if (caller)
			at[n++] = profile_location_add(p, caller, NULL);
		profile_sample_add(
			p, &(struct profile_sample){ .context = profile_context_add(p, name),
						     .stack = profile_stack_add(p, at, n),
						     .count = count });
	} else if (sscanf(word, "calls %255s %63s %llu %llu", value, name, &count, &ticks) == 4) {
		fixture_calls(profile_cell(p, 0, fixture_function(p, value, 0),
					   profile_context_add(p, name)),
			      (uint32_t)count, ticks, ticks);
	} else if (sscanf(word, "blocks %255s %63s %llx %llx %llu %llu", value, name, &leaf, &mark,
			  &ticks, &count) == 6) {
		add_blocks(p, value, name, leaf, mark, ticks, count);
	} else if (sscanf(word, "%63[^=]=%255s", name, value) == 2) {
		profile_env_set(p, name, value);
	} else {
		fprintf(stderr, "make_fixture: '%s'?\n", word);
		exit(2);
	}
}

/* Create a recording of one run from WORDS. */
static struct profile *of_words(char **words)
{
	struct profile *p = profile_create();

	p->clock = PROFILE_CLOCK_INSN;
	p->freq = 1000;
	p->sample_period = 1000;
	profile_run_add(p, PROFILE_RUN_PROBED);
	profile_env_set(p, PROFILE_ENV_RELEASE, "6.1.192-made-up");
	while (*words)
		add_word(p, *words++);
	return p;
}

/* Make the figures of CALLS calls of about TIME each, with a histogram of a few slots, as in real recordings. */
static void large_cell(struct profile *p, uint32_t run, uint32_t site, uint32_t context,
		       uint64_t calls, uint64_t time)
{
	struct profile_stats *s = profile_cell(p, run, site, context);
	uint64_t i;

	s->calls = calls;
	s->wall = s->oncpu = calls * time;
	s->self = (int64_t)(calls * time / 2);
	s->sumsq = (double)calls * (double)time * (double)time;
	s->min = time / 2;
	s->max = time * 2;
	for (i = 0; i < 4; i++)
		profile_stats_bucket_add(s, hist_slot(s->min + i * time / 2), calls / 4);
}

/* Create a recording of calls in all contexts. SIZES: functions, contexts, runs, and the slowdown of each call in percent. */
static struct profile *large(char **sizes)
{
	uint32_t functions = (uint32_t)strtoul(sizes[0], NULL, 10), run, context, site;
	uint32_t contexts = (uint32_t)strtoul(sizes[1], NULL, 10);
	uint32_t runs = (uint32_t)strtoul(sizes[2], NULL, 10);
	uint64_t slower = strtoull(sizes[3], NULL, 10), seed = slower;
	struct profile *p = profile_create();
	char name[32];

	p->clock = PROFILE_CLOCK_INSN;
	fixture_calibrated(p);
	for (context = 0; context < contexts; context++) {
		snprintf(name, sizeof(name), "call%u", context);
		profile_context_add(p, name);
	}
	for (site = 1; site <= functions; site++) {
		snprintf(name, sizeof(name), "function%u", site);
		fixture_function(p, name, 64 * site);
	}
	for (run = 0; run < runs; run++) {
		fixture_run(p, 300000000);
		for (site = 0; site <= functions; site++)
			for (context = 0; context < contexts; context++) {
				seed = seed * 6364136223846793005 + 1442695040888963407;
				large_cell(p, run, site, context, 8 + (seed >> 60),
					   (100 + slower) * (10 + site % 97) + (seed >> 56));
			}
	}
	return p;
}

/* Add a function of N blocks, counted in CONTEXTS. Each block is a loop that calls a function of its own. */
static void many_blocks(struct profile *p, uint32_t function, uint32_t n, uint32_t contexts)
{
	struct profile_blocks blocks = { .site = function };
	uint32_t place, i, b;

	for (b = 0; b < n; b++) {
		struct profile_block block = {
			.addr = 64 * b, .bytes = 16, .insns = 4, .reached = true
		};
		char name[32];

		snprintf(name, sizeof(name), "callee%u", b);
		block.callee = profile_intern(p, name);
		block.location = fixture_location(p, 64 * b, "made_up");
		vec_push(&blocks, items, block);
		vec_push(&blocks, arcs,
			 ((struct profile_arc){ b, b + 1 < n ? b + 1 : PROFILE_ARC_OUT }));
		vec_push(&blocks, arcs, ((struct profile_arc){ b, b }));
	}
	place = profile_blocks_add(p, &blocks);
	for (i = 0; i < contexts; i++) {
		struct profile_block_counts *c = profile_block_counts(p, 0, place, i);

		c->calls = 10;
		for (b = 0; b < n; b++)
			c->counts[b] = 10 + b % 7 * (n % 3);
	}
}

/* Add samples with N stacks of FRAMES frames. The two innermost frames of a stack differ from those of nearly all other stacks. */
static void many_samples(struct profile *p, uint32_t n, uint32_t frames)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t at[900] = { profile_location_add(p, 64 * i, NULL) };

		profile_location_frame_add(
			p, at[0],
			&(struct profile_frame){
				.name = "body", .file = "a.c", .line = i, .inlined = true });
		profile_location_frame_add(
			p, at[0], &(struct profile_frame){ .name = "around", .file = "a.c" });
		for (uint32_t k = 1; k < frames; k++)
			at[k] = fixture_location(p, 64 * (k == 1 ? i / 2 : k) + k, "caller");
		profile_sample_add(
			p, &(struct profile_sample){ .context = i % 50,
						     .stack = profile_stack_add(p, at, frames),
						     .count = 1 + i % 3 });
	}
}

/*
 * Add N rows of calls. Their time follows from the first of four variables, which starts at LEAST; SCALE multiplies times and
 * values.
 */
static void many_captures(struct profile *p, uint32_t site, uint32_t n, uint64_t least,
			  uint64_t scale)
{
	static const char *const names[] = { "n", "s->size", "flags", "ready" };
	uint64_t seed = 1;

	for (uint32_t i = 0; i < 4; i++)
		profile_variable_add(p, &(struct profile_variable){ .site = site,
								    .name = names[i],
								    .kind = i,
								    .bytes = 8,
								    .is_signed = i == 1,
								    .is_flags = i == 2 });
	for (uint32_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		add_calls(p, site, i % 50, 1 + i % 4, scale * (100 + 20 * i + (seed >> 36 & 15)),
			  (uint64_t[4]){ least + 2048 * i, (seed >> 40) * scale, seed >> 56,
					 seed >> 63 });
	}
}

/* Add N rows of calls with as many flags variables as possible, all unrelated to the time. */
static void many_flags(struct profile *p, uint32_t site, uint32_t n)
{
	uint64_t seed = 1;

	for (uint32_t i = 0; i < PROFILE_VALUES_MAX; i++)
		profile_variable_add(p, &(struct profile_variable){ .site = site,
								    .name = (char[]){ 'a' + i, 0 },
								    .bytes = 8,
								    .is_flags = true });
	for (uint32_t i = 0; i < n; i++) {
		struct profile_capture c = { .site = site, .calls = 1, .time = 100 + i % 7 };

		c.sumsq = (double)c.time * (double)c.time;
		c.min = c.max = (uint64_t)c.time;
		for (int k = 0; k < PROFILE_VALUES_MAX; k++)
			c.values[k] = seed = seed * 6364136223846793005 + 1442695040888963407;
		profile_capture_add(p, &c);
	}
}

/* Add N rows of calls with values and times beyond the range of JavaScript's numbers, the longest name, and all bins. */
static void many_extremes(struct profile *p, uint32_t n)
{
	scoped_free char *name = alloc_array(PROFILE_NAME_MAX + 1, 1);
	uint32_t site = fixture_function(p, memset(name, '<', PROFILE_NAME_MAX), 64 * n);

	many_captures(p, site, n, UINT64_C(1) << 63, UINT64_C(1) << 44);
	for (uint32_t i = 0; i < 50; i++)
		fixture_calls(profile_cell(p, 0, site, i), 1, 1000, 1000);
	for (unsigned int i = 0; i < HIST_SLOTS; i++)
		profile_stats_bucket_add(profile_cell(p, 0, site, 0), i, UINT64_C(1) << i % 55);
}

/* Add a tree of N calls as the emulator counts them, with all kinds of counts, and one complete call. */
static void many_exact(struct profile *p, uint32_t n)
{
	char name[32];

	profile_env_set(p, PROFILE_ENV_ENGINE, PROFILE_ENGINE_EXACT);
	profile_env_set(p, PROFILE_ENV_TRACE, "call1:1");
	profile_env_set(p, PROFILE_ENV_MODEL, "small");
	profile_env_set(p, PROFILE_ENV_CYCLES, "l1i=10 l1d=10");
	for (uint32_t i = 1; i <= n; i++) {
		uint32_t stack[32], depth = 0;
		struct profile_edge edge = { .context = i % 50, .calls = 1 + i % 3 };

		for (uint32_t at = i; at; at /= 2) {
			snprintf(name, sizeof(name), "call%u", at);
			stack[depth++] = fixture_location(p, 64 * at, name);
		}
		p->locations[stack[0]].frames[0].inlined = i % 5 == 0;
		edge.stack = profile_stack_add(p, stack, depth);
		profile_sample_add(p, &(struct profile_sample){ .context = edge.context,
								.stack = edge.stack,
								.count = i });
		profile_edge_add(p, &edge);
		profile_executions_add(p, &edge);
		profile_miss_add(p, &(struct profile_miss){ .context = edge.context,
							    .stack = edge.stack,
							    .event = i % MODEL_N_EVENTS,
							    .count = i });
		profile_object_add(p, &(struct profile_object){ .context = edge.context,
								.type = profile_intern(p, name),
								.event = i % MODEL_N_EVENTS,
								.count = i });
		profile_condition_set(p, stack[0], name);
		vec_push(p, traces,
			 ((struct profile_trace){ .kind = i % PROFILE_TRACE_LOST,
						  .depth = i == 1 ? 0 : 1 + (i - 2) % 5,
						  .location = stack[0],
						  .times = 1 + i % 3,
						  .insns = i }));
	}
}

/* Add a function with N blocks of executed code. Each block overlaps all others. */
static void many_pieces(struct profile *p, uint32_t n)
{
	struct profile_blocks blocks = { .site = fixture_function(p, "counted", 0) };
	struct profile_block_counts *counts;

	profile_env_set(p, PROFILE_ENV_ENGINE, PROFILE_ENGINE_EXACT);
	for (uint32_t i = 0; i < n; i++)
		vec_push(&blocks, items,
			 ((struct profile_block){ .addr = i,
						  .bytes = n,
						  .insns = n,
						  .reached = true,
						  .location = fixture_location(p, 0, "counted") }));
	counts = profile_block_counts(p, 0, profile_blocks_add(p, &blocks), 0);
	counts->calls = 1;
	for (uint32_t i = 0; i < n; i++)
		counts->counts[i] = 1;
}

static void boot_run(struct profile *p, uint32_t boot)
{
	uint32_t run = fixture_run(p, 300000000 + boot);

	p->runs[run].boot = boot;
}

/* Add 50 addresses in MODULE. */
static void in_module(struct profile *p, const char *module)
{
	scoped_free char *key = alloc_printf(PROFILE_ENV_MODULE "%s", module);

	profile_env_set(p, key, "00112233445566778899aabbccddeeff00112233");
	for (uint32_t i = 0; i < 50; i++)
		profile_location_add(p, 64 * i, module);
}

/*
 * Create a recording with N items, to find readers that take quadratic time. KIND names the items, or is the prefix of functions'
 * names, like "page_".
 */
static struct profile *many(const char *kind, uint32_t n)
{
	struct profile *p = profile_create();
	char name[64], *list = alloc_array(n, 16);
	uint32_t i;

	p->clock = PROFILE_CLOCK_INSN;
	fixture_calibrated(p);
	fixture_run(p, 300000000);
	for (i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "call%u", i);
		fixture_calls(profile_cell(p, 0, 0, profile_context_add(p, name)), 4, 90000,
			      100000);
	}
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s%u", kind, i);
		if (!strcmp(kind, "runs"))
			fixture_run(p, 300000000 + i);
		else if (!strcmp(kind, "boots"))
			boot_run(p, i);
		else if (!strcmp(kind, "reports"))
			profile_report_add(p, 0,
					   &(struct profile_report){
						   .name = profile_intern(p, name), .mean = i });
		else if (!strcmp(kind, "functions") || strchr(kind, '_'))
			fixture_calls(profile_cell(p, 0, fixture_function(p, name, 64 * i), i % 50),
				      1, 100, 100);
		else if (!strcmp(kind, "cells")) { /* each function in each context */
			snprintf(name, sizeof(name), "function%u", i / 50);
			fixture_calls(profile_cell(p, 0, fixture_function(p, name, 64 * (i / 50)),
						   i % 50),
				      1, 100, 100);
		} else if (!strcmp(kind, "ranges") || !strcmp(kind, "bodies"))
			fixture_entries(
				profile_cell(p, 0,
					     fixture_range(p, name, *kind == 'b' ? "inline" : NULL,
							   "around", i),
					     i % 50),
				4, 4, 100, 110);
		else if (!strcmp(kind, "args"))
			profile_arg_add(p, name);
		else if (!strcmp(kind, "modules"))
			in_module(p, name);
		if (!strcmp(kind, "boots"))
			sprintf(list + strlen(list), "%s%x", i ? "," : "", 0x10000 + i);
		else if (!strcmp(kind, "parameters"))
			sprintf(list + strlen(list), "%sa=%x", i ? " " : "", i);
	}
	if (!strcmp(kind, "parameters"))
		profile_env_set(p, PROFILE_ENV_CMDLINE, list);
	else if (!strcmp(kind, "boots"))
		profile_env_set(p, PROFILE_ENV_BOOTS, list);
	else if (!strcmp(kind, "samples"))
		many_samples(p, n, 2);
	else if (!strcmp(kind, "deep"))
		many_samples(p, n, 900);
	else if (!strcmp(kind, "extremes"))
		many_extremes(p, n);
	else if (!strcmp(kind, "exact"))
		many_exact(p, n);
	else if (!strcmp(kind, "pieces"))
		many_pieces(p, n);
	else if (!strcmp(kind, "captures"))
		many_captures(p, fixture_function(p, "captured", 0), n, 0, 1);
	else if (!strcmp(kind, "flags"))
		many_flags(p, fixture_function(p, "captured", 0), n);
	else if (!strcmp(kind, "blocks"))
		many_blocks(p, fixture_function(p, "counted", 0), n, 50);
	for (i = 0; !strcmp(kind, "contexts") && i < n; i++)
		many_blocks(p, fixture_function(p, name, 64 * i), 3, 50);
	free(list);
	return p;
}

int main(int argc, char **argv)
{
	struct profile *p = argc > 3 && !strcmp(argv[1], "words") ?
				    of_words(argv + 3) :
			    argc == 7 && !strcmp(argv[1], "large") ?
				    large(argv + 3) :
			    argc == 5 && !strcmp(argv[1], "many") ?
				    many(argv[3], (uint32_t)strtoul(argv[4], NULL, 10)) :
			    argc == 3 ? build(argv[1]) :
					NULL;
	int err;

	if (!p) {
		fprintf(stderr,
			"usage: make_fixture NAME FILE | make_fixture words FILE WORD... | "
			"make_fixture many FILE KIND N | make_fixture large FILE FUNCTIONS CONTEXTS RUNS SLOWER\n");
		return 2;
	}
	err = profile_file_write(p, argv[2]);
	profile_destroy(p);
	return err ? 1 : 0;
}
