// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A model of a CPU's caches, TLBs and branch predictor: docs/misses.md. A line that misses a cache is stored there, whatever other
 * caches contain, in place of the least recently used line of its set.
 */
#include <stdlib.h>
#include <string.h>

#include "exact.h"
#include "model.h"

#define LINE_SHIFT  6
#define LINE        (1 << LINE_SHIFT)
#define ACCESS_MAX  32 /* maximum size of an access, in bytes */
#define PAGE_SHIFT  12
#define LARGE_SHIFT 21
#define PAGES       4096 /* number of entries of pages[]; does not affect the counts */
#define RETURNS     16

/* A cache or TLB. Each set has WAYS entries in KEYS, the most recently used first; 0: an empty entry. */
struct cache {
	uint64_t *keys;
	uint64_t sets, ways;
	uint64_t mask; /* SETS - 1, for a power of two */
	bool divides; /* SETS is not a power of two */
};

/* An accessed page. The entry is valid until the guest changes or switches mappings, which increases GENERATION. */
struct page {
	uint64_t number; /* virtual address / page size */
	uint64_t generation;
	uint64_t addr; /* physical address */
	uint64_t index, key; /* set and key in the TLBs; KEY 0: the page is I/O, not memory */
};

enum branch {
	BRANCH_NONE,
	BRANCH_CONDITIONAL,
	BRANCH_INDIRECT,
	BRANCH_CALL,
	BRANCH_INDIRECT_CALL,
	BRANCH_RETURN,
};

struct fetch {
	uint64_t addr, end, target;
	uint64_t pages[2]; /* addresses of the two pages of code in QEMU's memory; 0: unknown */
	struct block *block;
	uint16_t n;
	enum branch branch; /* kind of the last instruction */
};

struct model model;

static struct cache caches[MODEL_BRANCH];
static struct page pages[PAGES];
static uint64_t generation = 1;
static bool isolated; /* user space has separate page tables (PTI) */

static const struct fetch *previous;
static uint64_t previous_began; /* EXECUTED at the start of PREVIOUS */
static uint64_t last_line; /* the last fetched line */
static const struct page *last_page; /* page of the last access; NULL: unknown */
static uint64_t last_data; /* line of the last access */
static uint8_t *counters;
static uint64_t *targets, counters_mask, history, history_mask;
static uint32_t missed; /* bit E is set if the current access causes event E */
static uint64_t returns[RETURNS];
static unsigned int n_returned;

/* Make KEY, which is not SET's first entry, the first (most recently used) one. Return whether KEY was in SET. */
static bool touch(uint64_t *set, uint64_t ways, uint64_t key)
{
	uint64_t before = *set;

	*set = key;
	for (uint64_t way = 1; way < ways; way++) {
		uint64_t moved = before;

		before = set[way];
		set[way] = moved;
		if (before == key)
			return true;
	}
	return false;
}

/* Look up KEY, which is not SET's first entry. Not inlined, since this is rare: most keys are used repeatedly. */
static __attribute__((noinline)) bool hits_again(enum model_event event, uint64_t *set,
						 uint64_t key, uint16_t insn)
{
	if (touch(set, caches[event].ways, key))
		return true;
	follow_miss(event, insn);
	missed |= 1u << event;
	return false;
}

static inline bool hits(enum model_event event, uint64_t index, uint64_t key, uint16_t insn)
{
	const struct cache *c = &caches[event];
	uint64_t *set = c->keys + (c->divides ? index % c->sets : index & c->mask) * c->ways;

	return *set == key || hits_again(event, set, key, insn);
}

static inline void access_line(enum model_event first, uint64_t addr, uint16_t insn)
{
	uint64_t line = addr >> LINE_SHIFT, key = line + 1;

	if (!hits(first, line, key, insn) && !hits(MODEL_L2, line, key, insn))
		hits(MODEL_LLC, line, key, insn);
}

static inline void translate(enum model_event first, uint64_t index, uint64_t key, uint16_t insn)
{
	if (!hits(first, index, key, insn))
		hits(MODEL_STLB, index, key, insn);
}

/* Assume a 2 MiB page if the virtual and physical addresses of a page have the same offset in 2 MiB. */
static void set_tlb_key(uint64_t vaddr, uint64_t addr, uint64_t *index, uint64_t *key)
{
	bool large = !((vaddr ^ addr) >> PAGE_SHIFT & ((1 << (LARGE_SHIFT - PAGE_SHIFT)) - 1));
	int shift = large ? LARGE_SHIFT : PAGE_SHIFT;

	*index = vaddr >> shift;
	*key = *index << shift | 1 | large << 1;
}

static void look_up(struct page *page, qemu_plugin_meminfo_t info, uint64_t vaddr)
{
	struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, vaddr);

	*page = (struct page){ .number = vaddr >> PAGE_SHIFT, .generation = generation };
	last_page = NULL;
	if (!where || qemu_plugin_hwaddr_is_io(where))
		return;
	page->addr = qemu_plugin_hwaddr_phys_addr(where) >> PAGE_SHIFT << PAGE_SHIFT;
	set_tlb_key(vaddr, page->addr, &page->index, &page->key);
}

