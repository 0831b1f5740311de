// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/probe/kprobe_table.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "kernel/code/kcore.h"

/* The kernel's hash_ptr(). */
#define GOLDEN    0x61c8864680b583ebull
#define LIST_BITS 6

/* KPROBE_FLAG_DISABLED and _OPTIMIZED */
#define FLAG_DISABLED  2
#define FLAG_OPTIMIZED 4

#define BYTES_MAX 512 /* of struct kprobe; it has 128 */
#define PROBES_MAX \
	(1 << 16) /* in a list; more are one that goes in circles, changed as it was read */

static uint32_t list_of(uint64_t addr)
{
	return addr * GOLDEN >> (64 - LIST_BITS);
}

static const struct btf_type *find_struct(const struct btf *btf, const char *name)
{
	int32_t id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
}

/* Where TYPE has its member NAME, in bytes; -ENOENT. */
static int offset_of(const struct btf *btf, const struct btf_type *type, const char *name)
{
	for (uint32_t i = 0; type && i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), name))
			return (int)(btf_member_bit_offset(type, i) / 8);
	return -ENOENT;
}

int record_kprobe_layout(const struct btf *btf, struct record_kprobe_layout *out)
{
	const struct btf_type *kprobe = find_struct(btf, "kprobe");
	const struct btf_type *insn = find_struct(btf, "arch_specific_insn");
	int next = offset_of(btf, kprobe, "hlist"), addr = offset_of(btf, kprobe, "addr"),
	    handler = offset_of(btf, kprobe, "pre_handler"),
	    ainsn = offset_of(btf, kprobe, "ainsn"), copy = offset_of(btf, insn, "insn"),
	    flags = offset_of(btf, kprobe, "flags");

	if (next < 0 || addr < 0 || handler < 0 || ainsn < 0 || copy < 0 || flags < 0 ||
	    kprobe->size > BYTES_MAX)
		return -ENOENT;
	*out = (struct record_kprobe_layout){
		.size = kprobe->size,
		.next = next,
		.addr = addr,
		.pre_handler = handler,
		.copy = ainsn + copy,
		.flags = flags,
	};
	return 0;
}

static int find_symbols(struct record_kprobe_table *t, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[512];
	uint64_t addr;

	if (!file)
		return -errno;
	while ((!t->lists || !t->aggregate) && fgets(line, sizeof(line), file)) {
		const char *at = line;

		line[strcspn(line, "\t\n")] = '\0';
		if (!number_scan_hex(&at, &addr) || strlen(at) < 3)
			continue;
		if (!strcmp(at + 3, "kprobe_table"))
			t->lists = addr;
		else if (!strcmp(at + 3, "aggr_pre_handler"))
			t->aggregate = addr;
	}
	fclose(file);
	return t->lists && t->aggregate ? 0 : -ENOENT;
}

int record_kprobe_table_open(struct record_kprobe_table *t, const struct kernel_kcore *kcore,
			     const struct btf *btf, const char *path)
{
	int err;

	*t = (struct record_kprobe_table){ .kcore = kcore };
	err = record_kprobe_layout(btf, &t->layout);
	return err ?: find_symbols(t, path);
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
		int err = kernel_kcore_read(t->kcore, at - l->next, bytes, l->size);

		if (err)
			return err;
		memcpy(&flags, bytes + l->flags, sizeof(flags));
		probe.addr = word_at(bytes, l->addr);
		probe.copy = word_at(bytes, l->copy);
		probe.prepared = word_at(bytes, l->pre_handler) == t->aggregate;
		probe.queued = flags & FLAG_OPTIMIZED;
		at = word_at(bytes, l->next);
		if (n++ == PROBES_MAX)
			return -ELOOP;
		/* The optimizer is about to free those it prepared that nobody wants any more. */
		if (!probe.prepared || !(flags & FLAG_DISABLED))
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
