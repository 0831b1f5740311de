// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions in BTF. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "kernel/image/btf.h"
#include "kernel_fixture.h"

static int no_print(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* Structs of 16 and of 24 bytes, an int; and then any number of arguments. */
static void add_large(struct btf *btf, int type)
{
	int two = btf__add_struct(btf, "two", 16), three = btf__add_struct(btf, "three", 24), proto;

	for (int any = 0; any < 2; any++) {
		proto = btf__add_func_proto(btf, type);
		btf__add_func_param(btf, "a", two);
		btf__add_func_param(btf, "b", three);
		btf__add_func_param(btf, "c", type);
		if (any)
			btf__add_func_param(btf, "", 0);
		assert_true(btf__add_func(btf, any ? "any" : "large", BTF_FUNC_STATIC, proto) > 0);
	}
}

static void test_functions(void **state)
{
	struct btf *btf = btf__new_empty();
	struct kernel_btf *b;
	const void *raw;
	uint32_t size;
	int type, proto, first = 0;

	(void)state;
	assert_non_null(btf);
	type = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	proto = btf__add_func_proto(btf, type);
	btf__add_func_param(btf, "a", type);
	btf__add_func_param(btf, "b", type);
	for (int i = 0; i < 1000; i++) {
		char name[32];
		int id;

		snprintf(name, sizeof(name), "function_%d", i);
		id = btf__add_func(btf, name, BTF_FUNC_STATIC, proto);
		if (!i)
			first = id;
	}
	btf__add_func(btf, "function_0", BTF_FUNC_STATIC, proto);
	btf__add_struct(btf, "function_x", 8);
	add_large(btf, type);
	raw = btf__raw_data(btf, &size);
	assert_int_equal(kernel_btf_load(fixture_write("btf", raw, size), &b), 0);
	btf__free(btf);

	assert_int_equal(kernel_btf_function(b, "function_0"), first);
	for (int i = 0; i < 1000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "function_%d", i);
		assert_int_equal(kernel_btf_function(b, name), first + i);
	}
	assert_int_equal(kernel_btf_function(b, "function_x"), -ENOENT);
	assert_int_equal(kernel_btf_function(b, "int"), -ENOENT);
	assert_int_equal(kernel_btf_function(b, ""), -ENOENT);
	assert_int_equal(kernel_btf_function_registers(b, first), 2);
	assert_int_equal(kernel_btf_function_registers(b, kernel_btf_function(b, "large")), 3);
	assert_int_equal(kernel_btf_function_registers(b, kernel_btf_function(b, "any")), -E2BIG);
	assert_int_equal(kernel_btf_function_registers(b, type), -EINVAL);
	assert_int_equal(kernel_btf_function_registers(b, -ENOENT), -EINVAL);
	assert_int_equal(kernel_btf_function_registers(b, 1 << 20), -EINVAL);
	assert_non_null(kernel_btf_raw(b));
	kernel_btf_destroy(b);
}

/* A module's functions, described on top of the kernel's. */
static void test_split(void **state)
{
	struct btf *base = btf__new_empty(), *split;
	struct kernel_btf *b, *m;
	const void *raw;
	uint32_t size;
	int type, proto, in_module;

	(void)state;
	type = btf__add_int(base, "int", 4, BTF_INT_SIGNED);
	proto = btf__add_func_proto(base, type);
	btf__add_func(base, "in_kernel", BTF_FUNC_STATIC, proto);
	raw = btf__raw_data(base, &size);
	assert_int_equal(kernel_btf_load(fixture_write("base", raw, size), &b), 0);

	split = btf__new_empty_split(base);
	proto = btf__add_func_proto(split, type);
	btf__add_func_param(split, "a", type);
	in_module = btf__add_func(split, "in_module", BTF_FUNC_STATIC, proto);
	raw = btf__raw_data(split, &size);
	assert_int_equal(kernel_btf_load_split(fixture_write("split", raw, size), b, &m), 0);
	btf__free(split);
	btf__free(base);

	assert_int_equal(kernel_btf_function(m, "in_module"), in_module);
	assert_int_equal(kernel_btf_function_registers(m, in_module), 1);
	assert_int_equal(kernel_btf_function(m, "in_kernel"), -ENOENT);
	assert_int_equal(kernel_btf_function(b, "in_module"), -ENOENT);
	kernel_btf_destroy(m);
	kernel_btf_destroy(b);
}

static void test_missing(void **state)
{
	struct kernel_btf *b;

	(void)state;
	assert_true(kernel_btf_load(fixture_path("missing"), &b) < 0);
	assert_null(b);
	assert_true(kernel_btf_load(fixture_text("text", "no BTF here"), &b) < 0);
	assert_null(b);
	kernel_btf_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_missing),
	};

	libbpf_set_print(no_print);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
