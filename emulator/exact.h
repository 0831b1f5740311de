/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin of QEMU that counts every instruction of a guest with one CPU, by calling context: docs/internals/exact.md.
 *
 *     symbols.c   functions of the running kernel, as the guest's recorder wrote them down
 *     tree.c      calling contexts and what was counted in each
 *     follow.c    which of them the guest is in: calls, returns, interrupts, switches of tasks
 *     exact.c     the callbacks in the code that QEMU translates
 *     async.c     which context queued work that is executed later
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
	ROLE_ENTRY_SYSCALL, /* entry code: the CPU jumps here from user mode for a syscall */
	ROLE_ENTRY_FAULT, /* entry code of an exception */
	ROLE_ENTRY_IRQ,
	ROLE_THUNK, /* jumps to the target of a pointer */
	ROLE_RETURNS, /* a return thunk: functions and thunks jump to it instead of returning */
	/* Padding before a function that continues with the function: counted calls go there. */
	ROLE_PADDING,
	ROLE_COLD, /* part of the function before ".cold" in its name */
	ROLE_SYSCALL, /* implements a syscall */
	ROLE_PAGE_FAULT, /* handles a page fault */
	ROLE_SOFTIRQ,
	ROLE_IDLE,
	ROLE_KTHREAD, /* calls the function of a kernel thread */
	ROLE_QUEUES_RCU,
	ROLE_RUNS_RCU, /* calls RCU callbacks */
	ROLE_QUEUES_WORK,
	ROLE_RUNS_WORK,
	ROLE_QUEUES_TASK_WORK,
	ROLE_RUNS_TASK_WORK,
	ROLE_RAISES, /* raises a soft interrupt */
	ROLE_FORK, /* writes to the stack of a new task */
	ROLE_DIES, /* switches to another task, for good */
	ROLE_SWITCH_FROM, /* pushes to the previous task's stack */
	ROLE_SWITCH, /* pushes to the next task's stack */
};

struct function {
	uint64_t start, end;
	enum role role;
	uint32_t id;
	uint32_t n_blocks; /* number of blocks seen so far */
	struct function *whole; /* the function that this is a part of; NULL: none */
	/* Number of the soft interrupt that it handles, or always raises; 0: none, or the number is its argument. */
	uint32_t softirq;
	bool code; /* a function, not a variable */
	bool written, traced; /* TRACED: one of its calls is to be kept */
};

/* Read symbols from lines as in /proc/kallsyms, sorted by address. Return false if there is no file, or no line in it. */
bool symbols_read(const char *path);
/* Return whether a function has this role. */
bool symbols_have(enum role role);
/* Return the function that ADDR is in; of a part, the whole. Never NULL: addresses before all symbols have one, too. */
struct function *symbols_at(uint64_t addr);
/* Stands for all code of user space. */
extern struct function user_code;

/* --- calling contexts ---------------------------------------------------- */

enum ending {
	ENDS_OTHERWISE,
	ENDS_JUMP, /* an unconditional jump */
	ENDS_CALL,
	ENDS_RETURN,
	ENDS_ENTRY, /* a return from an entry to the interrupted code */
};

/* Code that is executed from its first instruction on. N: instructions; SIZES: the bytes of each. */
struct block {
	uint64_t addr;
	struct function *function;
	struct block *next; /* next block with the same hash */
	uint32_t local; /* index among its function's blocks */
	uint16_t n;
	enum ending ending;
	bool direct; /* ends with a jump or call to TARGET */
	bool within; /* TARGET is in its function: a call only pushes an address, as in a retpoline */
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
	struct miss *next; /* next miss of the same node */
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
	uint64_t self, total, calls; /* instructions: own; with callees, of CALLS that have ended */
	struct calls *distribution;
	uint64_t *counts; /* executions, indexed by LOCAL of blocks */
	uint32_t n_counts, id;
	struct miss *misses;
};

struct context {
	enum exact_kind kind;
	bool command; /* in tasks of the measured command */
	struct function *function; /* may be NULL */
	const struct context *by; /* the context that queued it; NULL: none */
	struct node *root;
	uint32_t id;
	uint64_t (*objects)[MODEL_N_EVENTS]; /* misses, indexed by type of data; NULL: none */
};

