// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bpf_prog_test_run_tracing() calls the kernel's empty functions, with constants as arguments. The code of a call consists of moves
 * of the constants to registers, a call, a comparison of the result, and a jump that is not taken. A move has five or six bytes,
 * enough for a jump that the kernel's optimizer writes. The number of instructions between any two of these instructions is known.
 * Timing ranges between them, all probed at once, gives the cost of each kind of probe.
 */
#include "record/cost/range_cost.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/system/clock.h"
#include "record/cost/calibrate.h"
#include "record/cost/measure.h"
#include "record/engine/engine.h"
#include "record/engine/kprobe_event.h"
#include "record/probe/links.h"
#include "record/probe/kprobe.h"
#include "record/probe/point.h"
#include "record/probe/probes.h"

#define CODE_MAX 1024 /* bytes of the function that are searched for calls */

/* Distance of two stack frames, in words: so far apart, the BPF programs take them for frames of different calls. */
#define ELSEWHERE 64

#define STEP_MS 10 /* ms between two checks of the code */

#define MAX_POINTS 32

/* A call's number is the number of arguments of the empty function that it calls. */
#define FIRST_CALL 2
#define LAST_CALL  6

/* Numbers of the instructions of a call. The moves have the numbers from 0 on; the other instructions have those below. */
enum {
	CALL = LAST_CALL,
	COMPARE,
	JUMP,
	N_PLACES
};

struct call {
	uint64_t at[N_PLACES];
};

/* A probe on instruction AT of the call with N arguments. The probe enters or leaves the range TRIAL, depending on OP. */
struct placed {
	uint8_t n, at;
	uint8_t op, trial;
	/* True: the probe has a second action, OP2 for TRIAL2. */
	bool list;
	uint8_t op2, trial2;
	bool prepared; /* the optimizer prepares a jump, but the probe stays a breakpoint */
};

/* Probes of the first round, in the order of their hits. */
static const struct placed basic[] = {
	{ 2, 0, ENGINE_RANGE_ENTER, TRIAL_PLAIN },
	{ 2, 1, ENGINE_RANGE_LEAVE, TRIAL_PLAIN },
	{ 3, 0, ENGINE_RANGE_ENTER, TRIAL_IDLE_LEAVE },
	{ 3, 1, ENGINE_RANGE_LEAVE, TRIAL_NOBODY },
	{ 3, 2, ENGINE_RANGE_LEAVE, TRIAL_IDLE_LEAVE },
	{ 3, CALL, ENGINE_RANGE_ENTER, TRIAL_FROM_CALL },
	{ 3, COMPARE, ENGINE_RANGE_LEAVE, TRIAL_FROM_CALL },
	{ 4, 0, ENGINE_RANGE_ENTER, TRIAL_IDLE_ENTER },
	{ 4, 1, ENGINE_RANGE_ENTER, TRIAL_IDLE_ENTER },
	{ 4, 2, ENGINE_RANGE_LEAVE, TRIAL_IDLE_ENTER },
	{ 4, 3, ENGINE_RANGE_ENTER, TRIAL_TO_CALL },
	{ 4, CALL, ENGINE_RANGE_LEAVE, TRIAL_TO_CALL },
	{ 4, COMPARE, ENGINE_RANGE_ENTER, TRIAL_FROM_COMPARE },
	{ 4, JUMP, ENGINE_RANGE_LEAVE, TRIAL_FROM_COMPARE },
	{ 5, 0, ENGINE_RANGE_ENTER, TRIAL_TO_LIST },
	{ 5, 1, ENGINE_RANGE_LEAVE, TRIAL_TO_LIST, true, ENGINE_RANGE_ENTER, TRIAL_FROM_LIST },
	{ 5, 2, ENGINE_RANGE_LEAVE, TRIAL_FROM_LIST },
	{ 5, 4, ENGINE_RANGE_ENTER, TRIAL_TO_COMPARE },
	{ 5, COMPARE, ENGINE_RANGE_LEAVE, TRIAL_TO_COMPARE },
	{ 5, JUMP, ENGINE_RANGE_ENTER, TRIAL_FROM_JUMP },
	{ 6, 0, ENGINE_RANGE_LEAVE, TRIAL_FROM_JUMP },
	{ 6, 1, ENGINE_RANGE_ENTER, TRIAL_OUTER },
	{ 6, 2, ENGINE_RANGE_ENTER, TRIAL_INNER },
	{ 6, 3, ENGINE_RANGE_LEAVE, TRIAL_NOBODY },
	{ 6, 4, ENGINE_RANGE_LEAVE, TRIAL_INNER },
	{ 6, 5, ENGINE_RANGE_LEAVE, TRIAL_OUTER },
};

