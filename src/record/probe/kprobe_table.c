// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/probe/kprobe_table.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "kernel/image/kcore.h"
#include "kernel/image/btf.h"
#include "kernel/image/kallsyms.h"

/* The kernel's hash_ptr(). */
#define GOLDEN    0x61c8864680b583ebull
#define LIST_BITS 6

#define FLAG_DISABLED 2 /* KPROBE_FLAG_DISABLED */

#define BYTES_MAX 512 /* of struct kprobe; it has 128 */
#define PROBES_MAX \
	(1 << 16) /* in a list; more are one that goes in circles, changed as it was read */

static uint32_t list_of(uint64_t addr)
{
	return addr * GOLDEN >> (64 - LIST_BITS);
}

/* -ENOENT where BTF does not describe it. */
static int find_layout(const struct btf *btf, struct record_kprobe_layout *out)
{
	int size = kernel_btf_offset(btf, "kprobe", NULL),
	    next = kernel_btf_offset(btf, "kprobe", "hlist"),
	    addr = kernel_btf_offset(btf, "kprobe", "addr"),
	    handler = kernel_btf_offset(btf, "kprobe", "pre_handler"),
	    ainsn = kernel_btf_offset(btf, "kprobe", "ainsn"),
	    copy = kernel_btf_offset(btf, "arch_specific_insn", "insn"),
	    flags = kernel_btf_offset(btf, "kprobe", "flags");

	if (next < 0 || addr < 0 || handler < 0 || ainsn < 0 || copy < 0 || flags < 0 ||
	    size > BYTES_MAX)
		return -ENOENT;
	*out = (struct record_kprobe_layout){
		.size = size,
		.next = next,
		.addr = addr,
		.pre_handler = handler,
		.copy = ainsn + copy,
		.flags = flags,
	};
	return 0;
}

int record_kprobe_table_open(struct record_kprobe_table *t, const struct kernel_kcore *kcore,
			     const struct btf *btf, const struct kernel_kallsyms *ks)
{
	const struct kernel_sym *const *aggregate;
	size_t n;
	int err;

	*t = (struct record_kprobe_table){ .kcore = kcore };
	err = find_layout(btf, &t->layout);
	if (err)
		return err;
	aggregate = kernel_kallsyms_named(ks, "aggr_pre_handler", &n);
	t->lists = n ? kernel_kallsyms_variable(ks, "kprobe_table") : 0;
	t->aggregate = n ? aggregate[0]->addr : 0;
	return t->lists ? 0 : -ENOENT;
}

void record_kprobe_table_clear(struct record_kprobe_table *t)
{
	free(t->items);
	*t = (struct record_kprobe_table){};
}

/* Of what was read of a struct kprobe. */
static uint64_t word_at(const uint8_t *bytes, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* The list whose first is at AT: that of the pointers. */
static int read_list(struct record_kprobe_table *t, uint64_t at)
{
	const struct record_kprobe_layout *l = &t->layout;
	uint8_t bytes[BYTES_MAX];
	uint32_t flags, n = 0;

	while (at) {
		struct record_kprobe probe = {};
		bool prepared;
		int err = kernel_kcore_read(t->kcore, at - l->next, bytes, l->size);

		if (err)
			return err;
		memcpy(&flags, bytes + l->flags, sizeof(flags));
		probe.addr = word_at(bytes, l->addr);
		probe.copy = word_at(bytes, l->copy);
		prepared = word_at(bytes, l->pre_handler) == t->aggregate;
		at = word_at(bytes, l->next);
		if (n++ == PROBES_MAX)
			return -ELOOP;
		/* The optimizer is about to free those it prepared that nobody wants any more. */
		if (!prepared || !(flags & FLAG_DISABLED))
			vec_push(t, items, probe);
	}
	return 0;
}

int record_kprobe_table_read(struct record_kprobe_table *t)
{
	uint64_t first[RECORD_KPROBE_LISTS];
	int err;

	t->n_items = 0;
	if (!t->lists)
		return -ENOENT;
	err = kernel_kcore_read(t->kcore, t->lists, first, sizeof(first));
	for (int i = 0; i < RECORD_KPROBE_LISTS && !err; i++)
		err = read_list(t, first[i]);
	if (err)
		t->n_items = 0;
	return err;
}

const struct record_kprobe *record_kprobe_table_at(const struct record_kprobe_table *t,
						   uint64_t addr)
{
	for (uint32_t i = 0; i < t->n_items; i++)
		if (t->items[i].addr == addr)
			return &t->items[i];
	return NULL;
}

uint32_t record_kprobe_table_before(const struct record_kprobe_table *t, uint64_t addr)
{
	uint32_t list = list_of(addr), n = 0;

	for (uint32_t i = 0; i < t->n_items && t->items[i].addr != addr; i++)
		n += list_of(t->items[i].addr) == list;
	return n;
}

void record_kprobe_hops(const uint64_t *addrs, uint32_t n, uint32_t *hops)
{
	uint32_t later[RECORD_KPROBE_LISTS] = {};

	while (n-- > 0)
		hops[n] = later[list_of(addrs[n])]++;
}
