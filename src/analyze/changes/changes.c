// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/changes/changes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/changes/changes_impl.h"
#include "base/sorted.h"
#include "kernel/image/name.h"

/*
 * Compare two functions instruction by instruction. This finds nearly all unchanged functions, and is far faster than compare.c.
 */

#define MAX_PARTS 8

/* Length in bytes of the shortest instruction that may contain an address. Shorter instructions with equal bytes are the same. */
#define MIN_NAMING 5

struct part {
	struct changes_function *functions[2];
	uint8_t *bytes[2];
};

struct sweep {
	struct analyze_changes *c;
	struct part parts[MAX_PARTS]; /* [0]: the function; others: split-off parts (FUNC.cold) */
	uint32_t n_parts;
};

static bool add_part(struct sweep *s, uint32_t a, uint32_t b)
{
	uint32_t numbers[2] = { a, b };
	struct part *p = &s->parts[s->n_parts];
	bool ok = true;

	if (s->n_parts == MAX_PARTS)
		return false;
	*p = (struct part){ 0 };
	for (int i = 0; i < 2; i++) {
		if (numbers[i] == CHANGES_NONE)
			continue;
		p->functions[i] = &s->c->sides[i].functions[numbers[i]];
		p->bytes[i] = changes_bytes(&s->c->sides[i], p->functions[i]);
		ok &= p->bytes[i] != NULL;
	}
	s->n_parts++;
	return ok;
}

static bool is_in(const struct changes_function *f, uint64_t addr)
{
	return addr >= f->addr && addr < f->end;
}

static bool same_target(struct sweep *s, const uint64_t targets[2])
{
	const struct changes_side *sides = s->c->sides;
	const struct changes_function *f, *g;
	uint32_t a, b;

	for (uint32_t i = 0; i < s->n_parts; i++) {
		f = s->parts[i].functions[0];
		g = s->parts[i].functions[1];
		if (is_in(f, targets[0]) || is_in(g, targets[1]))
			return is_in(f, targets[0]) && is_in(g, targets[1]) &&
			       targets[0] - f->addr == targets[1] - g->addr;
	}
	a = changes_function_at(&sides[0], targets[0]);
	b = changes_function_at(&sides[1], targets[1]);
	if (a != CHANGES_NONE && b != CHANGES_NONE && sides[0].functions[a].is_cold &&
	    sides[1].functions[b].is_cold)
		return targets[0] - sides[0].functions[a].addr ==
			       targets[1] - sides[1].functions[b].addr &&
		       add_part(s, a, b);
	return changes_same_address(s->c, targets[0] + sides[0].base, targets[1] + sides[1].base);
}

/* Return whether both kernels have the same instruction at offset AT into the functions of P. The instruction has LEN bytes. */
static bool same_operation(struct sweep *s, const struct part *p, uint64_t at, size_t len)
{
	struct arch_operation op[2];
	uint64_t addrs[2];

	for (int i = 0; i < 2; i++) {
		addrs[i] = p->functions[i]->addr + at;
		arch_operation_of(s->c->decoder, p->bytes[i] + at, len,
				  s->c->sides[i].base + addrs[i], &op[i]);
	}
	if (op[0].shape != op[1].shape || op[0].registers != op[1].registers ||
	    op[0].inverted != op[1].inverted || op[0].n_values != op[1].n_values)
		return false;
	for (unsigned int i = 0; i < op[0].n_values; i++)
		if (!changes_same_value(s->c, &op[0].values[i], &op[1].values[i], addrs))
			return false;
	return true;
}

/* Decode the instruction at offset AT of a function. Count a call of another function. Return the length in bytes. */
static size_t read_one(struct sweep *s, const struct part *p, int side, uint64_t at,
		       struct decoded *out)
{
	struct changes_function *f = p->functions[side], *to;
	uint32_t called;

	if (!decode(s->c->decoder, p->bytes[side] + at, f->end - f->addr - at, f->addr + at, out)) {
		*out = (struct decoded){ .len = 1 };
		return 1;
	}
	if (out->kind == DECODE_CALL || out->kind == DECODE_JUMP) {
		called = changes_function_at(&s->c->sides[side], out->target);
		to = called == CHANGES_NONE ? NULL : &s->c->sides[side].functions[called];
		if (to && to != f && to->addr == out->target)
			to->callers++;
	}
	return out->len;
}

static bool sweep_part(struct sweep *s, const struct part *p)
{
	uint64_t at[2] = { 0 }, len[2] = { 0 };
	struct decoded insn[2];
	bool same = true;

	for (int i = 0; i < 2; i++)
		len[i] = p->functions[i] && p->bytes[i] ?
				 p->functions[i]->end - p->functions[i]->addr :
				 0;
	while (same && at[0] < len[0] && at[1] < len[1]) {
		size_t n = read_one(s, p, 0, at[0], &insn[0]),
		       m = read_one(s, p, 1, at[1], &insn[1]);

		same = n == m && insn[0].kind == insn[1].kind;
		if (same && insn[0].target)
			same = same_target(s, (uint64_t[]){ insn[0].target, insn[1].target });
		if (same &&
		    (n >= MIN_NAMING || memcmp(p->bytes[0] + at[0], p->bytes[1] + at[1], n)) &&
		    insn[0].kind != DECODE_CALL && insn[0].kind != DECODE_JUMP &&
		    insn[0].kind != DECODE_COND)
			same = same_operation(s, p, at[0], n);
		if (same && insn[0].kind == DECODE_COND)
			same = p->bytes[0][at[0] + (n > 2)] == p->bytes[1][at[1] + (n > 2)];
		at[0] += n;
		at[1] += m;
	}
	same = same && at[0] == len[0] && at[1] == len[1];
	for (int i = 0; i < 2; i++)
		while (at[i] < len[i])
			at[i] += read_one(s, p, i, at[i], &insn[i]);
	return same;
}

