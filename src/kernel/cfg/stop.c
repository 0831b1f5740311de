// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/cfg/stop.h"

#include <elfutils/libdw.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "kernel/code/code.h"
#include "kernel/debuginfo/variables.h"

/* A value, as C source text. IS_LOAD: the value must still be read through a pointer. term_drop() or free() frees TEXT. */
struct term {
	char *text; /* if IS_LOAD: text of the pointer; otherwise text of the value */
	Dwarf_Die type; /* if IS_LOAD: the pointer's target type; otherwise the value's type */
	int64_t add; /* number to add to the value */
	bool is_load, is_object; /* is_object: the value is a global variable of the kernel */
	uint64_t from, bits; /* if IS_LOAD: the value is BITS bits from bit FROM of the target */
	uint64_t low_bits; /* the value is TEXT's value shifted right by this number of bits */
};

static bool term_drop(struct term *t)
{
	free(t->text);
	*t = (struct term){};
	return false;
}

/* Functions that change a struct term. If such a function fails, it frees T's text and returns false. */

/* Set T's text to the output of FORMAT with the old text and NUMBER. The new text has no type. */
static void term_print(struct term *t, const char *format, int64_t number)
{
	char *text;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	text = alloc_printf(format, t->text, number);
#pragma GCC diagnostic pop
	free(t->text);
	*t = (struct term){ .text = text };
}

/*
 * Turn T, a load, into text such as "slab->objects". Return false if no struct member contains the loaded bits, or if EXACTLY is
 * set and no member has exactly these bits.
 */
static bool term_load(struct term *t, bool exactly)
{
	struct kernel_member member;
	char *path = kernel_type_member(&t->type, t->from, t->bits, exactly, &member), *text;

	if (!path)
		return term_drop(t);
	text = alloc_printf("%s->%s", t->text, path);
	free(t->text);
	free(path);
	*t = (struct term){ .text = text, .type = member.type, .low_bits = member.bits_before };
	return true;
}

/* Add T->ADD to the text as a number. If the value is a pointer, add the name of the member at that offset instead. */
static bool term_sum(struct term *t)
{
	int64_t number = t->add;
	struct kernel_member member;
	Dwarf_Die of;
	char *path;

	t->add = 0;
	if (!number)
		return true;
	if (!kernel_type_pointed_to(&t->type, &of)) {
		term_print(t, number < 0 ? "(%s - %" PRId64 ")" : "(%s + %" PRId64 ")",
			   number < 0 ? -number : number);
		return true;
	}
	path = number > 0 ? kernel_type_member(&of, 8 * (uint64_t)number, 0, true, &member) : NULL;
	if (!path)
		return term_drop(t);
	term_print(t, "&%s->", 0);
	alloc_append(&t->text, "%s", path);
	free(path);
	return true;
}

/* Write T's load, shift and addition into its text. Then only the text and its type are left in T. */
static bool term_settle(struct term *t)
{
	if (t->is_load && !term_load(t, false))
		return false;
	if (t->low_bits) {
		int64_t add = t->add;

		term_print(t, "(%s >> %" PRId64 ")", (int64_t)t->low_bits);
		t->add = add;
	}
	return t->text && term_sum(t);
}

static bool term_add(struct term *t, int64_t number)
{
	if (t->is_load && !term_settle(t))
		return false;
	t->add += number;
	return true;
}

/* Mask T by MASK. If the remaining bits are exactly one struct member, the text becomes that member, else "(TEXT & MASK)". */
static bool term_mask(struct term *t, uint64_t mask)
{
	uint64_t low = mask ? (uint64_t)__builtin_ctzll(mask) : 0, ones = mask >> low;
	uint64_t n = (uint64_t)__builtin_popcountll(mask);
	struct term part = *t;

	if (t->is_load && n <= t->bits && low + n <= t->bits && !(ones & (ones + 1))) {
		part.text = alloc_strdup(t->text);
		part.from += low;
		part.bits = n;
		if (term_load(&part, true)) {
			free(t->text);
			*t = part;
			return true;
		}
	}
	if (t->is_load && !term_load(t, false))
		return false;
	mask <<= t->low_bits;
	t->low_bits = 0;
	if (!term_settle(t))
		return false;
	if ((int64_t)mask < 0)
		term_print(t, "(%s & ~0x%" PRIx64 ")", (int64_t)~mask);
	else
		term_print(t, "(%s & 0x%" PRIx64 ")", (int64_t)mask);
	return true;
}

