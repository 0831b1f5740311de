// SPDX-License-Identifier: GPL-2.0-or-later
#include "exact/counts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "exact/code.h"
#include "kprotperf/hist.h"
#include "profile/resolve.h"
#include "profile/unite.h"

#define SIZES_MAX 512 /* instructions per block of code */
#define IDS_MAX   (1u << 22)
#define STACK_MAX 1023 /* callers in a stack, besides the location itself */
#define DEPTH_MAX 1024 /* calls nested in the traced call */

struct function {
	uint64_t addr; /* 0: user space, or no function has this id */
	const struct kernel_sym *sym; /* NULL: unknown, such as a BPF program loaded later */
	uint32_t site;
	vec_of(uint32_t, blocks); /* for each block number: index in reader.blocks */
	struct exact_code code;
};

/* Adjacent instructions of the same source line and inlined function. */
struct piece {
	uint64_t addr;
	uint32_t insns;
};

struct block {
	vec_of(struct piece, pieces);
};

struct node {
	uint32_t parent; /* the caller: 1 + index in nodes; 0: none */
	uint32_t context, function;
	uint64_t site;
};

struct reader {
	struct profile *p;
	const struct kernel_kallsyms *ks;
	const struct kernel_index *idx; /* symbol index of the kernel's image, or NULL */
	struct module_index {
		const char *module;
		struct kernel_index *idx;
	} * modules;
	uint32_t n_modules, cap_modules;
	vec_of(struct function, functions); /* indexed by the file's function id */
	vec_of(struct block, blocks);
	vec_of(struct exact_context, contexts);
	vec_of(struct node, nodes); /* indexed by the file's node number - 1 */
	uint32_t stack[STACK_MAX]; /* locations of the last node's callers, innermost first */
	uint32_t n_stack;
	struct exact_trace trace;
	const char *at; /* rest of the line that is being read */
};

/* Read the next number of the line. Return false if there is none or it exceeds MAX. */
static bool take(struct reader *r, uint64_t max, uint64_t *value)
{
	while (*r->at == ' ')
		r->at++;
	return number_scan(&r->at, value) && *value <= max;
}

static bool take_index(struct reader *r, uint32_t n, uint32_t *value)
{
	uint64_t number;

	if (!n || !take(r, n - 1, &number))
		return false;
	*value = (uint32_t)number;
	return true;
}

static bool take_address(struct reader *r, uint64_t *value)
{
	while (*r->at == ' ')
		r->at++;
	return number_scan_hex(&r->at, value);
}

static bool read_function(struct reader *r)
{
	struct function f = {};
	uint64_t id, addr;

	if (!take(r, IDS_MAX, &id) || !take_address(r, &addr))
		return false;
	while (r->n_functions <= id)
		vec_push(r, functions, f);
	f.addr = addr;
	f.sym = kernel_kallsyms_covering(r->ks, addr, NULL);
	if (f.sym)
		f.site = profile_function_add(r->p, r->ks, f.sym);
	r->functions[id] = f;
	return true;
}

static bool read_context(struct reader *r)
{
	uint64_t id, kind, command, by;
	uint32_t function;
	const struct kernel_sym *sym = NULL;
	struct exact_context c;

	if (!take(r, IDS_MAX, &id) || id != r->n_contexts || !take(r, EXACT_N_KINDS - 1, &kind) ||
	    !take(r, 1, &command) || !take_index(r, r->n_functions ?: 1, &function) ||
	    !take(r, r->n_contexts, &by) || (by != 0) != (kind >= EXACT_QUEUED))
		return false;
	if (r->n_functions)
		sym = r->functions[function].sym;
	exact_context_init(&c, r->p, kind, command, exact_context_function(r->ks, sym),
			   by ? &r->contexts[by - 1] : NULL);
	c.function = function;
	vec_push(r, contexts, c);
	return true;
}

/* Return whether A and B are in the same source line of the same inlined function. */
static bool is_one_place(const struct kernel_place *a, const struct kernel_place *b)
{
	return a->function == b->function && a->body == b->body && a->line == b->line &&
	       a->file == b->file;
}

