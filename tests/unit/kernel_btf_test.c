// SPDX-License-Identifier: GPL-2.0-or-later
/* Read functions and structs from BTF. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

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

/* Add functions "large" and "any" with arguments: structs of 16 and 24 bytes and an int. "any" is variadic. */
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

/* A module's BTF extends the kernel's. */
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

/* Add the struct "outer", the types that it needs, and a union "other". */
static void add_structs(struct btf *btf, int type)
{
	int modified = btf__add_const(btf, btf__add_typedef(btf, "number", type));
	int to = btf__add_ptr(btf, 12345), modes = btf__add_enum(btf, "modes", 4), inner, array;

	btf__add_union(btf, "other", 4);
	btf__add_field(btf, "a", type, 0, 0);
	inner = btf__add_struct(btf, "inner", 8);
	btf__add_field(btf, "low", type, 0, 3);
	btf__add_field(btf, "high", modified, 32, 0);
	array = btf__add_array(btf, type, inner, 3);
	btf__add_struct(btf, "outer", 40);
	btf__add_field(btf, "to", to, 0, 0);
	btf__add_field(btf, "items", array, 64, 0);
	btf__add_field(btf, "mode", modes, 256, 0);
}

/* Return FROM reduced to the structs in LIKE. On failure return NULL and set *ERR. */
static struct btf *reduce(const struct btf *from, const struct btf *like, int *err)
{
	const char *path = fixture_text("reduced", "");
	int fd = open(path, O_WRONLY);

	assert_true(fd >= 0);
	*err = kernel_btf_reduce(from, like, fd);
	close(fd);
	return *err ? NULL : btf__parse(path, NULL);
}

static void test_reduce(void **state)
{
	struct btf *from = btf__new_empty(), *like = btf__new_empty(), *left;
	int type = btf__add_int(from, "int", 4, BTF_INT_SIGNED), err, itself;
	const struct btf_type *t;

	(void)state;
	add_structs(from, type);
	btf__add_struct(like, "outer___flavor", 1);
	btf__add_struct(like, "nowhere", 1);
	left = reduce(from, like, &err);
	assert_non_null(left);
	assert_int_equal(kernel_btf_offset(left, "outer", NULL), 40);
	assert_int_equal(kernel_btf_offset(left, "outer", "to"), 0);
	assert_int_equal(kernel_btf_offset(left, "outer", "items"), 8);
	assert_int_equal(kernel_btf_offset(left, "outer", "mode"), 32);
	assert_int_equal(kernel_btf_offset(left, "inner", "high"), 4);
	t = btf__type_by_id(left, btf__find_by_name_kind(left, "inner", BTF_KIND_STRUCT));
	assert_int_equal(btf_member_bitfield_size(t, 0), 3);
	t = btf__type_by_id(left, btf__find_by_name_kind(left, "outer", BTF_KIND_STRUCT));
	assert_int_equal(btf__resolve_size(left, btf_members(t)[0].type), 8);
	assert_int_equal(btf__resolve_size(left, btf_members(t)[1].type), 24);
	assert_int_equal(btf__resolve_size(left, btf_members(t)[2].type), 4);
	assert_true(btf__find_by_name_kind(left, "other", BTF_KIND_UNION) < 0);
	btf__free(left);

	/* A struct that contains itself is refused. */
	itself = btf__add_struct(from, "nowhere", 8);
	btf__add_field(from, "a", itself, 0, 0);
	assert_null(reduce(from, like, &err));
	assert_int_equal(err, -EINVAL);
	btf__free(from);
	btf__free(like);
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
		cmocka_unit_test(test_reduce),
		cmocka_unit_test(test_missing),
	};

	libbpf_set_print(no_print);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
