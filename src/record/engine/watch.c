// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine/watch.h"

#include <bpf/libbpf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sorted.h"

/* Size of a CPU's ring buffer in bytes. Some thousand changes fit into the buffer in a run. */
#define RING_SIZE  (64u << 10)
#define LARGEST    512 /* largest record, in bytes; the kernel drops records for lack of room */
#define BPF_PREFIX "bpf_prog_" /* followed by 16 digits and "_NAME" */
#define BPF_NAME   (sizeof(BPF_PREFIX) + 16)

struct record_watched_cpu {
	int fd;
	struct perf_event_mmap_page *page; /* followed in memory by the ring buffer */
};

/* The kernel's record of changed code (PERF_RECORD_TEXT_POKE), without optional fields. */
struct text_poke {
	struct perf_event_header header;
	uint64_t addr;
	uint16_t old_len, new_len;
	uint8_t bytes[]; /* old bytes, then new bytes */
};

static size_t map_size(void)
{
	return RING_SIZE + (size_t)getpagesize();
}

void record_watch_open(struct record_watch *w)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.text_poke = 1,
		.ksymbol = 1,
	};
	int n = libbpf_num_possible_cpus();

	for (int cpu = 0; cpu < n; cpu++) {
		struct record_watched_cpu c = { .fd = syscall(SYS_perf_event_open, &attr, -1, cpu,
							      -1, PERF_FLAG_FD_CLOEXEC) };

		if (c.fd < 0)
			continue;
		c.page = mmap(NULL, map_size(), PROT_READ | PROT_WRITE, MAP_SHARED, c.fd, 0);
		if (c.page == MAP_FAILED)
			close(c.fd);
		else
			vec_push(w, cpus, c);
	}
}

static void forget(struct record_watch *w)
{
	alloc_texts_free(&w->programs);
	w->n_changes = 0;
	w->overflowed = false;
}

void record_watch_close(struct record_watch *w)
{
	while (w->n_cpus) {
		munmap(w->cpus[--w->n_cpus].page, map_size());
		close(w->cpus[w->n_cpus].fd);
	}
	free(w->cpus);
	forget(w);
	free(w->changes);
}

static void note_change(struct record_watch *w, const struct text_poke *p)
{
	struct record_change change = { .addr = p->addr, .len = p->new_len };

	memcpy(&change.text, p->bytes + p->old_len,
	       change.len < sizeof(change.text) ? change.len : sizeof(change.text));
	vec_push(w, changes, change);
}

static void note_symbol(struct record_watch *w, const struct record_ksymbol *s)
{
	if (!(s->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) &&
	    !strncmp(s->name, BPF_PREFIX, strlen(BPF_PREFIX)) && strlen(s->name) > BPF_NAME)
		alloc_keep(&w->programs, alloc_strdup(s->name + BPF_NAME));
}

/* Copy the record at position FROM of the ring buffer to BUF, and return BUF. The record may wrap around in the ring buffer. */
static const struct perf_event_header *read_record(const struct record_watched_cpu *c,
						   uint64_t from, uint64_t *buf)
{
	const char *ring = (const char *)c->page + getpagesize();
	const struct perf_event_header *header = (const void *)(ring + from % RING_SIZE);
	size_t size = header->size < LARGEST ? header->size : LARGEST;
	size_t first = RING_SIZE - from % RING_SIZE;

	first = first < size ? first : size;
	memcpy(buf, header, first);
	memcpy((char *)buf + first, ring, size - first);
	return (const void *)buf;
}

static void read_cpu(struct record_watch *w, struct record_watched_cpu *c)
{
	uint64_t buf[LARGEST / 8 + 1] = {}, from = c->page->data_tail;
	uint64_t end = __atomic_load_n(&c->page->data_head, __ATOMIC_ACQUIRE);

	w->overflowed |= end - from > RING_SIZE - LARGEST;
	while (from < end) {
		const struct perf_event_header *header = read_record(c, from, buf);

		if (header->type == PERF_RECORD_TEXT_POKE)
			note_change(w, (const void *)header);
		else if (header->type == PERF_RECORD_KSYMBOL)
			note_symbol(w, (const void *)header);
		from += header->size;
	}
	__atomic_store_n(&c->page->data_tail, end, __ATOMIC_RELEASE);
}

void record_watch_read(struct record_watch *w)
{
	forget(w);
	vec_each(struct record_watched_cpu, c, w, cpus)
		read_cpu(w, c);
	sort_array(w->changes, w->n_changes, sizeof(*w->changes), compare_u64);
}

uint32_t record_watch_from(const struct record_watch *w, uint64_t addr)
{
	return bisect(w->n_changes, i, w->changes[i].addr < addr);
}