/* Probes of the second round, for which the first round lacks instructions. place_return() and place_block() add more. */
static const struct placed further[] = {
	{ 4, 0, ENGINE_RANGE_ENTER, TRIAL_AROUND_OPEN },
	{ 4, 1, ENGINE_RANGE_ENTER, TRIAL_OPENED },
	{ 4, 2, ENGINE_RANGE_LEAVE, TRIAL_OPENED, true, ENGINE_RANGE_LEAVE, TRIAL_NOBODY },
	{ 4, 3, ENGINE_RANGE_LEAVE, TRIAL_AROUND_OPEN },
	{ 2, COMPARE, ENGINE_RANGE_ENTER, TRIAL_FROM_PREPARED, .prepared = true },
	{ 2, JUMP, ENGINE_RANGE_LEAVE, TRIAL_FROM_PREPARED },
	{ 3, CALL, ENGINE_RANGE_ENTER, TRIAL_TO_PREPARED },
	{ 3, COMPARE, ENGINE_RANGE_LEAVE, TRIAL_TO_PREPARED, .prepared = true },
};

struct calibration {
	struct record_engine *e;
	struct record_probes *probes;
	enum profile_clock clock;
	struct call calls[LAST_CALL + 1];
	struct record_point items[MAX_POINTS];
	uint32_t position[MAX_POINTS]; /* number of instructions executed before each item */
	uint32_t n;
	uint32_t probe; /* number of an unused block probe; 0: no blocks are counted */
	uint64_t ret; /* address of the return of bpf_fentry_test5(); 0: not found */
	/* Indexed by trial. LISTED and OPENED follow: the times excluded from TRIAL_FROM_LIST and TRIAL_AROUND_OPEN. */
	struct record_reading readings[RECORD_N_TRIALS + 2];
};

#define LISTED (&c->readings[RECORD_N_TRIALS])
#define OPENED (&c->readings[RECORD_N_TRIALS + 1])

static void read_code(const struct record_engine *e, uint64_t addr, uint8_t *code, int len)
{
	for (int i = 0; i < len; i += sizeof(uint32_t)) {
		uint32_t text = record_engine_text(e, addr + i);

		memcpy(code + i, &text, sizeof(text));
	}
}

static int find_calls(struct calibration *c, const struct record_empty *empty)
{
	uint8_t code[CODE_MAX];

	if (!empty->outer.addr)
		return -ENOENT;
	read_code(c->e, empty->outer.addr, code, sizeof(code));
	for (int n = FIRST_CALL; n <= LAST_CALL; n++) {
		uint64_t target = empty->tests[n - 1].addr, *at = c->calls[n].at;

		if (!target || !arch_find_test_call(code, sizeof(code), empty->outer.addr, target,
						    n, at, at + CALL))
			return -ENOENT;
	}
	return 0;
}

/* Return the address of the only return instruction of the short function at ADDR; 0: not found. */
static uint64_t find_return(const struct record_engine *e, uint64_t addr)
{
	uint8_t code[64];
	size_t at;

	read_code(e, addr, code, sizeof(code));
	at = arch_find_return(code, sizeof(code));
	return at < sizeof(code) ? addr + at : 0;
}

static uint32_t site_of(const struct calibration *c, enum record_trial trial)
{
	return record_engine_spare(c->e, RECORD_SPARE_RANGES + trial);
}

static struct record_point *add(struct calibration *c, uint64_t addr, uint32_t position)
{
	struct record_point *p = &c->items[c->n];

	*p = (struct record_point){ .addr = addr, .event = -1, .link = -1 };
	c->position[c->n++] = position;
	return p;
}

