// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fentry and fexit. Each function has its own copy of both programs, with the function's number and the costs of its probes in the
 * instructions. Unlike cookies, such numbers work before 6.0 and take no time.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/bpf_common.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/system/interrupt.h"
#include "base/log.h"
#include "kernel/debuginfo/index.h"
#include "kprotperf/engine.h"
#include "record/engine/engine.h"
#include "record/engine/features.h"
#include "record/engine/saved_programs.h"
#include "record/probe/capture_code.h"
#include "record/probe/probes_impl.h"
#include "record/target/symbols.h"

/* A function that has a symbol, declared in FILE at LINE. OTHER: another function of that name is inlined somewhere. */
struct namesake {
	const char *file;
	uint32_t line;
	bool other;
};

static int note_namesake(const struct kernel_body *body, void *arg)
{
	struct namesake *n = arg;

	n->other |= !body->file || strcmp(body->file, n->file) || body->line != n->line;
	return 0;
}

/* Return whether all inlined calls of SYM's name are calls of SYM itself. Return false if debug information of SYM is missing. */
static bool is_only_of_name(struct record_symbols *symbols, const struct kernel_sym *sym)
{
	struct namesake n = {};
	const struct kernel_index *idx;

	if (sym->module || record_symbols_index(symbols, &idx) || !idx ||
	    kernel_index_declaration(idx, sym->addr - symbols->ks->stext, &n.file, &n.line) ||
	    !n.file)
		return false;
	kernel_index_bodies_each(idx, sym->name, note_namesake, &n, NULL);
	return !n.other;
}

/*
 * Return 0 if SYM uses at most the N argument registers that BTF tells, -ENOTUNIQ if SYM uses more, -EUCLEAN if this is unknown.
 * BTF tells functions apart by name only, and a trampoline made for another function's arguments loses SYM's: fentry on 6.1's
 * mm_init() of kernel/fork.c saves no argument, because mm_init() of init/main.c has none, and the kernel panics at the next fork.
 * Mostly SYM's code shows the registers. If not, debug information may exclude namesakes.
 */
static int check_registers(struct record_symbols *symbols, const struct kernel_sym *sym, int n)
{
	enum kernel_answer beyond = record_arguments_beyond(symbols, sym, (unsigned int)n);

	if (beyond == KERNEL_YES)
		return -ENOTUNIQ;
	return beyond == KERNEL_NO || is_only_of_name(symbols, sym) ? 0 : -EUCLEAN;
}

/* Set TARGET's BTF id, so that fentry attaches to SYM itself, not to a namesake. Return 0, or -errno: the reason why not. */
static int find_btf(struct record_symbols *symbols, const struct kernel_sym *sym,
		    struct record_target *target)
{
	const struct kernel_btf *btf = record_symbols_btf(symbols, sym, &target->btf_fd);
	size_t same_name = 0;
	int n;

	if (!btf || kernel_tracing_is_ftrace(symbols->tracing, sym) != KERNEL_YES)
		return -ENOENT;
	kernel_kallsyms_named(symbols->ks, sym->name, &same_name);
	if (same_name != 1)
		return -ENOTUNIQ;
	target->btf_id = kernel_btf_function(btf, sym->name);
	if (target->btf_id < 0)
		return target->btf_id;
	n = kernel_btf_function_registers(btf, target->btf_id);
	if (n > ARCH_MAX_ARGS)
		return -E2BIG;
	if (n < 0)
		return n;
	target->n_args = (uint32_t)n;
	return check_registers(symbols, sym, n);
}

static const char *refuse(const struct record_kernel *kernel, struct record_site *site,
			  enum record_skip *skip)
{
	const char *why_not = record_features_why_not_fentry(kernel->features);

	*skip = RECORD_SKIP_MECHANISM;
	if (why_not)
		return why_not;
	switch (find_btf(kernel->symbols, site->sym, &site->target)) {
	case 0:
		return NULL;
	case -ENOTUNIQ:
		return "several functions have this name, and fentry cannot distinguish them";
	case -EUCLEAN:
		return "fentry might lose arguments: without debug symbols it is unknown whether "
		       "BTF describes this function or another one of the same name";
	case -E2BIG:
		return "it has more arguments than fentry supports";
	default:
		return "fentry cannot reach it (no BTF or no ftrace location)";
	}
}

