// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/capture.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/plural.h"
#include "kernel/code/code.h"
#include "kernel/code/operands.h"
#include "kernel/image/btf.h"
#include "record/target/capture_expression.h"
#include "record/target/symbols.h"

/* ---- values captured automatically ---- */

#define MAX_CODE   (64u << 10)
#define MAX_LEVELS 8 /* maximum depth of structs in structs */

static const struct btf_type *resolve(const struct btf *btf, uint32_t id)
{
	return record_resolve_type(btf, &id);
}

static bool is_number(const struct btf_type *t)
{
	return t && (btf_is_int(t) || btf_is_any_enum(t));
}

static void add_numbers(const struct btf *btf, const struct btf_type *proto,
			const struct kernel_sym *sym, struct alloc_texts *names)
{
	const struct btf_param *param = btf_params(proto);

	for (uint32_t i = 0; i < btf_vlen(proto); i++)
		if (is_number(resolve(btf, param[i].type)))
			alloc_keep(names,
				   alloc_strdup(btf__name_by_offset(btf, param[i].name_off)));
	/* Leave out random numbers, which the kernel uses as secrets such as stack canaries. */
	if (is_number(resolve(btf, proto->type)) && !strstr(sym->name, "get_random"))
		alloc_keep(names, alloc_strdup("return"));
}

/* Add the names of slab caches among the arguments. Such names come from kernel code; names of tasks and files come from users. */
static void add_caches(const struct btf *btf, const struct btf_type *proto,
		       struct alloc_texts *names)
{
	const struct btf_param *param = btf_params(proto);

	for (uint32_t i = 0; i < btf_vlen(proto); i++) {
		const struct btf_type *t = resolve(btf, param[i].type);

		t = t && btf_is_ptr(t) ? resolve(btf, t->type) : NULL;
		if (t && btf_is_struct(t) &&
		    !strcmp(btf__name_by_offset(btf, t->name_off), "kmem_cache"))
			alloc_keep(names,
				   alloc_printf("%s->name",
						btf__name_by_offset(btf, param[i].name_off)));
	}
}

/* Return the parameter that the caller passes in register REG; NULL: none, or one that takes several registers. */
static const struct btf_param *param_of(const struct btf *btf, const struct btf_type *proto,
					uint32_t reg)
{
	const struct btf_param *param = btf_params(proto);
	uint32_t at = 0;

	for (uint32_t i = 0; i < btf_vlen(proto); i++) {
		int n = kernel_btf_registers(btf, param[i].type);

		if (at == reg)
			return n == 1 ? &param[i] : NULL;
		at += n;
	}
	return NULL;
}

/* Data to make expressions from a function's operands. OUT gets the expressions; PATHS owns parts of expressions. */
struct names {
	const struct btf *btf;
	const struct btf_type *proto;
	struct kernel_operands *operands;
	const struct kernel_kallsyms *ks;
	struct alloc_texts *out, paths;
	bool bit_fields; /* also capture bit fields that share a byte with others */
};

/* An expression and the type of its value. SEPARATOR is the text between the expression and the name of a member. */
struct thing {
	const char *path; /* the expression's text; NULL: not known */
	const char *separator;
	const struct btf_type *type;
};

/* Return whether the value of PATH must stay secret: a stack canary, the key that hides freelists, or the kernel's address. */
static bool is_secret(const char *path)
{
	return strstr(path, "stack_canary") || strstr(path, "__stack_chk_guard") ||
	       strstr(path, "->random") || !strcmp(path, "phys_base");
}

/* Return whether code reads PATH only for per-CPU addresses or time: such values tell nothing about the work of a call. */
static bool is_noise(const char *path)
{
	static const char *const names[] = { "cpu_number",
					     "__cpu_online_mask",
					     "__cpu_possible_mask",
					     "__cpu_present_mask",
					     "__cpu_active_mask",
					     "nr_cpu_ids",
					     "__num_online_cpus",
					     "numa_node",
					     "this_cpu_off",
					     "__preempt_count",
					     "jiffies" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);

		if (!strncmp(path, names[i], n) && (!path[n] || path[n] == '.'))
			return true;
	}
	return false;
}