static void act(const struct calibration *c, struct record_point *p, enum engine_range_op op,
		enum record_trial trial)
{
	p->actions[p->n_actions++] = (struct record_action){ site_of(c, trial), op, 0 };
	p->frame = trial == TRIAL_OUTER || trial == TRIAL_IDLE_LEAVE || trial == TRIAL_AROUND_OPEN ?
			   ELSEWHERE :
			   0;
}

/* Return the number of instructions executed before instruction AT of the call with N arguments. */
static uint32_t position_of(uint32_t n, uint32_t at)
{
	uint32_t before = 0;

	for (uint32_t i = FIRST_CALL; i < n; i++)
		before += i + record_empty_insns[i - 1] + 3;
	if (at < CALL)
		return before + at;
	return before + n + (at > CALL ? record_empty_insns[n - 1] : 0) + at - CALL;
}

static struct record_point *add_at(struct calibration *c, uint32_t n, uint32_t at)
{
	struct record_point *p = add(c, c->calls[n].at[at], position_of(n, at));

	p->optimizes = at < CALL ? ARCH_JUMP_LEN : 0;
	return p;
}

static void place(struct calibration *c, const struct placed *of, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct record_point *p = add_at(c, of[i].n, of[i].at);

		p->prepared = of[i].prepared;
		act(c, p, of[i].op, of[i].trial);
		if (!of[i].list)
			continue;
		act(c, p, of[i].op2, of[i].trial2);
		p->list = record_engine_spare_list(c->e);
	}
}

/* Place a range with a block probe inside. The probe looks for the range's frame; in a recording it looks for a function's. */
static int place_block(struct calibration *c)
{
	struct engine_block block = {
		.key = ENGINE_KEY(site_of(c, TRIAL_AROUND), 0),
		.cost = 1,
	};
	struct record_point *p;

	act(c, add_at(c, 6, 0), ENGINE_RANGE_ENTER, TRIAL_AROUND);
	p = add_at(c, 6, 1);
	p->counts = true;
	p->block = c->probe;
	act(c, add_at(c, 6, 2), ENGINE_RANGE_LEAVE, TRIAL_AROUND);
	return record_engine_set_block(c->e, c->probe, &block);
}

/* Place a range that begins at the return of bpf_fentry_test5(), where the caller's frame is one word further up. */
static void place_return(struct calibration *c)
{
	struct record_point *p = add(c, c->ret, position_of(5, COMPARE) - 1);

	act(c, p, ENGINE_RANGE_ENTER, TRIAL_FROM_RETURN);
	p->frame = 1;
	act(c, add_at(c, 5, COMPARE), ENGINE_RANGE_LEAVE, TRIAL_FROM_RETURN);
}

static int place_further(struct calibration *c)
{
	if (c->ret)
		place_return(c);
	place(c, further, ARRAY_SIZE(further));
	return c->probe ? place_block(c) : 0;
}

/*
 * To prepare a probe, the optimizer replaces the probe by an aggregate probe with a list. A second probe at the same address has
 * the same effect, even after its removal. So add and remove a second probe.
 */
static void prepare(struct calibration *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		int second =
			c->items[i].prepared ? record_kprobe_open(c->items[i].addr, false) : -1;

		if (second >= 0)
			record_detach_deferred(second);
	}
}

static int attach(struct calibration *c)
{
	int err = 0;

	for (uint32_t i = 0; i < c->n && !err; i++)
		err = record_point_arm(c->probes, &c->items[i]);
	if (!err)
		prepare(c);
	if (!err && record_points_settle(c->probes, c->items, c->n))
		err = -ENODATA;
	record_detach_wait();
	for (uint32_t i = 0; i < c->n && !err; i++)
		err = record_point_link(c->probes, &c->items[i]);
	return err;
}

