// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the code of a kernel module, which is relocatable, and the functions inlined there. */
#include <errno.h>

#include "test.h"
#include "base/file.h"
#include "kernel/code/code.h"
#include "kernel/debuginfo/index.h"
#include "kernel_fixture.h"
#include "profile/resolve.h"

static const char source[] =
	"extern void kernel(int);\n"
	"static inline __attribute__((always_inline)) void inner(int n)\n"
	"{\n"
	"	while (n--)\n"
	"		kernel(n);\n"
	"}\n"
	"void first(void) { kernel(1); }\n"
	"__attribute__((section(\".init.text\"))) void at_init(void) { kernel(3); }\n"
	"__attribute__((noinline, section(\".text.other\"))) void other(int n) { inner(n); kernel(4); }\n"
	"void tail(int n) { other(n); }\n"
	"void second(int n) { inner(n); kernel(2); }\n"
	"char this_module[64] __attribute__((section(\".gnu.linkonce.this_module\")));\n";

static bool build(const char *name, const char *options)
{
	char command[1024];

	fixture_text("module.c", source);
	snprintf(
		command, sizeof(command),
		"cd '%s' && cc -O2 -ffreestanding -fno-pic -fno-stack-protector -fcf-protection=none "
		"-fno-asynchronous-unwind-tables %s -c -o module.o module.c && "
		"ld -r --build-id=sha1 -o %s module.o",
		fixture_dir, options, name);
	return system(command) == 0;
}

static uint64_t addr_of(struct kernel_image *img, const char *name)
{
	uint64_t size;

	for (uint64_t addr = 0; addr < 0x200000; addr++)
		if (kernel_image_is_function(img, name, addr, &size))
			return addr;
	fail_msg("no %s", name);
	return 0;
}

static int is_inner(const struct kernel_body *body, void *arg)
{
	const char **into = arg;

	assert_string_equal(body->function.symbol, *into);
	assert_string_equal(body->caller, *into);
	assert_in_range(body->entry, body->function.addr, body->function.addr + 0x40);
	assert_non_null(strstr(body->call_file, "module.c"));
	*into = "other";
	return 0;
}

TEST(is_laid_out_as_loaded)
{
	struct kernel_frame_base base;
	const char *into = "second";
	struct kernel_image *img;
	struct kernel_index *idx;
	uint64_t second, size;

	if (!build("m.ko", "-g"))
		fixture_skip(FIXTURE_NO_COMPILER);
	assert_int_equal(kernel_image_open(fixture_path("m.ko"), &img), 0);
	assert_true(kernel_image_has_dwarf(img));
	assert_int_equal(kernel_image_build_id(img)->len, 20);
	/*
	 * Addresses are relative to the first function. Code that stays loaded is contiguous, whatever is between its sections
	 * in the file.
	 */
	assert_int_equal(addr_of(img, "first"), 0);
	second = addr_of(img, "second");
	assert_true(kernel_image_is_function(img, "second", second, &size));
	assert_in_range(addr_of(img, "other"), second + size, second + size + 15);
	assert_in_range(addr_of(img, "at_init"), 0x100000, 0x110000);
	/* .debug_frame is relocated, too. */
	assert_int_equal(kernel_image_frame_base(img, second, &base), 0);
	assert_int_equal(base.offset, 8);
	assert_int_equal(kernel_index_build(img, &idx), 0);
	assert_int_equal(kernel_index_bodies_each(idx, "inner", is_inner, &into, NULL), 0);
	assert_string_equal(into, "other");
	kernel_index_destroy(idx);
	kernel_image_destroy(img);
}

/* Modules compressed as by distributions are read; other compressed files are refused. */
TEST(is_unpacked)
{
	struct kernel_build_id id;
	struct kernel_image *img;
	char command[1024];

	if (!build("m.ko", "-g"))
		fixture_skip(FIXTURE_NO_COMPILER);
	assert_int_equal(kernel_image_open(fixture_path("m.ko"), &img), 0);
	id = *kernel_image_build_id(img);
	kernel_image_destroy(img);
	snprintf(
		command, sizeof(command),
		"cd '%s' && mkdir -p kernels/k/modules && xz -kf m.ko && gzip -kf m.ko && "
		"head -c 2000 m.ko.xz >kernels/k/modules/m.ko.zst && mv m.ko.xz kernels/k/modules && "
		"printf text | xz >text.xz",
		fixture_dir);
	assert_int_equal(system(command), 0);
	setenv("KPROTPERF_LAB", fixture_dir, 1);
	img = kernel_module_find("m", "6.1.0", &id);
	unsetenv("KPROTPERF_LAB");
	assert_non_null(img);
	assert_non_null(strstr(kernel_image_path(img), "m.ko.xz"));
	assert_true(kernel_image_has_dwarf(img));
	assert_int_equal(addr_of(img, "first"), 0);
	kernel_image_destroy(img);
	assert_int_equal(kernel_image_open(fixture_path("m.ko.gz"), &img), 0);
	kernel_image_destroy(img);
	fixture_quiet();
	assert_int_equal(kernel_image_open(fixture_path("text.xz"), &img), -ENOEXEC);
	fixture_loud();
}

