// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follow the guest's calls. Each task has an array of frames, its open calls from user space on. The end of the last block (a
 * call, a return) and the address of the next block tell how the frames change. A call ends when control returns to the
 * instruction after it. All frames above it end, too: their code was jumped to, or never returned. An entry by the CPU (system
 * call, exception, interrupt) is a frame that ends with the instruction that leaves the entry code.
 */
#include <stdlib.h>
#include <string.h>

#include "exact.h"

#define INSN_BYTES_MAX 15
#define PAGE_SHIFT     12
#define FRAMES_MAX     512 /* frames of a task; deeper calls count for the last frame */
#define TASKS_HASH     4096
#define KTHREAD_WORDS  64 /* words at the end of a stack: frames of kthread() and its callee */
#define STACK_SHIFT    14 /* stacks have 16 KiB and are aligned to their size */

struct frame {
	struct node *node; /* NULL: the called function is not yet known */
	struct context *context; /* context of callees */
	uint64_t site; /* return address of the call; after a jump, that of the frame below */
	uint64_t total; /* instructions so far, including ended callees */
	bool entry; /* the CPU entered the kernel after the block INTERRUPTED, which may be NULL */
	struct block *interrupted;
	bool aside; /* do not add TOTAL to the frame below */
};

struct task {
	uint64_t stack; /* number of its stack; 0: unknown */
	struct task *next; /* next task with the same hash */
	bool command; /* a task of the measured command */
	bool dies; /* the task will not run again */
	struct function *kthread; /* function of a kernel thread older than MARK_BEGIN, or NULL */
	uint32_t depth; /* index of the innermost frame; frame 0 is user space's, or empty */
	struct frame frames[FRAMES_MAX];
};

uint64_t executed;

static struct task *tasks[TASKS_HASH];
static struct task *current;
static struct frame *top;
static uint64_t began, charged; /* EXECUTED at follow_begin() and at the last charge() */
static struct block *last; /* the last block that was executed to its end, or NULL */

static uint64_t entered; /* number of the stack that the last block switched to, or 0 */

static struct task **bucket(uint64_t stack)
{
	return &tasks[(stack * 0x9e3779b97f4a7c15ull) >> 52];
}

static void add_task(struct task *task, uint64_t stack)
{
	struct task **head = bucket(stack);

	task->stack = stack;
	task->next = *head;
	*head = task;
}

static void know_stack(uint64_t slot)
{
	add_task(current, slot >> STACK_SHIFT);
}

static struct task *find_task(uint64_t stack)
{
	struct task *task = *bucket(stack);

	while (task && task->stack != stack)
		task = task->next;
	return task;
}

static struct task *task_of(uint64_t stack)
{
	struct task *task = find_task(stack);

	if (task)
		return task;
	task = get_memory(sizeof(*task));
	add_task(task, stack);
	return task;
}

/*
 * Return the function that the kernel thread with the stack STACK executes: kthread()'s callee. Search the stack for possible
 * return addresses. NULL: the task is no kernel thread, or QEMU cannot read memory.
 */
static struct function *kthread_of(uint64_t stack)
{
	uint64_t words[KTHREAD_WORDS];
	bool is_kthread = false;

	if (!guest_read(((stack + 1) << STACK_SHIFT) - sizeof(words), words, sizeof(words)))
		return NULL;
	for (int i = KTHREAD_WORDS - 1; i >= 0; i--) {
		struct function *f = symbols_at(words[i]);

		if (!f->code || words[i] >= f->end)
			continue;
		if (is_kthread && f->role != ROLE_KTHREAD)
			return f;
		is_kthread |= f->role == ROLE_KTHREAD;
	}
	return NULL;
}

/* Remove all frames except the outermost: TASK is in user space, or was first seen now. */
static void clear(struct task *task)
{
	struct context *bottom = task->kthread ? tree_context(EXACT_KTHREAD, false, task->kthread) :
						 tree_context(EXACT_USER, task->command, NULL);

	task->depth = 0;
	task->frames[0] = (struct frame){ .node = bottom->root, .context = bottom };
}

/*
 * Return whether QEMU moved BLOCK's last instruction to NEXT, which begins with this instruction. QEMU 7.2 does so if the
 * instruction extends into another page and is not the block's first. But plugins see it in BLOCK, too.
 */
static bool is_given_up(const struct block *block, const struct block *next)
{
	uint64_t addr = block->end - block->sizes[block->n - 1];

	return next->addr == addr &&
	       addr >> PAGE_SHIFT != (addr + INSN_BYTES_MAX - 1) >> PAGE_SHIFT;
}

static bool push(struct frame frame)
{
	if (current->depth + 1 == FRAMES_MAX) {
		losses.frames_full++;
		return false;
	}
	if (!frame.context)
		frame.context = top->context;
	current->frames[++current->depth] = frame;
	top = &current->frames[current->depth];
	return true;
}