static int measure(struct calibration *c, int run)
{
	const struct record_call call = { record_round_run, &run, SYS_bpf };

	for (int i = 0; i < RECORD_N_TRIALS; i++)
		c->readings[i] =
			(struct record_reading){ site_of(c, i), SYS_bpf, RECORD_SUM_ONCPU };
	*LISTED = (struct record_reading){ site_of(c, TRIAL_FROM_LIST), SYS_bpf,
					   RECORD_SUM_EXCLUDED };
	*OPENED = (struct record_reading){ site_of(c, TRIAL_AROUND_OPEN), SYS_bpf,
					   RECORD_SUM_EXCLUDED };
	return record_measure(c->e, &call, c->readings, ARRAY_SIZE(c->readings));
}

/* Return the index of the first item that does OP for TRIAL; c->n: no item does. */
static uint32_t item_of(const struct calibration *c, enum engine_range_op op,
			enum record_trial trial)
{
	uint32_t site = site_of(c, trial), i;

	for (i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < c->items[i].n_actions; k++)
			if (c->items[i].actions[k].site == site && c->items[i].actions[k].op == op)
				return i;
	return i;
}

/* Return the time that the probes of TRIAL read, less the time of the instructions in the range. */
static int64_t more(struct calibration *c, enum record_trial trial)
{
	int64_t time = record_series_median(&c->readings[trial].series);
	uint32_t from = item_of(c, ENGINE_RANGE_ENTER, trial);
	uint32_t to = item_of(c, ENGINE_RANGE_LEAVE, trial);

	if (from >= to || to == c->n)
		return 0;
	/* The few instructions take about 1 ns on a real clock. If the clock is too coarse, the reading is 0. */
	if (c->clock != PROFILE_CLOCK_INSN)
		return time ? time - 1 : 0;
	return time - (c->position[to] - c->position[from]);
}

/* Store the results of the trials of this round in T. */
static void read_trials(struct calibration *c, struct record_trials *t)
{
	struct record_reading *plain = &c->readings[TRIAL_PLAIN];
	uint32_t end = item_of(c, ENGINE_RANGE_LEAVE, TRIAL_FROM_LIST);

	for (int i = 0; i < RECORD_N_TRIALS; i++)
		if (item_of(c, ENGINE_RANGE_ENTER, i) < c->n)
			t->more[i] = more(c, i);
	if (end < c->n) { /* only the first round has TRIAL_FROM_LIST */
		t->listed = (int64_t)record_series_median(&LISTED->series);
		t->spread = record_series_deviation(&plain->series,
						    record_series_median(&plain->series));
		return;
	}
	t->opened = record_series_median(&OPENED->series);
	t->further = true;
	t->returns = c->ret && record_series_median(&c->readings[TRIAL_FROM_RETURN].series);
	t->blocks = c->probe != 0;
}

/* Set a small cost that changes no reading. With nothing to exclude, programs would take a shorter path than in a recording. */
static void use_provisional_costs(struct record_engine *e)
{
	struct engine_range_cost costs[ENGINE_RANGE_KINDS] = {};

	for (int kind = 0; kind < ENGINE_RANGE_KINDS; kind++)
		costs[kind].open = RECORD_RANGE_PROVISIONAL;
	record_engine_set_range_costs(e, costs);
}

/* Find the calls for the second round. The kernel restores probed code some time after a probe is removed: wait for that. */
static int await_calls(struct calibration *c, const struct record_empty *empty)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
	int err;

	for (int left = RECORD_OPTIMIZER_MS; (err = find_calls(c, empty)) && left > 0;
	     left -= STEP_MS)
		nanosleep(&step, NULL);
	return err;
}

/* Measure with the probes of BASIC or, if IS_FURTHER (second round), with the probes of FURTHER. */
static int calibrate(struct calibration *c, const struct record_empty *empty, bool is_further,
		     struct record_trials *t)
{
	int run = -1, err = is_further ? await_calls(c, empty) : find_calls(c, empty);

	if (!err) {
		run = record_calibrate_runner(c->e, empty);
		err = run < 0 ? run : 0;
	}
	if (!err) {
		use_provisional_costs(c->e);
		if (is_further)
			err = place_further(c);
		else
			place(c, basic, ARRAY_SIZE(basic));
	}
	err = err ?: attach(c);
	err = err ?: record_engine_follow_caller(c->e, true);
	if (!err) {
		err = measure(c, run);
		record_engine_follow_caller(c->e, false);
	}
	if (!err)
		read_trials(c, t);
	for (uint32_t i = 0; i < c->n; i++)
		record_point_disarm(&c->items[i]);
	if (run >= 0)
		close(run);
	return err;
}

