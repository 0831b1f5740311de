/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin of QEMU's emulator that counts every instruction of a guest with one CPU, by calling context: docs/internals/exact.md.
 *
 *     symbols.c   functions of the running kernel, as the guest's recorder wrote them down
 *     tree.c      calling contexts and what was counted in each
 *     follow.c    which of them the guest is in: calls, returns, interrupts, switches of tasks
 *     exact.c     what is watched of the code that QEMU translates
 *     async.c     who queued what is executed later
 *     trace.c     one call kept whole
 *     model.c     caches, TLBs and branch prediction
 *     write.c     the file that `kprotperf exact` reads
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "kprotperf/exact.h"
#include "kprotperf/event.h"
#include "kprotperf/hist.h"

/* --- functions ----------------------------------------------------------- */

/* The role of a function, by its name. */
enum role {
	ROLE_NONE,
	ROLE_ENTRY_SYSCALL, /* the CPU jumps here, from user mode */
	ROLE_ENTRY_FAULT, /* an exception */
	ROLE_ENTRY_IRQ,
	ROLE_THUNK, /* jumps on to where a pointer says */
	ROLE_RETURNS, /* a return thunk: jumped to instead of returning, by functions and by thunks */
	ROLE_PADDING, /* before the next function, which it goes on with: where calls are counted, they go there */
	ROLE_COLD, /* part of the function before ".cold" in its name */
	ROLE_SYSCALL, /* the body of one */
	ROLE_PAGE_FAULT, /* what handles one */
	ROLE_SOFTIRQ,
	ROLE_IDLE,
	ROLE_KTHREAD, /* calls the function that a kernel thread is */
	ROLE_QUEUES_RCU,
	ROLE_RUNS_RCU, /* calls callbacks */
	ROLE_QUEUES_WORK,
	ROLE_RUNS_WORK,
	ROLE_QUEUES_TASK_WORK,
	ROLE_RUNS_TASK_WORK,
	ROLE_RAISES, /* a soft interrupt */
	ROLE_FORK, /* writes to the stack of a new task */
	ROLE_DIES, /* switches to another task, for good */
	ROLE_SWITCH_FROM, /* pushes to the stack of the task that is left, */
	ROLE_SWITCH, /* and to that of the next */
};

struct function {
	uint64_t start, end;
	enum role role;
	uint32_t id;
	uint32_t n_blocks; /* seen so far */
	struct function *whole; /* what it is a part of; NULL: it is none */
	uint32_t
		softirq; /* the number of those that it handles, or raises whatever its arguments; 0: none */
	bool code; /* and no variable */
	bool written, traced; /* TRACED: one of its calls is asked for */
};

/* From lines as in /proc/kallsyms, ascending. False: there is no such file, or it has none. */
bool symbols_read(const char *path);
/* Is there a function of that role? */
bool symbols_have(enum role role);
/* The function that ADDR is in, the whole of it. Never NULL: what lies before all symbols has one, too. */
struct function *symbols_at(uint64_t addr);
/* Code of user space, all of it. */
extern struct function user_code;

/* --- calling contexts ---------------------------------------------------- */

enum ending {
	ENDS_OTHERWISE,
	ENDS_JUMP, /* elsewhere, whatever the flags */
	ENDS_CALL,
	ENDS_RETURN,
	ENDS_ENTRY, /* a return to where the CPU came from */
};

/* Code that is executed from its first instruction on; SIZES are bytes of each. */
struct block {
	uint64_t addr;
	struct function *function;
	struct block *next; /* of the same hash */
	uint32_t local; /* among its function's */
	uint16_t n;
	enum ending ending;
	bool direct; /* to TARGET */
	bool within; /* with a call that only fetches its own address, as of a retpoline */
	uint8_t *sizes;
	uint64_t target, end;
};

/* Calls of one function in one context. */
struct calls {
	struct context *context;
	struct function *function;
	uint64_t n, total;
	double squares;
	uint64_t min, max;
	uint32_t slots[HIST_SLOTS];
};

/* The misses of an instruction in one calling context. */
struct miss {
	struct miss *next; /* of the same node */
	struct node *node;
	struct block *block; /* NULL: not known, and INSN is 0 */
	uint16_t insn;
	uint64_t counts[MODEL_N_EVENTS];
};

struct node {
	struct node *parent; /* NULL: the root of a context */
	struct function *function; /* NULL of roots */
	struct context *context;
	uint64_t site; /* return address of the call; 0: not called */
	uint64_t self, total, calls; /* instructions; those of CALLS that ended */
	struct calls *distribution;
	uint64_t *counts; /* executions, by the blocks' LOCAL */
	uint32_t n_counts, id;
	struct miss *misses;
};

struct context {
	enum exact_kind kind;
	bool command; /* of the tasks of the command that is measured */
	struct function *function; /* may be NULL */
	const struct context *by; /* the context that queued it; NULL: none */
	struct node *root;
	uint32_t id;
	uint64_t (*objects)[MODEL_N_EVENTS]; /* misses, by type; NULL: none */
};