static enum role role_of_top(void)
{
	return top->node && top->node->function ? top->node->function->role : ROLE_NONE;
}

static void pop(void)
{
	if (top->node)
		tree_call(top->node, top->total);
	if (!top->aside)
		top[-1].total += top->total;
	trace_returned(current, current->depth);
	current->depth--;
	top--;
}

/* Control has returned to ADDR. End the calls with this return address, and all calls above them. */
static void return_to(uint64_t addr)
{
	struct frame *frame = top;

	while (frame > current->frames && !frame->entry && frame->site != addr)
		frame--;
	if (frame == current->frames || frame->entry) {
		/* The return served as a jump (retpoline), or its call was not seen. */
		while (role_of_top() == ROLE_RETURNS && !top->entry)
			pop();
		losses.returns_unmatched +=
			top->node && top->node->function && role_of_top() != ROLE_THUNK;
		return;
	}
	while (top > frame)
		pop();
	while (top > current->frames && !top->entry && top->site == addr)
		pop();
}

/* The CPU leaves the innermost entry code and continues with NEXT. End the entry's frame and all frames above it. */
static void leave_entry(const struct block *next)
{
	while (top > current->frames && !top->entry)
		pop();
	last = top->interrupted;
	if (top > current->frames)
		pop();
	/* If an interrupt hit a thunk in a safe return (SRSO), the kernel completes the return instead of resuming the thunk. */
	if (role_of_top() == ROLE_RETURNS && next->function->role != ROLE_RETURNS &&
	    !(last && last->ending == ENDS_RETURN)) {
		return_to(next->addr);
		last = NULL;
	}
}

static void enter(const struct block *block)
{
	struct frame frame = { .entry = true, .context = top->context, .interrupted = last };

	if (block->function->role == ROLE_ENTRY_IRQ) {
		frame.context = tree_context(EXACT_IRQ, current->command, NULL);
		frame.aside = true;
	} else if (top == current->frames) {
		frame.context = tree_context(EXACT_NONE, current->command, NULL);
	}
	push(frame);
}

/* Return the context that begins when CALLER, in CONTEXT, calls FUNCTION, or NULL. */
static struct context *context_of(struct function *function, const struct node *caller,
				  const struct context *context)
{
	switch (function->role) {
	case ROLE_SYSCALL:
		return context->kind == EXACT_NONE ?
			       tree_context(EXACT_SYSCALL, context->command, function) :
			       NULL;
	case ROLE_PAGE_FAULT:
		return context->kind == EXACT_NONE ?
			       tree_context(EXACT_PAGE_FAULT, context->command, NULL) :
			       NULL;
	case ROLE_SOFTIRQ:
		return tree_context(EXACT_SOFTIRQ, context->command, NULL);
	case ROLE_IDLE:
		return tree_context(EXACT_IDLE, false, NULL);
	default:
		break;
	}
	if (caller->function && caller->function->role == ROLE_KTHREAD)
		return tree_context(EXACT_KTHREAD, false, function);
	if (caller->function && last && !last->direct)
		return async_begins(caller->function, function, context);
	return NULL;
}

/* Make the innermost frame a call of FUNCTION. */
static void become(struct function *function)
{
	const struct frame *below = top - 1;
	struct context *begins;

	begins = top->entry ? NULL : context_of(function, below->node, below->context);
	if (begins) {
		top->context = begins;
		/* Do not add TOTAL to the frame below, which has another context (entry code, or interrupted code). */
		top->aside = true;
	}
	top->node = tree_child(top->context == below->context && below->node ? below->node :
									       top->context->root,
			       top->site, function);
	async_called(function, top->context);
	current->dies |= function->role == ROLE_DIES;
	if (function->traced)
		trace_called(function, top->context, current, current->depth);
}

/* Control went to FUNCTION by a jump or by falling through, not by a call. */
static void move(struct function *function)
{
	struct frame frame = { .site = top->site };
	struct function *from = top->node->function;

	if (role_of_top() == ROLE_THUNK && function->role != ROLE_RETURNS && !top->entry) {
		tree_call(top->node, top->total);
		top[-1].total += top->total;
		top->total = 0;
		top->context = top[-1].context;
		become(function);
		return;
	}
	if (function->role == ROLE_COLD && from && last && last->direct) {
		tree_join(function, from);
		return;
	}
	/* If a frame of FUNCTION is open, FUNCTION jumped away, and control now jumps back to it: end the frames above. */
	for (struct frame *f = top; f > current->frames && !f->entry && f->site == top->site; f--)
		if (f->node && f->node->function == function) {
			while (top > f)
				pop();
			return;
		}
	/* Entry code consists of several functions that jump to each other. */
	if (top == current->frames) {
		frame.entry = true;
		frame.context = current->kthread ? top->context :
						   tree_context(EXACT_NONE, current->command, NULL);
	}
	if (push(frame))
		become(function);
}