/* Measure further kinds of probe, such as emulated jumps and block probes: the test function is too short for all at once. */
static void calibrate_further(struct calibration *c, const struct record_empty *empty,
			      double interrupts, struct record_range_costs *out)
{
	int err;

	c->n = 0;
	c->ret = find_return(c->e, empty->tests[4].addr);
	/* Wait until the kernel has removed the probes of the first round. */
	record_detach_wait();
	err = calibrate(c, empty, true, &out->trials);
	if (err && c->probe)
		log_note("the cost of block probes is unknown and not subtracted: %s",
			 log_strerror(err));
	else if (err)
		log_note("the cost of probes inside functions is less accurate than usual: %s",
			 log_strerror(err));
	else if (!record_range_costs_solve(out, interrupts))
		log_verbose(1, "the cost of opening a range is unknown: assuming half the cost of "
			       "opening and closing one");
	record_engine_set_range_costs(c->e, out->kinds);
}

void record_calibrate_ranges(struct record_probes *probes, const struct profile *p,
			     const struct record_empty *empty, uint32_t n_blocks,
			     struct record_calibration *out)
{
	struct record_range_costs *costs = &out->ranges;
	struct calibration c = {
		.e = record_probes_engine(probes),
		.probes = probes,
		.clock = p->clock,
		.probe = n_blocks,
	};
	uint64_t start = clock_ns();
	int err;

	err = calibrate(&c, empty, false, &costs->trials);
	if (!err)
		record_range_costs_solve(costs, out->interrupts);
	record_engine_set_range_costs(c.e, costs->kinds);
	log_verbose(1, "calibrated probes inside functions in %.3f s", (clock_ns() - start) / 1e9);
	if (err)
		log_note("the cost of probes inside functions is unknown and not subtracted: the "
			 "code of " RECORD_EMPTY_OUTER ", which is needed for calibration, is not "
			 "as expected: %s",
			 log_strerror(err));
	else
		calibrate_further(&c, empty, out->interrupts, costs);
}

/* The cost of a hit before the program reads the clock (HEAD) and after that (TAIL), indexed by kind of probe. */
struct parts {
	int64_t tail[ENGINE_RANGE_KINDS], head[ENGINE_RANGE_KINDS];
};

/*
 * A range between two optimized probes reads TAIL of the first plus HEAD of the second: assume half of the sum for each. Other
 * kinds are measured in ranges that have one probe of a known kind.
 */
static struct parts solve_parts(const struct record_trials *t)
{
	const int64_t *more = t->more;
	struct parts p = {};
	int64_t *tail = p.tail, *head = p.head;

	tail[ENGINE_RANGE_OPTIMIZED] = more[TRIAL_PLAIN] / 2;
	head[ENGINE_RANGE_OPTIMIZED] = more[TRIAL_PLAIN] - tail[ENGINE_RANGE_OPTIMIZED];
	tail[ENGINE_RANGE_EMULATED] = more[TRIAL_FROM_JUMP] - head[ENGINE_RANGE_OPTIMIZED];
	head[ENGINE_RANGE_EMULATED] = more[TRIAL_TO_CALL] - tail[ENGINE_RANGE_OPTIMIZED];
	head[ENGINE_RANGE_STEPPED] = more[TRIAL_TO_COMPARE] - tail[ENGINE_RANGE_OPTIMIZED];
	tail[ENGINE_RANGE_STEPPED] = more[TRIAL_FROM_COMPARE] - head[ENGINE_RANGE_EMULATED];
	head[ENGINE_RANGE_CALL_EMULATED] = head[ENGINE_RANGE_EMULATED];
	tail[ENGINE_RANGE_CALL_EMULATED] = more[TRIAL_FROM_CALL] - head[ENGINE_RANGE_STEPPED];
	/* An emulated jump costs as much as an emulated return, which was measured. */
	head[ENGINE_RANGE_JUMP_EMULATED] = head[ENGINE_RANGE_EMULATED];
	tail[ENGINE_RANGE_JUMP_EMULATED] =
		t->returns ? more[TRIAL_FROM_RETURN] - head[ENGINE_RANGE_STEPPED] :
			     tail[ENGINE_RANGE_EMULATED];
	head[ENGINE_RANGE_PREPARED] =
		t->further ? more[TRIAL_TO_PREPARED] - tail[ENGINE_RANGE_CALL_EMULATED] :
			     head[ENGINE_RANGE_STEPPED];
	tail[ENGINE_RANGE_PREPARED] =
		t->further ? more[TRIAL_FROM_PREPARED] - head[ENGINE_RANGE_EMULATED] :
			     tail[ENGINE_RANGE_STEPPED];
	return p;
}

