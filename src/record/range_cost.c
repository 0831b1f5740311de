// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bpf_prog_test_run_tracing() calls the kernel's empty functions, with numbers as arguments. So its code
 * is a row of moves to registers of five or six bytes, as long as a jump that the kernel's optimizer
 * writes, then a call, a comparison of the result, and a jump that is not taken. What is executed between
 * any two of these is known. Ranges between them, all probed at once, tell what each kind of probe adds.
 */
#include "record/range_cost.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "record/calibrate.h"
#include "record/closer.h"
#include "record/detour.h"
#include "record/engine.h"
#include "record/kprobe.h"
#include "record/point.h"
#include "record/series.h"

#define CODE_MAX 1024 /* of the function, in bytes */

/* A frame that lies so many words further up is that of another call, as far as the programs can tell. */
#define ELSEWHERE 64

#define STEP_MS 10 /* between two looks at the code */

#define PROVISIONAL 1 /* what opening a range is taken to cost until it is known */

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* The call of the empty function of so many arguments. */
#define FIRST_CALL 2
#define LAST_CALL  6

/* What a call of the third and of the fifth executes. */
#define THIRD_INSNS 5
#define FIFTH_INSNS 7

struct call {
	uint64_t moves[LAST_CALL], call, compare, jump;
};

/* A range to measure with, of the spare sites. */
enum {
	PLAIN, /* all optimized, nothing inside */
	FROM_CALL, /* emulated, to a comparison that is executed elsewhere */
	TO_COMPARE, /* to such a comparison, from an optimized probe */
	IDLE_LEAVE, /* elsewhere, with a probe in it that finds nothing to leave */
	IDLE_ENTER, /* is entered once more */
	TO_CALL, /* from an optimized probe to an emulated call */
	FROM_COMPARE, /* to an emulated jump */
	OUTER, /* elsewhere, with the next in it */
	INNER, /* with a probe in it that finds this open, and nothing to leave */
	FROM_JUMP, /* emulated, to an optimized probe */
	TO_LIST, /* is left by a list, */
	FROM_LIST, /* which enters this */
	NOBODY, /* is never entered */
	FROM_RETURN, /* the first of those measured by themselves: emulated, to a comparison */
	FROM_PREPARED, /* as the optimizer leaves them, to an emulated jump */
	TO_PREPARED, /* to such a one, from an emulated call */
	AROUND, /* with a probe in it that counts a block */
	AROUND_OPEN, /* elsewhere, with a probe in it that enters the next, and a list that leaves it */
	OPENED,
	N_RANGES
};

struct calibration {
	struct record_engine *e;
	struct record_points *points;
	enum profile_clock clock;
	struct call calls[LAST_CALL + 1];
	struct record_point items[32];
	uint32_t n;
	uint32_t probe; /* that counts a block */
	uint64_t prepared
		[2]; /* addresses of ITEMS where probes are to be as the optimizer leaves them; 0: none */
	uint64_t ret; /* the instruction by which the fifth function returns; 0: not found */
	struct record_series times[N_RANGES], aside, open_aside;
};

static void read_code(int reader, uint64_t addr, uint8_t *code, int len)
{
	for (int i = 0; i < len; i += sizeof(uint32_t)) {
		uint32_t text = record_detour_text(reader, addr + i);

		memcpy(code + i, &text, sizeof(text));
	}
}

/* The length of the move of a small number to a register that ends before AT; 0: it is none. */
static int move_before(const uint8_t *at)
{
	if ((at[-5] & 0xf8) != 0xb8 || at[-3] || at[-2] || at[-1])
		return 0;
	return at[-6] == 0x41 ? 6 : 5;
}

/* Is there, at CODE[AT], the call of the empty function TARGET, with N moves before and what follows? */
static bool find_call(const uint8_t *code, int at, uint64_t addr, uint64_t target, int n,
		      struct call *call)
{
	int32_t rel;
	int len;

