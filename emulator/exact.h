/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin of QEMU that counts every instruction of a guest with one CPU, by calling context: docs/internals/exact.md.
 *
 *     symbols.c   functions of the running kernel, from the file of the guest's recorder
 *     tree.c      the tree of calling contexts, with the counts of each
 *     follow.c    the guest's current calling context: calls, returns, interrupts, task switches
 *     exact.c     the callbacks in the code that QEMU translates
 *     async.c     the contexts that queue work for others
 *     trace.c     a trace of one call
 *     model.c     caches, TLBs and branch prediction
 *     objects.c   the types of data that misses concern
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
	ROLE_ENTRY_SYSCALL, /* code at which the CPU enters the kernel for a syscall */
	ROLE_ENTRY_FAULT, /* code at which the CPU enters the kernel for an exception */
	ROLE_ENTRY_IRQ,
	ROLE_THUNK, /* jumps to the address in a pointer */
	ROLE_RETURNS, /* return thunk, to which functions and thunks jump instead of returning */
	/* Padding that continues with the function after it, such as the target of calls that are counted. */
	ROLE_PADDING,
	ROLE_COLD, /* part of the function whose name is before ".cold" */
	ROLE_SYSCALL, /* implements a syscall */
	ROLE_PAGE_FAULT, /* handles a page fault */
	ROLE_SOFTIRQ,
	ROLE_IDLE,
	ROLE_KTHREAD, /* calls the function that a kernel thread executes */
	ROLE_QUEUES_RCU,
	ROLE_RUNS_RCU, /* calls RCU callbacks */
	ROLE_QUEUES_WORK,
	ROLE_RUNS_WORK,
	ROLE_QUEUES_TASK_WORK,
	ROLE_RUNS_TASK_WORK,
	ROLE_RAISES, /* raises a soft interrupt */
	ROLE_FORK, /* switches to another task and never returns */
	ROLE_DIES, /* switches to another task, for good */
	ROLE_SWITCH_FROM, /* pushes to the previous task's stack */
	ROLE_SWITCH, /* pushes to the next task's stack */
};

struct function {
	uint64_t start, end;
	enum role role;
	uint32_t id;
	uint32_t n_blocks; /* number of blocks seen so far */
	struct function *whole; /* the function of which this is a part; NULL: none */
	/* Number of the soft interrupt that the function handles or always raises. 0: none, or its argument has the number. */
	uint32_t softirq;
	bool code; /* a function, not a variable */
	bool written, traced; /* TRACED: record one of its calls (trace.c) */
};

/* Read symbols from lines as in /proc/kallsyms, sorted by address. Return false if PATH does not exist or has no symbols. */
bool symbols_read(const char *path);
/* Return whether a function has this role. */
bool symbols_have(enum role role);
/* Return the function at ADDR; of a part, the whole. Addresses before all symbols have a function without a name. */
struct function *symbols_at(uint64_t addr);
/* The function to which all code of user space belongs. */
extern struct function user_code;

/* --- calling contexts ---------------------------------------------------- */

enum ending {
	ENDS_OTHERWISE,
	ENDS_JUMP, /* an unconditional jump */
	ENDS_CALL,
	ENDS_RETURN,
	ENDS_ENTRY, /* a return from the kernel's entry code to the interrupted code */
};

/* Code that is executed from its first instruction on. N: number of instructions; SIZES: bytes of each instruction. */
struct block {
	uint64_t addr;
	struct function *function;
	struct block *next; /* next block with the same hash */
	uint32_t local; /* index among its function's blocks */
	uint16_t n;
	enum ending ending;
	bool direct; /* ends with a jump or call to TARGET */
	bool within; /* TARGET is in the same function: a call only pushes its return address, as in a retpoline */
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
	struct block *block; /* NULL: the instruction is unknown, and INSN is 0 */
	uint16_t insn;
	uint64_t counts[MODEL_N_EVENTS];
};

