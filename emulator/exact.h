/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin of QEMU that counts every instruction of a guest with one CPU, by calling context: docs/internals/exact.md.
 *
 *     symbols.c   functions of the running kernel, from the file of the guest's recorder
 *     tree.c      the tree of calling contexts and their counts
 *     follow.c    the guest's present calling context: calls, returns, interrupts, task switches
 *     exact.c     callbacks in the code that QEMU translates
 *     async.c     contexts that queue work for later
 *     guest.c     the guest's registers and memory
 *     trace.c     a trace of one call
 *     model.c     caches, TLBs and branch prediction
 *     objects.c   types of the data that cache misses concern
 *     write.c     the file that `kprotperf exact` reads
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "guest.h"
#include "kprotperf/exact.h"
#include "kprotperf/event.h"
#include "kprotperf/hist.h"

/* --- functions ----------------------------------------------------------- */

/* The role of a kernel function, found by its name. */
enum role {
	ROLE_NONE,
	ROLE_ENTRY_SYSCALL, /* the CPU enters the kernel here for a system call */
	ROLE_ENTRY_FAULT, /* the CPU enters the kernel here for an exception */
	ROLE_ENTRY_IRQ,
	ROLE_THUNK, /* jumps to the address in a pointer */
	ROLE_RETURNS, /* return thunk: functions jump to it instead of returning */
	/* Padding that falls through to the function after it. If the kernel tracks call depth, calls enter the padding. */
	ROLE_PADDING,
	ROLE_COLD, /* rarely executed part of the function named before ".cold" */
	ROLE_SYSCALL, /* implements a system call */
	ROLE_PAGE_FAULT, /* handles a page fault */
	ROLE_SOFTIRQ,
	ROLE_IDLE,
	ROLE_KTHREAD, /* calls the main function of a kernel thread */
	ROLE_QUEUES_RCU,
	ROLE_RUNS_RCU, /* calls RCU callbacks */
	ROLE_QUEUES_WORK,
	ROLE_RUNS_WORK,
	ROLE_QUEUES_TASK_WORK,
	ROLE_RUNS_TASK_WORK,
	ROLE_RAISES, /* raises a soft interrupt */
	ROLE_FORK, /* fills the stack of a new task */
	ROLE_DIES, /* switches to another task for the last time */
	ROLE_SWITCH_FROM, /* pushes to the previous task's stack */
	ROLE_SWITCH, /* pushes to the next task's stack */
};

struct function {
	uint64_t start, end;
	enum role role;
	uint32_t id;
	uint32_t n_blocks; /* number of its blocks found so far */
	struct function *whole; /* function that this is a part of, or NULL */
	/* Number of the soft interrupt that the function handles or always raises. 0: none, or an argument has the number. */
	uint32_t softirq;
	bool code; /* a function, not a variable */
	bool written, traced; /* TRACED: record one of its calls (trace.c) */
};

/* Read symbols from lines like those of /proc/kallsyms, sorted by address. Return false if PATH has no symbols. */
bool symbols_read(const char *path);
/* Return whether a function with the role ROLE exists. */
bool symbols_have(enum role role);
/* Return the function at ADDR, or the whole function if ADDR is in a part. A function without a name precedes all symbols. */
struct function *symbols_at(uint64_t addr);
/* A function that stands for all code of user space. */
extern struct function user_code;

/* --- calling contexts ---------------------------------------------------- */

enum ending {
	ENDS_OTHERWISE,
	ENDS_JUMP, /* an unconditional jump */
	ENDS_CALL,
	ENDS_RETURN,
	ENDS_ENTRY, /* return from the kernel's entry code to the interrupted code */
};

