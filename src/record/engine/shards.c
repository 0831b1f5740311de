// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine/shards.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/number.h"

/* From far to near. Which of a CPU's caches is its last differs; that of the third level has a number of its own. */
static const char *const levels[] = { "topology/physical_package_id", "cache/index3/id",
				      "topology/core_id" };

#define UNKNOWN  UINT32_MAX
#define N_LEVELS ARRAY_SIZE(levels)

struct place {
	uint32_t at[N_LEVELS], cpu;
};

static uint32_t read_level(const char *cpus, uint32_t cpu, const char *level)
{
	scoped_free char *text = NULL;
	const char *digits;
	uint64_t value;
	char path[256];
	size_t len;

	snprintf(path, sizeof(path), "%s/cpu%u/%s", cpus, cpu, level);
	if (file_read(path, 64, &text, &len))
		return UNKNOWN;
	digits = text;
	return number_scan(&digits, &value) ? (uint32_t)value : UNKNOWN;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	for (size_t i = 0; i < N_LEVELS; i++)
		if (x->at[i] != y->at[i])
			return x->at[i] < y->at[i] ? -1 : 1;
	return x->cpu < y->cpu ? -1 : 1;
}

void record_shards(const char *cpus, uint32_t n_cpus, uint32_t n_shards, uint32_t *shards)
{
	scoped_free struct place *places = alloc_array(n_cpus, sizeof(*places));
	uint32_t n = 0;

	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		struct place *p = &places[n];

		shards[cpu] = cpu % n_shards;
		if (n_shards >= n_cpus)
			continue;
		p->cpu = cpu;
		for (size_t level = 0; level < N_LEVELS; level++)
			p->at[level] = read_level(cpus, cpu, levels[level]);
		n += p->at[0] != UNKNOWN;
	}
	qsort(places, n, sizeof(*places), compare_places);
	for (uint32_t i = 0; i < n; i++)
		shards[places[i].cpu] = (uint64_t)i * n_shards / n;
}