/* Return whether functions A and B (indexes; CHANGES_NONE: absent) have the same code. Count the calls in both functions. */
static bool sweep_pair(struct analyze_changes *c, uint32_t a, uint32_t b)
{
	struct sweep s = { .c = c };
	bool same = add_part(&s, a, b) && a != CHANGES_NONE && b != CHANGES_NONE;

	for (uint32_t i = 0; i < s.n_parts; i++)
		same &= sweep_part(&s, &s.parts[i]);
	for (uint32_t i = 0; i < s.n_parts; i++) {
		free(s.parts[i].bytes[0]);
		free(s.parts[i].bytes[1]);
	}
	return same;
}

int analyze_changes_create(struct kernel_image *const images[2],
			   struct kernel_index *const indexes[2], struct analyze_changes **out)
{
	struct analyze_changes *c = alloc_new(struct analyze_changes);
	int err = 0;

	*out = NULL;
	c->decoder = decoder_create();
	for (int i = 0; i < 2 && !err; i++) {
		c->sides[i].img = images[i];
		c->sides[i].index = indexes[i];
		err = kernel_code_create(images[i], NULL, &c->sides[i].code);
		if (!err)
			changes_read_symbols(&c->sides[i]);
	}
	if (!err && !c->decoder)
		err = -ENOTSUP;
	if (err) {
		analyze_changes_destroy(c);
		return err;
	}
	changes_match(c);
	*out = c;
	return 0;
}

void analyze_changes_destroy(struct analyze_changes *c)
{
	if (!c)
		return;
	for (int i = 0; i < 2; i++) {
		kernel_code_destroy(c->sides[i].code);
		free(c->sides[i].functions);
		free(c->sides[i].by_name.items);
		free(c->sides[i].symbols);
	}
	decoder_destroy(c->decoder);
	alloc_texts_free(&c->texts);
	free(c->all);
	free(c);
}

/* All inlined copies of one function inside another function, in both kernels. */
struct bodies {
	const char *name;
	int more; /* number of copies in the hardened kernel minus that in the baseline */
	uint64_t bytes; /* size of all copies in both kernels */
};

struct bodies_list {
	vec_of(struct bodies, rows);
};

define_compare(compare_names, struct bodies, strcmp(a->name, b->name));

define_compare(compare_bytes, struct bodies,
	       compare_values(b->bytes, a->bytes) ?: strcmp(a->name, b->name));

static void unite_bodies(void *to, void *from)
{
	struct bodies *a = to, *b = from;

	a->more += b->more;
	a->bytes += b->bytes;
}

static void add_bodies(struct bodies_list *list, const struct kernel_index *idx, int side,
		       uint64_t addr)
{
	struct kernel_place place;
	struct kernel_function f;
	struct kernel_body body;

	if (kernel_index_at(idx, addr, &place) || kernel_index_function(idx, place.function, &f))
		return;
	for (uint32_t i = 0; i < f.n_bodies; i++) {
		struct bodies row = { .more = side ? 1 : -1 };

		if (kernel_index_body(idx, f.first_body + i, &body))
			continue;
		row.name = body.name;
		for (size_t r = 0; r < body.n_ranges; r++)
			row.bytes += body.ranges[r].end - body.ranges[r].start;
		vec_push(list, rows, row);
	}
}

/* Return the functions that one kernel inlines more often, such as "+f -g": the hardened kernel f, the baseline g. NULL: none. */
static const char *inlined_text(struct analyze_changes *c, const struct analyze_changed *change)
{
	struct bodies_list list = { 0 };
	char *text = NULL;

	for (int i = 0; i < 2; i++)
		add_bodies(&list, c->sides[i].index, i, change->addrs[i]);
	vec_unite(&list, rows, compare_names, unite_bodies);
	sort_array(list.rows, list.n_rows, sizeof(*list.rows), compare_bytes);
	for (uint32_t i = 0; i < list.n_rows; i++)
		if (list.rows[i].more)
			alloc_append(&text, "%s%c%s", text ? " " : "",
				     list.rows[i].more > 0 ? '+' : '-', list.rows[i].name);
	free(list.rows);
	return alloc_keep(&c->texts, text);
}

static bool is_renamed(const struct analyze_changed *change)
{
	const char *was = change->names[0], *is = change->names[1];

	return was && is && kernel_name_compare(was, is);
}