/* Apply FORMAT, such as "(%s >> %" PRId64 ")", to T's text and NUMBER. For a load, a right shift only leaves out low bits. */
static bool term_shift(struct term *t, const char *format, int64_t number)
{
	if (t->is_load && number >= 0 && (uint64_t)number < t->bits && strstr(format, ">>")) {
		t->from += (uint64_t)number;
		t->bits -= (uint64_t)number;
		return true;
	}
	if (!term_settle(t))
		return false;
	term_print(t, format, number);
	return true;
}

static bool term_number(struct term *t, int64_t number)
{
	*t = (struct term){ .text = number > -65536 && number < 65536 ?
					    alloc_printf("%" PRId64, number) :
					    alloc_printf("0x%" PRIx64, (uint64_t)number) };
	return true;
}

#define MAX_BLOCK 4096 /* bytes; longer blocks are not examined */
#define MAX_STEPS 2000 /* maximum number of instructions and blocks examined for a condition */
#define MAX_EXITS 3
#define UNKNOWN   "..."

struct insn {
	uint64_t addr;
	uint64_t target; /* target address of a direct jump or call */
	enum decode_kind kind;
	struct arch_access access;
};

struct kernel_stops {
	struct kernel_image *img;
	struct kernel_code *code;
	struct decoder *decoder;
	const struct kernel_stop_function *f;
	/* The instructions of F's blocks, read when they are needed. */
	struct block {
		bool is_read;
		vec_of(struct insn, insns);
	} * blocks;
	uint32_t steps;
};

struct kernel_stops *kernel_stops_create(struct kernel_image *img)
{
	struct kernel_stops *s = alloc_new(struct kernel_stops);

	s->img = img;
	s->decoder = decoder_create();
	if (s->decoder && !kernel_code_create(img, NULL, &s->code))
		return s;
	kernel_stops_destroy(s);
	return NULL;
}

void kernel_stops_destroy(struct kernel_stops *s)
{
	if (!s)
		return;
	kernel_code_destroy(s->code);
	decoder_destroy(s->decoder);
	free(s);
}

static const struct block *block_of(struct kernel_stops *s, uint32_t number)
{
	const struct kernel_stop_block *place = &s->f->blocks[number];
	uint64_t base = s->code->base;
	struct block *b = &s->blocks[number];
	uint8_t code[MAX_BLOCK];
	struct decoded d;

	if (b->is_read)
		return b;
	b->is_read = true;
	if (place->bytes > sizeof(code) ||
	    !kernel_code_read_file(s->code, place->addr, code, place->bytes))
		return b;
	for (uint32_t at = 0; at < place->bytes; at += d.len) {
		struct insn insn = { .addr = place->addr + at };

		if (!decode(s->decoder, code + at, place->bytes - at, base + insn.addr, &d) ||
		    !arch_access_of(s->decoder, code + at, d.len, base + insn.addr, &insn.access))
			break;
		insn.kind = d.kind;
		insn.target = d.target - base;
		vec_push(b, insns, insn);
	}
	return b;
}

/* Find the value of register REG (numbered as in arch.h) before instruction AT of BLOCK. */
static bool register_value(struct kernel_stops *s, uint32_t block, uint32_t at, uint8_t reg,
			   struct term *out);

static bool variable(struct kernel_stops *s, uint64_t addr,
		     const struct kernel_variable_place *place, struct term *out)
{
	struct kernel_variable v;

	if (!kernel_variable_in(s->img, addr, place, &v))
		return false;
	*out = (struct term){ .text = alloc_strdup(v.name), .type = v.type };
	return term_add(out, v.above);
}

