// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/cost/count.h"

#include <bpf/libbpf.h>
#include <stdlib.h>

#include "kprotperf.skel.h"
#include "record/engine/kprobe_event.h"
#include "record/probe/links.h"

/* Functions counted at once: each takes a moment to attach, and some of the command's time. */
#define COUNTED_MOST 12

static bool is_reached(const struct record_symbols *symbols, const struct kernel_sym *sym)
{
	return kernel_tracing_is_ftrace(symbols->tracing, sym) == KERNEL_YES &&
	       !record_symbols_is_blacklisted(symbols, sym->addr);
}

void record_count_begin(struct record_counts *counts, const struct record_engine *e,
			const struct record_symbols *symbols)
{
	int prog = bpf_program__fd(record_engine_programs(e)->progs.function_count);
	uint32_t counted = 0;

	for (uint32_t i = 0; i < counts->n_items && counted < COUNTED_MOST; i++) {
		struct record_count *c = &counts->items[i];
		const struct kernel_sym **syms;
		size_t n;

		syms = kernel_kallsyms_clones(symbols->ks, c->name, &n);
		for (size_t k = 0; k < n && c->n_links < RECORD_COUNTED_CLONES; k++) {
			int link = is_reached(symbols, syms[k]) ?
					   record_kprobe_attach(prog, syms[k]->addr, false, i) :
					   -1;

			if (link >= 0)
				c->links[c->n_links++] = link;
		}
		counted += c->n_links > 0;
		free(syms);
	}
}

static void detach(struct record_count *c)
{
	while (c->n_links)
		record_detach_later(c->links[--c->n_links]);
}

void record_count_look(struct record_counts *counts, const struct record_engine *e)
{
	const __u64 *counted = record_engine_programs(e)->bss->counted;

	for (uint32_t i = 0; i < counts->n_items; i++) {
		struct record_count *c = &counts->items[i];

		c->calls = __atomic_load_n(&counted[i], __ATOMIC_RELAXED);
		if (c->calls > c->most)
			detach(c);
	}
}

void record_count_end(struct record_counts *counts, const struct record_engine *e)
{
	record_count_look(counts, e);
	for (uint32_t i = 0; i < counts->n_items; i++)
		detach(&counts->items[i]);
	record_detach_wait();
}