/* A block of code. N: number of instructions. SIZES: bytes of each instruction. */
struct block {
	uint64_t addr;
	struct function *function;
	struct block *next; /* next block with the same hash */
	uint32_t local; /* index among the function's blocks */
	uint16_t n;
	enum ending ending;
	bool direct; /* the last instruction is a jump or call to TARGET */
	bool within; /* TARGET is in the same function; such a call is a push (retpoline) */
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

/* Misses of an instruction in one calling context. */
struct miss {
	struct miss *next; /* next miss of the same node */
	struct node *node;
	struct block *block; /* NULL: the instruction is unknown; then INSN is 0 */
	uint16_t insn;
	uint64_t counts[MODEL_N_EVENTS];
};

struct node {
	struct node *parent; /* caller; NULL: this is a context's root */
	struct function *function; /* NULL for a root */
	struct context *context;
	uint64_t site; /* return address of the call; 0: entered without a call */
	uint64_t self, total, calls; /* TOTAL: instructions of the ended CALLS, with callees */
	struct calls *distribution;
	uint64_t *counts; /* executions of blocks, indexed by member LOCAL of struct block */
	uint32_t n_counts, id;
	struct miss *misses;
};

struct context {
	enum exact_kind kind;
	bool command; /* context of the measured command's tasks */
	struct function *function; /* function of a system call or kernel thread, or NULL */
	const struct context *by; /* context that queued the work, or NULL */
	struct node *root;
	uint32_t id;
	uint64_t (*objects)[MODEL_N_EVENTS]; /* misses by type of data, or NULL */
};

struct context *tree_context(enum exact_kind kind, bool command, struct function *function);
/* Return the context for queued work of KIND, such as EXACT_RCU, that the command's context BY queued. */
struct context *tree_context_by(enum exact_kind kind, const struct context *by);
/* Return PARENT's child for calls of FUNCTION with return address SITE. If no node is free, count lost data and return PARENT. */
struct node *tree_child(struct node *parent, uint64_t site, struct function *function);
/* Count a call of NODE that has ended. The call took TOTAL instructions, with callees. */
void tree_call(struct node *node, uint64_t total);
void tree_execution(struct node *node, const struct block *block);
struct block *tree_block(uint64_t addr, uint16_t n, const uint8_t *sizes);
/* Remove BLOCK's last instruction: the next block executes it. */
void tree_shorten(struct block *block);
/* Count a miss of kind EVENT in NODE by instruction INSN of BLOCK (may be NULL). */
void tree_miss(struct node *node, struct block *block, uint16_t insn, enum model_event event);

/* Make PART, rarely executed code, a part of the function WHOLE. */
void tree_join(struct function *part, struct function *whole);

extern struct node **nodes;
extern struct block **blocks;
extern struct context **contexts;
extern uint32_t n_nodes, n_blocks, n_contexts;

/* --- the guest's present calling context ------------------------------------------- */

/* Data that was lost while following the guest. */
struct losses {
	uint64_t nodes_full, frames_full, returns_unmatched;
	uint64_t closed_by_exit; /* calls that ended with their task; no data is lost */
};

extern struct losses losses;
/* Number of executed instructions. Code that the plugin adds to translated code increases it. */
extern uint64_t executed;

/* Begin to follow the guest. The running task must be a task of the command. */
void follow_begin(void);
/* Count the instructions since the last block began. Return the number of open calls of the command's tasks. */
uint64_t follow_end(void);
/* The current instruction writes to the address SLOT, on the running (leave), the next (enter) or a new task's stack (new). */
void follow_leave_stack(uint64_t slot);
void follow_enter_stack(uint64_t slot);
void follow_new_stack(uint64_t slot);
/* Follow the guest to BLOCK, which will be executed next. */
void follow_block(struct block *block);

/* Count a miss of kind EVENT by instruction INSN of the last block. */
void follow_miss(enum model_event event, uint16_t insn);

struct context *follow_context(void);
/* Return whether the virtual address VADDR is on the stack of a known task. */
bool follow_is_stack(uint64_t vaddr);

/* Return the number of instructions since follow_begin(). */
uint64_t follow_elapsed(void);

/* --- queued work --------------------------------------------------------------- */

/* Initialize. Warn on stderr about kinds of work whose queueing context cannot be found. */
void async_begin(void);
/* If FUNCTION queues work, record the work. FUNCTION was called in CONTEXT, and its first block will be executed next. */
void async_called(const struct function *function, const struct context *context);
/* RUNNER, in CONTEXT, has just called CALLBACK by pointer. Return the context of queued work that begins now, or NULL. */
struct context *async_begins(const struct function *runner, const struct function *callback,
			     const struct context *context);

/*
 * Set *ADDR to the address at which the code continues after an exception, whose entry code will be executed next. Return false if
 * this QEMU does not show registers or memory to plugins.
 */
bool async_resumed_at(uint64_t *addr);

/* --- types of data -------------------------------------------------------- */

#define KERNEL_IMAGE 0xffffffff80000000ull /* start of the kernel's code and data */

/* Read the recorder's file about kernel data. Without it, or if QEMU cannot read memory, return false: types stay unknown. */
bool objects_read(const char *path);
/* Count the misses of an access to the virtual address VADDR, at physical address PHYS. EVENTS: a bit per enum model_event. */
void objects_missed(uint32_t events, uint64_t vaddr, uint64_t phys);
void objects_write(const struct context *context, FILE *file);

/* --- a traced call -------------------------------------------------------------- */

struct step {
	struct block *block;
	uint32_t depth; /* number of calls between the traced call and this block */
};

extern struct trace {
	char *name; /* name of the traced function, or NULL */
	uint64_t number, calls; /* number of the traced call, from 1; number of calls so far */
	const struct function *function;
	const struct context *context; /* NULL: the traced call has not begun */
	const void *task; /* NULL: the traced call has ended */
	uint32_t depth;
	struct step *steps;
	uint32_t n_steps;
	uint64_t lost; /* steps that did not fit */
} trace;

/* Request a trace of the Nth call of FUNC ("FUNC:N"), or of the first ("FUNC"). Return false if WHAT has another form. */
bool trace_ask(const char *what);
/* Record that a call of FUNCTION, which is to be traced, has begun. TASK and DEPTH identify its frame in follow.c. */
void trace_called(const struct function *function, const struct context *context, const void *task,
		  uint32_t depth);
void trace_returned(const void *task, uint32_t depth);
void trace_step(struct block *block, uint32_t depth);

/* --- result -------------------------------------------------------------- */

bool write_result(const char *path, uint64_t open);