static bool object(struct kernel_stops *s, uint64_t addr, struct term *out)
{
	uint64_t offset;
	const char *name = kernel_image_object_at(s->img, addr, &offset);

	if (!name || offset)
		return false;
	*out = (struct term){ .text = alloc_strdup(name), .is_object = true };
	return true;
}

/* Set *OUT to VALUE: a number, or an address in a variable of the kernel, such as "(&init_task + 0x488)". */
static bool number(struct kernel_stops *s, int64_t value, struct term *out)
{
	uint64_t offset = 0;
	const char *name = NULL;

	if (value < 0) /* kernel addresses are negative as signed numbers */
		name = kernel_image_object_at(s->img, (uint64_t)value, &offset);
	if (!name)
		return term_number(out, value);
	*out = (struct term){ .text = offset ? alloc_printf("(&%s + 0x%" PRIx64 ")", name, offset) :
					       alloc_printf("&%s", name) };
	return true;
}

/* Find the value that instruction AT of BLOCK reads from memory. */
static bool memory_value(struct kernel_stops *s, uint32_t block, uint32_t at, struct term *out)
{
	const struct insn *insn = &s->blocks[block].insns[at];
	const struct arch_access *a = &insn->access;
	struct kernel_variable_place place = { .is_on_stack = true };
	struct kernel_frame_base frame;
	Dwarf_Die of;

	if (a->base == ARCH_NO_REG)
		return object(s, a->at, out);
	if (a->base == ARCH_STACK) {
		if (kernel_image_frame_base(s->img, insn->addr, &frame) || frame.from_fp)
			return false;
		place.from_frame_base = (int64_t)a->at - frame.offset;
		return variable(s, insn->addr, &place, out);
	}
	if (a->is_per_cpu || !register_value(s, block, at, a->base, out) || !term_settle(out))
		return false;
	if ((int64_t)a->at < 0 || !kernel_type_pointed_to(&out->type, &of))
		return term_drop(out);
	out->type = of;
	out->is_load = true;
	out->from = 8 * a->at;
	out->bits = 8u * a->bytes;
	return true;
}

/* Find the value that instruction AT of BLOCK writes to REG. */
static bool written_value(struct kernel_stops *s, uint32_t block, uint32_t at, uint8_t reg,
			  struct term *out)
{
	const struct insn *insn = &s->blocks[block].insns[at];
	const struct arch_access *a = &insn->access;
	uint64_t offset;
	const char *name;

	if (insn->kind == DECODE_CALL) {
		name = kernel_code_symbol_at(s->code, insn->target, &offset);
		if (reg != ARCH_RESULT || !name || offset)
			return false;
		*out = (struct term){ .text = alloc_printf("%s()", name) };
		return true;
	}
	if (a->effect == ARCH_EFFECT_MOVE)
		return a->has_number          ? number(s, a->number, out) :
		       a->from != ARCH_NO_REG ? register_value(s, block, at, a->from, out) :
		       a->has_memory          ? memory_value(s, block, at, out) :
						false;
	if (a->effect == ARCH_EFFECT_ADDRESS)
		return a->base != ARCH_NO_REG && a->base != ARCH_STACK && !a->is_per_cpu &&
		       register_value(s, block, at, a->base, out) && term_add(out, (int64_t)a->at);
	if (a->effect == ARCH_EFFECT_ADD && a->from == reg)
		return register_value(s, block, at, reg, out) &&
		       term_shift(out, "(%s * %" PRId64 ")", 2);
	if (!a->has_number || !register_value(s, block, at, reg, out))
		return false;
	switch (a->effect) {
	case ARCH_EFFECT_AND:
		return term_mask(out, (uint64_t)a->number);
	case ARCH_EFFECT_SHIFT_RIGHT:
		return term_shift(out, "(%s >> %" PRId64 ")", a->number);
	case ARCH_EFFECT_SHIFT_LEFT:
		return term_shift(out, "(%s << %" PRId64 ")", a->number);
	case ARCH_EFFECT_ADD:
		return term_add(out, a->number);
	default:
		return term_drop(out);
	}
}

