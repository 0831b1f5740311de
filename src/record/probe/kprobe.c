// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kprobes. All functions share a pair of programs, which find the function's number in the cookie. A probe's cost depends on how
 * the kernel reaches the probe at the entry, and the program at the return depends on that cost. So the return program is attached
 * later, after the kernel's optimizer has processed the probe at the entry.
 */
#include "record/probe/kprobe.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/system/clock.h"
#include "base/system/interrupt.h"
#include "kernel/code/flow_function.h"
#include "record/engine/engine.h"
#include "record/engine/features.h"
#include "record/engine/kprobe_event.h"
#include "record/engine/saved_programs.h"
#include "record/probe/capture_code.h"
#include "record/probe/choose.h"
#include "record/probe/probes_impl.h"

/*
 * Return whether SYM is known to be a function's entry. The kernel also accepts a return probe in the middle of a function, and
 * then overwrites the stack of a running function.
 */
static bool is_entry(struct record_symbols *symbols, const struct kernel_sym *sym)
{
	struct kernel_image *image;

	if (kernel_tracing_is_ftrace(symbols->tracing, sym) == KERNEL_YES)
		return true;
	if (sym->module || record_symbols_image(symbols, &image) || !image)
		return false;
	return kernel_image_is_function(image, sym->name, sym->addr - symbols->ks->stext, NULL);
}

static const char *refuse(const struct record_kernel *kernel, struct record_site *site,
			  enum record_skip *skip)
{
	struct record_symbols *symbols = kernel->symbols;
	const char *why_not = record_features_why_not_kprobe(kernel->features);

	*skip = RECORD_SKIP_MECHANISM;
	if (!why_not && kernel_tracing_is_ftrace(symbols->tracing, site->sym) == KERNEL_YES)
		why_not = record_features_why_not_ftrace(kernel->features);
	why_not = why_not ?: record_symbols_why_patched(symbols, site->sym);
	if (why_not)
		return why_not;
	*skip = RECORD_SKIP_BLACKLISTED;
	if (kernel_tracing_is_blacklisted(symbols->tracing, site->sym->addr) == KERNEL_YES)
		return kernel_place_text(KERNEL_PLACE_BLACKLISTED);
	*skip = RECORD_SKIP_NOT_FTRACE;
	if (site->named ? !is_entry(symbols, site->sym) :
			  kernel_tracing_is_ftrace(symbols->tracing, site->sym) != KERNEL_YES)
		return "it may not be a function entry (it has no ftrace location; a vmlinux with "
		       "symbols can tell, see --vmlinux), and a return probe anywhere else would "
		       "corrupt the kernel";
	if (record_symbols_is_notrace(symbols, site->sym))
		return "it has no ftrace location, and this kernel refuses probes on such "
		       "functions (built without CONFIG_KPROBE_EVENTS_ON_NOTRACE)";
	return NULL;
}

/* Attach the program FD to TARGET. Return the link's descriptor or -errno. If FD is negative, return FD. */
static int link_half(int fd, bool on_return, const struct record_target *target)
{
	return record_kprobe_attach(fd, target->addr, on_return, ENGINE_KEY(target->site, 0));
}

static int entry_program(const struct record_probes *probes, const struct record_target *target)
{
	const struct kprotperf_bpf *skel = probes->skel;

	return record_saved_fd(record_engine_saved_programs(probes->engine),
			       target->capture ? skel->progs.function_kprobe_capture :
						 skel->progs.function_kprobe);
}

#define FIRST_FEW      64 /* number of functions attached before the total time is estimated */
#define LONG_TO_ATTACH 10 /* s; print a note if attaching takes longer than this */

/* DONE entry probes have taken the time since START. If entries and returns of N functions will take long, print a note. */
static void say_if_long(uint64_t start, uint32_t done, uint32_t n)
{
	double s = 2e-9 * (double)(clock_ns() - start) / done * n;

	if (done == FIRST_FEW && s > LONG_TO_ATTACH)
		log_note("attaching %u functions by kprobe takes about %.0f s, and detaching takes "
			 "longer; a kernel with kprobe.multi (CONFIG_FPROBE) attaches them at "
			 "once",
			 n, s);
}

/*
 * Attach the probe at the entry before that at the return. The kernel runs the latest probe first, so its work at the entry for
 * the return probe comes before the entry program, which starts the call's time. No task is followed yet, so no return is missed.
 */
static void attach(struct record_probes *probes, struct record_target *targets, uint32_t n)
{
	uint64_t start = clock_ns();

	for (uint32_t i = 0; i < n; i++) {
		struct record_attached a = { .site = targets[i].site, .ret = -1 };

		log_progress("attaching functions by kprobe: %u of %u", i + 1, n);
		a.entry = interrupt_signal() ?
				  -EINTR :
				  link_half(entry_program(probes, &targets[i]), false, &targets[i]);
		targets[i].err = a.entry < 0 ? a.entry : 0;
		if (!targets[i].err)
			vec_push(probes, attached, a);
		say_if_long(start, i + 1, n);
	}
}