/* Return the symbol index of the image that has SYM (the kernel's or a module's), or NULL. */
static const struct kernel_index *index_of(struct reader *r, const struct kernel_sym *sym)
{
	struct module_index added;

	if (!sym || !sym->module)
		return sym ? r->idx : NULL;
	for (uint32_t i = 0; i < r->n_modules; i++)
		if (r->modules[i].module == sym->module)
			return r->modules[i].idx;
	added = (struct module_index){ sym->module, profile_module_index(r->p, sym->module) };
	vec_push(r, modules, added);
	return added.idx;
}

static void add_instruction(struct reader *r, struct block *b, const struct kernel_sym *sym,
			    uint64_t addr, struct kernel_place *last)
{
	struct kernel_place place = { .function = KERNEL_NONE, .body = KERNEL_NONE };
	const struct kernel_index *idx = index_of(r, sym);
	const struct piece piece = { addr, 1 };

	if (idx)
		kernel_index_at(idx, addr - kernel_kallsyms_base(r->ks, sym), &place);
	if (b->n_pieces && is_one_place(&place, last)) {
		b->pieces[b->n_pieces - 1].insns++;
		return;
	}
	*last = place;
	vec_push(b, pieces, piece);
}

static bool read_block(struct reader *r)
{
	struct kernel_place place = {};
	struct block b = {};
	struct profile_block piece = {};
	struct exact_way way;
	uint32_t function, none = UINT32_MAX;
	uint64_t local, falls, size;
	struct function *f;

	if (!take(r, IDS_MAX, &local) || !take_index(r, r->n_functions, &function) ||
	    !take_address(r, &piece.addr) || !take_address(r, &way.target) || !take(r, 1, &falls))
		return false;
	way.falls = falls;
	f = &r->functions[function];
	if (f->code.number)
		return false;
	for (; piece.insns < SIZES_MAX && take(r, 15, &size); piece.insns++, piece.bytes += size)
		add_instruction(r, &b, f->sym, piece.addr + piece.bytes, &place);
	while (f->n_blocks <= local)
		vec_push(f, blocks, none);
	f->blocks[local] = r->n_blocks;
	vec_push(r, blocks, b);
	if (f->sym)
		exact_code_add(&f->code, r->p, r->ks, (uint32_t)local, &piece, way);
	return true;
}

/* Return an address in the instruction of CALLER that called N, or the address of CALLER if a jump led to N. */
static uint64_t called_at(const struct reader *r, const struct node *n, const struct node *caller)
{
	if (n->site && n->site != caller->site)
		return n->site - 1;
	return r->functions[caller->function].addr;
}

static void find_stack(struct reader *r, const struct node *n)
{
	r->n_stack = 0;
	while (n->parent && r->n_stack < STACK_MAX) {
		const struct node *caller = &r->nodes[n->parent - 1];
		uint32_t where;

		if (!r->functions[caller->function].addr)
			break;
		where = profile_location_at(r->p, r->ks, called_at(r, n, caller));
		r->stack[r->n_stack++] = where;
		n = caller;
	}
}

static void add_sample(struct reader *r, const struct exact_context *c, const uint32_t *locations,
		       uint32_t n, uint64_t count)
{
	const struct profile_sample sample = {
		.context = c->profile,
		.stack = profile_stack_add(r->p, locations, n),
		.flags = n ? 0 : PROFILE_SAMPLE_USER,
		.count = count,
	};

	if (count)
		profile_sample_add(r->p, &sample);
}

static void add_executions(struct reader *r, const struct exact_context *c,
			   const uint32_t *locations, uint32_t n, uint64_t times)
{
	const struct profile_edge executions = {
		.context = c->profile,
		.stack = profile_stack_add(r->p, locations, n),
		.calls = times,
	};

	profile_executions_add(r->p, &executions);
}

static void add_edge(struct reader *r, const struct exact_context *c, const struct kernel_sym *sym,
		     uint64_t calls)
{
	uint32_t stack[STACK_MAX + 1];
	struct profile_edge edge = { .context = c->profile, .calls = calls };

	stack[0] = profile_location_at(r->p, r->ks, sym->addr);
	memcpy(stack + 1, r->stack, r->n_stack * sizeof(*stack));
	edge.stack = profile_stack_add(r->p, stack, r->n_stack + 1);
	profile_edge_add(r->p, &edge);
}