struct node {
	struct node *parent; /* NULL: the root of a context */
	struct function *function; /* NULL: of a root */
	struct context *context;
	uint64_t site; /* return address of the call; 0: entered without a call */
	uint64_t self, total, calls; /* own instructions; those of the ended CALLS, with callees */
	struct calls *distribution;
	uint64_t *counts; /* executions of blocks, indexed by LOCAL of struct block */
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
/* Return the context of KIND for work that the context BY of the command queued. */
struct context *tree_context_by(enum exact_kind kind, const struct context *by);
/* Return the child of PARENT for calls of FUNCTION with return address SITE. If no node is left, count a loss and return PARENT. */
struct node *tree_child(struct node *parent, uint64_t site, struct function *function);
/* Count a call of NODE that has ended and took TOTAL instructions, with callees. */
void tree_call(struct node *node, uint64_t total);
/* Count an execution of BLOCK in NODE. */
void tree_execution(struct node *node, const struct block *block);
struct block *tree_block(uint64_t addr, uint16_t n, const uint8_t *sizes);
/* Remove BLOCK's last instruction, which is executed in the next block. */
void tree_shorten(struct block *block);
/* Count a miss of EVENT in NODE by instruction INSN of BLOCK. BLOCK may be NULL. */
void tree_miss(struct node *node, struct block *block, uint16_t insn, enum model_event event);

/* Make PART a part of WHOLE, whose seldom executed code it contains. */
void tree_join(struct function *part, struct function *whole);

extern struct node **nodes;
extern struct block **blocks;
extern struct context **contexts;
extern uint32_t n_nodes, n_blocks, n_contexts;

/* --- where the guest is -------------------------------------------------- */

/* Losses while following the guest, for the recording. */
struct losses {
	uint64_t nodes_full, frames_full, returns_unmatched;
	uint64_t closed_by_exit; /* calls that ended with their task: these are no losses */
};

extern struct losses losses;
/* Number of instructions executed so far. Inline operations in translated code increase it. */
extern uint64_t executed;

/* Begin to follow the guest. The running task must be the command's. */
void follow_begin(void);
/* Count the instructions executed since the last block began. Return the number of open calls of the command's tasks. */
uint64_t follow_end(void);
/* The current instruction writes to SLOT on the stack that it leaves, on the stack that it enters, or on a new task's stack. */
void follow_leave_stack(uint64_t slot);
void follow_enter_stack(uint64_t slot);
void follow_new_stack(uint64_t slot);
/* Follow the guest to BLOCK, which is about to be executed. */
void follow_block(struct block *block);

/* Count a miss of EVENT by instruction INSN of the last executed block. */
void follow_miss(enum model_event event, uint16_t insn);

/* Return the context of the code that is being executed. */
struct context *follow_context(void);
/* Return whether VADDR is on the stack of a known task. */
bool follow_is_stack(uint64_t vaddr);

/* Return the number of instructions since follow_begin(). */
uint64_t follow_elapsed(void);

/* --- queued work --------------------------------------------------------------- */

/* Begin. Warn on stderr about kinds of work whose queueing context cannot be found. */
void async_begin(void);
/* Note the work that FUNCTION queues, if any. FUNCTION was called in CONTEXT, and its first block is about to be executed. */
void async_called(const struct function *function, const struct context *context);
/*
 * Return the context that begins when RUNNER, in CONTEXT, calls CALLBACK through a pointer; NULL: none begins. The first block of
 * CALLBACK is about to be executed.
 */
struct context *async_begins(const struct function *runner, const struct function *callback,
			     const struct context *context);

/*
 * Set *ADDR to the address to which an exception returns, whose entry is about to be executed. Return false if this QEMU does not
 * show registers or memory to plugins.
 */
bool async_resumed_at(uint64_t *addr);

/* --- types of data -------------------------------------------------------- */

#define KERNEL_IMAGE 0xffffffff80000000ull /* start of the kernel's code and data */

/* Read the guest's memory at ADDR as it is mapped now. Return false if it is not mapped, or if this QEMU cannot read memory. */
bool guest_read(uint64_t addr, void *data, size_t size);
/* Read the recorder's file about the kernel's data. If it or QEMU lacks something, return false: then no misses are counted. */
bool objects_read(const char *path);
/* Count the misses of an access to VADDR, physical address PHYS. EVENTS has a bit for each enum model_event. */
void objects_missed(uint32_t events, uint64_t vaddr, uint64_t phys);
void objects_write(const struct context *context, FILE *file);

/* --- a traced call -------------------------------------------------------------- */

struct step {
	struct block *block;
	uint32_t depth; /* number of frames below the traced call */
};

extern struct trace {
	char *name; /* name of the function to trace; NULL: none */
	uint64_t number, calls; /* number of the call to trace, from 1; number of calls so far */
	const struct function *function;
	const struct context *context; /* NULL: the call has not begun */
	const void *task; /* NULL: the call has ended */
	uint32_t depth;
	struct step *steps;
	uint32_t n_steps;
	uint64_t lost; /* steps for which there was no room */
} trace;

/* Request a trace of "FUNC", which is its first call, or "FUNC:N". Return false if WHAT is neither. */
bool trace_ask(const char *what);
/* Note that a call of FUNCTION, which is to be traced, has begun. TASK and DEPTH identify its frame in follow.c. */
void trace_called(const struct function *function, const struct context *context, const void *task,
		  uint32_t depth);
void trace_returned(const void *task, uint32_t depth);
/* Add BLOCK to the trace, executed at DEPTH. */
void trace_step(struct block *block, uint32_t depth);

/* --- result -------------------------------------------------------------- */

bool write_result(const char *path, uint64_t open);

/* Return BYTES of memory, all zero. Without memory, end QEMU with a message. Most memory is never freed. */
void *get_memory(size_t bytes);
