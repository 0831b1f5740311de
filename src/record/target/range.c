// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/range.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/plural.h"
#include "profile/profile.h"
#include "record/engine/features.h"
#include "record/target/range_plan.h"
#include "kernel/debuginfo/index.h"
#include "kernel/image/name.h"

struct resolver {
	struct record_ranges *ranges;
	struct record_symbols *symbols;
	struct record_image *in; /* image that is being searched */
	const char *pattern;
	char *name; /* name or glob of the inlined function */
	const char *function; /* name or glob of the function around the call; NULL: any */
	bool named; /* FUNCTION is a name without wildcards */
	uint32_t matched; /* number of inlined calls of NAME in all functions */
	uint32_t added;
	uint32_t empty; /* number of matching inlined calls without any instructions */
	bool unknown; /* a message has told the user why inlined calls may be missing */
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
	log_verbose(1, "'%s' in '%s' at %s:%u is not timed: %s", r->name, r->into, r->file ?: "?",
		    r->line, why);
}

void record_ranges_add(struct record_ranges *ranges, struct record_image *in,
		       const struct kernel_body *body, bool named)
{
	const char *symbol = body->function.symbol ?: body->function.name;
	struct record_range range = {
		.in = in,
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
	range.chain = kernel_index_chain(in->index, body->id, PROFILE_CHAIN);
	vec_push(ranges, items, range);
}

static bool is_wanted(const struct resolver *r, const struct kernel_body *body)
{
	return !r->function || kernel_name_matches(r->function, body->function.name);
}

static int add_body(const struct kernel_body *body, void *arg)
{
	struct resolver *r = arg;

	r->matched++;
	if (!is_wanted(r, body))
		return 0;
	r->added++;
	for (uint32_t i = 0; i < r->ranges->n_items; i++)
		if (r->ranges->items[i].in == r->in && r->ranges->items[i].body == body->id) {
			r->ranges->items[i].named |= r->named;
			return 0;
		}
	if (r->ranges->n_items == RECORD_MAX_RANGES)
		return -E2BIG;
	record_ranges_add(r->ranges, r->in, body, r->named);
	return 0;
}

/* Add the inlined calls in IN that match the pattern. If IN lacks DWARF, skip IN if it is a module, else fail. */
static int add_bodies(struct record_image *in, void *arg)
{
	struct resolver *r = arg;
	uint32_t empty = 0;
	int err = record_image_index(r->symbols, in);

	if (err)
		return err;
	if (in->index && kernel_index_has_dwarf(in->index)) {
		r->in = in;
		err = kernel_index_bodies_each(in->index, r->name, add_body, r, &empty);
		r->empty += empty;
		return err == -ENOENT ? 0 : err;
	}
	if (!in->module) {
		log_error("--range needs the kernel's vmlinux with DWARF: %s",
			  in->why_not ?: "it has no DWARF");
		return -ENODATA;
	}
	if (r->named)
		log_warn("'%s': not timed: %s", r->pattern,
			 in->why_not ?: "its module has no DWARF");
	r->unknown |= r->named;
	log_verbose(1, "'%s': module %s: %s", r->pattern, in->module, in->why_not ?: "no DWARF");
	return 0;
}

int record_range_images_each(struct record_symbols *symbols, const char *function,
			     record_image_fn fn, void *arg)
{
	const struct record_image *last = NULL;
	bool named = function && !kernel_name_is_pattern(function), in_kernel = !named,
	     in_modules = false;
	const struct kernel_sym *all = symbols->ks->syms;
	int err = 0;

	for (size_t i = 0; function && i < symbols->ks->n_syms && !err; i++) {
		struct record_image *in;

		if ((!all[i].module && !named) ||
		    !record_site_matches(symbols->ks, &all[i], function))
			continue;
		in_kernel |= !all[i].module;
		if (!all[i].module)
			continue;
		in_modules = true;
		in = record_symbols_image_of(symbols, &all[i]);
		if (in != last)
			err = fn(in, arg);
		last = in;
	}
	return err || (in_modules && !in_kernel) ? err : fn(&symbols->kernel, arg);
}

/*
 * Report that R's pattern failed with ERR. If ERR is 0, only warn that no inlined function matches: in a comparison, the other
 * kernel may have such a function.
 */
static void report_missing(const struct resolver *r, int err)
{
	if (err == -E2BIG)
		log_error("'%s' matches more than %u inlined bodies, which is the limit; name the "
			  "containing function: INLINED@FUNC",
			  r->pattern, RECORD_MAX_RANGES);
	else if (err)
		log_error("cannot look up '%s' in the index of the kernel's inlined bodies: %s",
			  r->pattern, log_strerror(err));
	else if (r->matched)
		log_warn("'%s': not timed: inlined in %u %s, none of them in a matching "
			 "function",
			 r->pattern, r->matched, plural(r->matched, "place", "places"));
	else if (r->empty)
		log_warn("'%s': not timed: inlined in %u %s, but it has no instructions left "
			 "there",
			 r->pattern, r->empty, plural(r->empty, "place", "places"));
	else if (!r->unknown)
		log_warn("'%s': not timed: no inlined function matches '%s' in this kernel (see "
			 "kprotperf list)",
			 r->pattern, r->pattern);
}

static int resolve_one(struct record_ranges *ranges, struct record_symbols *symbols,
		       const char *pattern)
{
	const char *at = strchr(pattern, '@');
	struct resolver r = { .ranges = ranges, .symbols = symbols, .pattern = pattern };
	int err;

	r.name = alloc_strndup(pattern, at ? (size_t)(at - pattern) : strlen(pattern));
	r.function = at ? at + 1 : NULL;
	r.named = at && !kernel_name_is_pattern(at);
	err = record_range_images_each(symbols, r.function, add_bodies, &r);
	if (err != -ENODATA && (err || !r.added))
		report_missing(&r, err);
	else if (r.empty && !at)
		log_verbose(1, "'%s': no instructions left in %u more %s", pattern, r.empty,
			    plural(r.empty, "place", "places"));
	free(r.name);
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
		log_note("%u of %u inlined %s cannot be timed, only estimated from samples: "
			 "'%s' in '%s': %s%s",
			 n, ranges->n_items, plural(ranges->n_items, "body", "bodies"),
			 ranges->items[which].name, ranges->items[which].into,
			 ranges->items[which].why_not, n > 1 ? " (-v lists all)" : "");
}

int record_ranges_resolve(struct record_ranges *ranges, const struct record_kernel *kernel,
			  const struct record_names *patterns, uint32_t first_site)
{
	struct record_symbols *symbols = kernel->symbols;
	int err = 0, one;

	ranges->first_site = first_site;
	if (!patterns->n_items) { /* ITEMS are calls, for which no index is needed */
		if (ranges->n_items)
			record_ranges_plan(ranges, symbols);
		return 0;
	}
	if (kernel->features->kprobe) {
		log_error("cannot time inlined functions on this kernel: kprobes: %s",
			  record_features_why_not_kprobe(kernel->features));
		return -EOPNOTSUPP;
	}
	for (uint32_t i = 0; i < patterns->n_items && err != -ENODATA; i++) {
		one = resolve_one(ranges, symbols, patterns->items[i]);
		err = err ?: one;
	}
	if (err)
		return err;
	record_ranges_plan(ranges, symbols);
	say_not_timed(ranges);
	if (symbols->kernel.index && !symbols->kernel.image)
		log_note("%s", record_symbols_vmlinux_missing);
	return 0;
}

void record_ranges_store(const struct record_ranges *ranges, struct profile *p)
{
	vec_each(const struct record_range, r, ranges, items) {
		scoped_free char *symbol = record_image_name(r->in, r->symbol);
		struct profile_site site = {
			.name = r->name,
			.symbol = symbol,
			.into = r->into,
			.chain = r->chain,
			.estimated = r->why_not,
			.kind = PROFILE_SITE_RANGE,
			.mech = r->why_not ? PROFILE_UNTIMED : profile_mechanism_of_ranges(),
			.addr = r->entry,
			.file = r->file,
			.line = r->line,
		};

		profile_site_add(p, &site);
	}
}

/* Remove actions from P that belong to inlined functions that will not be timed. */
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

	vec_each(struct record_point, p, ranges, points) {
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
		free(ranges->items[i].chain);
		free(ranges->items[i].why_not);
	}
	free(ranges->points);
	free(ranges->items);
	*ranges = (struct record_ranges){};
}
