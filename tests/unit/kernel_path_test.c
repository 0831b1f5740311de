// SPDX-License-Identifier: GPL-2.0-or-later
/* Make names of source files relative to the kernel's source tree. */
#include <stdbool.h>

#include "test.h"
#include "kernel/debuginfo/source.h"
#include "kernel_fixture.h"

struct expected {
	const char *raw, *relative;
};

/* Check EXPECTED, which ends with NULL, for a kernel with init/main.c compiled in DIR as ANCHOR. */
static void check(const char *dir, const char *anchor, const struct expected *expected)
{
	struct paths *p = kernel_paths_create();

	kernel_paths_unit(p, dir, "arch/x86/boot/main.c");
	kernel_paths_unit(p, NULL, NULL);
	kernel_paths_unit(p, dir, anchor);
	/* The first init/main.c determines the tree. */
	if (strstr(anchor, "init/main.c"))
		kernel_paths_unit(p, "/elsewhere", "/elsewhere/init/main.c");
	for (; expected->raw; expected++) {
		const char *first = kernel_paths_relative(p, expected->raw);

		assert_string_equal(first, expected->relative);
		assert_ptr_equal(first, kernel_paths_relative(p, expected->raw));
	}
	kernel_paths_destroy(p);
}

TEST(test_builds)
{
	/* The kernel was built in the source folder. */
	check("/src/linux", "init/main.c",
	      (struct expected[]){ { "/src/linux/mm/slub.c", "mm/slub.c" },
				   { "/src/linux/./include/linux/mm.h", "include/linux/mm.h" },
				   { "mm/slub.c", "mm/slub.c" },
				   { "./mm/slub.c", "mm/slub.c" },
				   { "/src/linux-other/mm/slub.c", "/src/linux-other/mm/slub.c" },
				   { "/usr/include/stdio.h", "/usr/include/stdio.h" },
				   { NULL, NULL } });
	/* The kernel was built with O=, absolute and relative. */
	check("/obj", "/src/linux/init/main.c",
	      (struct expected[]){ { "/src/linux/mm/slub.c", "mm/slub.c" },
				   { "/obj/include/generated/x.h", "include/generated/x.h" },
				   { "/obj//arch/x86/../x86/x.h", "arch/x86/x.h" },
				   { NULL, NULL } });
	check("/src/linux/obj", "../init/main.c",
	      (struct expected[]){ { "/src/linux/obj/../mm/slub.c", "mm/slub.c" },
				   { "/src/linux/mm/slub.c", "mm/slub.c" },
				   { NULL, NULL } });
	/* The build mapped path prefixes away, as Debian does. */
	check("debian/build/amd64", "./init/main.c",
	      (struct expected[]){ { "debian/build/amd64/mm/slub.c", "mm/slub.c" },
				   { "debian/build/amd64/./mm/slub.c", "mm/slub.c" },
				   { NULL, NULL } });
	check(NULL, "init/main.c",
	      (struct expected[]){ { "mm/slub.c", "mm/slub.c" }, { NULL, NULL } });
	/* Without init/main.c the tree is unknown. */
	check("/build", "other.c",
	      (struct expected[]){ { "/build/mm/slub.c", "mm/slub.c" }, { NULL, NULL } });
}

TEST(test_odd)
{
	check("/", "init/main.c",
	      (struct expected[]){ { "/../../x.c", "x.c" },
				   { "../../x.c", "../../x.c" },
				   { "a/../../x.c", "../x.c" },
				   { "a/b/../..", "" },
				   { "..", ".." },
				   { "", "" },
				   { "///", "" },
				   { "...", "..." },
				   { NULL, NULL } });
}

TEST(test_many)
{
	struct paths *p = kernel_paths_create();
	char raw[64], *huge = alloc_array(100001, 1);

	kernel_paths_unit(p, "/src", "init/main.c");
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 5000; i++) {
			snprintf(raw, sizeof(raw), "/src/dir%d/file.c", i);
			assert_string_equal(kernel_paths_relative(p, raw), raw + 5);
		}
	}
	memset(huge, 'x', 100000);
	assert_null(kernel_paths_relative(p, huge));
	kernel_paths_unit(p, huge, huge);
	free(huge);
	kernel_paths_destroy(p);
	kernel_paths_destroy(NULL);
}

RUN_TESTS(NULL, NULL)