	memcpy(&rel, &code[at + 1], sizeof(rel));
	if (code[at] != 0xe8 || addr + at + 5 + rel != target)
		return false;
	if (code[at + 5] != 0x83 || code[at + 6] != 0xf8)
		return false;
	if (code[at + 8] != 0x75 && (code[at + 8] != 0x0f || code[at + 9] != 0x85))
		return false;
	call->call = addr + at;
	call->compare = addr + at + 5;
	call->jump = addr + at + 8;
	while (n-- > 0) {
		if (at < 6)
			return false;
		len = move_before(&code[at]);
		if (!len)
			return false;
		at -= len;
		call->moves[n] = addr + at;
	}
	return true;
}

static int find_calls(struct calibration *c, const struct record_empty *empty)
{
	uint8_t code[CODE_MAX];
	int reader = record_detour_open();

	if (reader < 0)
		return reader;
	if (!empty->outer.addr) {
		close(reader);
		return -ENOENT;
	}
	read_code(reader, empty->outer.addr, code, sizeof(code));
	close(reader);
	for (int n = FIRST_CALL; n <= LAST_CALL; n++) {
		uint64_t target = empty->tests[n - 1].addr;
		bool found = false;

		for (int at = 0; target && !found && at < CODE_MAX - 16; at++)
			found = find_call(code, at, empty->outer.addr, target, n, &c->calls[n]);
		if (!found)
			return -ENOENT;
	}
	return 0;
}

/* The only return of the function at ADDR, which is a dozen instructions long. */
static uint64_t find_return(uint64_t addr)
{
	uint8_t code[64];
	int reader = record_detour_open(), at;

	if (reader < 0)
		return 0;
	read_code(reader, addr, code, sizeof(code));
	close(reader);
	/* Padded with breakpoints, as a return is that was a jump to the thunk for it. */
	for (at = 0; at < (int)sizeof(code) - 1; at++)
		if (code[at] == 0xc3 && code[at + 1] == 0xcc)
			return addr + at;
	return 0;
}

static struct record_point *add(struct calibration *c, uint64_t addr)
{
	struct record_point *p = &c->items[c->n++];

	*p = (struct record_point){ .addr = addr, .event = -1, .link = -1 };
	return p;
}

static void act(struct calibration *c, struct record_point *p, enum engine_range_op op, int range)
{
	p->actions[p->n_actions++] =
		(struct record_action){ record_engine_spare(c->e, RECORD_SPARE_RANGES + range), op,
					0 };
	p->frame = range == OUTER || range == IDLE_LEAVE || range == AROUND_OPEN ? ELSEWHERE : 0;
}

static void enter(struct calibration *c, uint64_t addr, int range)
{
	act(c, add(c, addr), ENGINE_RANGE_ENTER, range);
}

static void leave(struct calibration *c, uint64_t addr, int range)
{
	act(c, add(c, addr), ENGINE_RANGE_LEAVE, range);
}

static int place(struct calibration *c)
{
	const struct call *calls = c->calls;
	struct record_point *list;

	enter(c, calls[2].moves[0], PLAIN);
	leave(c, calls[2].moves[1], PLAIN);
	enter(c, calls[3].moves[0], IDLE_LEAVE);
	leave(c, calls[3].moves[1], NOBODY);
	leave(c, calls[3].moves[2], IDLE_LEAVE);
	enter(c, calls[3].call, FROM_CALL);
	leave(c, calls[3].compare, FROM_CALL);
	enter(c, calls[4].moves[0], IDLE_ENTER);
	enter(c, calls[4].moves[1], IDLE_ENTER);
	leave(c, calls[4].moves[2], IDLE_ENTER);
	enter(c, calls[4].moves[3], TO_CALL);
	leave(c, calls[4].call, TO_CALL);
	enter(c, calls[4].compare, FROM_COMPARE);
	leave(c, calls[4].jump, FROM_COMPARE);
	enter(c, calls[5].moves[0], TO_LIST);
	list = add(c, calls[5].moves[1]);
	act(c, list, ENGINE_RANGE_LEAVE, TO_LIST);
	act(c, list, ENGINE_RANGE_ENTER, FROM_LIST);
	list->list = record_engine_spare_list(c->e);
	leave(c, calls[5].moves[2], FROM_LIST);
	enter(c, calls[5].moves[4], TO_COMPARE);
	leave(c, calls[5].compare, TO_COMPARE);
	enter(c, calls[5].jump, FROM_JUMP);
	leave(c, calls[6].moves[0], FROM_JUMP);
	enter(c, calls[6].moves[1], OUTER);
	enter(c, calls[6].moves[2], INNER);
	leave(c, calls[6].moves[3], NOBODY);
	leave(c, calls[6].moves[4], INNER);
	leave(c, calls[6].moves[5], OUTER);
	return 0;
}

