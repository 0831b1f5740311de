/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helpers for the tests of data files. Include after test.h. */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "base/alloc.h"
#include "profile/file/file.h"

static char dir[40], path[64], other[64];

fixture_fn int setup(void **state)
{
	(void)state;
	/* The tests write thousands of small files: keep them in memory if possible. */
	snprintf(dir, sizeof(dir), "%s/kprotperf-test.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/test.data", dir);
	snprintf(other, sizeof(other), "%s/other.data", dir);
	return 0;
}

fixture_fn int teardown(void **state)
{
	(void)state;
	unlink(path);
	unlink(other);
	return rmdir(dir);
}

/* Capture a call's messages on stderr as one string. */
static int saved_stderr = -1;
static FILE *said_file;

fixture_fn void listen_start(void)
{
	fflush(stderr);
	saved_stderr = dup(STDERR_FILENO);
	said_file = fdopen(memfd_create("said", MFD_CLOEXEC), "r+");
	assert_non_null(said_file);
	dup2(fileno(said_file), STDERR_FILENO);
}

fixture_fn const char *listen_end(void)
{
	static char said[1000];
	size_t n;

	fflush(stderr);
	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);
	rewind(said_file);
	n = fread(said, 1, sizeof(said) - 1, said_file);
	said[n] = '\0';
	fclose(said_file);
	return said;
}

fixture_fn size_t load(const char *from, unsigned char **bytes)
{
	FILE *file = fopen(from, "re");
	struct stat st;
	size_t n;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	*bytes = malloc(st.st_size + 1);
	n = fread(*bytes, 1, st.st_size, file);
	assert_int_equal(n, st.st_size);
	fclose(file);
	return n;
}

fixture_fn void store(const char *to, const void *bytes, size_t n)
{
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

/* Check that reading the file fails with ERR, and with one line on stderr that contains WHAT. */
fixture_fn void assert_refused(int err, const char *what)
{
	struct profile *p = (struct profile *)1;
	const char *said;
	int got;

	listen_start();
	got = profile_file_read(path, &p);
	said = listen_end();
	if (!strstr(said, what) || strncmp(said, "kprotperf: ", 11) ||
	    strchr(said, '\n') != said + strlen(said) - 1)
		fail_msg("expected one line with '%s', got '%s'", what, said);
	assert_non_null(strstr(said, path));
	assert_int_equal(got, err);
	assert_null(p);
}

fixture_fn void assert_same_string(const char *a, const char *b)
{
	if (a && b)
		assert_string_equal(a, b);
	else
		assert_true(a == b);
}

fixture_fn void assert_same_double(double a, double b)
{
	assert_memory_equal(&a, &b, sizeof(a));
}

fixture_fn void assert_same_head(const struct profile *a, const struct profile *b)
{
	uint32_t i;

	assert_int_equal(a->clock, b->clock);
	assert_int_equal(a->freq, b->freq);
	assert_true(a->sample_period == b->sample_period);
	assert_int_equal(a->n_args, b->n_args);
	for (i = 0; i < a->n_args; i++)
		assert_string_equal(a->args[i], b->args[i]);
	assert_int_equal(a->n_envs, b->n_envs);
	for (i = 0; i < a->n_envs; i++) {
		assert_string_equal(a->envs[i].key, b->envs[i].key);
		assert_string_equal(a->envs[i].value, b->envs[i].value);
	}
	assert_int_equal(a->n_sites, b->n_sites);
	for (i = 0; i < a->n_sites; i++) {
		assert_string_equal(a->sites[i].name, b->sites[i].name);
		assert_same_string(a->sites[i].symbol, b->sites[i].symbol);
		assert_int_equal(a->sites[i].kind, b->sites[i].kind);
		assert_int_equal(a->sites[i].mech, b->sites[i].mech);
		assert_true(a->sites[i].addr == b->sites[i].addr);
		assert_same_string(a->sites[i].into, b->sites[i].into);
		assert_same_string(a->sites[i].chain, b->sites[i].chain);
		assert_same_string(a->sites[i].estimated, b->sites[i].estimated);
		assert_same_string(a->sites[i].file, b->sites[i].file);
		assert_int_equal(a->sites[i].line, b->sites[i].line);
		assert_true(a->sites[i].missed == b->sites[i].missed);
	}
	assert_int_equal(a->n_contexts, b->n_contexts);
	for (i = 0; i < a->n_contexts; i++)
		assert_string_equal(a->contexts[i].name, b->contexts[i].name);
}

fixture_fn void assert_same_runs(const struct profile *a, const struct profile *b)
{
	uint32_t i, j;

	assert_int_equal(a->n_runs, b->n_runs);
	for (i = 0; i < a->n_runs; i++) {
		const struct profile_run *x = &a->runs[i], *y = &b->runs[i];

		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->boot, y->boot);
		assert_true(x->wall == y->wall);
		assert_true(x->cpu == y->cpu);
		assert_int_equal(x->status, y->status);
		assert_int_equal(x->end, y->end);
		assert_memory_equal(x->losses, y->losses, sizeof(x->losses));
		assert_true(x->samples_expected == y->samples_expected);
		assert_true(x->samples_received == y->samples_received);
		assert_int_equal(x->n_reports, y->n_reports);
		for (j = 0; j < x->n_reports; j++) {
			assert_string_equal(x->reports[j].name, y->reports[j].name);
			assert_true(x->reports[j].iterations == y->reports[j].iterations);
			assert_same_double(x->reports[j].mean, y->reports[j].mean);
			assert_same_double(x->reports[j].p50, y->reports[j].p50);
			assert_same_double(x->reports[j].min, y->reports[j].min);
		}
	}
}