static bool read_node(struct reader *r)
{
	struct node n;
	uint64_t id, calls, total, self;
	struct exact_context *c;
	const struct function *f;

	if (!take(r, IDS_MAX, &id) || id != r->n_nodes + 1 ||
	    !take_index(r, r->n_nodes + 1, &n.parent) ||
	    !take_index(r, r->n_contexts, &n.context) ||
	    !take_index(r, r->n_functions, &n.function) || !take_address(r, &n.site) ||
	    !take(r, UINT64_MAX, &calls) || !take(r, UINT64_MAX, &total) ||
	    !take(r, UINT64_MAX, &self))
		return false;
	vec_push(r, nodes, n);
	c = &r->contexts[n.context];
	f = &r->functions[n.function];
	c->instructions += self;
	if (f->sym && calls)
		profile_cell(r->p, 0, f->site, c->profile)->self += (int64_t)self;
	else if (!f->addr)
		add_sample(r, c, NULL, 0, self);
	if (n.parent && !r->functions[r->nodes[n.parent - 1].function].addr)
		exact_context_entered_by(c, n.function);
	find_stack(r, &n);
	if (f->sym && calls)
		add_edge(r, c, f->sym, calls);
	return true;
}

static bool read_model(struct reader *r)
{
	static const char *const names[] = { MODEL_EVENT_NAMES };
	scoped_free char *name, *text = NULL;
	uint64_t cycles;

	r->at += *r->at == ' ';
	name = alloc_strndup(r->at, strcspn(r->at, " \n"));
	r->at += strlen(name);
	profile_env_set(r->p, PROFILE_ENV_MODEL, name);
	for (int event = 0; event < MODEL_N_EVENTS; event++) {
		if (!take(r, UINT32_MAX, &cycles))
			return false;
		alloc_append(&text, "%s%s=%" PRIu64, text ? " " : "", names[event], cycles);
	}
	profile_env_set(r->p, PROFILE_ENV_CYCLES, text);
	return true;
}

/* Return the location of instruction INSN in block LOCAL - 1 of F. If the block is unknown, return the location of F. */
static uint32_t missed_at(struct reader *r, const struct function *f, uint64_t local, uint64_t insn)
{
	const struct block *b;

	if (!local || local > f->n_blocks || f->blocks[local - 1] == UINT32_MAX)
		return profile_location_at(r->p, r->ks, f->addr);
	b = &r->blocks[f->blocks[local - 1]];
	for (uint32_t i = 0; i < b->n_pieces; insn -= b->pieces[i++].insns)
		if (insn < b->pieces[i].insns)
			return profile_location_at(r->p, r->ks, b->pieces[i].addr);
	return profile_location_at(r->p, r->ks, f->addr);
}

static bool read_misses(struct reader *r)
{
	const struct node *n = r->n_nodes ? &r->nodes[r->n_nodes - 1] : NULL;
	uint32_t stack[STACK_MAX + 1], n_stack = 0;
	struct profile_miss miss = {};
	uint64_t local, insn, event;
	const struct function *f;

	if (!n || !take(r, IDS_MAX, &local) || !take(r, SIZES_MAX, &insn))
		return false;
	f = &r->functions[n->function];
	if (f->addr) {
		stack[0] = missed_at(r, f, local, insn);
		memcpy(stack + 1, r->stack, r->n_stack * sizeof(*stack));
		n_stack = r->n_stack + 1;
	}
	miss.context = r->contexts[n->context].profile;
	miss.stack = profile_stack_add(r->p, stack, n_stack);
	while (take(r, MODEL_N_EVENTS - 1, &event)) {
		if (*r->at++ != ':' || !number_scan(&r->at, &miss.count))
			return false;
		miss.event = (uint32_t)event;
		profile_miss_add(r->p, &miss);
	}
	return *r->at == '\n';
}