static __u64 with_interrupts(int64_t cost, double share)
{
	return cost + (int64_t)(cost * share + 0.5);
}

bool record_range_costs_solve(struct record_range_costs *out, double interrupts)
{
	const struct record_trials *t = &out->trials;
	const int64_t *more = t->more;
	const struct parts p = solve_parts(t);
	int64_t pair = more[TRIAL_PLAIN];
	int64_t idle_leave = more[TRIAL_IDLE_LEAVE] - pair;
	int64_t idle_enter = more[TRIAL_IDLE_ENTER] - pair;
	int64_t per_frame = more[TRIAL_INNER] - pair - idle_leave;
	int64_t both = more[TRIAL_OUTER] - pair - idle_leave - per_frame;
	int64_t close_head = p.head[ENGINE_RANGE_OPTIMIZED];
	int64_t list_head = more[TRIAL_TO_LIST] - p.tail[ENGINE_RANGE_OPTIMIZED];
	int64_t list = list_head + more[TRIAL_FROM_LIST] - close_head - t->listed;
	/* An optimized probe enters TRIAL_OPENED, and a list of actions leaves it. The list's time was measured separately. */
	int64_t opened =
		more[TRIAL_AROUND_OPEN] - (t->opened - RECORD_RANGE_PROVISIONAL) - pair - list;
	bool known = t->further && opened > 0;
	int64_t open = known ? opened : both / 2;

	out->known = true;
	out->inner = pair;
	for (int kind = 0; kind < ENGINE_RANGE_KINDS; kind++) {
		int64_t tail = p.tail[kind], head = p.head[kind], beyond = tail + head - pair;

		out->beyond[kind] = beyond * (1 + interrupts);
		out->kinds[kind] = (struct engine_range_cost){
			.open = with_interrupts(open + beyond, interrupts),
			.open_head = with_interrupts(open + beyond - tail, interrupts),
			.close = with_interrupts(both - open + beyond, interrupts),
			.close_head = with_interrupts(head, interrupts),
			.idle_enter = with_interrupts(idle_enter + beyond, interrupts),
			.idle_leave = with_interrupts(idle_leave + beyond, interrupts),
			.list = with_interrupts(list + beyond, interrupts),
			.list_head = with_interrupts(list_head + head - close_head, interrupts),
			.per_frame = with_interrupts(per_frame, interrupts),
		};
	}
	if (t->blocks && more[TRIAL_AROUND] > pair)
		out->block = (double)(more[TRIAL_AROUND] - pair) * (1 + interrupts);
	return known;
}

void record_range_costs_add(struct record_range_costs *costs, uint64_t before)
{
	for (int kind = 0; kind < ENGINE_RANGE_KINDS; kind++) {
		bool again = kind == ENGINE_RANGE_STEPPED || kind == ENGINE_RANGE_PREPARED;
		uint64_t head = kind == ENGINE_RANGE_OPTIMIZED ? 0 : before;
		uint64_t all = again ? head + 2 * before : head;
		struct engine_range_cost *c = &costs->kinds[kind];

		c->open_head += head;
		c->close_head += head;
		c->list_head += head;
		c->open += all;
		c->close += all;
		c->list += all;
		c->idle_enter += all;
		c->idle_leave += all;
		costs->beyond[kind] += (double)all;
	}
}

double record_range_cost_block(const struct record_range_costs *costs, enum engine_range_kind kind)
{
	return costs->block > 0 ? costs->block + costs->beyond[kind] : 0;
}
