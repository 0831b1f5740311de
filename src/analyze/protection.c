// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "analyze/environment.h"

/* Kernel options whose purpose is protection and that cost time. Sorted by strcmp. */
static const char *const protections[] = {
	"BUG_ON_DATA_CORRUPTION",
	"CFI_CLANG",
	"DEBUG_LIST",
	"FORTIFY_SOURCE",
	"GCC_PLUGIN_STACKLEAK",
	"GCC_PLUGIN_STRUCTLEAK_BYREF_ALL",
	"HARDENED_USERCOPY",
	"INIT_ON_ALLOC_DEFAULT_ON",
	"INIT_ON_FREE_DEFAULT_ON",
	"INIT_STACK_ALL_PATTERN",
	"INIT_STACK_ALL_ZERO",
	"KFENCE",
	"LIST_HARDENED",
	"MITIGATION_PAGE_TABLE_ISOLATION",
	"MITIGATION_RETHUNK",
	"MITIGATION_RETPOLINE",
	"MITIGATION_SLS",
	"PAGE_TABLE_CHECK",
	"PAGE_TABLE_ISOLATION",
	"RANDOMIZE_KSTACK_OFFSET_DEFAULT",
	"RANDOM_KMALLOC_CACHES",
	"RETHUNK",
	"RETPOLINE",
	"SCHED_STACK_END_CHECK",
	"SHADOW_CALL_STACK",
	"SHUFFLE_PAGE_ALLOCATOR",
	"SLAB_BUCKETS",
	"SLAB_FREELIST_HARDENED",
	"SLAB_FREELIST_RANDOM",
	"SLS",
	"STACKPROTECTOR",
	"STACKPROTECTOR_STRONG",
	"UBSAN_BOUNDS",
	"UBSAN_TRAP",
	"VMAP_STACK",
	"X86_KERNEL_IBT",
	"X86_USER_SHADOW_STACK",
	"ZERO_CALL_USED_REGS",
};

struct key {
	const char *name;
	size_t n;
};

static int key_compare(const void *left, const void *right)
{
	const struct key *key = left;
	const char *name = *(const char *const *)right;
	int diff = strncmp(key->name, name, key->n);

	return diff ? diff : name[key->n] ? -1 : 0;
}

bool analyze_protection_is(const char *name, size_t n)
{
	struct key key = { name, n };

	return bsearch(&key, protections, sizeof(protections) / sizeof(*protections),
		       sizeof(*protections), key_compare);
}