static bool read_object(struct reader *r)
{
	struct profile_object object = {};
	uint32_t context;
	uint64_t event;
	scoped_free char *name = NULL;

	if (!take_index(r, r->n_contexts, &context) || !take(r, MODEL_N_EVENTS - 1, &event) ||
	    !take(r, UINT64_MAX, &object.count) || *r->at++ != ' ')
		return false;
	name = strndup(r->at, strcspn(r->at, "\n"));
	object.type = name;
	object.context = r->contexts[context].profile;
	object.event = (uint32_t)event;
	profile_object_add(r->p, &object);
	return true;
}

static bool read_executions(struct reader *r)
{
	const struct node *n = r->n_nodes ? &r->nodes[r->n_nodes - 1] : NULL;
	uint32_t stack[STACK_MAX + 1], local;
	struct function *f;
	const struct block *b;
	uint64_t times;

	if (!n)
		return false;
	f = &r->functions[n->function];
	if (!take_index(r, f->n_blocks, &local) || !take(r, UINT64_MAX, &times) ||
	    f->blocks[local] == UINT32_MAX)
		return false;
	b = &r->blocks[f->blocks[local]];
	memcpy(stack + 1, r->stack, r->n_stack * sizeof(*stack));
	for (uint32_t i = 0; i < b->n_pieces; i++) {
		stack[0] = profile_location_at(r->p, r->ks, b->pieces[i].addr);
		add_sample(r, &r->contexts[n->context], stack, r->n_stack + 1,
			   times * b->pieces[i].insns);
		add_executions(r, &r->contexts[n->context], stack, r->n_stack + 1, times);
	}
	if (f->sym)
		exact_code_counts(&f->code, r->p, f->site, r->contexts[n->context].profile)
			->counts[local] += times;
	return true;
}

/* Read the calls of a function in a context. If the function enters the context, also count the calls for the context itself. */
static bool read_distribution(struct reader *r)
{
	scoped(profile_stats_deinit) struct profile_stats s;
	uint32_t context, function;
	uint64_t slot, calls;
	bool ok;

	profile_stats_init(&s);
	ok = take_index(r, r->n_contexts, &context) && take_index(r, r->n_functions, &function) &&
	     take(r, UINT64_MAX, &s.calls) && take(r, UINT64_MAX, &s.oncpu) &&
	     (r->at += *r->at == ' ', number_scan_double(&r->at, &s.sumsq)) &&
	     take(r, UINT64_MAX, &s.min) && take(r, UINT64_MAX, &s.max);
	s.wall = s.oncpu;
	while (ok && take(r, HIST_SLOTS - 1, &slot)) {
		ok = *r->at++ == ':' && number_scan(&r->at, &calls);
		if (ok)
			profile_stats_bucket_add(&s, (uint32_t)slot, calls);
	}
	if (ok && r->functions[function].sym) {
		const struct exact_context *c = &r->contexts[context];
		struct function *f = &r->functions[function];

		profile_stats_merge(profile_cell(r->p, 0, f->site, c->profile), &s);
		if (f->code.number)
			exact_code_counts(&f->code, r->p, f->site, c->profile)->calls += s.calls;
		if (exact_context_is_entered_by(c, function))
			profile_stats_merge(profile_cell(r->p, 0, 0, c->profile), &s);
	}
	return ok;
}

static bool read_totals(struct reader *r)
{
	static const int kinds[] = {
		PROFILE_LOSS_STACKS_FULL, PROFILE_LOSS_DEPTH_EXCEEDED, PROFILE_INFO_OPEN_AT_START,
		PROFILE_INFO_OPEN_AT_END, PROFILE_INFO_CLOSED_BY_EXIT,
	};
	struct profile_run *run = &r->p->runs[0];
	uint64_t total;

	if (!take(r, UINT64_MAX, &total))
		return false;
	/* A sample stands for one instruction. */
	r->p->sample_period = 1;
	run->wall = run->samples_expected = run->samples_received = total;
	memset(run->losses, 0, sizeof(run->losses));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!take(r, UINT64_MAX, &run->losses[kinds[i]]))
			return false;
	return true;
}

