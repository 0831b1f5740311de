// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/types.h>

#include "record/collect/stack.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "profile/resolve.h"

/* A function calls ftrace at its entry. The return address of that call is at most this many bytes after the entry. */
#define ENTRY_BYTES 16

/* A stack, with the code at each address in it. */
struct walk {
	const struct record_stacks *s;
	const struct engine_stack *stack;
	uint32_t n;
	struct record_place places[ENGINE_STACK_FRAMES];
	uint64_t addrs[ENGINE_STACK_FRAMES]; /* instruction addresses: return addresses less 1 */
};

static const char *name_at(const struct walk *w, uint32_t i)
{
	return i < w->n && w->places[i].sym ? w->places[i].sym->name : "";
}

/*
 * Return whether address I of the stack is the address of an instruction that was interrupted. Other addresses are return
 * addresses. If a kprobe on a return took the stack, address 0 is the address after the breakpoint.
 */
static bool is_exact(const struct walk *w, uint32_t i)
{
	if (!i)
		return !(w->stack->flags & ENGINE_SAMPLE_AT_RETURN);
	return !strncmp(name_at(w, i - 1), "asm_", strlen("asm_"));
}

static void walk_init(struct walk *w, const struct record_stacks *s,
		      const struct engine_stack *stack)
{
	w->s = s;
	w->stack = stack;
	for (w->n = 0; w->n < stack->n && w->n < ENGINE_STACK_FRAMES; w->n++) {
		w->addrs[w->n] = stack->ips[w->n] - !is_exact(w, w->n);
		w->places[w->n] = record_code_at(s->code, stack->flags >> ENGINE_SAMPLE_EPOCH,
						 w->addrs[w->n]);
	}
}

/* Add the addresses of all functions with the name SYMBOL, which may be "name [module]". */
static void add_probed(struct record_stacks *s, const char *symbol)
{
	scoped_free char *name = alloc_strndup(symbol, strcspn(symbol, " "));
	size_t n;
	const struct kernel_sym *const *named =
		kernel_kallsyms_named(s->code->symbols->ks, name, &n);

	for (size_t i = 0; i < n; i++)
		vec_push(s, probed, named[i]->addr);
}

static bool is_probed(const struct record_stacks *s, uint64_t addr)
{
	return search_array(&addr, s->probed, s->n_probed, sizeof(addr), compare_u64);
}

static bool is_probe_code(const struct walk *w, uint32_t i)
{
	return record_is_probe_code(name_at(w, i));
}

/* Return whether the code at I has no name or is a BPF program of another tool. */
static bool is_foreign_program(const struct walk *w, uint32_t i)
{
	const struct record_place *place = &w->places[i];

	return !place->own && (!place->sym || kernel_kallsyms_is_bpf(place->sym));
}

/* Move *I past the frames of the kernel's probe code. Return whether they handle a probe of this recording. */
static bool is_own_hit(const struct walk *w, uint32_t *i)
{
	bool foreign = *i && is_foreign_program(w, *i - 1);

	for (; *i < w->n && is_probe_code(w, *i); ++*i)
		;
	if (foreign)
		return false;
	switch (record_probe_code_kind(name_at(w, *i - 1))) {
	case RECORD_PROBE_TRACEPOINT:
		return true;
	case RECORD_PROBE_FOREIGN:
		return false;
	case RECORD_PROBE_RETURN:
		return w->s->on_return;
	case RECORD_PROBE_FUNCTION:
		break;
	}
	return *i == w->n || w->places[*i].own ||
	       (w->places[*i].sym && is_probed(w->s, w->places[*i].sym->addr));
}

/*
 * Return whether a program of this recording called the code at index CALLED; the program's frames end before index FRAME.
 * Otherwise a trampoline called the code: trampolines also call the traced function and programs of other tools.
 */
static bool is_called_by_program(const struct walk *w, uint32_t called, uint32_t frame)
{
	const struct kernel_sym *sym = w->places[frame].sym;

	if (is_foreign_program(w, called))
		return false;
	return !sym || w->places[frame].offset >= ENTRY_BYTES ||
	       w->places[called].sym->addr != sym->addr;
}

/*
 * Return whether the sample was taken in a probe. A trampoline on the stack is no proof, since a trampoline also calls the probed
 * function. Such a function is on the stack twice: as the callee of the trampoline, and as the caller of the trampoline.
 */
