// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the enabled static keys from a made-up core file. */
#include "test.h"
#include "kernel/image/kcore.h"
#include "kernel/code/code.h"
#include "kernel/image/kallsyms.h"
#include "kernel_fixture.h"

#define BASE 0xffffffff81000000u /* start of the memory in the file */

/* A jump entry as in the kernel: offsets are relative to their own addresses; the two low bits of KEY are flags. */
struct entry {
	int32_t code, target;
	int64_t key;
};

static struct {
	struct entry jumps[5];
	int32_t keys[6]; /* the counts of six static keys */
} memory;

#define SYMBOLS                                     \
	"ffffffff81000000 T _stext\n"               \
	"ffffffff81000000 R __start___jump_table\n" \
	"ffffffff81000050 R __stop___jump_table\n"  \
	"ffffffff81000050 d off\n"                  \
	"ffffffff81000054 d on\n"                   \
	"ffffffff81000058 d many\n"                 \
	"ffffffff81000060 d numbered.3\n"           \
	"ffffffff81000064 b\tnothing\n"             \
	"ffffffffc0000000 d of_a_module\t[some_module]\n"

static void set(int i, int key, int flags)
{
	memory.jumps[i].key = ((char *)&memory.keys[key] - (char *)&memory.jumps[i].key) | flags;
}

static char *read_it(const char *symbols)
{
	struct kernel_kallsyms *ks;
	struct kernel_kcore *kcore;
	char *text;

	assert_int_equal(
		kernel_kcore_open(fixture_core("kcore", BASE, &memory, sizeof(memory)), &kcore), 0);
	assert_int_equal(kernel_kallsyms_load(fixture_text("kallsyms", symbols), &ks), 0);
	text = kernel_static_keys_on(kcore, ks);
	kernel_kallsyms_destroy(ks);
	kernel_kcore_destroy(kcore);
	return text;
}

/* List each static key of a code range once. Leave out keys that are members of other variables, and keys with numbered names. */
TEST(names_those_of_code)
{
	struct kernel_kallsyms *ks;
	struct kernel_kcore *kcore;
	struct alloc_texts names = {};

	for (int i = 0; i < 5; i++)
		memory.jumps[i].code = 0x1000;
	set(0, 1, 0);
	set(1, 0, 1);
	set(2, 3, 0); /* the key at many+0x4 */
	set(3, 0, 2);
	set(4, 2, 0); /* the key at many */
	memory.keys[0] = memory.keys[1] = 0;
	assert_int_equal(
		kernel_kcore_open(fixture_core("kcore", BASE, &memory, sizeof(memory)), &kcore), 0);
	assert_int_equal(kernel_kallsyms_load(fixture_text("kallsyms", SYMBOLS), &ks), 0);
	alloc_keep(&names, alloc_strdup("off"));
	/* The range of code has all jumps but the first. */
	kernel_static_keys_in(kcore, ks, BASE + 0x1010, 0x31, &names);
	assert_int_equal(names.n_texts, 3);
	assert_string_equal(names.texts[1], "off");
	assert_string_equal(names.texts[2], "many");
	kernel_static_keys_in(NULL, ks, BASE, 0x2000, &names);
	assert_int_equal(names.n_texts, 3);
	alloc_texts_free(&names);
	kernel_kallsyms_destroy(ks);
	kernel_kcore_destroy(kcore);
}

TEST(names_what_is_on)
{
	char *text;

	set(0, 3, 0); /* the key at many+0x4 */
	set(1, 1, 1);
	set(2, 0, 2);
	set(3, 1, 3);
	set(4, 4, 0);
	memory.keys[1] = 2;
	memory.keys[3] = memory.keys[4] = 1;
	text = read_it(SYMBOLS);
	assert_string_equal(text, "on many+0x4");
	free(text);
	memory.keys[1] = memory.keys[3] = 0;
	text = read_it(SYMBOLS);
	assert_string_equal(text, "");
	free(text);
}

TEST(says_nothing_where_it_cannot_read)
{
	assert_null(read_it("ffffffff81000000 T _stext\n"));
	assert_null(read_it("ffffffff81000000 T _stext\n"
			    "ffffffff81000000 R __start___jump_table\n"
			    "ffffffff81100000 R __stop___jump_table\n"));
	assert_null(read_it("ffffffff81000000 T _stext\n"
			    "ffffffff81000050 R __start___jump_table\n"
			    "ffffffff81000000 R __stop___jump_table\n"));
}

RUN_TESTS(fixture_setup, fixture_teardown)
