// SPDX-License-Identifier: GPL-2.0-or-later
/* Share counters between CPUs by the kernel's topology. */
#include <limits.h>
#include <stdio.h>

#include "test.h"
#include "record/engine/engine.h"

#define N_CPUS 16

static char folder[] = "/tmp/record_shards_test.XXXXXX";

/* Write NUMBER to a file in CPU's folder. */
static void say(unsigned int cpu, const char *in, const char *file, unsigned int number)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "mkdir -p %s/cpu%u/%s && echo %u >%s/cpu%u/%s/%s",
		 folder, cpu, in, number, folder, cpu, in, file);
	assert_int_equal(system(command), 0);
}

/*
 * CPUs alternate between two packages with two caches each. A cache has two cores, and a core two CPUs, n and n + 8. The last CPU
 * is offline.
 */
static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	for (unsigned int cpu = 0; cpu < N_CPUS - 1; cpu++) {
		unsigned int core = cpu % 8;

		say(cpu, "topology", "physical_package_id", core % 2);
		say(cpu, "cache/index3", "id", core % 4);
		say(cpu, "topology", "core_id", core);
	}
	return 0;
}

static int tear_down(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

TEST(each_cpu_has_its_own_where_there_are_enough)
{
	uint32_t shards[N_CPUS];

	record_shards(folder, N_CPUS, N_CPUS, shards);
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
		assert_int_equal(shards[cpu], cpu);
}

/* The CPUs of a core share counters (a shard) first, then those of a cache, then those of a package. Fifteen CPUs are online. */
TEST(neighbours_share)
{
	uint32_t shards[N_CPUS];

	record_shards(folder, N_CPUS, 8, shards);
	for (uint32_t cpu = 0; cpu < 7; cpu++)
		assert_int_equal(shards[cpu], shards[cpu + 8]);
	record_shards(folder, N_CPUS, 4, shards);
	for (uint32_t cpu = 4; cpu < N_CPUS - 1; cpu++)
		assert_int_equal(shards[cpu], shards[cpu % 4]);
	record_shards(folder, N_CPUS, 2, shards);
	for (uint32_t cpu = 2; cpu < N_CPUS - 1; cpu++)
		assert_int_equal(shards[cpu], shards[cpu % 2]);
	assert_int_not_equal(shards[0], shards[1]);
	record_shards(folder, N_CPUS, 1, shards);
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
		assert_int_equal(shards[cpu], 0);
}

TEST(all_are_used_where_nothing_is_known)
{
	uint32_t shards[N_CPUS], n[4] = { 0 };

	record_shards("/nonexistent", N_CPUS, 4, shards);
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
		n[shards[cpu]]++;
	for (int i = 0; i < 4; i++)
		assert_int_equal(n[i], N_CPUS / 4);
}

RUN_TESTS(set_up, tear_down)