static bool is_move(const struct calibration *c, uint64_t addr)
{
	for (int n = FIRST_CALL; n <= LAST_CALL; n++)
		for (int i = 0; i < n; i++)
			if (c->calls[n].moves[i] == addr)
				return true;
	return false;
}

/* What stands in the way of the breakpoint at ADDR in the kernel's lists, in instructions, and of its second. */
static const struct record_point *point_at(const struct calibration *c, uint64_t addr)
{
	static const struct record_point none;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->items[i].addr == addr)
			return &c->items[i];
	return &none;
}

/*
 * The optimizer prepares a probe by putting another in its place that has it in a list, as it does for a
 * second probe at the same address; and as that it stays when the second one is gone.
 */
static void prepare(struct calibration *c)
{
	for (size_t i = 0; i < ARRAY_LEN(c->prepared); i++) {
		int second = c->prepared[i] ? record_kprobe_open(c->prepared[i], false) : -1;

		if (second >= 0)
			record_closer_add(second);
	}
}

static int attach(struct calibration *c)
{
	int err = 0;

	for (uint32_t i = 0; i < c->n && !err; i++) {
		c->items[i].optimizes = is_move(c, c->items[i].addr);
		err = record_point_arm(c->points, &c->items[i]);
	}
	if (!err)
		prepare(c);
	if (!err && record_points_settle(c->points, c->items, c->n))
		err = -ENODATA;
	record_closer_wait();
	if (!err && c->clock == PROFILE_CLOCK_INSN)
		record_points_find_extra(c->points, c->items, c->n);
	for (uint32_t i = 0; i < c->n && !err; i++)
		err = record_point_link(c->points, &c->items[i]);
	return err;
}

static uint64_t reading(const struct calibration *c, int range)
{
	return record_engine_oncpu(c->e, record_engine_spare(c->e, RECORD_SPARE_RANGES + range),
				   SYS_bpf);
}

static int measure(struct calibration *c, int run)
{
	uint32_t listed = record_engine_spare(c->e, RECORD_SPARE_RANGES + FROM_LIST);
	uint32_t opened = record_engine_spare(c->e, RECORD_SPARE_RANGES + AROUND_OPEN);

	for (int i = 0; i < RECORD_ROUNDS; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts);
		uint64_t before[N_RANGES], aside = record_engine_aside(c->e, listed, SYS_bpf),
					   open_aside = record_engine_aside(c->e, opened, SYS_bpf);
		int err;

		for (int r = 0; r < N_RANGES; r++)
			before[r] = reading(c, r);
		err = bpf_prog_test_run_opts(run, &opts);
		if (err)
			return -errno;
		for (int r = 0; r < N_RANGES; r++)
			c->times[r].values[i] = reading(c, r) - before[r];
		c->aside.values[i] = record_engine_aside(c->e, listed, SYS_bpf) - aside;
		c->open_aside.values[i] = record_engine_aside(c->e, opened, SYS_bpf) - open_aside;
	}
	return 0;
}

