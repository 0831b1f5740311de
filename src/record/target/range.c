// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/range.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "profile/profile.h"
#include "record/engine/features.h"
#include "record/target/range_plan.h"
#include "kernel/debuginfo/index.h"
#include "kernel/image/name.h"

struct resolver {
	struct record_ranges *ranges;
	const struct kernel_index *idx;
	const struct kernel_kallsyms *ks;
	const char *function; /* what the function around the body must match; NULL: any does */
	bool named; /* that is a name */
	uint32_t matched; /* bodies, those left out by FUNCTION among them */
	uint32_t added;
};

void record_range_give_up(struct record_ranges *ranges, uint32_t i, const char *fmt, ...)
{
	struct record_range *r = &ranges->items[i];
	char *why = NULL;
	va_list args;

	if (r->why_not)
		return;
	va_start(args, fmt);
	if (vasprintf(&why, fmt, args) < 0)
		why = alloc_strdup("out of memory");
	va_end(args);
	r->why_not = why;
	if (r->called)
		log_verbose(1, "calls of '%s' in '%s' are not timed: %s", r->name, r->into, why);
	else
		log_verbose(1, "'%s' in '%s' at %s:%u is not timed: %s", r->name, r->into,
			    r->file ?: "?", r->line, why);
}

void record_ranges_add(struct record_ranges *ranges, const struct kernel_index *idx,
		       const struct kernel_body *body, bool named)
{
	const char *symbol = body->function.symbol ?: body->function.name;
	struct record_range range = {
		.body = body->id,
		.name = body->name,
		.symbol = symbol,
		.file = body->call_file,
		.line = body->call_line,
		.entry = body->entry,
		.into_addr = body->function.addr,
		.named = named,
	};

	for (size_t i = 0; i < body->n_ranges; i++)
		range.size += body->ranges[i].end - body->ranges[i].start;
	range.into = alloc_strndup(symbol, kernel_name_base_len(symbol));
	range.chain = kernel_index_chain(idx, body->id, PROFILE_CHAIN);
	vec_push(ranges, items, range);
}

#define FIRST_CALLS 0x80000000u /* no index has so many bodies */

void record_ranges_add_call(struct record_ranges *ranges, const char *into, uint64_t into_addr,
			    const char *name, struct kernel_range call, const char *why_not)
{
	struct record_range *r = NULL;
	struct record_range added = {
		.body = FIRST_CALLS + ranges->n_items,
		.symbol = into,
		.entry = call.start,
		.into_addr = into_addr,
		.named = true,
	};

	for (uint32_t i = 0; i < ranges->n_items && !r; i++)
		if (ranges->items[i].called && ranges->items[i].into_addr == into_addr &&
		    !strcmp(ranges->items[i].called, name) && !ranges->items[i].why_not == !why_not)
			r = &ranges->items[i];
	if (!r) {
		added.called = alloc_strdup(name);
		added.name = added.called;
		added.into = alloc_strndup(into, kernel_name_base_len(into));
		vec_push(ranges, items, added);
		r = &ranges->items[ranges->n_items - 1];
		if (why_not)
			record_range_give_up(ranges, ranges->n_items - 1, "%s", why_not);
	}
	r->size += call.end - call.start;
	vec_push(r, calls, call);
}

static bool is_wanted(const struct resolver *r, const struct kernel_body *body)
{
	return !r->function || !fnmatch(r->function, body->function.name, 0);
}

static int add_body(const struct kernel_body *body, void *arg)
{
	struct resolver *r = arg;

	r->matched++;
	if (!is_wanted(r, body))
		return 0;
	r->added++;
	for (uint32_t i = 0; i < r->ranges->n_items; i++)
		if (r->ranges->items[i].body == body->id) {
			r->ranges->items[i].named |= r->named;
			return 0;
		}
	if (r->ranges->n_items == RECORD_MAX_RANGES)
		return -E2BIG;
	record_ranges_add(r->ranges, r->idx, body, r->named);
	return 0;
}

/* The module that the function named is in; NULL: none, or there is one of that name in the kernel itself. */
static const char *module_of(const struct resolver *r)
{
	const struct kernel_sym *const *named;
	size_t n = 0;

	if (!r->named)
		return NULL;
	named = kernel_kallsyms_named(r->ks, r->function, &n);
	for (size_t i = 0; i < n; i++)
		if (!named[i]->module)
			return NULL;
	return n ? named[0]->module : NULL;
}

/*
 * PATTERN adds nothing. That a kernel has no such body may be what the other one is compared with, so it
 * keeps nothing else from being recorded; -E2BIG does.
 */
