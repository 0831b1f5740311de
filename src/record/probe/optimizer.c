// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/probe/optimizer.h"

#include <stdlib.h>
#include <time.h>

#include "arch/arch.h"
#include "base/file.h"
#include "record/engine/engine.h"

#define OPTIMIZATION_PATH "/proc/sys/debug/kprobes-optimization"

/*
 * Between two looks. The optimizer waits until every task has slept once, and looks again only after 0.1 s
 * if it finds one running, which would be this one, were it to look all the time.
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