/* Jumps and tables in the code are relocated to addresses in the module, also if libdwfl leaves some unrelocated. */
TEST(code_is_relocated)
{
	struct kernel_code *code;
	struct kernel_image *img;
	uint64_t other, called, offset;
	uint8_t jump[5];
	int32_t rel;

	if (!build("m.ko", "-g"))
		fixture_skip(FIXTURE_NO_COMPILER);
	assert_int_equal(kernel_image_open(fixture_path("m.ko"), &img), 0);
	assert_int_equal(kernel_code_create(img, NULL, &code), 0);
	other = addr_of(img, "other");
	assert_true(kernel_code_read_file(code, addr_of(img, "tail"), jump, sizeof(jump)));
	memcpy(&rel, jump + 1, sizeof(rel));
	assert_int_equal(jump[0], 0xe9);
	assert_int_equal(addr_of(img, "tail") + sizeof(jump) + (uint64_t)(int64_t)rel, other);
	/* A jump to a function of the kernel is resolved to the function's name. */
	assert_true(kernel_code_read_file(code, addr_of(img, "first") + 5, jump, sizeof(jump)));
	memcpy(&rel, jump + 1, sizeof(rel));
	assert_int_equal(jump[0], 0xe9);
	called = addr_of(img, "first") + 5 + sizeof(jump) + (uint64_t)(int64_t)rel;
	assert_string_equal(kernel_code_symbol_at(code, called, &offset), "kernel");
	assert_int_equal(offset, 0);
	assert_null(kernel_code_symbol_at(code, called + 0x8000000, &offset));
	kernel_code_destroy(code);
	kernel_image_destroy(img);
}

/* A fetched kernel's module has its code and its DWARF in two files. Read both as one image. */
TEST(is_joined)
{
	const char *into = "second";
	struct kernel_build_id id;
	struct kernel_code *code;
	struct kernel_image *img;
	struct kernel_index *idx;
	char command[1024];
	uint8_t jump;

	if (!build("m.ko", "-g"))
		fixture_skip(FIXTURE_NO_COMPILER);
	assert_int_equal(kernel_image_open(fixture_path("m.ko"), &img), 0);
	id = *kernel_image_build_id(img);
	kernel_image_destroy(img);
	snprintf(command, sizeof(command),
		 "cd '%s' && mkdir -p lab/stock/versions/v && cd lab/stock/versions/v && "
		 "mkdir -p lib/modules/6.1.0/kernel debug/modules/6.1.0 && "
		 "objcopy --only-keep-debug ../../../../m.ko debug/modules/6.1.0/m.ko && "
		 "gzip debug/modules/6.1.0/m.ko && "
		 "objcopy --strip-debug ../../../../m.ko lib/modules/6.1.0/kernel/m.ko",
		 fixture_dir);
	assert_int_equal(system(command), 0);
	setenv("KPROTPERF_LAB", fixture_path("lab"), 1);
	img = kernel_module_find("m", "6.1.0", &id);
	assert_null(kernel_module_find("m", "6.1.1", &(struct kernel_build_id){ .len = 20 }));
	unsetenv("KPROTPERF_LAB");
	assert_non_null(img);
	assert_non_null(strstr(kernel_image_path(img), "6.1.0/kernel/m.ko"));
	assert_true(kernel_image_has_dwarf(img));
	assert_int_equal(kernel_code_create(img, NULL, &code), 0);
	assert_true(kernel_code_read_file(code, addr_of(img, "tail"), &jump, sizeof(jump)));
	assert_int_equal(jump, 0xe9);
	kernel_code_destroy(code);
	assert_int_equal(kernel_index_build(img, &idx), 0);
	assert_int_equal(kernel_index_bodies_each(idx, "inner", is_inner, &into, NULL), 0);
	assert_string_equal(into, "other");
	kernel_index_destroy(idx);
	kernel_image_destroy(img);
}