struct context *tree_context(enum exact_kind kind, bool command, struct function *function);
/* Return the context of work that BY, one of the command's, queued. */
struct context *tree_context_by(enum exact_kind kind, const struct context *by);
/* Return PARENT's child for calls of FUNCTION from SITE. If there is no room for it, count a loss and return PARENT. */
struct node *tree_child(struct node *parent, uint64_t site, struct function *function);
/* Count a call of NODE that has ended, after TOTAL instructions. */
void tree_call(struct node *node, uint64_t total);
/* Count an execution of BLOCK in NODE. */
void tree_execution(struct node *node, const struct block *block);
struct block *tree_block(uint64_t addr, uint16_t n, const uint8_t *sizes);
/* Remove BLOCK's last instruction, which belongs to the next block. */
void tree_shorten(struct block *block);
/* Count a miss in NODE by instruction INSN of BLOCK, which may be NULL. */
void tree_miss(struct node *node, struct block *block, uint16_t insn, enum model_event event);

/* Make PART a part of WHOLE: the compiler put WHOLE's seldom executed code there. */
void tree_join(struct function *part, struct function *whole);

extern struct node **nodes;
extern struct block **blocks;
extern struct context **contexts;
extern uint32_t n_nodes, n_blocks, n_contexts;

/* --- where the guest is -------------------------------------------------- */

/* Losses of following, for the recording. */
struct losses {
	uint64_t nodes_full, frames_full, returns_unmatched;
	uint64_t closed_by_exit; /* calls that ended with their task, which are not lost */
};

extern struct losses losses;
/* Instructions executed so far. Inline operations of translated code add to this. */
extern uint64_t executed;

/* Begin with the running task, which is the command's. */
void follow_begin(void);
/* Charge the rest. Return the number of calls of the command's tasks that are still open. */
uint64_t follow_end(void);
/* The instruction being executed leaves the stack with SLOT, or enters it, or writes to SLOT on a new task's stack. */
void follow_leave_stack(uint64_t slot);
void follow_enter_stack(uint64_t slot);
void follow_new_stack(uint64_t slot);
/* BLOCK is about to be executed. */
void follow_block(struct block *block);

/* Count a miss by instruction INSN of the last executed block. */
void follow_miss(enum model_event event, uint16_t insn);

/* Return the context of the code that is being executed. */
struct context *follow_context(void);
/* Return whether VADDR is on the stack of a task that was seen. */
bool follow_is_stack(uint64_t vaddr);

/* Instructions since follow_begin(). */
uint64_t follow_elapsed(void);

/* --- work that is queued -------------------------------------------------- */

/* Warn on stderr about kinds of work whose origin cannot be known. */
void async_begin(void);
/* Note what FUNCTION queues. It is called in CONTEXT, and its first block is about to be executed. */
void async_called(const struct function *function, const struct context *context);
/*
 * Return the context that begins when RUNNER, in CONTEXT, calls CALLBACK by a pointer; NULL: none. CALLBACK's first block is
 * about to be executed.
 */
struct context *async_begins(const struct function *runner, const struct function *callback,
			     const struct context *context);

/*
 * The CPU is at the entry of an exception: set *ADDR to the address to which the exception returns. Return false if this QEMU
 * does not tell.
 */
bool async_resumed_at(uint64_t *addr);

/* --- types of data -------------------------------------------------------- */

#define KERNEL_IMAGE 0xffffffff80000000ull /* start of the kernel's code and data */

/* Read the guest's memory as it is mapped now. Return false if nothing is mapped, or if this QEMU cannot read it. */
bool guest_read(uint64_t addr, void *data, size_t size);
/* Read the recorder's file. Return false if it lacks data or this QEMU cannot read memory: nothing is counted then. */
bool objects_read(const char *path);
/* Count the misses of an access to VADDR, at the physical address PHYS: EVENTS has a bit for each enum model_event. */
void objects_missed(uint32_t events, uint64_t vaddr, uint64_t phys);
void objects_write(const struct context *context, FILE *file);

/* --- a call that is kept whole -------------------------------------------- */

struct step {
	struct block *block;
	uint32_t depth; /* frames below the traced call */
};

extern struct trace {
	char *name; /* the function; NULL: no call is to be kept */
	uint64_t number, calls; /* number of the call to keep, from 1; calls so far */
	const struct function *function;
	const struct context *context; /* NULL: the call has not begun */
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