static bool writes(const struct insn *insn, uint8_t reg)
{
	return insn->kind == DECODE_CALL || insn->kind == DECODE_CALL_INDIRECT ?
		       reg < ARCH_SAVED :
		       insn->access.writes >> reg & 1;
}

static bool loop_writes(struct kernel_stops *s, uint32_t loop, uint8_t reg)
{
	for (uint32_t b = 0; b < s->f->graph->n_blocks; b++) {
		const struct block *block = block_of(s, b);

		if (!kernel_loop_has(s->f->loops, loop, b))
			continue;
		for (uint32_t i = 0; i < block->n_insns; i++)
			if (writes(&block->insns[i], reg))
				return true;
	}
	return false;
}

/* Return the only block that leads to BLOCK from outside of the loop AROUND; KERNEL_GRAPH_OUT if there is not exactly one. */
static uint32_t only_before(const struct kernel_stops *s, uint32_t block, uint32_t around)
{
	const struct kernel_graph *g = s->f->graph;
	uint32_t before = KERNEL_GRAPH_OUT;

	for (uint32_t i = 0; i < g->n_arcs; i++) {
		uint32_t from = g->arcs[i].from;

		if (g->arcs[i].to != block || from == before ||
		    kernel_loop_has(s->f->loops, around, from))
			continue;
		if (before != KERNEL_GRAPH_OUT)
			return KERNEL_GRAPH_OUT;
		before = from;
	}
	return before;
}

/* Return the only block that leads to BLOCK. Ignore arcs inside a loop of which BLOCK is the head and which does not write REG. */
static uint32_t block_before(struct kernel_stops *s, uint32_t block, uint8_t reg)
{
	uint32_t around = KERNEL_LOOP_NONE;

	for (uint32_t l = 0; l < s->f->loops->n_loops; l++)
		if (s->f->loops->loops[l].head == block && !loop_writes(s, l, reg))
			around = l;
	return only_before(s, block, around);
}

static uint64_t address_of(struct kernel_stops *s, uint32_t block, uint32_t at)
{
	const struct block *b = block_of(s, block);

	return at < b->n_insns ? b->insns[at].addr :
				 s->f->blocks[block].addr + s->f->blocks[block].bytes;
}

static bool register_value(struct kernel_stops *s, uint32_t block, uint32_t at, uint8_t reg,
			   struct term *out)
{
	const struct kernel_variable_place place = { .reg = arch_dwarf_register(reg) };

	while (block != KERNEL_GRAPH_OUT && s->steps++ < MAX_STEPS) {
		const struct block *b = block_of(s, block);

		if (variable(s, address_of(s, block, at), &place, out))
			return true;
		for (; at; at--) {
			if (s->steps++ >= MAX_STEPS)
				return false;
			if (writes(&b->insns[at - 1], reg))
				return (at < b->n_insns &&
					variable(s, b->insns[at].addr, &place, out)) ||
				       written_value(s, block, at - 1, reg, out);
		}
		if (variable(s, s->f->blocks[block].addr, &place, out))
			return true;
		block = block_before(s, block, reg);
		if (block != KERNEL_GRAPH_OUT)
			at = block_of(s, block)->n_insns;
	}
	return false;
}

/* A comparison before a jump: LEFT is compared with RIGHT or, if WITH_ZERO, with 0. An unknown operand has the text NULL. */
struct comparison {
	struct term left, right;
	bool with_zero;
};

static void forget(struct term *t, bool known)
{
	if (!known || !term_settle(t))
		term_drop(t);
}

/* Find the comparison in instruction AT of BLOCK. Return false if this kind of instruction is not supported. */
static bool compare(struct kernel_stops *s, uint32_t block, uint32_t at, struct comparison *c,
		    enum arch_relation *relation)
{
	const struct arch_access *a = &block_of(s, block)->insns[at].access;
	uint64_t bits = (uint64_t)a->number;
	bool known;