/* What range R reads more than the INSNS instructions in it. */
static int64_t more(struct calibration *c, int r, int insns, enum profile_clock clock)
{
	int64_t time = record_series_median(&c->times[r]);

	if (clock == PROFILE_CLOCK_INSN)
		return time - insns;
	/* On a real clock a few instructions are about a nanosecond, or one that is too coarse to tell. */
	return time ? time - 1 : 0;
}

/* The same of one that begins at FROM and ends at TO, less what comes of where their breakpoints are. */
static int64_t between(struct calibration *c, int r, int insns, uint64_t from, uint64_t to)
{
	return more(c, r, insns, c->clock) - (int64_t)point_at(c, from)->extra_tail -
	       (int64_t)point_at(c, to)->extra;
}

/* The same of the whole probe at ADDR in the middle of one. */
static int64_t inside(const struct calibration *c, uint64_t addr)
{
	const struct record_point *p = point_at(c, addr);

	return (int64_t)p->extra + (int64_t)p->extra_tail;
}

/*
 * Of a probe that opens a range and one that closes it only their sum is to be known, as long as both are
 * of a kind, so each gets half. What others differ by is measured with one of these.
 */
static void solve(struct calibration *c, struct record_range_costs *out)
{
	const struct call *calls = c->calls;
	int64_t pair = between(c, PLAIN, 1, calls[2].moves[0], calls[2].moves[1]);
	int64_t open_tail = pair / 2, close_head = pair - open_tail;
	int64_t tail[ENGINE_RANGE_KINDS] = {}, head[ENGINE_RANGE_KINDS] = {};
	int64_t idle_leave, idle_enter, hop, both, list_head, list_tail;

	tail[ENGINE_RANGE_OPTIMIZED] = open_tail;
	head[ENGINE_RANGE_OPTIMIZED] = close_head;
	tail[ENGINE_RANGE_EMULATED] =
		between(c, FROM_JUMP, 1, calls[5].jump, calls[6].moves[0]) - close_head;
	head[ENGINE_RANGE_EMULATED] =
		between(c, TO_CALL, 1, calls[4].moves[3], calls[4].call) - open_tail;
	head[ENGINE_RANGE_CALL_EMULATED] = head[ENGINE_RANGE_EMULATED];
	head[ENGINE_RANGE_JUMP_EMULATED] = head[ENGINE_RANGE_EMULATED];
	head[ENGINE_RANGE_STEPPED] =
		between(c, TO_COMPARE, 2 + FIFTH_INSNS, calls[5].moves[4], calls[5].compare) -
		open_tail;
	tail[ENGINE_RANGE_STEPPED] = between(c, FROM_COMPARE, 1, calls[4].compare, calls[4].jump) -
				     head[ENGINE_RANGE_EMULATED];
	tail[ENGINE_RANGE_CALL_EMULATED] =
		between(c, FROM_CALL, 1 + THIRD_INSNS, calls[3].call, calls[3].compare) -
		head[ENGINE_RANGE_STEPPED];
	/* Until they are measured by themselves. */
	tail[ENGINE_RANGE_JUMP_EMULATED] = tail[ENGINE_RANGE_EMULATED];
	tail[ENGINE_RANGE_PREPARED] = tail[ENGINE_RANGE_STEPPED];
	head[ENGINE_RANGE_PREPARED] = head[ENGINE_RANGE_STEPPED];

	idle_leave = between(c, IDLE_LEAVE, 2, calls[3].moves[0], calls[3].moves[2]) -
		     inside(c, calls[3].moves[1]) - pair;
	hop = between(c, INNER, 2, calls[6].moves[2], calls[6].moves[4]) -
	      inside(c, calls[6].moves[3]) - pair - idle_leave;
	idle_enter = between(c, IDLE_ENTER, 2, calls[4].moves[0], calls[4].moves[2]) -
		     inside(c, calls[4].moves[1]) - pair;
	both = between(c, OUTER, 4, calls[6].moves[1], calls[6].moves[5]) -
	       inside(c, calls[6].moves[2]) - inside(c, calls[6].moves[3]) -
	       inside(c, calls[6].moves[4]) - pair - idle_leave - hop;
	list_head = between(c, TO_LIST, 1, calls[5].moves[0], calls[5].moves[1]) - open_tail;
	list_tail = between(c, FROM_LIST, 1, calls[5].moves[1], calls[5].moves[2]) - close_head -
		    ((int64_t)record_series_median(&c->aside) -
		     (int64_t)point_at(c, calls[5].moves[2])->extra); /* already left out */

	for (int kind = 0; kind < ENGINE_RANGE_KINDS; kind++) {
		struct engine_range_cost *cost = &out->kinds[kind];
		int64_t dearer = tail[kind] + head[kind] - pair;

		out->parts[kind].tail = tail[kind];
		out->parts[kind].head = head[kind];
		out->beyond[kind] = dearer;
		cost->open = both / 2 + dearer;
		cost->open_head = cost->open - tail[kind];
		cost->close = both - both / 2 + dearer;
		cost->close_head = head[kind];
		cost->idle_enter = idle_enter + dearer;
		cost->idle_leave = idle_leave + dearer;
		cost->several = list_head + list_tail + dearer;
		cost->several_head = list_head + head[kind] - close_head;
		cost->hop = hop;
	}
	out->inner = pair;
	out->open = both / 2;
	out->several = list_head + list_tail;
	out->spread = record_series_deviation(&c->times[PLAIN],
					      c->times[PLAIN].values[RECORD_ROUNDS / 2]);
	out->known = true;
}