/* Write TARGET's number and costs into COPY. Return false if COPY has no place for the number. */
static bool fill_in(struct record_saved_program *copy, const struct record_engine *e,
		    const struct record_target *target)
{
	const struct engine_cost *cost = record_engine_cost(e, PROFILE_MECH_FENTRY);
	bool found = false;

	for (size_t i = 0; i < copy->n; i++) {
		struct bpf_insn *insn = &copy->insns[i];

		if ((BPF_CLASS(insn->code) != BPF_ALU && BPF_CLASS(insn->code) != BPF_ALU64) ||
		    BPF_SRC(insn->code) != BPF_K)
			continue;
		switch (insn->imm) {
		case ENGINE_PLACEHOLDER_SITE:
			insn->imm = ENGINE_KEY(target->site, 0);
			found = true;
			break;
		case ENGINE_PLACEHOLDER_INNER:
			insn->imm = record_cost_inner(cost, target->n_args);
			break;
		case ENGINE_PLACEHOLDER_FULL:
			insn->imm = record_cost_full(cost, target->n_args);
			break;
		}
	}
	return found;
}

/* Load a copy of SAVED for TARGET. If it captures values, it reads them by HOW. Return its descriptor or -errno. */
static int load_copy(const struct record_probes *probes, const struct record_saved_program *saved,
		     enum bpf_attach_type attach, const struct record_target *target,
		     enum record_reading how)
{
	struct record_saved_program copy = record_saved_copy(saved);
	int fd = -EINVAL;

	if (target->capture)
		record_capture_write(&copy, target, target->n_args, true, how);
	if (fill_in(&copy, probes->engine, target))
		fd = record_saved_load(record_engine_saved_programs(probes->engine), &copy, attach,
				       target->btf_id, target->btf_fd);
	record_saved_free(&copy);
	return fd;
}

/* Load PROG for TARGET. If PROG captures values, try all ways of reading them. Return its descriptor or -errno. */
static int load(const struct record_probes *probes, const struct bpf_program *prog,
		enum bpf_attach_type attach, const struct record_target *target)
{
	const struct record_saved_program *saved =
		record_saved_find(record_engine_saved_programs(probes->engine), prog);
	int last = target->capture ? RECORD_READING_COPIES : 0, fd = -ENOENT;

	for (int how = 0; saved && fd < 0 && how <= last; how++)
		fd = load_copy(probes, saved, attach, target, (enum record_reading)how);
	return fd;
}

/* Load the programs for the entry and the return of TARGET's function. Return 0 or -errno. */
static int load_pair(const struct record_probes *probes, const struct record_target *target,
		     int progs[2])
{
	const struct record_programs *all = record_engine_variants(probes->engine);

	progs[1] = load(probes, target->capture ? all->fexit_capture : all->fexit, BPF_TRACE_FEXIT,
			target);
	if (progs[1] < 0)
		return progs[1];
	progs[0] = load(probes, all->fentry, BPF_TRACE_FENTRY, target);
	if (progs[0] >= 0)
		return 0;
	close(progs[1]);
	return progs[0];
}

/* Attach the program at the return first. If it came second, a call could begin timed, and end unnoticed. */
static int attach_one(struct record_probes *probes, const struct record_target *target)
{
	struct record_attached a = { .site = target->site };
	int err = load_pair(probes, target, a.progs);

	if (err)
		return err;
	a.ret = bpf_raw_tracepoint_open(NULL, a.progs[1]);
	a.entry = a.ret < 0 ? a.ret : bpf_raw_tracepoint_open(NULL, a.progs[0]);
	if (a.entry < 0) {
		err = -errno;
		if (a.ret >= 0)
			close(a.ret);
		close(a.progs[0]);
		close(a.progs[1]);
		return err;
	}
	vec_push(probes, attached, a);
	return 0;
}

static void attach(struct record_probes *probes, struct record_target *targets, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		log_progress("attaching functions by fentry: %u of %u", i + 1, n);
		targets[i].err = interrupt_signal() ? -EINTR : attach_one(probes, &targets[i]);
	}
}

/* Bytes that two programs, their subprograms and a trampoline take: on 6.1, each function reduces MemAvailable by this. */
#define MEMORY (218u << 10)

static size_t memory(const struct record_machine *machine)
{
	(void)machine;
	return MEMORY;
}

const struct record_mechanism record_fentry_mechanism = {
	.mech = PROFILE_MECH_FENTRY,
	.why_not = record_features_why_not_fentry,
	.memory = memory,
	.refuse = refuse,
	.attach = attach,
};
