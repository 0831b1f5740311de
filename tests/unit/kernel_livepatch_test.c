// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the functions that livepatches have replaced, from the kernel's folder of livepatches. */
#include <stdio.h>
#include <sys/stat.h>

#include "test.h"
#include "kernel/code/code.h"
#include "kernel/image/kallsyms.h"

TEST(functions_are_those_of_their_object)
{
	char folder[] = "/tmp/livepatch-XXXXXX";
	const struct kernel_sym patched = { .name = "vfs_read" }, other = { .name = "vfs_write" },
				of_module = { .name = "vfs_write", .module = "ext4" };
	struct kernel_livepatches l;

	kernel_livepatches_load("/no/such/folder", &l);
	assert_null(kernel_livepatch_of(&l, &patched));
	kernel_livepatches_deinit(&l);
	assert_non_null(mkdtemp(folder));
	static const char *const below[] = {
		"one",      "one/vmlinux",          "one/vmlinux/vfs_read,1",  "two",
		"two/ext4", "two/ext4/vfs_write,1", "two/ext4/vfs_read.cold,2"
	};

	for (size_t i = 0; i < 7; i++) {
		scoped_free char *path = alloc_printf("%s/%s", folder, below[i]);

		assert_int_equal(mkdir(path, 0755), 0);
	}
	kernel_livepatches_load(folder, &l);
	assert_int_equal(l.n_items, 3);
	assert_string_equal(kernel_livepatch_of(&l, &patched), "one");
	assert_null(kernel_livepatch_of(&l, &other));
	assert_string_equal(kernel_livepatch_of(&l, &of_module), "two");
	kernel_livepatches_deinit(&l);
	for (size_t i = 7; i-- > 0;) {
		scoped_free char *path = alloc_printf("%s/%s", folder, below[i]);

		remove(path);
	}
	remove(folder);
}

RUN_TESTS(NULL, NULL)