static bool is_entered(const struct block *block)
{
	enum role role = block->function->role;

	if (role != ROLE_ENTRY_SYSCALL && role != ROLE_ENTRY_FAULT && role != ROLE_ENTRY_IRQ)
		return false;
	/* One function has the entries of all interrupt vectors, so any of its blocks may be an entry. */
	if (block->addr != block->function->start && role != ROLE_ENTRY_IRQ)
		return false;
	return !(last && last->direct && last->target == block->addr) &&
	       !(top->node && top->node->function == block->function);
}

static void add_execution(struct block *block)
{
	tree_execution(top->node, block);
	if (trace.task == current && top->context == trace.context)
		trace_step(block, current->depth);
}

/*
 * Return whether the last of LAST's first N instructions raised an exception that NEXT handles. This instruction was not executed:
 * it is counted if the CPU retries it.
 */
static bool has_faulted(const struct block *next, uint64_t n)
{
	uint64_t addr, resumed;

	if (!last || !n || n > last->n || !next || next->function->role != ROLE_ENTRY_FAULT ||
	    !is_entered(next) || !async_resumed_at(&resumed))
		return false;
	addr = last->addr;
	for (uint64_t i = 0; i + 1 < n; i++)
		addr += last->sizes[i];
	return resumed == addr;
}

/* Count the instructions since the last charge(), up to the start of NEXT, for the innermost frame. NEXT is NULL at the end. */
static void charge(const struct block *next)
{
	uint64_t n;

	executed -= has_faulted(next, executed - charged);
	n = executed - charged;
	charged = executed;
	top->total += n;
	top->node->self += n;
	if (!last || last->function == &user_code)
		return;
	if (n + 1 == last->n && next && is_given_up(last, next))
		tree_shorten(last);
	if (n == last->n) {
		add_execution(last);
		return;
	}
	/* An exception or interrupt left the block before its end. */
	if (n)
		add_execution(tree_block(last->addr, (uint16_t)n, last->sizes));
	last = NULL;
}

/* The previous task is dead: end its open calls, which never return. */
static void end_calls(void)
{
	while (top > current->frames) {
		if (top->node) /* a frame that began a context also ends the context's call */
			losses.closed_by_exit += top->aside && top->context->command ? 2 : 1;
		pop();
	}
	current->dies = false;
}

static void switch_task(void)
{
	if (entered && entered != current->stack) {
		if (current->dies)
			end_calls();
		current = task_of(entered);
		if (!current->frames[0].node) {
			current->kthread = kthread_of(current->stack);
			clear(current);
		}
		top = &current->frames[current->depth];
	}
	entered = 0;
}

/* Account for control going from LAST (may be NULL) to BLOCK, without an entry by the CPU. */
static void go_on(const struct block *block)
{
	const struct frame call = { .site = last ? last->end : 0 };

	if (last && last->ending == ENDS_CALL && !last->within)
		push(call);
	else if (last && last->ending == ENDS_RETURN)
		return_to(block->addr);
	if (!top->node)
		become(block->function);
	else if (top->node->function != block->function)
		move(block->function);
}

void follow_block(struct block *block)
{
	charge(block);
	if (entered)
		switch_task();
	/* sync_core() executes an iret to the next instruction, which does not leave entry code. */
	if (last && last->ending == ENDS_ENTRY && block->addr != last->end)
		leave_entry(block);
	if (block->function == &user_code) {
		while (top > current->frames)
			pop();
	} else if (is_entered(block)) {
		enter(block);
		become(block->function);
	} else if (!last || last->ending > ENDS_JUMP || !top->node ||
		   top->node->function != block->function) {
		go_on(block);
	}
	last = block;
}

void follow_miss(enum model_event event, uint16_t insn)
{
	tree_miss(top->node, last, insn, event);
}

struct context *follow_context(void)
{
	return top->node->context;
}

bool follow_is_stack(uint64_t vaddr)
{
	return find_task(vaddr >> STACK_SHIFT);
}

void follow_leave_stack(uint64_t slot)
{
	if (!current->stack)
		know_stack(slot);
}

void follow_enter_stack(uint64_t slot)
{
	entered = slot >> STACK_SHIFT;
}

void follow_new_stack(uint64_t slot)
{
	struct task *task;

	if (slot >> STACK_SHIFT == current->stack)
		return;
	task = task_of(slot >> STACK_SHIFT);
	task->command = current->command;
	task->kthread = NULL;
	clear(task);
}

void follow_begin(void)
{
	current = get_memory(sizeof(*current));
	current->command = true;
	async_begin();
	clear(current);
	top = current->frames;
	began = charged = executed;
}

uint64_t follow_end(void)
{
	uint64_t open = 0;

	charge(NULL);
	for (int i = 0; i < TASKS_HASH; i++)
		for (const struct task *task = tasks[i]; task; task = task->next)
			open += task->command ? task->depth : 0;
	return open;
}

uint64_t follow_elapsed(void)
{
	return executed - began;
}