fixture_fn void assert_same_cells(const struct profile *a, const struct profile *b)
{
	uint32_t i, j;

	assert_int_equal(a->n_cells, b->n_cells);
	for (i = 0; i < a->n_cells; i++) {
		const struct profile_stats *x = &a->cells[i].stats, *y = &b->cells[i].stats;

		assert_int_equal(a->cells[i].run, b->cells[i].run);
		assert_int_equal(a->cells[i].site, b->cells[i].site);
		assert_int_equal(a->cells[i].context, b->cells[i].context);
		assert_true(x->calls == y->calls);
		assert_true(x->entries == y->entries);
		assert_true(x->errors == y->errors);
		assert_true(x->wall == y->wall);
		assert_true(x->oncpu == y->oncpu);
		assert_true(x->self == y->self);
		assert_true(x->cost == y->cost);
		assert_same_double(x->sumsq, y->sumsq);
		assert_true(x->min == y->min);
		assert_true(x->max == y->max);
		assert_int_equal(x->n_buckets, y->n_buckets);
		for (j = 0; j < x->n_buckets; j++) {
			assert_int_equal(x->buckets[j].slot, y->buckets[j].slot);
			assert_true(x->buckets[j].count == y->buckets[j].count);
		}
	}
}

fixture_fn void assert_same_stacks(const struct profile *a, const struct profile *b)
{
	uint32_t i, j;

	assert_int_equal(a->n_locations, b->n_locations);
	for (i = 0; i < a->n_locations; i++) {
		const struct profile_location *x = &a->locations[i], *y = &b->locations[i];

		assert_true(x->addr == y->addr);
		assert_same_string(x->module, y->module);
		assert_int_equal(x->n_frames, y->n_frames);
		for (j = 0; j < x->n_frames; j++) {
			assert_string_equal(x->frames[j].name, y->frames[j].name);
			assert_same_string(x->frames[j].file, y->frames[j].file);
			assert_int_equal(x->frames[j].line, y->frames[j].line);
			assert_int_equal(x->frames[j].inlined, y->frames[j].inlined);
		}
	}
	assert_int_equal(a->n_stacks, b->n_stacks);
	for (i = 0; i < a->n_stacks; i++) {
		assert_int_equal(a->stacks[i].n_locations, b->stacks[i].n_locations);
		for (j = 0; j < a->stacks[i].n_locations; j++)
			assert_int_equal(a->stacks[i].locations[j], b->stacks[i].locations[j]);
	}
	assert_int_equal(a->n_samples, b->n_samples);
	for (i = 0; i < a->n_samples; i++) {
		assert_int_equal(a->samples[i].run, b->samples[i].run);
		assert_int_equal(a->samples[i].context, b->samples[i].context);
		assert_int_equal(a->samples[i].stack, b->samples[i].stack);
		assert_int_equal(a->samples[i].flags, b->samples[i].flags);
		assert_true(a->samples[i].count == b->samples[i].count);
	}
}