static void add_interrupts(struct record_range_costs *costs, double share)
{
	for (int kind = 0; kind < ENGINE_RANGE_KINDS; kind++) {
		__u64 *values = (__u64 *)&costs->kinds[kind];

		for (size_t i = 0; i < sizeof(costs->kinds[kind]) / sizeof(*values); i++)
			values[i] += (int64_t)((int64_t)values[i] * share + 0.5);
		costs->beyond[kind] *= 1 + share;
	}
}

/*
 * What is read is not to be less by what is set aside, but something must be: a frame during which nothing
 * was takes a shorter way.
 */
static void use_provisional_costs(struct record_engine *e)
{
	struct engine_range_cost costs[ENGINE_RANGE_KINDS] = {};

	for (int kind = 0; kind < ENGINE_RANGE_KINDS; kind++)
		costs[kind].open = PROVISIONAL;
	record_engine_set_range_costs(e, costs);
}

/* The same after probes were there: jumps are taken back some time after these are gone. */
static int await_calls(struct calibration *c, const struct record_empty *empty)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
	int err;

	for (int left = RECORD_DETOUR_MS; (err = find_calls(c, empty)) && left > 0; left -= STEP_MS)
		nanosleep(&step, NULL);
	return err;
}

/* Measures with the probes that LAY_OUT asks for; SECOND: it did before. */
static int calibrate(struct calibration *c, const struct record_empty *empty,
		     int (*lay_out)(struct calibration *c), bool second)
{
	int run = -1, err = second ? await_calls(c, empty) : find_calls(c, empty);

	if (!err) {
		run = record_calibrate_runner(empty);
		err = run < 0 ? run : 0;
	}
	if (!err) {
		use_provisional_costs(c->e);
		err = lay_out(c);
	}
	err = err ?: attach(c);
	err = err ?: record_engine_follow_caller(c->e, true);
	if (!err) {
		err = measure(c, run);
		record_engine_follow_caller(c->e, false);
	}
	for (uint32_t i = 0; i < c->n; i++)
		record_point_disarm(&c->items[i]);
	if (run >= 0)
		close(run);
	return err;
}

int record_calibrate_ranges(struct record_engine *e, enum profile_clock clock,
			    const struct record_empty *empty, double interrupts,
			    struct record_range_costs *out)
{
	struct calibration c = { .e = e, .points = record_engine_points(e), .clock = clock };
	uint64_t start = clock_ns();
	int err = calibrate(&c, empty, place, false);