/* Compare function A of the baseline with B of the hardened kernel, and set OUT. A or B may be CHANGES_NONE (absent). */
static void change_of(struct analyze_changes *c, uint32_t a, uint32_t b,
		      struct analyze_changed *out)
{
	const uint32_t numbers[2] = { a, b };

	*out = (struct analyze_changed){ .kind = ANALYZE_CHANGE_SAME, .n_insns = { NAN, NAN } };
	for (int i = 0; i < 2; i++) {
		const struct changes_side *side = &c->sides[i];
		const struct changes_function *f = &side->functions[numbers[i]];

		if (numbers[i] == CHANGES_NONE)
			continue;
		out->names[i] = f->name;
		out->files[i] = f->file;
		out->addrs[i] = f->addr;
		out->is_init = f->addr + side->base >= side->init_start &&
			       f->addr + side->base < side->init_end;
	}
	out->name = out->names[!!out->names[1]];
	if (!sweep_pair(c, a, b))
		changes_compare(c, out);
	if (out->names[0] && strcmp(out->name, out->names[0]))
		out->was = out->names[0];
	if (out->kind == ANALYZE_CHANGE_SAME && is_renamed(out))
		out->kind = ANALYZE_CHANGE_RENAMED;
	else if (out->kind == ANALYZE_CHANGE_SAME && out->files[0] && out->files[1] &&
		 changes_compare_files(out->files[0], out->files[1]))
		out->kind = ANALYZE_CHANGE_MOVED;
	if (out->kind == ANALYZE_CHANGE_DIFFERS)
		out->inlined = inlined_text(c, out);
}

/* WANTED names the function of the symbol NAME. Return whether WANTED equals NAME or has no compiler's suffix. */
static bool is_called(const char *name, const char *wanted)
{
	return !strcmp(name, wanted) || !wanted[kernel_name_base_len(wanted)];
}

/* The kinds that may cost time (DIFFERS, NEW, GONE) come first. In each group, init code is last, and large changes come first. */
static int compare_changes(const void *a, const void *b)
{
	const struct analyze_changed *const changes[2] = { a, b };
	double weight[2];
	int group[2];

	for (int i = 0; i < 2; i++) {
		const struct analyze_changed *x = changes[i];

		group[i] = x->kind > ANALYZE_CHANGE_GONE ? (int)x->kind : 0;
		weight[i] = (x->added + x->removed) * (1 + log2(1 + x->callers));
	}
	return compare_values(group[0], group[1])                               ?:
		       compare_values(changes[0]->is_init, changes[1]->is_init) ?:
		       compare_values(weight[1], weight[0])                     ?:
		       compare_values(changes[0]->addrs[1], changes[1]->addrs[1]);
}

bool analyze_changes_of(struct analyze_changes *c, const char *name, struct analyze_changed *out)
{
	const struct changes_function key = { .name = name };
	bool any = false;

	for (int i = 0; i < 2; i++) {
		size_t n;
		const void *const *found = pointers_find(&c->sides[i].by_name, &key, &n);

		for (size_t k = 0; k < n; k++) {
			const struct changes_function *f = found[k];
			uint32_t j = (uint32_t)(f - c->sides[i].functions);
			struct analyze_changed change;

			if (!is_called(f->name, name))
				continue;
			change_of(c, i ? f->pair : j, i ? j : f->pair, &change);
			if (!any || compare_changes(&change, out) < 0)
				*out = change;
			any = true;
		}
	}
	return any;
}

static void add_change(struct analyze_changes *c, uint32_t a, uint32_t b)
{
	struct analyze_changed change;

	change_of(c, a, b, &change);
	if (change.kind == ANALYZE_CHANGE_SAME)
		c->n_same++;
	else
		vec_push(c, all, change);
}

/* Set CHANGE->callers. Call this after all functions have been compared, since the comparison counts the callers. */
static void note_callers(struct analyze_changes *c, struct analyze_changed *change)
{
	int side = change->names[1] != NULL;
	const struct changes_side *s = &c->sides[side];

	change->callers = s->functions[changes_function_at(s, change->addrs[side])].callers;
}

const struct analyze_changed *analyze_changes_all(struct analyze_changes *c, uint32_t *n,
						  uint32_t *n_same)
{
	if (!c->n_all && !c->n_same) {
		for (int i = 0; i < 2; i++)
			for (uint32_t j = 0; j < c->sides[i].n_functions; j++)
				c->sides[i].functions[j].callers = 0;
		for (uint32_t i = 0; i < c->sides[0].n_functions; i++)
			if (!c->sides[0].functions[i].is_cold)
				add_change(c, i, c->sides[0].functions[i].pair);
		for (uint32_t i = 0; i < c->sides[1].n_functions; i++)
			if (!c->sides[1].functions[i].is_cold &&
			    c->sides[1].functions[i].pair == CHANGES_NONE)
				add_change(c, CHANGES_NONE, i);
		for (uint32_t i = 0; i < c->n_all; i++)
			note_callers(c, &c->all[i]);
		sort_array(c->all, c->n_all, sizeof(*c->all), compare_changes);
	}
	*n = c->n_all;
	*n_same = c->n_same;
	return c->all;
}
