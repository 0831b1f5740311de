// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the type of the data whose access is a cache miss: the slab cache of the data's page, from the kernel's own structures. The
 * recorder writes their addresses and offsets to a file.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

#define TYPES_MAX 1024 /* a power of two; a kernel has 200 to 400 slab caches */
#define NAME_MAX  48
#define PAGE_SIZE 4096
/* Value of page_type in the struct page of a page table: before Linux 6.12 the whole word, since 6.12 its highest byte. */
#define TABLE_TYPE  0xfffffdffu
#define PGTY_TABLE  0xf2
#define VMEMMAP     0xffffea0000000000ull /* start of all struct page if VMEMMAP_BASE is unknown */
#define VMEMMAP_MAX (1ull << 40)

struct objects {
	char name[NAME_MAX];
	uint64_t cache; /* address of the slab cache; 0: another type */
};

enum {
	OTHER,
	USER,
	STACK,
	KERNEL,
	PER_CPU,
	PAGES,
	TABLES,
	N_FIXED
};

/* Types of data: fixed types, and from N_FIXED on slab caches, hashed by address (open addressing). */
static struct objects types[N_FIXED + TYPES_MAX] = {
	[OTHER] = { "[other]" },         [USER] = { "[user]" },       [STACK] = { "[stack]" },
	[KERNEL] = { "[kernel image]" }, [PER_CPU] = { "[per CPU]" }, [PAGES] = { "[struct page]" },
	[TABLES] = { "[page tables]" },
};

/* The recorder's facts: addresses of variables, sizes of structures, offsets of members. */
static struct fact {
	const char *name;
	uint64_t value;
} facts[] = {
	{ "slab_caches", 0 },
	{ "vmemmap_base", 0 },
	{ "pcpu_base_addr", 0 },
	{ "pcpu_unit_size", 0 },
	{ "page", 0 },
	{ "page._refcount", 0 },
	{ "slab.slab_cache", 0 },
	{ "kmem_cache.name", 0 },
	{ "kmem_cache.list", 0 },
};

enum {
	SLAB_CACHES,
	VMEMMAP_BASE,
	PCPU_BASE,
	PCPU_SIZE,
	PAGE,
	PAGE_REFCOUNT,
	SLAB_CACHE,
	CACHE_NAME,
	CACHE_LIST,
	N_FACTS,
	N_OPTIONAL = 3 /* number of facts that some kernels lack */
};

static uint64_t vmemmap, percpu, percpu_end;
static bool tells; /* QEMU can read memory, and the recorder wrote all necessary facts */
static bool knows; /* the slab caches were read */

bool objects_read(const char *path)
{
	FILE *file = fopen(path, "r");
	char name[NAME_MAX];
	uint64_t value;
	int n = 0;

	while (file && fscanf(file, "%47s %lx", name, &value) == 2)
		for (int i = 0; i < N_FACTS; i++)
			if (!strcmp(facts[i].name, name)) {
				facts[i].value = value;
				n++;
			}
	if (file)
		fclose(file);
	tells = guest_has_memory() && n >= N_FACTS - N_OPTIONAL && facts[SLAB_CACHES].value &&
		facts[PAGE].value;
	return tells;
}

/* Return the index in TYPES of the slab cache CACHE, or of a free entry for it. */
static uint32_t find(uint64_t cache)
{
	uint32_t at = (uint32_t)((cache * 0x9e3779b97f4a7c15ull) >> 54);

	while (types[N_FIXED + at].cache && types[N_FIXED + at].cache != cache)
		at = (at + 1) % TYPES_MAX;
	return N_FIXED + at;
}

/* Read the slab caches. Return false if the present page tables are user space's and lack the kernel's data. Then call again. */
static bool learn(void)
{
	const uint64_t head = facts[SLAB_CACHES].value;
	uint64_t item, name, base = VMEMMAP;
	uint32_t size = 0;

	if (!guest_read(head, &item, sizeof(item)))
		return false;
	for (int n = 0; item != head && n < TYPES_MAX / 2; n++) {
		const uint64_t cache = item - facts[CACHE_LIST].value;
		struct objects *type = &types[find(cache)];

		if (!guest_read(cache + facts[CACHE_NAME].value, &name, sizeof(name)) ||
		    !guest_read(item, &item, sizeof(item)))
			break;
		/* The name cannot be read if its page ends within NAME_MAX bytes and the next page is not mapped. */
		if (!guest_read(name, type->name, NAME_MAX - 1))
			strcpy(type->name, "[slab]");
		type->cache = cache;
		for (char *c = type->name; *c; c++)
			*c = *c <= ' ' ? '_' : *c;
	}
	if (facts[VMEMMAP_BASE].value)
		guest_read(facts[VMEMMAP_BASE].value, &base, sizeof(base));
	vmemmap = base;
	if (facts[PCPU_BASE].value && facts[PCPU_SIZE].value &&
	    guest_read(facts[PCPU_BASE].value, &percpu, sizeof(percpu)) &&
	    guest_read(facts[PCPU_SIZE].value, &size, sizeof(size)))
		percpu_end = percpu + size;
	return true;
}

/* Return the type of the page at PHYS, from its struct page or from the compound page's. */
static uint32_t type_of_page(uint64_t phys)
{
	uint64_t addr = vmemmap + phys / PAGE_SIZE * facts[PAGE].value, page[16], head;
	size_t size = facts[PAGE].value < sizeof(page) ? facts[PAGE].value : sizeof(page);
	uint32_t type, found;

	if (!guest_read(addr, page, size))
		return OTHER;
	head = page[1];
	if (head & 1 && !guest_read(head - 1, page, size))
		return OTHER;
	found = find(page[facts[SLAB_CACHE].value / sizeof(*page) % 16]);
	if (types[found].cache)
		return found;
	type = ((const uint32_t *)page)[(facts[PAGE_REFCOUNT].value / sizeof(type) - 1) % 32];
	return type == TABLE_TYPE || type >> 24 == PGTY_TABLE ? TABLES : OTHER;
}

static uint32_t type_of_kernel(uint64_t vaddr, uint64_t phys)
{
	if (follow_is_stack(vaddr))
		return STACK;
	if (vaddr >= KERNEL_IMAGE)
		return KERNEL;
	if (vaddr >= percpu && vaddr < percpu_end)
		return PER_CPU;
	if (vaddr >= vmemmap && vaddr - vmemmap < VMEMMAP_MAX)
		return PAGES;
	return type_of_page(phys);
}

void objects_missed(uint32_t events, uint64_t vaddr, uint64_t phys)
{
	struct context *context = follow_context();
	uint32_t type = vaddr >> 63 ? OTHER : USER;

	if (!tells)
		return;
	if (type != USER && (knows || (knows = learn())))
		type = type_of_kernel(vaddr, phys);
	if (!context->objects)
		context->objects = get_memory((N_FIXED + TYPES_MAX) * sizeof(*context->objects));
	for (int event = 0; event < MODEL_N_EVENTS; event++)
		context->objects[type][event] += events >> event & 1;
}

void objects_write(const struct context *context, FILE *file)
{
	for (uint32_t i = 0; context->objects && i < N_FIXED + TYPES_MAX; i++)
		for (int event = 0; event < MODEL_N_EVENTS; event++)
			if (context->objects[i][event])
				fprintf(file, "O %" PRIu32 " %d %" PRIu64 " %s\n", context->id,
					event, context->objects[i][event], types[i].name);
}
