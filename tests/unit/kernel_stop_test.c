// SPDX-License-Identifier: GPL-2.0-or-later
/* Show the conditions under which loops continue, with the names of the source, for the compiled tests/symbol/loops.c. */
#include "test.h"
#include "base/alloc.h"
#include "kernel/cfg/stop.h"
#include "kernel/code/flow_function.h"

#include "kernel_fixture.h"

/* Use an address like a kernel's, because a loop may compare with an address. */
#define KERNEL_BASE "0xffffffff81000000"

static uint64_t address_of(struct kernel_image *img, const char *name)
{
	for (uint64_t addr = 0; addr < 4096; addr++) {
		uint64_t offset;
		const char *found = kernel_image_symbol_at(img, addr, &offset);

		if (found && !offset && !strcmp(found, name))
			return addr;
	}
	fail_msg("no %s", name);
	return 0;
}

/* Return the conditions of all loops of FLOW, one per line. The caller frees them. */
static char *conditions(struct kernel_image *img, const struct kernel_flow *flow)
{
	struct kernel_stops *stops = kernel_stops_create(img);
	scoped_free struct kernel_stop_block *places = alloc_array(flow->n_blocks, sizeof(*places));
	struct kernel_graph graph;
	struct kernel_loops loops;
	char *text = alloc_strdup("");

	assert_non_null(stops);
	assert_int_equal(kernel_graph_of(flow, &graph), 0);
	kernel_loops_find(&graph, &loops);
	for (uint32_t i = 0; i < flow->n_blocks; i++)
		places[i] = (struct kernel_stop_block){
			flow->blocks[i].start,
			(uint32_t)(flow->blocks[i].end - flow->blocks[i].start),
		};
	for (uint32_t i = 0; i < loops.n_loops; i++) {
		scoped_free char *condition = kernel_stop_of(
			stops, &(struct kernel_stop_function){ &graph, &loops, places }, i);

		alloc_append(&text, "%s\n", condition ?: "-");
	}
	kernel_loops_clear(&loops);
	kernel_graph_clear(&graph);
	kernel_stops_destroy(stops);
	return text;
}

TEST(test_addresses)
{
	scoped_free char *text = NULL;
	struct kernel_image *img;
	struct kernel_code *code;
	struct kernel_flow *flow;

	if (!fixture_build_of("loops.c", "loops",
			      "-g -mcmodel=kernel -Wl,-Ttext=" KERNEL_BASE
			      " -Wl,--defsym=_stext=" KERNEL_BASE))
		fixture_skip(FIXTURE_NO_COMPILER);
	assert_int_equal(kernel_image_open(fixture_path("loops"), &img), 0);
	assert_int_equal(kernel_code_create(img, NULL, &code), 0);
	assert_int_equal(kernel_flow_of(code, address_of(img, "walk"), &flow), 0);
	text = conditions(img, flow);
	assert_non_null(strstr(text, "i != &first\n"));
	assert_non_null(strstr(text, "i != (&pair + 0x10)\n"));
	/* A 32-bit number is not an address. */
	assert_non_null(strstr(text, "k != 0x81080000\n"));
	kernel_flow_destroy(flow);
	kernel_code_destroy(code);
	kernel_image_destroy(img);
}

RUN_TESTS(fixture_setup, fixture_teardown)