	memset(out, 0, sizeof(*out));
	if (!err) {
		solve(&c, out);
		add_interrupts(out, interrupts);
	}
	record_engine_set_range_costs(e, out->kinds);
	log_verbose(1, "calibrated probes inside of functions in %.3f s",
		    (clock_ns() - start) / 1e9);
	return err;
}

/* A range with a probe in it that finds this range's frame, as it would a function's. */
static int place_block(struct calibration *c)
{
	struct engine_block block = {
		.key = ENGINE_KEY(record_engine_spare(c->e, RECORD_SPARE_RANGES + AROUND), 0),
		.cost = 1,
		.full = UINT64_MAX,
	};
	struct record_point *p;

	enter(c, c->calls[6].moves[0], AROUND);
	p = add(c, c->calls[6].moves[1]);
	p->counts = true;
	p->block = c->probe;
	leave(c, c->calls[6].moves[2], AROUND);
	return record_engine_set_block(c->e, c->probe, &block);
}

/* The return of the fifth function, on which nothing else is. There its caller's frame is a word further up. */
static int place_rest(struct calibration *c)
{
	const struct call *calls = c->calls;
	struct record_point *list;

	if (c->ret) {
		enter(c, c->ret, FROM_RETURN);
		c->items[c->n - 1].frame = 1;
		leave(c, c->calls[5].compare, FROM_RETURN);
	}
	enter(c, calls[4].moves[0], AROUND_OPEN);
	enter(c, calls[4].moves[1], OPENED);
	list = add(c, calls[4].moves[2]);
	act(c, list, ENGINE_RANGE_LEAVE, OPENED);
	act(c, list, ENGINE_RANGE_LEAVE, NOBODY);
	list->list = record_engine_spare_list(c->e);
	leave(c, calls[4].moves[3], AROUND_OPEN);
	enter(c, calls[2].compare, FROM_PREPARED);
	leave(c, calls[2].jump, FROM_PREPARED);
	enter(c, calls[3].call, TO_PREPARED);
	leave(c, calls[3].compare, TO_PREPARED);
	c->prepared[0] = calls[2].compare;
	c->prepared[1] = calls[3].compare;
	return c->probe == RECORD_NO_PROBE ? 0 : place_block(c);
}

/* The parts of a probe of KIND are TAIL and HEAD, as it turns out. */
static void set_parts(struct record_range_costs *out, enum engine_range_kind kind, int64_t tail,
		      int64_t head, double share)
{
	double before = (double)(head - out->parts[kind].head) * (1 + share);
	double change = before + (double)(tail - out->parts[kind].tail) * (1 + share);
	struct engine_range_cost *cost = &out->kinds[kind];

	out->parts[kind].tail = tail;
	out->parts[kind].head = head;
	out->beyond[kind] += change;
	cost->open += (int64_t)change;
	cost->open_head += (int64_t)before;
	cost->close += (int64_t)change;
	cost->close_head += (int64_t)before;
	cost->idle_enter += (int64_t)change;
	cost->idle_leave += (int64_t)change;
	cost->several += (int64_t)change;
	cost->several_head += (int64_t)before;
}

/* A return costs what a jump does. */
static void solve_jump(struct calibration *c, double share, struct record_range_costs *out)
{
	enum engine_range_kind kind = ENGINE_RANGE_JUMP_EMULATED;

	set_parts(out, kind,
		  between(c, FROM_RETURN, 1, c->ret, c->calls[5].compare) -
			  out->parts[ENGINE_RANGE_STEPPED].head,
		  out->parts[kind].head, share);
}

static void solve_prepared(struct calibration *c, double share, struct record_range_costs *out)
{
	const struct call *calls = c->calls;

	set_parts(out, ENGINE_RANGE_PREPARED,
		  between(c, FROM_PREPARED, 1, calls[2].compare, calls[2].jump) -
			  out->parts[ENGINE_RANGE_EMULATED].head,
		  between(c, TO_PREPARED, 1 + THIRD_INSNS, calls[3].call, calls[3].compare) -
			  out->parts[ENGINE_RANGE_CALL_EMULATED].tail,
		  share);
}