static const struct bpf_program *return_program(const struct kprotperf_bpf *skel,
						enum profile_mechanism reached, bool capture)
{
	switch (reached) {
	case PROFILE_MECH_KPROBE_OPTIMIZED:
		return capture ? skel->progs.function_kretprobe_capture_optimized :
				 skel->progs.function_kretprobe_optimized;
	case PROFILE_MECH_KPROBE_INT3:
		return capture ? skel->progs.function_kretprobe_capture_int3 :
				 skel->progs.function_kretprobe_int3;
	default:
		return capture ? skel->progs.function_kretprobe_capture :
				 skel->progs.function_kretprobe;
	}
}

/* Load a copy of PROG that captures TARGET's values. Return the copy's descriptor, which the caller closes, or -errno. */
static int load_capture(const struct record_saved_programs *saved_programs,
			const struct bpf_program *prog, const struct record_target *target)
{
	const struct record_saved_program *saved = record_saved_find(saved_programs, prog);
	int fd = -ENOENT;

	for (int how = 0; saved && fd < 0 && how <= RECORD_READING_COPIES; how++) {
		struct record_saved_program copy = record_saved_copy(saved);

		record_capture_write(&copy, target, offsetof(struct engine_saved, ret) / 8, false,
				     (enum record_reading)how);
		fd = record_saved_load(saved_programs, &copy, 0, 0, 0);
		record_saved_free(&copy);
	}
	return fd;
}

static int complete(struct record_probes *probes, const struct record_target *target,
		    enum profile_mechanism reached)
{
	struct record_attached *a = record_attached_find(probes, target->site);
	const struct bpf_program *prog =
		return_program(probes->skel, reached, target->capture != NULL);
	struct record_saved_programs *saved_programs = record_engine_saved_programs(probes->engine);
	int fd, link;

	if (!a)
		return -ENOENT;
	fd = target->capture ? load_capture(saved_programs, prog, target) :
			       record_saved_fd(saved_programs, prog);
	if (target->capture && fd >= 0)
		a->progs[1] = fd;
	link = link_half(fd, true, target);
	if (link < 0) {
		record_attached_remove(probes, a);
		return link;
	}
	a->ret = link;
	return 0;
}

/* Bytes of kernel memory for two probe events, without open calls. On 6.1, MemAvailable falls by 7.4 to 7.8 KiB. */
#define MEMORY (8u << 10)

/* Add memory for open calls: the kernel allocates it for at least 10 calls. */
static size_t memory(const struct record_machine *machine)
{
	size_t calls = machine->n_cpus > 5 ? 2ul * machine->n_cpus : 10;

	return MEMORY + calls * record_call_memory(machine, "kretprobe_instance");
}

const struct record_mechanism record_kprobe_mechanism = {
	.mech = PROFILE_MECH_KPROBE,
	.ways = { PROFILE_MECH_KPROBE_OPTIMIZED, PROFILE_MECH_KPROBE_INT3 },
	.why_not = record_features_why_not_kprobe,
	.memory = memory,
	.refuse = refuse,
	.attach = attach,
	.complete = complete,
};

/* ---- the kernel's optimizer of kprobes ---- */

#define OPTIMIZATION_PATH "/proc/sys/debug/kprobes-optimization"

/*
 * Interval between two looks at the code, in which this process sleeps. The optimizer waits until every task has slept once. If
 * the optimizer finds a running task, it waits for 0.1 s.
 */
#define STEP_MS 10

enum profile_mechanism record_optimizer_look(const struct record_engine *e, uint64_t addr)
{
	static const enum profile_mechanism mechanisms[] = {
		[ARCH_PATCH_NONE] = PROFILE_UNTIMED,
		[ARCH_PATCH_CALL] = PROFILE_MECH_KPROBE,
		[ARCH_PATCH_JUMP] = PROFILE_MECH_KPROBE_OPTIMIZED,
		[ARCH_PATCH_TRAP] = PROFILE_MECH_KPROBE_INT3,
	};
	uint32_t text = record_engine_text(e, addr), mark = arch_entry_mark_len(text);

	return mechanisms[arch_patch_of(mark ? record_engine_text(e, addr + mark) : text)];
}

bool record_optimizer_is_off(void)
{
	char line[16];

	return !file_read_line(OPTIMIZATION_PATH, line, sizeof(line)) || !atoi(line);
}

enum profile_mechanism record_optimizer_await(const struct record_engine *e, uint64_t addr)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
	int left = record_optimizer_is_off() ? 0 : RECORD_OPTIMIZER_MS;
	enum profile_mechanism found;

	while ((found = record_optimizer_look(e, addr)) == PROFILE_MECH_KPROBE_INT3 && left > 0) {
		nanosleep(&step, NULL);
		left -= STEP_MS;
	}
	return found;
}