/* Add two basic blocks of the function SITE. Their counts are known in run 0, and in part in the last run. */
fixture_fn void fixture_add_blocks(struct profile *p, uint32_t site)
{
	struct profile_blocks blocks = { .site = site };
	struct profile_block_counts *counts;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		struct profile_block block = { .addr = 0x1000 + i * 16,
					       .bytes = 16,
					       .insns = 4 + i,
					       .reached = i == 0,
					       .callee = i ? profile_intern(p, "memset") : NULL };

		block.location = profile_location_add(p, block.addr, NULL);
		vec_push(&blocks, items, block);
	}
	vec_push(&blocks, arcs, ((struct profile_arc){ 0, 1 }));
	vec_push(&blocks, arcs, ((struct profile_arc){ 0, PROFILE_ARC_ANY }));
	vec_push(&blocks, arcs, ((struct profile_arc){ 1, PROFILE_ARC_OUT }));
	i = profile_blocks_add(p, &blocks);
	counts = profile_block_counts(p, 0, i, 0);
	counts->calls = 10;
	counts->counts[0] = 10;
	counts->counts[1] = 3;
	counts = profile_block_counts(p, p->n_runs - 1, i, 1);
	counts->calls = 7;
	counts->residual = 2;
	counts->counts[0] = 1ull << 58;
	counts->counts[1] = PROFILE_NOT_COUNTED;
}

/* Add N variables with NAMES to function SITE, and two rows of calls of run 0. The second row lacks the last variable's value. */
fixture_fn void fixture_add_captures(struct profile *p, uint32_t site, uint32_t n,
				     const char *const *names)
{
	struct profile_capture c = {
		.site = site, .calls = 3, .time = -5, .sumsq = 0.1, .min = 1, .max = 1ull << 58
	};

	for (uint32_t i = 0; i < n; i++) {
		profile_variable_add(p, &(struct profile_variable){ .site = site,
								    .name = names[i],
								    .kind = PROFILE_VARIABLE_MEMBER,
								    .bytes = 4,
								    .is_flags = i == 1 });
		c.values[i] = (uint64_t)names[i][0] << 56 | i;
	}
	profile_capture_add(p, &c);
	c.values[n - 1] = 0;
	c.absent = 1u << (n - 1);
	c.sampled = true;
	profile_capture_add(p, &c);
}

/* Add two counted events to calls of run 0. In one of them, the probes' own events exceed the count. */
fixture_fn void fixture_add_counted(struct profile *p)
{
	uint32_t misses = profile_counter_add(p, "dTLB-load-misses");
	uint32_t faults = profile_counter_add(p, "page-faults");

	profile_counted_add(p, &(struct profile_counted){ 0, 0, 1, misses, 3, -(1ll << 58), -5 });
	profile_counted_add(p,
			    &(struct profile_counted){ 0, 1, 1, faults, 1ull << 58, 1ll << 58, 0 });
	profile_counter_cost_set(
		p, &(struct profile_counter_cost){ faults, PROFILE_MECH_FENTRY, 41, 2, 130.5, 7 });
}