struct context *tree_context(enum exact_kind kind, bool command, struct function *function);
/* Return the context of work that BY, one of the command's, queued. */
struct context *tree_context_by(enum exact_kind kind, const struct context *by);
/* PARENT's child for calls of FUNCTION from SITE. PARENT itself, which is counted, where there is no room left. */
struct node *tree_child(struct node *parent, uint64_t site, struct function *function);
/* One call of it has ended, which took TOTAL instructions. */
void tree_call(struct node *node, uint64_t total);
/* One execution of BLOCK. */
void tree_execution(struct node *node, const struct block *block);
struct block *tree_block(uint64_t addr, uint16_t n, const uint8_t *sizes);
/* BLOCK goes on to its last instruction, which is another's. */
void tree_shorten(struct block *block);
/* By instruction INSN of BLOCK, which may be NULL. */
void tree_miss(struct node *node, struct block *block, uint16_t insn, enum model_event event);

/* Takes PART, where the compiler put what is seldom executed, for what it is. */
void tree_join(struct function *part, struct function *whole);

extern struct node **nodes;
extern struct block **blocks;
extern struct context **contexts;
extern uint32_t n_nodes, n_blocks, n_contexts;

/* --- where the guest is -------------------------------------------------- */

/* Losses of following, for the recording. */
struct losses {
	uint64_t nodes_full, frames_full, returns_unmatched;
	uint64_t closed_by_exit; /* no losses: calls that ended with their task */
};

extern struct losses losses;
/* Inline operations of translated code add to it. */
extern uint64_t executed;

/* Begins with the task that runs, which is the command's. */
void follow_begin(void);
/* Ends all calls that are open: OPEN of them. */
uint64_t follow_end(void);
/* The instruction that is executed leaves the stack that SLOT is in, or enters it, or writes to that of a new task. */
void follow_leave_stack(uint64_t slot);
void follow_enter_stack(uint64_t slot);
void follow_new_stack(uint64_t slot);
/* BLOCK is about to be executed. */
void follow_block(struct block *block);

/* In the block that was executed last, by its instruction INSN. */
void follow_miss(enum model_event event, uint16_t insn);

/* Return the context of the code that is being executed. */
struct context *follow_context(void);
/* Is VADDR on the stack of a task that was seen? */
bool follow_is_stack(uint64_t vaddr);

/* Instructions since follow_begin(). */
uint64_t follow_elapsed(void);

/* --- work that is queued -------------------------------------------------- */

/* Says on stderr of what it cannot be known. */
void async_begin(void);
/* FUNCTION is called in CONTEXT, and its first block about to be executed: remembers what it queues. */
void async_called(const struct function *function, const struct context *context);
/*
 * RUNNER, in CONTEXT, calls CALLBACK, because a pointer says so, and its first block is about to be executed. Returns the
 * context that begins; NULL: none.
 */
struct context *async_begins(const struct function *runner, const struct function *callback,
			     const struct context *context);

/* Set *ADDR to the address at which the code goes on after the exception at whose entry the CPU is. False: this QEMU does not tell. */
bool async_resumed_at(uint64_t *addr);

/* --- what data is of ------------------------------------------------------ */

#define KERNEL_IMAGE 0xffffffff80000000ull /* from there on: the kernel's code and data */

/* Read the guest's memory as it is mapped now. False: nothing is there, or this QEMU does not tell. */
bool guest_read(uint64_t addr, void *data, size_t size);
/* Read the recorder's file. False: it does not say enough, or this QEMU does not tell memory, and nothing is counted. */
bool objects_read(const char *path);
/* An access of VADDR, which is in memory at PHYS, missed: EVENTS has a bit for each enum model_event. */
void objects_missed(uint32_t events, uint64_t vaddr, uint64_t phys);
void objects_write(const struct context *context, FILE *file);

/* --- a call that is kept whole -------------------------------------------- */

struct step {
	struct block *block;
	uint32_t depth; /* below the call */
};

extern struct trace {
	char *name; /* NULL: none is asked for */
	uint64_t number, calls; /* the one asked for, from 1; those that there were */
	const struct function *function;
	const struct context *context; /* NULL: it has not been called so often */
	const void *task; /* NULL: the call has ended */
	uint32_t depth;
	struct step *steps;
	uint32_t n_steps;
	uint64_t lost; /* steps for which there was no room */
} trace;

/* Asks for "FUNC" or "FUNC:N". False: it is neither. */
bool trace_ask(const char *what);
/* A call of FUNCTION, which is asked for, has begun; TASK and DEPTH are the follower's. */
void trace_called(const struct function *function, const struct context *context, const void *task,
		  uint32_t depth);
void trace_returned(const void *task, uint32_t depth);
/* BLOCK was executed in the call, at DEPTH. */
void trace_step(struct block *block, uint32_t depth);

/* --- result -------------------------------------------------------------- */

bool write_result(const char *path, uint64_t open);

/* Memory is never given back, and a plugin that gets none ends QEMU with a line. */
void *get_memory(size_t bytes);