/* Return whether T is struct pt_regs, whose user registers may hold addresses. (--capture sys.NAME reads a syscall's argument.) */
static bool is_registers(const struct btf *btf, const struct btf_type *t)
{
	return t && btf_is_struct(t) && !strcmp(btf__name_by_offset(btf, t->name_off), "pt_regs");
}

/*
 * The code reads bits FROM to TO of THING: add expressions for the numbers in THING that overlap these bits. If POINTER is not
 * NULL, add no numbers, but set *POINTER to the target of the pointer there. LEVEL is the depth of nested structs.
 */
static void find(struct names *n, const struct thing *thing, int64_t from, int64_t to, int level,
		 struct thing *pointer)
{
	const struct btf_type *t = thing->type;
	bool composite = t && btf_is_composite(t) && level < MAX_LEVELS && !is_registers(n->btf, t);

	for (uint32_t i = 0; composite && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *name = btf__name_by_offset(n->btf, m->name_off);
		int64_t at = btf_member_bit_offset(t, i), bits = btf_member_bitfield_size(t, i);
		struct thing member = { thing->path, thing->separator, resolve(n->btf, m->type) };

		bits = bits ?: 8 * btf__resolve_size(n->btf, m->type);
		if (at >= to || at + bits <= from ||
		    (bits < to - from && bits % 8 && !n->bit_fields))
			continue;
		if (*name) {
			member.path = alloc_keep(&n->paths, alloc_printf("%s%s%s", thing->path,
									 thing->separator, name));
			member.separator = ".";
		}
		find(n, &member, from - at, to - at, level + 1, pointer);
	}
	if (!pointer && is_number(t) && !is_secret(thing->path) && !is_noise(thing->path))
		alloc_keep(n->out, alloc_strdup(thing->path));
	if (pointer && t && btf_is_ptr(t))
		*pointer = (struct thing){ strstr(thing->path, "current_task") ? "current" :
										 thing->path,
					   "->", resolve(n->btf, t->type) };
}

/* Return the per-CPU variable with *ADDR, and set *ADDR to the offset in the variable. The result is all NULL if BTF lacks it. */
static struct thing find_per_cpu(struct names *n, uint64_t *addr)
{
	int32_t id = btf__find_by_name_kind(n->btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *t = id > 0 ? btf__type_by_id(n->btf, (uint32_t)id) : NULL;
	const struct btf_var_secinfo *var = t ? btf_var_secinfos(t) : NULL;

	*addr -= kernel_kallsyms_variable(n->ks, "__per_cpu_start");
	for (uint32_t i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_type *v = btf__type_by_id(n->btf, var[i].type);

		if (*addr - var[i].offset >= var[i].size)
			continue;
		*addr -= var[i].offset;
		return (struct thing){ btf__name_by_offset(n->btf, v->name_off), ".",
				       resolve(n->btf, v->type) };
	}
	return (struct thing){};
}

/* Return whether O is this_cpu_off, the base of this CPU's copies of per-CPU variables. Code adds this base to addresses. */
static bool is_cpu_offset(struct names *n, const struct kernel_operand *o)
{
	uint64_t at = o->addr;
	struct thing thing = {};

	if (o->kind == KERNEL_OPERAND_PER_CPU)
		thing = find_per_cpu(n, &at);
	return thing.path && !strcmp(thing.path, "this_cpu_off");
}

/* Return whether the variable at ADDR becomes read-only when the kernel has started. */
static bool is_constant(const struct kernel_kallsyms *ks, uint64_t addr)
{
	return addr >= kernel_kallsyms_variable(ks, "__start_ro_after_init") &&
	       addr < kernel_kallsyms_variable(ks, "__end_ro_after_init");
}

static void add_global(struct names *n, uint64_t addr)
{
	uint64_t offset;
	const char *name = kernel_kallsyms_variable_at(n->ks, addr, &offset);

	if (name && !offset && kernel_kallsyms_variable(n->ks, name) == addr &&
	    !is_constant(n->ks, addr) && !is_secret(name) && !is_noise(name))
		alloc_keep(n->out, alloc_strdup(name));
}

/* Add expressions for operand O or, if POINTER is not NULL, set POINTER to O's target. At most LOADS - 1 loads may lead to O. */
static void name_operand(struct names *n, const struct kernel_operand *o, int loads,
			 struct thing *pointer)
{
	struct thing thing = { .separator = "->" };
	const struct btf_param *param;
	uint64_t at = (uint64_t)o->offset;