	*c = (struct comparison){ .with_zero = a->effect != ARCH_EFFECT_COMPARE };
	if (a->effect == ARCH_EFFECT_AND || a->effect == ARCH_EFFECT_ADD ||
	    a->effect == ARCH_EFFECT_SHIFT_LEFT || a->effect == ARCH_EFFECT_SHIFT_RIGHT) {
		forget(&c->left,
		       a->to != ARCH_NO_REG && register_value(s, block, at + 1, a->to, &c->left));
		return true;
	}
	if (a->effect < ARCH_EFFECT_COMPARE)
		return false;
	known = a->to != ARCH_NO_REG ? register_value(s, block, at, a->to, &c->left) :
				       a->has_memory && memory_value(s, block, at, &c->left);
	if (a->effect == ARCH_EFFECT_BIT) {
		bits = 1ull << (a->number & 63);
		*relation = *relation == ARCH_RELATION_LESS ? ARCH_RELATION_UNEQUAL :
							      ARCH_RELATION_EQUAL;
	}
	if (a->effect == ARCH_EFFECT_COMPARE) {
		forget(&c->left, known);
		known = a->from != ARCH_NO_REG ? register_value(s, block, at, a->from, &c->right) :
			a->has_number          ? number(s, a->number, &c->right) :
					a->has_memory && memory_value(s, block, at, &c->right);
		forget(&c->right, known);
		return true;
	}
	forget(&c->left,
	       known && (a->from == a->to || (a->has_number && term_mask(&c->left, bits))));
	return true;
}

/* Return the comparison as text, such as "idx < slab->objects"; NULL: the text would say nothing to the user. */
static char *words(const struct comparison *c, enum arch_relation relation)
{
	static const char *const signs[] = {
		[ARCH_RELATION_EQUAL] = "==",  [ARCH_RELATION_UNEQUAL] = "!=",
		[ARCH_RELATION_LESS] = "<",    [ARCH_RELATION_NOT_LESS] = ">=",
		[ARCH_RELATION_GREATER] = ">", [ARCH_RELATION_NOT_GREATER] = "<=",
	};
	const char *left = c->left.text, *right = c->right.text;
	bool zero = c->with_zero || (right && !strcmp(right, "0"));

	/* Return no text such as "... == 5", which tells the user nothing. */
	if (!signs[relation] || (!left && (!right || (unsigned int)(*right - '0') < 10)))
		return NULL;
	if (zero && !c->left.is_object &&
	    (relation == ARCH_RELATION_EQUAL || relation == ARCH_RELATION_UNEQUAL))
		return alloc_printf("%s%s", relation == ARCH_RELATION_EQUAL ? "!" : "", left);
	return alloc_printf("%s %s %s", left ?: UNKNOWN, signs[relation],
			    zero  ? "0" :
			    right ?:
				    UNKNOWN);
}

static enum arch_relation opposite(enum arch_relation relation)
{
	static const enum arch_relation of[] = {
		[ARCH_RELATION_EQUAL] = ARCH_RELATION_UNEQUAL,
		[ARCH_RELATION_UNEQUAL] = ARCH_RELATION_EQUAL,
		[ARCH_RELATION_LESS] = ARCH_RELATION_NOT_LESS,
		[ARCH_RELATION_NOT_LESS] = ARCH_RELATION_LESS,
		[ARCH_RELATION_GREATER] = ARCH_RELATION_NOT_GREATER,
		[ARCH_RELATION_NOT_GREATER] = ARCH_RELATION_GREATER,
	};

	return of[relation];
}

/* Return BLOCK's last instruction if it is a supported conditional jump, otherwise NULL. */
static const struct insn *jump_of(struct kernel_stops *s, uint32_t block)
{
	const struct block *b = block_of(s, block);
	const struct insn *jump = b->n_insns ? &b->insns[b->n_insns - 1] : NULL;

	return jump && jump->kind == DECODE_COND && jump->access.relation ? jump : NULL;
}

/*
 * Return as text the condition that RELATION holds at the end of BLOCK, or NULL if unknown. The operands are those of the last
 * instruction that writes the flags. The caller frees the text. Set *OF_OBJECT to whether its left side is a kernel variable.
 */
