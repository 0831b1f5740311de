/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helpers for the tests of src/kernel/. Include after test.h. */
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "kernel/image/image.h"

#define fixture_fn static __attribute__((unused))

/* A folder for this test only, in memory if possible. */
static char fixture_dir[64];

fixture_fn int fixture_setup(void **state)
{
	(void)state;
	snprintf(fixture_dir, sizeof(fixture_dir), "%s/kprotperf-symbol.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	return mkdtemp(fixture_dir) ? 0 : -1;
}

fixture_fn int fixture_teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", fixture_dir);
	return system(command);
}

/* Return the path of NAME in fixture_dir. It is valid until the next call but one. */
fixture_fn const char *fixture_path(const char *name)
{
	static char paths[2][160];
	static int next;

	next = !next;
	snprintf(paths[next], sizeof(paths[next]), "%s/%s", fixture_dir, name);
	return paths[next];
}

fixture_fn const char *fixture_write(const char *name, const void *data, size_t len)
{
	const char *path = fixture_path(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
	return path;
}

fixture_fn const char *fixture_text(const char *name, const char *text)
{
	return fixture_write(name, text, strlen(text));
}

/* Create a file like /proc/kcore, with LEN bytes of memory at ADDR and the vmcoreinfo INFO. Return its path. */
fixture_fn const char *fixture_core_info(const char *name, uint64_t addr, const void *data,
					 size_t len, const char *info)
{
	struct {
		Elf64_Ehdr ehdr;
		Elf64_Phdr phdr[2];
		Elf64_Nhdr nhdr;
		char name[12], info[1024];
	} head = {
		.ehdr = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 },
			  .e_type = ET_CORE,
			  .e_phoff = sizeof(Elf64_Ehdr),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 2 },
		.phdr = { { .p_type = PT_NOTE,
			    .p_offset = offsetof(typeof(head), nhdr),
			    .p_filesz = sizeof(head) - offsetof(typeof(head), nhdr) },
			  { .p_type = PT_LOAD,
			    .p_offset = sizeof(head),
			    .p_vaddr = addr,
			    .p_memsz = len } },
		.nhdr = { .n_namesz = sizeof("VMCOREINFO"), .n_descsz = sizeof(head.info) },
		.name = "VMCOREINFO",
	};
	uint8_t *core = alloc_array(1, sizeof(head) + len);
	const char *path;

	snprintf(head.info, sizeof(head.info), "%s", info);
	memcpy(core, &head, sizeof(head));
	memcpy(core + sizeof(head), data, len);
	path = fixture_write(name, core, sizeof(head) + len);
	free(core);
	return path;
}

fixture_fn const char *fixture_core(const char *name, uint64_t addr, const void *data, size_t len)
{
	return fixture_core_info(name, addr, data, len, "");
}

/* Discard messages on stderr between fixture_quiet() and fixture_loud(). */
static int fixture_stderr = -1;

fixture_fn void fixture_quiet(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stderr);
	fixture_stderr = dup(STDERR_FILENO);
	dup2(null, STDERR_FILENO);
	close(null);
}

fixture_fn void fixture_loud(void)
{
	fflush(stderr);
	dup2(fixture_stderr, STDERR_FILENO);
	close(fixture_stderr);
}

/* Return the path of the fixture's source NAME in tests/symbol, beside this file's folder. */
fixture_fn const char *fixture_source(const char *name)
{
	static char path[512];
	const char *slash = strrchr(__FILE__, '/');
	int n = slash ? (int)(slash - __FILE__) : 0;

	snprintf(path, sizeof(path), "%.*s/../symbol/%s", n, n ? __FILE__ : ".", name);
	return path;
}

/* Skip the test. tests/run shows WHY beside its name, and explains "missing: ...". */
#define fixture_skip(why)                           \
	do {                                        \
		print_message("# skip: %s\n", why); \
		skip();                             \
	} while (0)

#define FIXTURE_NO_COMPILER "missing: a compiler that can link a kernel"
#define FIXTURE_NO_KERNEL   "missing: the lab's hardened kernel (scripts/lab build)"

/* Build SOURCE of tests/symbol as a kernel with _stext at FIXTURE_BASE. Return false if there is no compiler that can do this. */
#define FIXTURE_BASE 0x10000000

fixture_fn bool fixture_build_of(const char *source, const char *name, const char *options)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "cc -O2 -ffreestanding -nostdlib -static -fno-pic -no-pie -fno-stack-protector "
		 "-fcf-protection=none -Wl,-Ttext=%#x -Wl,--defsym=_stext=%#x "
		 "-Wl,--build-id=sha1 %s -o '%s' '%s'",
		 FIXTURE_BASE, FIXTURE_BASE, options, fixture_path(name), fixture_source(source));
	return system(command) == 0;
}

fixture_fn bool fixture_build(const char *name, const char *options)
{
	return fixture_build_of("inlines.c", name, options);
}

/* Return the vmlinux of the lab's hardened kernel, or NULL if it is not built. */
fixture_fn struct kernel_image *fixture_lab_image(void)
{
	const char *lab = getenv("KPROTPERF_LAB"), *home = getenv("HOME");
	struct kernel_image *img = NULL;
	char pattern[512];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s%s/kernels/hardened-*/vmlinux", lab ? lab : home,
		 lab ? "" : "/.cache/kprotperf/lab");
	if (!glob(pattern, 0, NULL, &found)) {
		assert_int_equal(kernel_image_open(found.gl_pathv[0], &img), 0);
		globfree(&found);
	}
	return img;
}