	if (o->bytes > 8 || !loads)
		return;
	if (o->kind == KERNEL_OPERAND_GLOBAL && !pointer) {
		add_global(n, o->addr);
	} else if (o->kind == KERNEL_OPERAND_ARGUMENT && pointer) {
		param = param_of(n->btf, n->proto, o->argument);
		if (param)
			find(n,
			     &(struct thing){ btf__name_by_offset(n->btf, param->name_off), "->",
					      resolve(n->btf, param->type) },
			     0, 64, 0, pointer);
		return;
	} else if (o->kind == KERNEL_OPERAND_MEMBER &&
		   is_cpu_offset(n, &n->operands->items[o->base])) {
		thing = find_per_cpu(n, &at);
	} else if (o->kind == KERNEL_OPERAND_MEMBER) {
		name_operand(n, &n->operands->items[o->base], loads - 1, &thing);
		/* Behind a pointer to a number there are no members, so no expression can name the target. */
		if (thing.type && !btf_is_composite(thing.type))
			return;
	} else if (o->kind == KERNEL_OPERAND_PER_CPU) {
		at = o->addr;
		thing = find_per_cpu(n, &at);
	}
	if (thing.path)
		find(n, &thing, 8 * (int64_t)at, 8 * ((int64_t)at + o->bytes), 0, pointer);
}

/* Add facts about the task that rarely differ within a command. The CPU differs often, and would multiply the report's rows. */
static void add_task_names(const struct btf *btf, struct alloc_texts *names)
{
	alloc_keep(names, alloc_strdup("current->policy"));
	alloc_keep(names, alloc_strdup("uid"));
	if (btf__find_by_name_kind(btf, "css_set", BTF_KIND_STRUCT) > 0)
		alloc_keep(names, alloc_strdup("cgroup"));
}

/* Add expressions for the operands that decide branches (DECIDES) or for the other operands (!DECIDES). */
static void name_operands(struct names *n, bool decides)
{
	vec_each(const struct kernel_operand, o, n->operands, items) {
		n->bit_fields = o->kind == KERNEL_OPERAND_MEMBER &&
				n->operands->items[o->base].kind == KERNEL_OPERAND_ARGUMENT;
		/* Other operands behind pointers are too many: add only variables, and members that arguments point to. */
		if (o->decides == decides &&
		    (decides || o->kind == KERNEL_OPERAND_GLOBAL || n->bit_fields))
			name_operand(n, o, RECORD_CAPTURE_LOADS, NULL);
	}
}

/*
 * Append expressions to NAMES, the best first: numeric arguments and the return value; names of slab caches; struct members and
 * variables that SYM's code reads, first those that decide branches; static keys that the code tests; facts about the task. PROTO
 * is SYM's prototype in BTF.
 */
static void find_names(const struct btf *btf, const struct btf_type *proto,
		       const struct kernel_sym *sym, struct record_symbols *symbols,
		       struct alloc_texts *names)
{
	uint64_t size = kernel_kallsyms_size(symbols->ks, sym),
		 len = size < MAX_CODE ? size : MAX_CODE;
	scoped(kernel_operands_deinit) struct kernel_operands operands = {};
	struct names n = { btf, proto, &operands, symbols->ks, names };
	scoped_free uint8_t *code = alloc_array(len, 1);

	add_numbers(btf, proto, sym, names);
	add_caches(btf, proto, names);
	if (record_symbols_live(symbols) && !kernel_kcore_read(symbols->live, sym->addr, code, len))
		kernel_operands_of(code, len, sym->addr, &operands);
	for (int decides = 1; decides >= 0; decides--)
		name_operands(&n, decides);
	/* Add static keys, too: these settings cannot change in this recording, but may differ in another one. */
	kernel_static_keys_in(record_symbols_live(symbols), symbols->ks, sym->addr, len, names);
	add_task_names(btf, names);
	alloc_texts_free(&n.paths);
}

static bool is_flags(const struct record_place *at)
{
	return strstr(at->expression, "flags") || strstr(at->expression, "gfp");
}

static bool has(const struct record_capture *c, const char *name)
{
	for (uint32_t i = 0; i < c->n_values; i++)
		if (c->values[i].base != RECORD_BASE_NAME_END &&
		    !strcmp(c->values[i].variable.name, name))
			return true;
	return false;
}

static struct record_value *add(struct record_capture *c, const char *name)
{
	struct record_value *v = &c->values[c->n_values];