static int report_missing(const struct resolver *r, const char *pattern, int err, uint32_t empty)
{
	if (err == -E2BIG)
		log_error(
			"'%s' matches more than %u inlined bodies, the limit; name the function they "
			"are in: INLINED@FUNC",
			pattern, RECORD_MAX_RANGES);
	else if (err)
		log_error("cannot look up '%s' in the index of the kernel's inlined bodies: %s",
			  pattern, log_strerror(err));
	else if (module_of(r))
		log_warn(
			"'%s': not timed: '%s' is in the module %s, where inlined bodies are estimated from samples only",
			pattern, r->function, module_of(r));
	else if (r->matched)
		log_warn(
			"'%s': not timed: inlined at %u places, none of them in a matching function",
			pattern, r->matched);
	else if (empty)
		log_warn(
			"'%s': not timed: inlined at %u places, but it has no instructions left there",
			pattern, empty);
	else
		log_warn("'%s': not timed: no inlined function matches '%s' in this kernel (see "
			 "kprotperf list)",
			 pattern, pattern);
	return err;
}

static int resolve_one(struct resolver *r, const char *pattern)
{
	const char *at = strchr(pattern, '@');
	char *name = alloc_strndup(pattern, at ? (size_t)(at - pattern) : strlen(pattern));
	uint32_t empty = 0;
	int err;

	r->function = at ? at + 1 : NULL;
	r->named = at && !strpbrk(at, "*?[");
	r->matched = r->added = 0;
	err = kernel_index_bodies_each(r->idx, name, add_body, r, &empty);
	if (err || !r->added)
		err = report_missing(r, pattern, err == -ENOENT ? 0 : err, empty);
	else if (empty && !at)
		log_verbose(1, "'%s': in %u more places it has no instructions left", pattern,
			    empty);
	free(name);
	return err;
}

static void say_not_timed(const struct record_ranges *ranges)
{
	uint32_t n = 0, which = 0;

	for (uint32_t i = 0; i < ranges->n_items; i++)
		if (ranges->items[i].why_not) {
			n++;
			which = i;
		}
	if (n)
		log_note("%u of %u inlined bodies cannot be timed, and are estimated from samples: "
			 "'%s' in '%s': %s%s",
			 n, ranges->n_items, ranges->items[which].name, ranges->items[which].into,
			 ranges->items[which].why_not, n > 1 ? " (-v lists all)" : "");
}

int record_ranges_resolve(struct record_ranges *ranges, const struct record_kernel *kernel,
			  const struct record_names *patterns, uint32_t first_site)
{
	struct record_symbols *symbols = kernel->symbols;
	struct resolver r = { .ranges = ranges, .ks = symbols->ks };
	const struct kernel_index *idx;
	int err, one;

	ranges->first_site = first_site;
	if (!patterns->n_items) { /* calls alone, which are in no index */
		if (ranges->n_items)
			record_ranges_plan(ranges, symbols, NULL);
		return 0;
	}
	if (kernel->features->kprobe) {
		log_error("cannot time inlined functions on this kernel: kprobes: %s",
			  record_features_why_not_kprobe(kernel->features));
		return -EOPNOTSUPP;
	}
	err = record_symbols_index(symbols, &idx);
	if (err || !idx || !kernel_index_has_dwarf(idx)) {
		if (!err)
			log_error("--range needs the kernel's vmlinux with DWARF: %s",
				  symbols->image_why_not ?: "it has no DWARF");
		return err ?: -ENODATA;
	}
	r.idx = idx;
	for (uint32_t i = 0; i < patterns->n_items; i++) {
		one = resolve_one(&r, patterns->items[i]);
		err = err ?: one;
	}
	if (err)
		return err;
	record_ranges_plan(ranges, symbols, idx);
	say_not_timed(ranges);
	if (!symbols->image)
		log_note("%s", record_symbols_index_alone);
	return 0;
}

void record_ranges_store(const struct record_ranges *ranges, struct profile *p)
{
	for (uint32_t i = 0; i < ranges->n_items; i++) {
		const struct record_range *r = &ranges->items[i];
		struct profile_site site = {
			.name = r->name,
			.symbol = r->symbol,
			.into = r->into,
			.chain = r->chain,
			.estimated = r->why_not,
			.kind = PROFILE_SITE_RANGE,
			.mech = r->why_not ? PROFILE_MECH_NONE : PROFILE_MECH_RANGE,
			.addr = r->entry,
			.file = r->file,
			.line = r->line,
		};

		profile_site_add(p, &site);
	}
}

/* Takes the actions of bodies that were given up off P. */
static void prune_point(const struct record_ranges *ranges, struct record_point *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_actions; i++)
		if (!ranges->items[p->actions[i].site - ranges->first_site].why_not)
			p->actions[n++] = p->actions[i];
	p->n_actions = n;
}

void record_ranges_prune(struct record_ranges *ranges, void (*drop)(struct record_point *p))
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ranges->n_points; i++) {
		struct record_point *p = &ranges->points[i];

		prune_point(ranges, p);
		if (p->n_actions)
			ranges->points[n++] = *p;
		else if (drop)
			drop(p);
	}
	ranges->n_points = n;
}

void record_ranges_deinit(struct record_ranges *ranges)
{
	for (uint32_t i = 0; i < ranges->n_items; i++) {
		free(ranges->items[i].into);
		free(ranges->items[i].called);
		free(ranges->items[i].calls);
		free(ranges->items[i].chain);
		free(ranges->items[i].why_not);
	}
	free(ranges->points);
	free(ranges->items);
	*ranges = (struct record_ranges){};
}