static inline const struct page *page_of(qemu_plugin_meminfo_t info, uint64_t vaddr)
{
	uint64_t number = vaddr >> PAGE_SHIFT;
	struct page *page = &pages[number % PAGES];

	if (page->number != number || page->generation != generation)
		look_up(page, info, vaddr);
	return page;
}

static void tell_object(uint64_t vaddr, const struct page *page)
{
	if (missed)
		objects_missed(missed, vaddr, page->addr);
	missed = 0;
}

void model_access(qemu_plugin_meminfo_t info, uint64_t vaddr, uint16_t insn)
{
	uint64_t in_page = vaddr % (1 << PAGE_SHIFT), size;
	const struct page *page = page_of(info, vaddr);

	if (!page->key)
		return;
	missed = 0;
	/* The page of the last access is still the most recently used entry of its set. */
	if (page != last_page)
		translate(MODEL_DTLB, page->index, page->key, insn);
	if (page != last_page || (page->addr + in_page) >> LINE_SHIFT != last_data) {
		access_line(MODEL_L1D, page->addr + in_page, insn);
		tell_object(vaddr, page);
	}
	last_page = page;
	last_data = (page->addr + in_page) >> LINE_SHIFT;
	/* The access is within its line, since it has at most ACCESS_MAX bytes. */
	if (vaddr % LINE <= LINE - ACCESS_MAX)
		return;
	size = 1ull << qemu_plugin_mem_size_shift(info);
	/* If an access crosses into the next page, use the first page's address for its second line, too. */
	if ((vaddr ^ (vaddr + size - 1)) >> LINE_SHIFT)
		access_line(MODEL_L1D, page->addr + (in_page + size - 1) % (1 << PAGE_SHIFT), insn);
	tell_object(vaddr, page);
	last_page = NULL;
}

static void fetch_line(const struct fetch *f, uint64_t line)
{
	uint64_t vaddr = line << LINE_SHIFT, index, key;
	uint64_t page = f->pages[vaddr >> PAGE_SHIFT != f->addr >> PAGE_SHIFT];

	if (!page)
		return;
	set_tlb_key(vaddr, page, &index, &key);
	translate(MODEL_ITLB, index, key, 0);
	access_line(MODEL_L1I, page + vaddr % (1 << PAGE_SHIFT), 0);
}

void model_enter(const struct fetch *f)
{
	uint64_t last = (f->end - 1) >> LINE_SHIFT;

	for (uint64_t line = f->addr >> LINE_SHIFT; line <= last; line++) {
		if (line != last_line)
			fetch_line(f, line);
		last_line = line;
	}
	previous = f;
	previous_began = executed;
}

static bool predicts_condition(uint64_t addr, bool taken)
{
	uint8_t *counter = &counters[(addr ^ history) & counters_mask], before = *counter;
	bool predicted = before >= 2;

	/* Update the counter without a branch, which the host would mispredict as often as the guest. */
	*counter = (uint8_t)(before + (taken & (before < 3)) - (!taken & (before > 0)));
	history = (history << 1 | taken) & history_mask;
	return predicted == taken;
}

static bool predicts_target(uint64_t addr, uint64_t to)
{
	uint64_t *target = &targets[addr & counters_mask];
	bool right = *target == to;

	*target = to;
	return right;
}

static bool predicts(const struct fetch *p, uint64_t to)
{
	switch (p->branch) {
	case BRANCH_CONDITIONAL:
		return (to != p->target && to != p->end) ||
		       predicts_condition(p->end, to == p->target);
	case BRANCH_CALL:
	case BRANCH_INDIRECT_CALL:
		returns[n_returned++ % RETURNS] = p->end;
		return p->branch == BRANCH_CALL || predicts_target(p->end, to);
	case BRANCH_INDIRECT:
		return predicts_target(p->end, to);
	case BRANCH_RETURN:
		return returns[--n_returned % RETURNS] == to;
	default:
		return true;
	}
}

void model_leave(const struct fetch *next)
{
	const struct fetch *p = previous;
	enum role role = next->block->function->role;

	/* The entry of an exception or interrupt is not reached by a branch. */
	if (!p || !p->branch || executed - previous_began != p->n || role == ROLE_ENTRY_FAULT ||
	    role == ROLE_ENTRY_IRQ)
		return;
	if (!predicts(p, next->addr))
		follow_miss(MODEL_BRANCH, p->n - 1);
}

/* Remove all but global translations: those of the kernel, or if ISOLATED (PTI) those of the kernel's image. */
static void flush(struct cache *c)
{
	uint64_t kept = isolated ? KERNEL_IMAGE : 1ull << 63;

	for (uint64_t i = 0; i < c->sets * c->ways; i++)
		if (c->keys[i] < kept)
			c->keys[i] = 0;
}