	*v = (struct record_value){ .variable.name = alloc_strdup(name) };
	return v;
}

/* Keep the value that add() has begun. A name takes two values; if only one is free, drop the name and return false. */
static bool keep(struct record_capture *c)
{
	bool is_name = c->values[c->n_values].variable.kind == PROFILE_VARIABLE_NAME;

	if (c->n_values + is_name == ENGINE_VALUES) {
		free((char *)c->values[c->n_values].variable.name);
		return false;
	}
	c->n_values++;
	if (is_name)
		c->values[c->n_values++] = (struct record_value){ .base = RECORD_BASE_NAME_END };
	return true;
}

/* Add the values of SYM that are captured automatically, up to ENGINE_VALUES. */
static void add_automatic(struct record_capture *c, struct record_place *at,
			  const struct kernel_sym *sym)
{
	scoped(alloc_texts_free) struct alloc_texts names = {};

	find_names(at->btf, at->proto, sym, at->symbols, &names);
	for (size_t i = 0; i < names.n_texts && c->n_values < ENGINE_VALUES; i++) {
		if (has(c, names.texts[i]))
			continue;
		at->expression = names.texts[i];
		at->value = add(c, at->expression);
		if (record_expression_parse(at, at->expression)) {
			free((char *)at->value->variable.name);
			continue;
		}
		at->value->variable.is_flags =
			at->value->variable.kind != PROFILE_VARIABLE_NAME && is_flags(at);
		keep(c);
	}
}

static int full(const struct record_place *at, const char *function)
{
	log_error("--capture=%s: at most %d values of %s can be captured (a name counts as two)",
		  at->expression, ENGINE_VALUES, function);
	return -E2BIG;
}

/* If EXPRESSION names this FUNCTION or none, add it to C's values; set *FITS if it is valid. Return 0 or -errno, reported. */
static int add_expression(struct record_capture *c, struct record_place *at, const char *function,
			  const char *expression, bool *fits)
{
	size_t n = strspn(expression,
			  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
	bool named = expression[n] == ':';
	int err;

	if (named && (strncmp(expression, function, n) || function[n]))
		return 0;
	at->expression = expression;
	expression += named ? n + 1 : 0;
	if (has(c, expression)) {
		*fits = true;
		return 0;
	}
	if (c->n_values == ENGINE_VALUES)
		return full(at, function);
	at->value = add(c, expression);
	err = record_expression_parse(at, at->value->variable.name);
	if (err)
		free((char *)at->value->variable.name);
	else if (!keep(c))
		err = full(at, function);
	*fits |= !err;
	return err == -ENOENT ? 0 : err;
}

/*
 * Return the prototype of SITE's function; NULL: BTF lacks it, or has that of another function of the same name. If fentry times
 * the function, refuse() has checked this. Kprobes can read arguments in registers only.
 */
static const struct btf_type *prototype_of(const struct kernel_btf *btf, struct record_site *site,
					   struct record_symbols *symbols)
{
	const struct btf_type *func;
	size_t same_name;
	int n;

	if (profile_mechanism(site->mech)->arguments != PROFILE_ARGUMENTS_ALL) {
		kernel_kallsyms_named(symbols->ks, site->sym->name, &same_name);
		site->target.btf_id =
			btf && same_name == 1 ? kernel_btf_function(btf, site->sym->name) : -ENOENT;
		n = site->target.btf_id > 0 ?
			    kernel_btf_function_registers(btf, site->target.btf_id) :
			    -ENOENT;
		if (n < 0 ||
		    record_arguments_beyond(symbols, site->sym, (unsigned int)n) == KERNEL_YES)
			return NULL;
	}
	func = btf__type_by_id(kernel_btf_raw(btf), (uint32_t)site->target.btf_id);
	return btf__type_by_id(kernel_btf_raw(btf), func->type);
}

static void capture_deinit(struct record_capture *c)
{
	for (uint32_t v = 0; v < c->n_values; v++)
		free((char *)c->values[v].variable.name);
}

/* Resolve the expressions for function I. If its arguments are known, set *KNOWN. If ALL is full, add 1 to *LEFT. */
static int resolve_site(struct record_captures *all, const struct record_capture_wanted *w,
			bool *fits, uint32_t i, bool *known, uint32_t *left)
{
	struct record_site *site = &w->sites->items[i];
	int fd, err = 0;
	const struct kernel_btf *btf = record_symbols_btf(w->symbols, site->sym, &fd);
	struct record_place at = { .symbols = w->symbols,
				   .proto = prototype_of(btf, site, w->symbols) };
	struct record_capture c = { .site = i };

	*known = at.proto;
	if (!at.proto)
		return 0;
	at.btf = kernel_btf_raw(btf);
	c.cast = record_kernel_type(at.btf, "bpf_rdonly_cast", BTF_KIND_FUNC);
	for (uint32_t e = 0; e < w->expressions->n_items && !err; e++)
		err = add_expression(&c, &at, site->name, w->expressions->items[e], &fits[e]);
	if (w->automatic && !err)
		add_automatic(&c, &at, site->sym);
	if (!c.n_values)
		return err;
	if (all->n_items == ENGINE_CAPTURED) {
		capture_deinit(&c);
		++*left;
		return err;
	}
	vec_push(all, items, c);
	if (profile_mechanism(site->mech)->arguments == PROFILE_ARGUMENTS_ALL)
		all->fentry = true;
	else
		all->saves = true;
	return err;
}

static int resolve_sites(struct record_captures *c, const struct record_capture_wanted *w,
			 bool *fits)
{
	uint32_t without = 0, left = 0;
	int err = 0;

	for (uint32_t i = 0; i < w->sites->n_items && !err; i++) {
		const struct record_site *site = &w->sites->items[i];
		bool known = false;

		if (profile_mechanism(site->mech)->arguments != PROFILE_ARGUMENTS_NONE)
			err = resolve_site(c, w, fits, i, &known, &left);
		without += !known;
	}
	if (without && !err)
		log_note("no values are captured in %u %s: BTF lacks the arguments, or "
			 "kprobe.multi is the probe",
			 without, plural(without, "function", "functions"));
	if (left && !err)
		log_note("no values are captured in %u %s: the limit is %d functions", left,
			 plural(left, "function", "functions"), ENGINE_CAPTURED);
	return err;
}

int record_captures_resolve(struct record_captures *c, const struct record_capture_wanted *w)
{
	const struct record_names *expressions = w->expressions;
	scoped_free bool *fits = alloc_array(expressions->n_items, sizeof(*fits));
	int err = 0;

	if (!w->automatic && !expressions->n_items)
		return 0;
	if (!w->sites->n_items)
		log_note(
			"no values are captured: functions have them, and only inlined bodies are timed");
	err = resolve_sites(c, w, fits);
	for (uint32_t e = 0; e < expressions->n_items && !err; e++)
		if (!fits[e]) {
			log_error("--capture=%s: no function with known arguments has such an "
				  "argument, and the kernel has no such variable",
				  expressions->items[e]);
			err = -ENOENT;
		}
	for (uint32_t i = 0; i < c->n_items; i++) {
		w->sites->items[c->items[i].site].target.capture = &c->items[i];
		w->sites->items[c->items[i].site].target.capture_slot = i;
	}
	return err;
}

void record_captures_store(const struct record_captures *c, struct profile *p)
{
	for (uint32_t i = 0; i < c->n_items; i++)
		for (uint32_t v = 0; v < c->items[i].n_values; v++) {
			struct profile_variable variable = c->items[i].values[v].variable;

			variable.site = c->items[i].site + 1;
			if (variable.name)
				profile_variable_add(p, &variable);
		}
}

void record_captures_deinit(struct record_captures *c)
{
	for (uint32_t i = 0; i < c->n_items; i++)
		capture_deinit(&c->items[i]);
	free(c->items);
	*c = (struct record_captures){};
}
