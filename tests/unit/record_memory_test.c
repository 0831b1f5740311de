// SPDX-License-Identifier: GPL-2.0-or-later
/* Estimate the kernel memory of probes, from BTF's type for calls in flight. */
#include <bpf/btf.h>

#include "test.h"
#include "record/probe/choose.h"

#define MIB (1ul << 20)

TEST(calls_in_flight_are_kept_for_each_cpu)
{
	struct btf *btf = btf__new_empty();
	const struct record_machine small = { 1, btf }, large = { 512, btf };
	size_t before = record_probe_memory(&large, PROFILE_MECH_MULTI, 20000);

	/* Linux 6.14 has no struct fprobe_rethook_node. */
	assert_in_range(before, MIB, 16 * MIB);
	assert_int_equal(record_probe_memory(&small, PROFILE_MECH_MULTI, 20000), before);
	/* The kernel has two such structs per CPU. Each has 72 bytes, for which it allocates 96. */
	assert_true(btf__add_struct(btf, "fprobe_rethook_node", 72) > 0);
	assert_int_equal(record_probe_memory(&large, PROFILE_MECH_MULTI, 20000) - before,
			 20000ul * 2 * 512 * 96);
	assert_int_equal(record_probe_memory(&small, PROFILE_MECH_MULTI, 20000) - before,
			 20000ul * 2 * 96);
	btf__free(btf);
}

TEST(a_kretprobe_keeps_ten_at_least)
{
	struct btf *btf = btf__new_empty();
	const struct record_machine small = { 1, btf }, large = { 64, btf }, blind = { 64, NULL };

	assert_true(btf__add_struct(btf, "kretprobe_instance", 56) > 0);
	assert_int_equal(record_probe_memory(&small, PROFILE_MECH_KPROBE, 1) -
				 record_probe_memory(&blind, PROFILE_MECH_KPROBE, 1),
			 10 * 64);
	assert_int_equal(record_probe_memory(&large, PROFILE_MECH_KPROBE, 1) -
				 record_probe_memory(&blind, PROFILE_MECH_KPROBE, 1),
			 128 * 64);
	btf__free(btf);
}

TEST(what_is_not_probed_takes_nothing)
{
	const struct record_machine machine = { 512, NULL };

	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		assert_int_equal(record_probe_memory(&machine, mech, 0), 0);
	assert_int_equal(record_point_memory(0), 0);
}

RUN_TESTS(NULL, NULL)
