// SPDX-License-Identifier: GPL-2.0-or-later
/* record --auto: choose functions by samples. */
#include "test.h"
#include "profile/profile.h"
#include "record/auto.h"

/* Add COUNT samples in CONTEXT, in the functions NAMES, innermost first, NULL last. */
static void add(struct profile *p, const char *context, uint32_t flags, uint64_t count,
		const char *const *names)
{
	uint32_t at[8], n = 0;

	for (; names[n]; n++) {
		at[n] = profile_location_add(p, (uintptr_t)names[n], NULL);
		if (!p->locations[at[n]].n_frames)
			profile_location_frame_add(p, at[n],
						   &(struct profile_frame){ .name = names[n] });
	}
	profile_sample_add(p, &(struct profile_sample){
				      .context = profile_context_add(p, context),
				      .stack = profile_stack_add(p, at, n),
				      .flags = flags,
				      .count = count,
			      });
}

#define ADD(p, context, flags, count, ...) \
	add(p, context, flags, count, (const char *const[]){ __VA_ARGS__, NULL })

TEST(test_choice)
{
	static const char entry[] = "entry", fork[] = "copy_process";
	static const char *const names[] = { "allocate_slab", "dup_mm", fork,     "restored",
					     entry,           "callee", "wrapper" };
	struct record_count items[ENGINE_COUNTED] = {};
	struct record_counts counts = { .items = items };
	struct profile *p = profile_create();

	profile_run_add(p, PROFILE_RUN_PROBED);
	record_auto_choose(&counts, p, 1e-6);
	assert_int_equal(counts.n_items, 0);
	ADD(p, "clone", PROFILE_SAMPLE_USER, 9999, "user");
	ADD(p, "clone", PROFILE_SAMPLE_PROBE, 9999, "[probe]", fork, entry);
	ADD(p, "clone", 0, 600, "dup_mm.constprop.0", fork, entry);
	/* A recursive function counts once per sample. */
	ADD(p, "clone", PROFILE_SAMPLE_LATE, 300, "restored", "restored", fork, entry);
	/* A function that does little but call another one has little time of its own. */
	ADD(p, "brk", 0, 90, "callee", "wrapper", entry);
	ADD(p, "brk", 0, 1, "wrapper", entry);
	/* Functions of protections come first. */
	ADD(p, "clone", 0, 2, "allocate_slab", entry);
	record_auto_choose(&counts, p, 1e-6);
	assert_int_equal(counts.n_items, sizeof(names) / sizeof(names[0]));
	for (uint32_t i = 0; i < counts.n_items; i++) {
		assert_string_equal(items[i].name, names[i]);
		free(items[i].name);
	}
	/* The limit of calls is higher for functions of protections. */
	assert_in_range(items[0].most, 9999, 10000);
	/* Limits assume that a call costs a millionth of the command's time. */
	assert_in_range(items[1].most, 4999, 5000);
	/* Probes do not distort a clock that counts instructions, so more calls may be timed. */
	p->clock = PROFILE_CLOCK_INSN;
	counts.n_items = 0;
	record_auto_choose(&counts, p, 1e-6);
	assert_in_range(items[0].most, 249999, 250000);
	for (uint32_t i = 0; i < counts.n_items; i++)
		free(items[i].name);
	profile_destroy(p);
}

RUN_TESTS(NULL, NULL)
