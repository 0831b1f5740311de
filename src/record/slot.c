// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/slot.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/decode.h"
#include "symbol/kcore.h"

#define PAGE_NAME  "kprobe_insn_page" /* a symbol for each page of copies, since 5.8 */
#define PAGE_BYTES 4096
#define N_SLOTS    (PAGE_BYTES / RECORD_INSN_MAX)
#define OP_INT3    0xcc

struct page {
	uint64_t addr;
	uint8_t text[PAGE_BYTES];
	bool taken[N_SLOTS];
};

struct record_slots {
	struct symbol_kcore *kcore; /* NULL: not to be had, and nothing is found */
	struct decoder *decoder;
	struct page *pages;
	uint32_t n_pages, cap_pages;
};

struct record_slots *record_slots_create(void)
{
	struct record_slots *slots = alloc_new(struct record_slots);

	symbol_kcore_open(SYMBOL_KCORE_PATH, &slots->kcore);
	slots->decoder = decoder_create();
	return slots;
}

void record_slots_destroy(struct record_slots *slots)
{
	if (!slots)
		return;
	symbol_kcore_destroy(slots->kcore);
	decoder_destroy(slots->decoder);
	free(slots->pages);
	free(slots);
}

void record_slots_read(struct record_slots *slots, uint64_t addr, uint8_t *text)
{
	if (!slots->kcore || symbol_kcore_read(slots->kcore, addr, text, RECORD_INSN_MAX))
		memset(text, 0, RECORD_INSN_MAX);
}

/* Which pages there are. They come and go with the probes. */
static void find_pages(struct record_slots *slots)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512];

	slots->n_pages = 0;
	while (file && fgets(line, sizeof(line), file)) {
		struct page page = {};
		char name[64];

		if (!strstr(line, PAGE_NAME) || sscanf(line, "%lx %*c %63s", &page.addr, name) != 2)
			continue;
		if (!strcmp(name, PAGE_NAME) && page.addr)
			vec_push(slots, pages, page);
	}
	if (file)
		fclose(file);
}

/* Their contents; false if one of them is there no more. */
static bool read_pages(struct record_slots *slots)
{
	for (uint32_t i = 0; i < slots->n_pages; i++) {
		struct page *page = &slots->pages[i];

		memset(page->taken, 0, sizeof(page->taken));
		if (symbol_kcore_read(slots->kcore, page->addr, page->text, PAGE_BYTES))
			return false;
	}
	return slots->n_pages;
}

/*
 * Is the COPY at AT one of the instruction of LEN bytes at ADDR? What it has relative to itself is not the
 * same then, but names the same place.
 */
static bool is_copy(const uint8_t *copy, uint64_t at, const uint8_t *text, uint64_t addr, int len)
{
	uint32_t moved, was;
	int k = 0;

	while (k < len && copy[k] == text[k])
		k++;
	if (k == len)
		return true;
	/* The difference may begin in any byte of the displacement. */
	for (int first = k > 3 ? k - 3 : 0; first <= k && first + 4 <= len; first++) {
		memcpy(&moved, copy + first, sizeof(moved));
		memcpy(&was, text + first, sizeof(was));
		if (moved == (uint32_t)(was + (addr - at)) &&
		    !memcmp(copy + first + 4, text + first + 4, len - first - 4))
			return true;
	}
	return false;
}

/* The kernel takes the first slot that is free. */
static bool find_slot(struct record_slots *slots, struct record_slot *item)
{
	struct decoded insn;

	if (!decode(slots->decoder, item->text, RECORD_INSN_MAX, item->addr, &insn))
		return false;
	for (uint32_t p = 0; p < slots->n_pages; p++) {
		struct page *page = &slots->pages[p];

		for (int i = 0; i < N_SLOTS; i++) {
			const uint8_t *copy = page->text + i * RECORD_INSN_MAX;
			uint64_t at = page->addr + i * RECORD_INSN_MAX;

			if (page->taken[i] || !is_copy(copy, at, item->text, item->addr, insn.len))
				continue;
			page->taken[i] = true;
			item->behind = insn.len < RECORD_INSN_MAX && copy[insn.len] == OP_INT3 ?
					       at + insn.len :
					       0;
			return true;
		}
	}
	return false;
}

static bool find_all(struct record_slots *slots, struct record_slot *items, uint32_t n)
{
	bool all = read_pages(slots);

	for (uint32_t i = 0; i < n; i++) {
		items[i].behind = 0;
		all &= find_slot(slots, &items[i]);
	}
	return all;
}

void record_slots_find(struct record_slots *slots, struct record_slot *items, uint32_t n)
{
	if (!slots->kcore || !slots->decoder || find_all(slots, items, n))
		return;
	find_pages(slots);
	find_all(slots, items, n);
}