static char *condition(struct kernel_stops *s, uint32_t block, enum arch_relation relation,
		       bool *of_object)
{
	const struct block *b = block_of(s, block);
	struct comparison c;
	char *text = NULL;

	for (uint32_t at = b->n_insns - 1; at > 0; at--) {
		if (!b->insns[at - 1].access.writes_flags)
			continue;
		if (compare(s, block, at - 1, &c, &relation)) {
			text = words(&c, relation);
			*of_object = c.left.is_object;
			free(c.left.text);
			free(c.right.text);
		}
		break;
	}
	return text;
}

/*
 * If BLOCK ends in a conditional jump out of LOOP, return the condition under which execution stays in LOOP. Return NULL if there
 * is no such jump or the condition is unknown. The caller frees the text.
 */
static char *stop_condition(struct kernel_stops *s, uint32_t loop, uint32_t block)
{
	const struct insn *jump = jump_of(s, block);
	enum arch_relation relation;
	bool of_object;

	if (!jump)
		return NULL;
	relation = opposite(jump->access.relation);
	for (uint32_t i = 0; i < s->f->graph->n_blocks; i++)
		if (s->f->blocks[i].addr == jump->target && kernel_loop_has(s->f->loops, loop, i))
			relation = jump->access.relation;
	return condition(s, block, relation, &of_object);
}

/* Return whether BLOCK leads out of LOOP. Set *AT_HEAD to true if BLOCK is the head of LOOP or leads to it, else to false. */
static bool leaves(const struct kernel_stops *s, uint32_t loop, uint32_t block, bool *at_head)
{
	const struct kernel_graph *g = s->f->graph;
	uint32_t head = s->f->loops->loops[loop].head;
	bool out = false;

	*at_head = block == head;
	for (uint32_t i = 0; i < g->n_arcs && kernel_loop_has(s->f->loops, loop, block); i++) {
		if (g->arcs[i].from != block)
			continue;
		*at_head |= g->arcs[i].to == head;
		out |= g->arcs[i].to >= g->n_blocks ||
		       !kernel_loop_has(s->f->loops, loop, g->arcs[i].to);
	}
	return out;
}

static void begin(struct kernel_stops *s, const struct kernel_stop_function *f)
{
	s->f = f;
	s->steps = 0;
	s->blocks = alloc_array(f->graph->n_blocks, sizeof(*s->blocks));
}

static void end(struct kernel_stops *s)
{
	for (uint32_t b = 0; b < s->f->graph->n_blocks; b++)
		free(s->blocks[b].insns);
	free(s->blocks);
}

char *kernel_stop_of(struct kernel_stops *s, const struct kernel_stop_function *f, uint32_t loop)
{
	char *text = NULL;

	begin(s, f);
	for (int wanted = 1; wanted >= 0 && !text; wanted--) {
		int n = 0;

		for (uint32_t b = 0; b < f->graph->n_blocks && n < MAX_EXITS; b++) {
			bool at_head;
			scoped_free char *one = NULL;

			if (!leaves(s, loop, b, &at_head) || at_head != wanted)
				continue;
			one = stop_condition(s, loop, b);
			if (one && !(text && strstr(text, one)))
				alloc_append(&text, "%s%s", n++ ? " and " : "", one);
		}
	}
	end(s);
	return text;
}

char *kernel_stop_guard(struct kernel_stops *s, const struct kernel_stop_function *f,
			uint32_t block, bool *of_object)
{
	char *text = NULL;

	begin(s, f);
	for (uint32_t n = 0; n < f->graph->n_blocks && block != KERNEL_GRAPH_OUT; n++) {
		uint32_t before = only_before(s, block, KERNEL_LOOP_NONE);
		const struct insn *jump = before != KERNEL_GRAPH_OUT ? jump_of(s, before) : NULL;

		if (jump) {
			text = condition(s, before,
					 jump->target == f->blocks[block].addr ?
						 jump->access.relation :
						 opposite(jump->access.relation),
					 of_object);
			break;
		}
		block = before;
	}
	end(s);
	return text;
}
