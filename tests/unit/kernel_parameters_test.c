// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the locations of an inlined body's parameters in DWARF. */
#include "test.h"
#include "kernel/debuginfo/index.h"
#include "kernel/debuginfo/variables.h"

#include "kernel_fixture.h"

#define RDI 5
#define RSI 4

static int copy_body(const struct kernel_body *body, void *arg)
{
	*(struct kernel_body *)arg = *body;
	return 0;
}

static struct kernel_location at_entry(struct kernel_image *img, const struct kernel_body *body,
				       const struct kernel_parameter *parameter)
{
	struct kernel_location at;

	assert_true(kernel_parameter_at(img, parameter, body->entry, &at));
	assert_false(at.in_memory || at.is_address);
	return at;
}

TEST(test_parameters)
{
	struct kernel_parameter p[4];
	struct kernel_location at;
	struct kernel_image *img;
	struct kernel_index *idx;
	struct kernel_body body = {};
	Dwarf_Die of;

	if (!fixture_build_of("parameters.c", "parameters", "-g"))
		fixture_skip(FIXTURE_NO_COMPILER);
	assert_int_equal(kernel_image_open(fixture_path("parameters"), &img), 0);
	assert_int_equal(kernel_index_build(img, &idx), 0);
	assert_int_equal(kernel_index_bodies_each(idx, "inl", copy_body, &body, NULL), 0);

	assert_int_equal(kernel_parameters_of(img, &body, p, 2), 2);
	assert_int_equal(kernel_parameters_of(img, &body, p, 4), 3);
	assert_string_equal(p[0].name, "thing");
	assert_string_equal(p[1].name, "n");
	assert_string_equal(p[2].name, "ten");
	assert_true(kernel_type_pointed_to(&p[0].type, &of));
	assert_string_equal(dwarf_diename(&of), "thing");

	assert_int_equal(at_entry(img, &body, &p[0]).reg, RDI);
	assert_int_equal(at_entry(img, &body, &p[1]).reg, RSI);
	at = at_entry(img, &body, &p[2]);
	assert_int_equal(at.reg, KERNEL_NO_REGISTER);
	assert_int_equal(at.offset, 10);

	/* Locations in other functions, and parameters of other bodies, are unknown. */
	assert_false(kernel_parameter_at(img, &p[1], body.function.addr + 0x10000, &at));
	body.call_line++;
	assert_int_equal(kernel_parameters_of(img, &body, p, 4), 0);
	kernel_index_destroy(idx);
	kernel_image_destroy(img);
}

RUN_TESTS(fixture_setup, fixture_teardown)