void model_flush(const struct block *block)
{
	enum role role = block->function->role;

	generation++;
	isolated |=
		role == ROLE_ENTRY_SYSCALL || role == ROLE_ENTRY_FAULT || role == ROLE_ENTRY_IRQ;
	flush(&caches[MODEL_ITLB]);
	flush(&caches[MODEL_DTLB]);
	flush(&caches[MODEL_STLB]);
	last_line = 0;
	last_page = NULL;
}

void model_remapped(void)
{
	generation++;
}

static enum branch branch_of(const unsigned char *code, size_t size, enum ending ending,
			     bool direct)
{
	const unsigned char *end = code + size;

	if (ending == ENDS_CALL)
		return direct ? BRANCH_CALL : BRANCH_INDIRECT_CALL;
	if (ending == ENDS_RETURN)
		return BRANCH_RETURN;
	if (direct)
		return (size >= 6 && end[-6] == 0x0f && end[-5] >> 4 == 8) ||
				       (size < 5 && end[-2] >> 4 == 7) ?
			       BRANCH_CONDITIONAL :
			       BRANCH_NONE;
	while (size > 2 && (*code >> 4 == 4 || *code == 0x3e)) {
		code++;
		size--;
	}
	return size >= 2 && *code == 0xff && (code[1] >> 3 & 7) == 4 ? BRANCH_INDIRECT :
								       BRANCH_NONE;
}

static uint64_t page_at(const struct qemu_plugin_insn *insn)
{
	return (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(insn) >> PAGE_SHIFT << PAGE_SHIFT;
}

struct fetch *model_fetch_of(struct qemu_plugin_tb *tb, struct block *block, enum ending ending,
			     int32_t by)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
	const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n - 1);
	size_t size = qemu_plugin_insn_size(last);
	struct fetch *f = get_memory(sizeof(*f));

	*f = (struct fetch){
		.addr = qemu_plugin_insn_vaddr(first),
		.end = qemu_plugin_insn_vaddr(last) + size,
		.pages = { page_at(first) },
		.block = block,
		.n = (uint16_t)n,
		.branch = branch_of(qemu_plugin_insn_data(last), size, ending, by != 0),
	};
	f->target = f->end + (uint64_t)(int64_t)by;
	/* If an instruction crosses into a second page, QEMU shows only the first page. */
	if (qemu_plugin_insn_vaddr(last) >> PAGE_SHIFT != f->addr >> PAGE_SHIFT)
		f->pages[1] = page_at(last);
	return f;
}

struct block *model_block(const struct fetch *f)
{
	return f->block;
}

static bool read_size(const char *text, uint64_t *size)
{
	char *end;

	*size = strtoull(text, &end, 10);
	if (*end == 'K' || *end == 'M')
		*size <<= *end++ == 'K' ? 10 : 20;
	return *size && !*end;
}

/* Read a line "NAME SIZE WAYS CYCLES". SIZE is in bytes (cache), entries (TLB) or counters (branch; WAYS: bits of history). */
static bool read_line(const char *line)
{
	static const char *const names[] = { MODEL_EVENT_NAMES };
	char name[16], size_text[16];
	uint64_t size, ways, cycles;
	int event = 0;

	if (sscanf(line, "%15s %15s %lu %lu", name, size_text, &ways, &cycles) != 4 ||
	    !read_size(size_text, &size) || !ways)
		return false;
	while (event < MODEL_N_EVENTS && strcmp(name, names[event]) != 0)
		event++;
	if (event == MODEL_N_EVENTS)
		return false;
	model.cycles[event] = cycles;
	if (event == MODEL_BRANCH) {
		if ((size & (size - 1)) || ways >= 64)
			return false;
		counters_mask = size - 1;
		history_mask = (1ull << ways) - 1;
		counters = get_memory(size);
		targets = get_memory(size * sizeof(*targets));
		return true;
	}
	size >>= event <= MODEL_LLC ? LINE_SHIFT : 0;
	if (!size || size % ways)
		return false;
	caches[event] = (struct cache){ .keys = get_memory(size * sizeof(uint64_t)),
					.sets = size / ways,
					.ways = ways,
					.mask = size / ways - 1,
					.divides = size / ways & (size / ways - 1) };
	return true;
}

bool model_read(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[256] = "";
	bool ok = true;

	if (!file) {
		fprintf(stderr, "exact: cannot read %s\n", path);
		return false;
	}
	while (ok && fgets(line, sizeof(line), file))
		ok = line[0] == '#' || line[0] == '\n' || read_line(line);
	fclose(file);
	if (!ok) {
		fprintf(stderr, "exact: %s: invalid line '%.*s' (docs/misses.md)\n", path,
			(int)strcspn(line, "\n"), line);
		return false;
	}
	for (int event = 0; event < MODEL_BRANCH; event++)
		ok = ok && caches[event].keys;
	if (!ok || !counters)
		fprintf(stderr, "exact: %s: a cache, a TLB or the branch predictor is missing\n",
			path);
	model.name = strdup(strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	return ok && counters;
}