static bool is_in_probe(const struct walk *w)
{
	bool is_syscall = w->stack->ctx < ENGINE_CTX_NONE, foreign = false;
	uint32_t called = 0; /* index of the last address outside of probes */

	for (uint32_t i = 0; i < w->n; i++) {
		if (is_syscall && !foreign && record_is_entry_code(name_at(w, i), !i))
			return true;
		if (w->places[i].own) {
			if (!i)
				return true;
			continue;
		}
		if (i && w->places[i - 1].own && is_called_by_program(w, called, i))
			return true;
		if (is_probe_code(w, i)) {
			if (is_own_hit(w, &i))
				return true;
			i--;
		}
		called = i;
		foreign |= is_foreign_program(w, i);
	}
	return false;
}

/* Return a location for nameless code: a BPF program (classic filter), a removed module, or freed init code of a module. */
static uint32_t unnamed(const struct walk *w, uint32_t i)
{
	const char *label = w->s->code->module_missed ? "[unknown]" : "[bpf]";

	while (i < w->n && !w->places[i].sym)
		i++;
	return profile_location_label(
		w->s->p, strcmp(name_at(w, i), "do_one_initcall") ? label : "[module]");
}

static uint32_t location_at(const struct walk *w, uint32_t i)
{
	return w->places[i].sym ? profile_location_at(w->s->p, w->places[i].ks, w->addrs[i]) :
				  unnamed(w, i);
}

/*
 * Set *LOCATION to the function that was returning when a return probe took the stack, if that function has no frame in the stack.
 * A kretprobe runs after the function's frame is gone; fexit runs before. Return the number of locations set: 0 or 1.
 */
static uint32_t add_returning(const struct walk *w, uint32_t *location)
{
	const struct profile *p = w->s->p;
	uint32_t site = w->stack->site;

	if (site == ENGINE_SITE_CONTEXT || site > w->s->sites->n_items ||
	    profile_mechanism(p->sites[site].mech)->in_frame)
		return 0;
	*location = profile_location_at(w->s->p, w->s->code->symbols->ks,
					w->s->sites->items[site - 1].sym->addr);
	return 1;
}

/* Return whether frame I belongs to a program of this recording, or to code that the kernel has generated for probes. */
static bool is_hidden(const struct walk *w, uint32_t i, bool in_probe)
{
	const struct kernel_sym *sym = w->places[i].sym;

	return w->places[i].own ||
	       (in_probe && sym && sym->module && kernel_kallsyms_is_probe(sym));
}

uint32_t record_stack_add(struct record_stacks *s, const struct engine_stack *stack, bool *in_probe)
{
	uint32_t locations[ENGINE_STACK_FRAMES + 1], n = 0, i = 0;
	bool at_return = stack->flags & ENGINE_SAMPLE_AT_RETURN, own = false;
	bool user = stack->flags & ENGINE_SAMPLE_USER;
	struct walk w;

	walk_init(&w, s, stack);
	*in_probe = !at_return && !user && is_in_probe(&w);
	if (at_return) {
		/* Skip the frames of the return probe that took the sample. Frames of the function that returned follow. */
		while (i < w.n && is_hidden(&w, i, true))
			i++;
		n = add_returning(&w, locations);
	}
	for (; i < w.n; i++) {
		bool was_own = own;

		own = is_hidden(&w, i, at_return || *in_probe);
		if (own && !i)
			locations[n++] = profile_location_label(s->p, "[probe]");
		/* A function with a trampoline is on the stack twice. Skip the frame at its entry, which called the trampoline. */
		if (!own && !(was_own && w.places[i].sym && w.places[i].offset < ENTRY_BYTES))
			locations[n++] = location_at(&w, i);
	}
	return profile_stack_add(s->p, locations, n);
}

void record_stacks_init(struct record_stacks *s, struct profile *p, const struct record_code *code,
			const struct record_sites *sites)
{
	*s = (struct record_stacks){ .p = p, .code = code, .sites = sites };
	if (!code->symbols)
		return;
	add_probed(s, "handle_mm_fault");
	for (uint32_t i = 1; i < p->n_sites; i++) {
		s->on_return |= p->sites[i].mech != PROFILE_UNTIMED &&
				!profile_mechanism(p->sites[i].mech)->in_frame;
		if (i <= sites->n_items)
			vec_push(s, probed, sites->items[i - 1].sym->addr);
		else
			add_probed(s, p->sites[i].symbol);
	}
	sort_array(s->probed, s->n_probed, sizeof(*s->probed), compare_u64);
}

void record_stacks_deinit(struct record_stacks *s)
{
	free(s->probed);
}