static bool read_trace(struct reader *r)
{
	uint32_t function;
	uint64_t number;
	scoped_free char *call = NULL;

	if (!take(r, UINT64_MAX, &r->trace.lost) || !take(r, UINT64_MAX, &number) ||
	    !take_index(r, r->n_functions, &function) || !r->functions[function].sym)
		return false;
	call = alloc_printf("%s:%" PRIu64, r->p->sites[r->functions[function].site].name, number);
	profile_env_set(r->p, PROFILE_ENV_TRACE, call);
	return true;
}

static bool read_step(struct reader *r)
{
	uint64_t depth, local;
	uint32_t function;
	const struct function *f;
	const struct block *b;

	if (!take(r, DEPTH_MAX, &depth) || !take(r, IDS_MAX, &local) ||
	    !take_index(r, r->n_functions, &function))
		return false;
	f = &r->functions[function];
	if (!f->addr || local >= f->n_blocks || f->blocks[local] == UINT32_MAX)
		return false;
	b = &r->blocks[f->blocks[local]];
	for (uint32_t i = 0; i < b->n_pieces; i++)
		exact_trace_step(
			&r->trace, (uint32_t)depth, profile_location_at(r->p, r->ks, f->addr),
			profile_location_at(r->p, r->ks, b->pieces[i].addr), b->pieces[i].insns);
	return true;
}

static bool read_line(struct reader *r, const char *line)
{
	static bool (*const readers[])(struct reader * r) = {
		['T'] = read_totals,       ['F'] = read_function, ['C'] = read_context,
		['B'] = read_block,        ['N'] = read_node,     ['E'] = read_executions,
		['D'] = read_distribution, ['P'] = read_model,    ['M'] = read_misses,
		['O'] = read_object,       ['X'] = read_trace,    ['S'] = read_step,
	};
	unsigned char kind = (unsigned char)line[0];

	r->at = line + 1;
	return kind < ARRAY_SIZE(readers) && readers[kind] && readers[kind](r);
}

static void finish(struct reader *r)
{
	struct profile_run *run = &r->p->runs[0];

	run->cpu = 0;
	for (uint32_t i = 0; i < r->n_contexts; i++) {
		run->cpu += r->contexts[i].command ? r->contexts[i].instructions : 0;
		free(r->contexts[i].entered_by);
	}
	run->losses[PROFILE_INFO_ENTRIES] = run->losses[PROFILE_INFO_OPEN_AT_END];
	for (uint32_t i = 0; i < r->p->n_cells; i++)
		run->losses[PROFILE_INFO_ENTRIES] += r->p->cells[i].stats.calls;
	for (uint32_t i = 0; i < r->n_functions; i++) {
		free(r->functions[i].blocks);
		exact_code_deinit(&r->functions[i].code);
	}
	for (uint32_t i = 0; i < r->n_modules; i++)
		kernel_index_destroy(r->modules[i].idx);
	free(r->modules);
	profile_blocks_unite(r->p);
	for (uint32_t i = 0; i < r->n_blocks; i++)
		free(r->blocks[i].pieces);
	free(r->functions);
	free(r->blocks);
	free(r->contexts);
	free(r->nodes);
}

int exact_counts_read(struct profile *p, const char *path, const struct kernel_kallsyms *ks,
		      const struct kernel_index *idx)
{
	struct reader r = { .p = p, .ks = ks, .idx = idx };
	FILE *file = fopen(path, "re");
	unsigned long n = 0;
	scoped_free char *line = NULL;
	size_t size = 0;
	bool ok = true;

	if (!file) {
		log_error("cannot read %s, which the emulator should have written: %m", path);
		return -errno;
	}
	while (ok && getline(&line, &size, file) > 0) {
		ok = read_line(&r, line);
		n++;
	}
	if (!n)
		log_error("%s is empty", path);
	else if (!ok)
		log_error("%s: line %lu was not written by the emulator", path, n);
	exact_trace_finish(&r.trace, p);
	finish(&r);
	fclose(file);
	return ok && n ? 0 : -EINVAL;
}
