// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine/watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>
#include <unistd.h>

#include "base/sorted.h"

/* Size of a CPU's ring buffer in bytes. Some thousand changes fit into the buffer in a run. */
#define RING_SIZE  (64u << 10)
#define LARGEST    512 /* largest event, in bytes; the kernel drops events for lack of room */
#define BPF_PREFIX "bpf_prog_" /* followed by 16 digits and "_NAME" */
#define BPF_NAME   (sizeof(BPF_PREFIX) + 16)

/* The kernel's record of changed code (PERF_RECORD_TEXT_POKE), without optional fields. */
struct text_poke {
	struct perf_event_header header;
	uint64_t addr;
	uint16_t old_len, new_len;
	uint8_t bytes[]; /* old bytes, then new bytes */
};

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

static enum bpf_perf_event_ret on_event(void *arg, int cpu, struct perf_event_header *event)
{
	struct record_watch *w = arg;

	w->bytes = (cpu == w->cpu ? w->bytes : 0) + event->size;
	w->cpu = cpu;
	w->overflowed |= w->bytes > RING_SIZE - LARGEST;
	if (event->type == PERF_RECORD_TEXT_POKE)
		note_change(w, (const void *)event);
	else if (event->type == PERF_RECORD_KSYMBOL)
		note_symbol(w, (const void *)event);
	return LIBBPF_PERF_EVENT_CONT;
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

	w->map = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, NULL, 4, 4,
				libbpf_num_possible_cpus(), NULL);
	if (w->map < 0)
		return;
	w->events = perf_buffer__new_raw(w->map, RING_SIZE / (size_t)getpagesize(), &attr, on_event,
					 w, NULL);
	if (!w->events)
		close(w->map);
}

static void forget(struct record_watch *w)
{
	alloc_texts_free(&w->programs);
	w->n_changes = 0;
	w->overflowed = false;
	w->bytes = 0;
}

void record_watch_close(struct record_watch *w)
{
	if (w->events) {
		perf_buffer__free(w->events);
		close(w->map);
	}
	forget(w);
	free(w->changes);
}

void record_watch_read(struct record_watch *w)
{
	forget(w);
	if (w->events)
		perf_buffer__consume(w->events);
	sort_array(w->changes, w->n_changes, sizeof(*w->changes), compare_u64);
}

uint32_t record_watch_from(const struct record_watch *w, uint64_t addr)
{
	return bisect(w->n_changes, i, w->changes[i].addr < addr);
}