/* Functions of the kernel's probe code in Linux 5.15 to 7.3, sorted by name. */
static const char *const names[] = {
	"__bpf_prog_enter",
	"__bpf_prog_enter_recur",
	"__bpf_prog_exit",
	"__bpf_prog_exit_recur",
	"__ftrace_trace_stack",
	"__kretprobe_trampoline",
	"__kretprobe_trampoline_handler",
	"aggr_post_handler",
	"aggr_pre_handler",
	"arch_ftrace_ops_list_func",
	"arch_rethook_prepare",
	"arch_rethook_trampoline",
	"arch_rethook_trampoline_callback",
	"asm_exc_int3",
	"do_int3",
	"exc_int3",
	"fprobe_exit_handler",
	"fprobe_fgraph_entry",
	"fprobe_ftrace_entry",
	"fprobe_handler",
	"fprobe_kprobe_handler",
	"fprobe_return",
	"ftrace_caller",
	"ftrace_caller_op_ptr",
	"ftrace_graph_func",
	"ftrace_ops_assist_func",
	"ftrace_regs_call",
	"ftrace_regs_caller",
	"ftrace_regs_caller_end",
	"ftrace_return_to_handler",
	"ftrace_stub",
	"ftrace_trampoline",
	"kprobe_dispatcher",
	"kprobe_ftrace_handler",
	"kprobe_insn_page",
	"kprobe_int3_handler",
	"kprobe_multi_link_exit_handler",
	"kprobe_multi_link_handler",
	"kprobe_multi_link_prog_run",
	"kprobe_optinsn_page",
	"kprobe_perf_func",
	"kretprobe_dispatcher",
	"kretprobe_perf_func",
	"kretprobe_rethook_handler",
	"opt_pre_handler",
	"optimized_callback",
	"pre_handler_kretprobe",
	"rethook_hook",
	"rethook_trampoline_handler",
	"rethook_try_get",
	"return_to_handler",
	"trace_call_bpf",
	"trampoline_handler",
};

/* Functions of entry code, like their callees. Clone suffixes such as ".isra.0" are ignored. */
static const char *const entry_names[] = {
	"__audit_syscall_entry",
	"__audit_syscall_exit",
	"__syscall_exit_to_user_mode_work",
	"syscall_enter_from_user_mode",
	"syscall_exit_to_user_mode",
	"syscall_exit_to_user_mode_prepare",
	"syscall_exit_work",
	"syscall_trace_enter",
};

/* Functions that are entry code if they are innermost on the stack. In other positions they may have called the syscall's code. */
static const char *const leaf_names[] = { "do_syscall_64", "entry_SYSCALL_64_after_hwframe" };

static bool is_among(const char *symbol, const char *const *list, size_t n)
{
	size_t length = strcspn(symbol, "."), i;

	for (i = 0; i < n; i++)
		if (!strncmp(symbol, list[i], length) && !list[i][length])
			return true;
	return false;
}

bool record_is_entry_code(const char *symbol, bool leaf)
{
	return is_among(symbol, entry_names, ARRAY_SIZE(entry_names)) ||
	       (leaf && is_among(symbol, leaf_names, ARRAY_SIZE(leaf_names)));
}

static int compare(const void *symbol, const void *name)
{
	return strcmp(symbol, *(const char *const *)name);
}

enum record_probe_code record_probe_code_kind(const char *symbol)
{
	static const char *const tracepoints[] = { "__bpf_trace_sched_process_exec",
						   "__bpf_trace_sched_switch",
						   "__bpf_trace_sys_enter", "__bpf_trace_sys_exit",
						   "__bpf_trace_task_newtask" };

	if (strstr(symbol, "return_to_handler") ||
	    (strstr(symbol, "trampoline") && strcmp(symbol, "ftrace_trampoline") != 0))
		return RECORD_PROBE_RETURN;
	if (!strncmp(symbol, "__bpf_trace_", strlen("__bpf_trace_")))
		return is_among(symbol, tracepoints, ARRAY_SIZE(tracepoints)) ?
			       RECORD_PROBE_TRACEPOINT :
			       RECORD_PROBE_FOREIGN;
	return strncmp(symbol, "bpf_trace_run", strlen("bpf_trace_run")) ? RECORD_PROBE_FUNCTION :
									   RECORD_PROBE_TRACEPOINT;
}

bool record_is_probe_code(const char *symbol)
{
	return !strncmp(symbol, "bpf_trace_run", strlen("bpf_trace_run")) ||
	       !strncmp(symbol, "__bpf_trace_", strlen("__bpf_trace_")) ||
	       search_array(symbol, names, ARRAY_SIZE(names), sizeof(names[0]), compare);
}