static int last_entry(const struct kernel_body *body, void *arg)
{
	*(uint64_t *)arg = body->entry;
	return 0;
}

static uint32_t add_location(struct profile *p, uint64_t addr, const char *name)
{
	uint32_t location = profile_location_add(p, addr, "m");

	profile_location_frame_add(p, location, &(struct profile_frame){ .name = name });
	return location;
}

/* Name inlined functions by the cached index. Do not change a location if the index has another function there. */
TEST(names_inlined_bodies)
{
	char hex[2 * KERNEL_BUILD_ID_MAX + 1];
	struct profile *p = profile_create();
	uint32_t right, wrong, site;
	struct kernel_image *img;
	struct kernel_index *idx;
	uint64_t other, entry;

	setenv("KPROTPERF_CACHE", fixture_dir, 1);
	if (!build("m.ko", "-g"))
		fixture_skip(FIXTURE_NO_COMPILER);
	assert_int_equal(kernel_image_open(fixture_path("m.ko"), &img), 0);
	assert_int_equal(kernel_index_get(NULL, img, &idx), 0);
	assert_int_equal(kernel_index_bodies_each(idx, "inner", last_entry, &entry, NULL), 0);
	kernel_index_destroy(idx);
	other = addr_of(img, "other");
	kernel_build_id_format(kernel_image_build_id(img), hex, sizeof(hex));
	profile_env_set(p, PROFILE_ENV_MODULE "m", hex);
	right = add_location(p, entry, "other");
	wrong = add_location(p, entry + 1, "first");
	site = profile_site_add(p, &(struct profile_site){ .name = "other",
							   .symbol = "other [m]",
							   .kind = PROFILE_SITE_FUNCTION,
							   .addr = other });
	/* This also works if the kernel's own names are resolved and the module's are not. */
	profile_env_set(p, PROFILE_ENV_SYMBOLS, "dwarf");
	assert_int_equal(profile_resolve(p, NULL), 0);
	assert_false(profile_resolve_modules(p));
	assert_int_equal(p->locations[right].n_frames, 2);
	assert_string_equal(p->locations[right].frames[0].name, "inner");
	assert_true(p->locations[right].frames[0].inlined);
	assert_string_equal(p->locations[right].frames[1].name, "other");
	assert_int_equal(p->locations[right].frames[1].line, 9);
	assert_int_equal(p->locations[wrong].n_frames, 1);
	assert_int_equal(p->sites[site].line, 9);
	kernel_image_destroy(img);
	profile_destroy(p);
}

TEST(others_are_refused)
{
	struct kernel_image *img;
	char command[512];

	if (!build("m.ko", "-g"))
		fixture_skip(FIXTURE_NO_COMPILER);
	snprintf(command, sizeof(command),
		 "objcopy --rename-section .gnu.linkonce.this_module=.data.x '%s' '%s/plain.o'",
		 fixture_path("m.ko"), fixture_dir);
	assert_int_equal(system(command), 0);
	fixture_quiet();
	assert_int_equal(kernel_image_open(fixture_path("plain.o"), &img), -ENOEXEC);
	fixture_loud();
}

/* Damage makes answers missing, and has no other effect. */
TEST(damage_is_survived)
{
	struct kernel_image *img;
	struct kernel_index *idx;
	size_t len, step;
	char *bytes;

	if (!build("m.ko", "-g"))
		fixture_skip(FIXTURE_NO_COMPILER);
	assert_int_equal(file_read(fixture_path("m.ko"), 1 << 20, &bytes, &len), 0);
	step = len / 400;
	fixture_quiet();
	for (size_t at = 0; at < len; at += step) {
		bytes[at] ^= 0x55;
		if (!kernel_image_open(fixture_write("damaged.ko", bytes, len), &img)) {
			if (!kernel_index_build(img, &idx))
				kernel_index_destroy(idx);
			kernel_image_destroy(img);
		}
		bytes[at] ^= 0x55;
		if (!kernel_image_open(fixture_write("short.ko", bytes, at), &img))
			kernel_image_destroy(img);
	}
	fixture_loud();
	free(bytes);
}

RUN_TESTS(fixture_setup, fixture_teardown)