fixture_fn void assert_same_counted(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->n_counters, b->n_counters);
	for (uint32_t i = 0; i < a->n_counters; i++)
		assert_string_equal(a->counters[i].name, b->counters[i].name);
	assert_int_equal(a->n_counted, b->n_counted);
	for (uint32_t i = 0; i < a->n_counted; i++) {
		const struct profile_counted *x = &a->counted[i], *y = &b->counted[i];

		assert_true(x->run == y->run && x->site == y->site && x->context == y->context &&
			    x->counter == y->counter && x->calls == y->calls &&
			    x->total == y->total && x->self == y->self);
	}
	assert_int_equal(a->n_counter_costs, b->n_counter_costs);
	for (uint32_t i = 0; i < a->n_counter_costs; i++) {
		const struct profile_counter_cost *x = &a->counter_costs[i],
						  *y = &b->counter_costs[i];

		assert_true(x->counter == y->counter && x->mech == y->mech &&
			    x->inner == y->inner && x->inner_spread == y->inner_spread &&
			    x->full == y->full && x->full_spread == y->full_spread);
	}
}

fixture_fn void assert_same_captures(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->n_variables, b->n_variables);
	for (uint32_t i = 0; i < a->n_variables; i++) {
		const struct profile_variable *x = &a->variables[i], *y = &b->variables[i];

		assert_string_equal(x->name, y->name);
		assert_true(x->site == y->site && x->kind == y->kind && x->bytes == y->bytes &&
			    x->is_signed == y->is_signed && x->is_flags == y->is_flags);
	}
	assert_int_equal(a->n_captures, b->n_captures);
	for (uint32_t i = 0; i < a->n_captures; i++) {
		const struct profile_capture *x = &a->captures[i], *y = &b->captures[i];

		assert_true(x->run == y->run && x->site == y->site && x->context == y->context);
		assert_true(x->sampled == y->sampled && x->absent == y->absent);
		assert_true(x->calls == y->calls && x->time == y->time && x->sumsq == y->sumsq &&
			    x->min == y->min && x->max == y->max);
		assert_memory_equal(x->values, y->values, sizeof(x->values));
	}
}

fixture_fn void assert_same_blocks(const struct profile *a, const struct profile *b)
{
	uint32_t i, j;

	assert_int_equal(a->n_blocks, b->n_blocks);
	for (i = 0; i < a->n_blocks; i++) {
		const struct profile_blocks *x = &a->blocks[i], *y = &b->blocks[i];

		assert_int_equal(x->site, y->site);
		assert_int_equal(x->entry, y->entry);
		assert_int_equal(x->n_items, y->n_items);
		for (j = 0; j < x->n_items; j++) {
			assert_true(x->items[j].addr == y->items[j].addr);
			assert_int_equal(x->items[j].bytes, y->items[j].bytes);
			assert_int_equal(x->items[j].insns, y->items[j].insns);
			assert_int_equal(x->items[j].location, y->items[j].location);
			assert_int_equal(x->items[j].reached, y->items[j].reached);
			assert_same_string(x->items[j].callee, y->items[j].callee);
		}
		assert_int_equal(x->n_arcs, y->n_arcs);
		for (j = 0; j < x->n_arcs; j++) {
			assert_int_equal(x->arcs[j].from, y->arcs[j].from);
			assert_int_equal(x->arcs[j].to, y->arcs[j].to);
		}
	}
	assert_int_equal(a->n_block_counts, b->n_block_counts);
	for (i = 0; i < a->n_block_counts; i++) {
		const struct profile_block_counts *x = &a->block_counts[i];
		const struct profile_block_counts *y = &b->block_counts[i];

		assert_int_equal(x->run, y->run);
		assert_int_equal(x->blocks, y->blocks);
		assert_int_equal(x->context, y->context);
		assert_true(x->calls == y->calls);
		assert_true(x->residual == y->residual);
		for (j = 0; j < a->blocks[x->blocks].n_items; j++)
			assert_true(x->counts[j] == y->counts[j]);
	}
}

fixture_fn void assert_same(const struct profile *a, const struct profile *b)
{
	assert_same_head(a, b);
	assert_same_runs(a, b);
	assert_same_cells(a, b);
	assert_same_stacks(a, b);
	assert_same_blocks(a, b);
	assert_same_captures(a, b);
	assert_same_counted(a, b);
}