/*
 * Of a probe that opens a range and one that closes it only the sum was known, in what encloses both. A range may
 * be entered by one of these and left by a list, which times itself.
 */
static void solve_open(struct calibration *c, double share, struct record_range_costs *out)
{
	const struct call *calls = c->calls;
	int64_t around, open, change;

	around = between(c, AROUND_OPEN, 3, calls[4].moves[0], calls[4].moves[3]) -
		 inside(c, calls[4].moves[1]) - inside(c, calls[4].moves[2]) -
		 ((int64_t)record_series_median(&c->open_aside) - PROVISIONAL);
	open = around - (int64_t)out->inner - out->several;
	if (open <= 0) {
		log_verbose(1, "what opening a range costs could not be told: half of opening and "
			       "closing one is taken for it");
		return;
	}
	change = (int64_t)((double)(open - out->open) * (1 + share));
	for (int kind = 0; kind < ENGINE_RANGE_KINDS; kind++) {
		out->kinds[kind].open += change;
		out->kinds[kind].open_head += change;
		out->kinds[kind].close -= change;
	}
}

int record_calibrate_blocks(struct record_engine *e, enum profile_clock clock,
			    const struct record_empty *empty, double interrupts, uint32_t probe,
			    struct record_range_costs *out)
{
	struct calibration c = { .e = e,
				 .points = record_engine_points(e),
				 .clock = clock,
				 .ret = find_return(empty->tests[4].addr),
				 .probe = probe };
	int err = calibrate(&c, empty, place_rest, true);
	int64_t cost;

	if (!err && c.ret && c.times[FROM_RETURN].values[0])
		solve_jump(&c, interrupts, out);
	if (!err) {
		solve_prepared(&c, interrupts, out);
		solve_open(&c, interrupts, out);
	}
	if (!err && probe != RECORD_NO_PROBE) {
		cost = between(&c, AROUND, 2, c.calls[6].moves[0], c.calls[6].moves[2]) -
		       inside(&c, c.calls[6].moves[1]) - (int64_t)out->inner;
		out->block = cost > 0 ? (double)cost * (1 + interrupts) : 0;
	}
	record_engine_set_range_costs(e, out->kinds);
	return err;
}

double record_range_cost_block(const struct record_range_costs *costs, enum engine_range_kind kind)
{
	return costs->block > 0 ? costs->block + costs->beyond[kind] : 0;
}

/* What a probe of KIND costs more than one that is reached by a jump, as it is printed. */
static long beyond(const struct record_range_costs *costs, enum engine_range_kind kind)
{
	return (long)(costs->beyond[kind] + 0.5);
}

char *record_range_cost_text(const struct record_range_costs *costs)
{
	const struct engine_range_cost *jump = &costs->kinds[ENGINE_RANGE_OPTIMIZED];

	return alloc_printf(
		"inner=%" PRIu64 "+-%" PRIu64 " full=%" PRIu64 "+-%" PRIu64 " open=%" PRIu64
		" inside=%" PRIu64 " outside=%" PRIu64 " several=%" PRIu64 " hop=%" PRIu64
		" stepped=%ld prepared=%ld emulated=%ld call=%ld jump=%ld block=%.2f",
		costs->inner, costs->spread, (uint64_t)(jump->open + jump->close), costs->spread,
		(uint64_t)jump->open, (uint64_t)jump->idle_enter, (uint64_t)jump->idle_leave,
		(uint64_t)jump->several, (uint64_t)jump->hop, beyond(costs, ENGINE_RANGE_STEPPED),
		beyond(costs, ENGINE_RANGE_PREPARED), beyond(costs, ENGINE_RANGE_EMULATED),
		beyond(costs, ENGINE_RANGE_CALL_EMULATED),
		beyond(costs, ENGINE_RANGE_JUMP_EMULATED), costs->block);
}
