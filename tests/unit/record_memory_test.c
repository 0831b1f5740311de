// SPDX-License-Identifier: GPL-2.0-or-later
/* Estimate the kernel memory of probes, from BTF's type for calls in flight. */
#include <bpf/btf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/probe/memory.h"

#define MIB (1ul << 20)

static void calls_in_flight_are_kept_for_each_cpu(void **state)
{
	struct btf *btf = btf__new_empty();
	const struct record_machine small = { 1, btf }, large = { 512, btf };
	size_t before = record_probe_memory(&large, PROFILE_MECH_MULTI, 20000);

	(void)state;
	/* Linux 6.14 has no such type. */
	assert_in_range(before, MIB, 16 * MIB);
	assert_int_equal(record_probe_memory(&small, PROFILE_MECH_MULTI, 20000), before);
	/* Two per CPU, of 72 bytes each: the kernel allocates 96. */
	assert_true(btf__add_struct(btf, "fprobe_rethook_node", 72) > 0);
	assert_int_equal(record_probe_memory(&large, PROFILE_MECH_MULTI, 20000) - before,
			 20000ul * 2 * 512 * 96);
	assert_int_equal(record_probe_memory(&small, PROFILE_MECH_MULTI, 20000) - before,
			 20000ul * 2 * 96);
	btf__free(btf);
}

static void a_kretprobe_keeps_ten_at_least(void **state)
{
	struct btf *btf = btf__new_empty();
	const struct record_machine small = { 1, btf }, large = { 64, btf }, blind = { 64, NULL };

	(void)state;
	assert_true(btf__add_struct(btf, "kretprobe_instance", 56) > 0);
	assert_int_equal(record_probe_memory(&small, PROFILE_MECH_KPROBE, 1) -
				 record_probe_memory(&blind, PROFILE_MECH_KPROBE, 1),
			 10 * 64);
	assert_int_equal(record_probe_memory(&large, PROFILE_MECH_KPROBE, 1) -
				 record_probe_memory(&blind, PROFILE_MECH_KPROBE, 1),
			 128 * 64);
	btf__free(btf);
}

static void what_is_not_probed_takes_nothing(void **state)
{
	const struct record_machine machine = { 512, NULL };

	(void)state;
	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		assert_int_equal(record_probe_memory(&machine, mech, 0), 0);
	assert_int_equal(record_point_memory(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_in_flight_are_kept_for_each_cpu),
		cmocka_unit_test(a_kretprobe_keeps_ten_at_least),
		cmocka_unit_test(what_is_not_probed_takes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
