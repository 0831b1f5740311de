// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/capture_expression.h"

#include <bpf/btf.h>
#include <errno.h>
#include <glob.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "kernel/image/btf.h"
#include "record/target/capture.h"

#define FORMAT_BYTES (1 << 16)

struct btf;

/* ---- arguments of system calls ---- */

#define EVENTS         "/sys/kernel/tracing/events/syscalls/sys_enter_"
#define FORMAT         "/format"
#define FIRST_ARGUMENT 16 /* offset of the first argument in an event; each has 8 bytes */

/* Set V's sign and size by TYPE, a type name as in C. Never make the size smaller: BTF may call that type by another name. */
static void note_type(struct record_value *v, const struct btf *btf, const char *type)
{
	int32_t id = btf__resolve_type(btf, (uint32_t)btf__find_by_name(btf, type));
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	uint32_t bytes = strstr(type, "long") || strchr(type, '*') ? 8 : 4;

	v->is_signed = !strstr(type, "unsigned") && !strchr(type, '*');
	if (t && btf_is_int(t)) {
		bytes = t->size;
		v->is_signed = btf_int_encoding(t) & BTF_INT_SIGNED;
	}
	v->bytes = bytes > v->bytes ? bytes : v->bytes;
}

/* PATH is the file of a syscall's event format. If the syscall has the argument NAME, add it to V. Return false if V is full. */
static bool add_syscall(struct record_value *v, const struct btf *btf, const char *path,
			const char *name)
{
	static const char *const regs[] = ARCH_SYSCALL_REGS;
	scoped_free char *field = alloc_printf(" %s;\toffset:", name), *text = NULL,
			 *syscall =
				 alloc_printf("%.*s", (int)(strlen(path) - strlen(EVENTS FORMAT)),
					      path + strlen(EVENTS));
	char *at, *type;
	int nr = seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, syscall);
	bool full = v->n_syscalls == RECORD_CAPTURE_SYSCALLS, found = false;
	size_t length;

	if (nr >= 0 && nr < ENGINE_SYSCALLS && !file_read(path, FORMAT_BYTES, &text, &length) &&
	    (at = strstr(text, field))) {
		size_t i = (strtoul(at + strlen(field), NULL, 10) - FIRST_ARGUMENT) / 8;
		int offset =
			i < ARRAY_SIZE(regs) ? kernel_btf_offset(btf, "pt_regs", regs[i]) : -ENOENT;

		*at = '\0';
		type = strrchr(text, ':');
		found = type && offset >= 0;
		if (found && !full) {
			note_type(v, btf, type + 1);
			v->syscalls[v->n_syscalls++] =
				(struct record_syscall){ (uint16_t)nr, (int16_t)offset };
		}
	}
	return !full || !found;
}

/*
 * Add to V the syscalls that have an argument NAME. *TEXT, a part of EXPRESSION, begins with NAME (argument of any syscall) or
 * SYSCALL.NAME. Move *TEXT behind these words. Return 0 or -errno, reported.
 */
static int parse_syscall_argument(struct record_value *v, const struct btf *btf,
				  const char *expression, const char **text)
{
	size_t n = strcspn(*text, ".& "), m = (*text)[n] == '.' ? strcspn(*text + n + 1, "& ") : 0;
	scoped_free char *path =
		alloc_printf(EVENTS "%.*s" FORMAT, m ? (int)n : 1, m ? *text : "*");
	scoped_free char *name = alloc_printf("%.*s", (int)(m ? m : n), m ? *text + n + 1 : *text);
	glob_t found = {};
	bool room = true;

	*text += m ? n + 1 + m : n;
	glob(path, 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc && room; i++)
		room = add_syscall(v, btf, found.gl_pathv[i], name);
	if (!room)
		log_error("--capture=%s: more than %d syscalls have an argument '%s': name one, as "
			  "in sys.read.count",
			  expression, RECORD_CAPTURE_SYSCALLS, name);
	else if (!v->n_syscalls)
		log_error(
			"--capture=%s: no matching syscall has an argument '%s', according to this "
			"kernel's trace events",
			expression, name);
	globfree(&found);
	return room && v->n_syscalls ? 0 : -EINVAL;
}

/* The format file of this event lists the kernel's allocation flags, which are macros, by name and number. */
#define FLAGS_FORMAT "/sys/kernel/tracing/events/kmem/kmalloc/format"

/* bpf_rdonly_cast() needs a struct type. This struct begins with a number of eight bytes, so it serves for any small variable. */
#define NUMBER_STRUCT "timespec64"

static const char *name_of(const struct record_place *at, uint32_t offset)
{
	return btf__name_by_offset(at->btf, offset);
}

const struct btf_type *record_resolve_type(const struct btf *btf, uint32_t *id)
{
	const struct btf_type *t = btf__type_by_id(btf, *id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t) || btf_is_type_tag(t))) {
		*id = t->type;
		t = btf__type_by_id(btf, *id);
	}
	return t;
}

/* Return a copy of the name at which *TEXT begins, and move *TEXT behind the name; NULL: no name. The caller frees the copy. */
static char *scan_name(const char **text)
{
	size_t n = strspn(*text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	char *name = n ? alloc_printf("%.*s", (int)n, *text) : NULL;

	*text += n;
	return name;
}

static bool find_parameter(struct record_place *at, const char *name)
{
	const struct btf_param *param = btf_params(at->proto);
	uint32_t reg = 0;

	for (uint32_t i = 0; i < btf_vlen(at->proto) && reg < ARCH_MAX_ARGS; i++) {
		if (!strcmp(name_of(at, param[i].name_off), name)) {
			at->value->base = RECORD_BASE_ARGUMENT;
			at->value->which = reg;
			at->type = param[i].type;
			return true;
		}
		reg += kernel_btf_registers(at->btf, param[i].type);
	}
	return false;
}

uint32_t record_kernel_type(const struct btf *btf, const char *name, uint32_t kind)
{
	const struct btf *base = btf__base_btf(btf) ?: btf;
	int32_t id = btf__find_by_name_kind(base, name, kind);

	return id > 0 ? (uint32_t)id : 0;
}

/* Return the number of bytes, at most 8, from ADDR to the next variable: a number at ADDR cannot be larger. */
static uint32_t room_at(const struct kernel_kallsyms *ks, uint64_t addr)
{
	uint32_t bytes = 8;
	uint64_t offset;

	while (bytes > 1 && kernel_kallsyms_variable_at(ks, addr + bytes - 1, &offset) &&
	       offset != bytes - 1)
		bytes /= 2;
	return bytes;
}

static bool find_variable(struct record_place *at, const char *name)
{
	int32_t id = btf__find_by_name_kind(at->btf, name, BTF_KIND_VAR);

	at->value->variable.kind = PROFILE_VARIABLE_GLOBAL;
	at->in_register = false;
	at->value->n_loads = 1;
	if (id > 0) {
		at->value->base = RECORD_BASE_PER_CPU;
		at->value->which = (uint32_t)id;
		at->type = btf__type_by_id(at->btf, (uint32_t)id)->type;
		return true;
	}
	at->value->base = RECORD_BASE_ADDRESS;
	at->value->addr = kernel_kallsyms_variable(at->symbols->ks, name);
	at->value->type = record_kernel_type(at->btf, NUMBER_STRUCT, BTF_KIND_STRUCT);
	at->value->bytes = at->value->addr ? room_at(at->symbols->ks, at->value->addr) : 0;
	at->type = 0;
	return at->value->addr;
}

/* Find the member NAME of the struct TYPE or of its unnamed members. Set *BIT and *BITS to its offset and (bit fields) width. */
static const struct btf_member *find_member(const struct record_place *at, uint32_t type,
					    const char *name, uint32_t *bit, uint32_t *bits)
{
	const struct btf_type *t = record_resolve_type(at->btf, &type);

	for (uint32_t i = 0; t && btf_is_composite(t) && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i], *found = m;
		const char *its = name_of(at, m->name_off);
		uint32_t inner = 0;

		if (*its ? strcmp(its, name) != 0 :
			   !(found = find_member(at, m->type, name, &inner, bits)))
			continue;
		if (found == m)
			*bits = btf_member_bitfield_size(t, i);
		*bit = inner + btf_member_bit_offset(t, i);
		return found;
	}
	return NULL;
}

/* Return the BTF id of the struct that AT points to (POINTER: for "->") or that AT is (for "."); 0: there is no such struct. */
static uint32_t struct_at(const struct record_place *at, bool pointer)
{
	uint32_t type = at->type;
	const struct btf_type *t = record_resolve_type(at->btf, &type);

	if (pointer && !(at->in_register && at->is_target)) {
		type = t && btf_is_ptr(t) ? t->type : 0;
		t = record_resolve_type(at->btf, &type);
	} else if (!pointer && !at->value->n_loads) {
		return 0;
	}
	return t && btf_is_composite(t) ? type : 0;
}

/* Add a load to AT's value, since the expression follows one more pointer. Return 0, or -E2BIG, reported. */
static int load_add(struct record_place *at)
{
	struct record_value *v = at->value;

	if (v->n_loads == RECORD_CAPTURE_LOADS) {
		log_error("--capture=%s: at most %d pointers can be followed", at->expression,
			  RECORD_CAPTURE_LOADS);
		return -E2BIG;
	}
	v->offsets[v->n_loads++] = 0;
	return 0;
}

/* Move AT to its member NAME, by "->" if POINTER is true, else by ".". Return 0 or -errno, reported. */
static int follow(struct record_place *at, bool pointer, const char *name)
{
	struct record_value *v = at->value;
	uint32_t type = struct_at(at, pointer), bit = 0, bits = 0;
	const struct btf_member *m = type ? find_member(at, type, name, &bit, &bits) : NULL;

	if (!type)
		log_error("--capture=%s: what precedes '%s' is not a %s", at->expression, name,
			  pointer ? "pointer to a struct" : "struct");
	else if (!m)
		log_error("--capture=%s: struct %s has no member '%s'", at->expression,
			  name_of(at, btf__type_by_id(at->btf, type)->name_off), name);
	if (!m)
		return -EINVAL;
	if (pointer && !v->n_loads)
		v->type = record_kernel_type(at->btf,
					     name_of(at, btf__type_by_id(at->btf, type)->name_off),
					     BTF_KIND_STRUCT) == type ?
				  type :
				  0;
	if (pointer && load_add(at))
		return -E2BIG;
	v->offsets[v->n_loads - 1] += (int32_t)(bit / 8);
	v->bits = bits;
	v->shift = bits ? bit % 8 : 0;
	if (v->variable.kind == PROFILE_VARIABLE_ARGUMENT)
		v->variable.kind = PROFILE_VARIABLE_MEMBER;
	at->type = m->type;
	at->in_register = false;
	return 0;
}

/* Follow all "->NAME" and ".NAME" at the beginning of *TEXT, and move *TEXT behind them. */
static int follow_all(struct record_place *at, const char **text)
{
	int err = 0;

	while (!err && (!strncmp(*text, "->", 2) || **text == '.')) {
		bool pointer = **text == '-';
		scoped_free char *name;

		*text += pointer ? 2 : 1;
		name = scan_name(text);
		err = follow(at, pointer, name ?: "");
	}
	return err;
}

/* NAME may be a fact about the running task or CPU. If so, set AT to the fact and *ERR to 0 or -errno, and return true. */
static bool find_fact(struct record_place *at, const char *name, int *err)
{
	static const struct {
		const char *name;
		enum record_base base;
		const char *members; /* path from struct task_struct; NULL: the fact is a number */
	} known[] = {
		{ "current", RECORD_BASE_TASK, "" },
		{ "cpu", RECORD_BASE_CPU, NULL },
		{ "uid", RECORD_BASE_TASK, "->cred->uid.val" },
		{ "cgroup", RECORD_BASE_TASK, "->cgroups->dfl_cgrp->kn->id" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const char *members = known[i].members;

		if (strcmp(known[i].name, name))
			continue;
		at->value->base = known[i].base;
		at->value->bytes = members ? 8 : 4;
		at->is_target = members;
		at->type = members ? (uint32_t)btf__find_by_name_kind(at->btf, "task_struct",
								      BTF_KIND_STRUCT) :
				     0;
		*err = members ? follow_all(at, &members) : 0;
		at->value->variable.kind = PROFILE_VARIABLE_TASK;
		return true;
	}
	return false;
}

static int find_base(struct record_place *at, const char **text)
{
	scoped_free char *name = scan_name(text);
	int err = 0;

	at->in_register = true;
	at->is_target = false;
	at->value->variable.kind = PROFILE_VARIABLE_ARGUMENT;
	if (!name) {
		err = -EINVAL;
		log_error("--capture=%s: does not begin with a name", at->expression);
	} else if (!strcmp(name, "return")) {
		at->value->base = RECORD_BASE_RETURN;
		at->value->variable.kind = PROFILE_VARIABLE_RETURN;
		at->type = at->proto->type;
	} else if (!strcmp(name, "sys") && **text == '.') {
		++*text;
		at->value->base = RECORD_BASE_SYSCALL;
		at->value->variable.kind = PROFILE_VARIABLE_SYSCALL_ARGUMENT;
		err = parse_syscall_argument(at->value, at->btf, at->expression, text);
	} else if (find_parameter(at, name)) {
	} else if (find_fact(at, name, &err)) {
	} else if (!find_variable(at, name)) {
		err = -ENOENT;
	}
	return err;
}

/* Return whether T is text: an array of char or a pointer to char. The kernel uses other types, such as u8, for small numbers. */
static bool is_text(const struct btf *btf, const struct btf_type *t)
{
	bool one = t && (btf_is_array(t) || btf_is_ptr(t));
	const char *name;

	if (!one)
		return false;
	t = btf__type_by_id(btf, btf_is_array(t) ? btf_array(t)->type : t->type);
	while (t && btf_is_mod(t))
		t = btf__type_by_id(btf, t->type);
	name = t && btf_is_int(t) ? btf__name_by_offset(btf, t->name_off) : "";
	return !strcmp(name, "char") || !strcmp(name, "unsigned char");
}

/* Set the kind, size and sign of the value, after all members of AT's expression. Return 0 or -errno, reported. */
static int settle(struct record_place *at)
{
	struct record_value *v = at->value;
	const struct btf_type *t = at->type ? record_resolve_type(at->btf, &at->type) : NULL;

	/* Never read an argument itself as text, only text behind a load: it may be a user address, or point to other data. */
	if (v->n_loads && is_text(at->btf, t)) {
		v->variable.kind = PROFILE_VARIABLE_NAME;
		v->variable.bytes = sizeof(uint64_t);
		v->bytes = ENGINE_NAME;
		return btf_is_ptr(t) ? load_add(at) : 0;
	}
	if (at->type || !v->bytes) {
		bool is_number = t && (btf_is_int(t) || btf_is_any_enum(t) || btf_is_ptr(t));
		int64_t size = is_number ? btf__resolve_size(at->btf, at->type) : 0;

		if (size != 1 && size != 2 && size != 4 && size != 8) {
			log_error("--capture=%s: not a number", at->expression);
			return -EINVAL;
		}
		v->bytes = (uint32_t)size;
		v->is_signed = (btf_is_int(t) && btf_int_encoding(t) & BTF_INT_SIGNED) ||
			       (btf_is_any_enum(t) && btf_kflag(t));
	}
	/* Read as few bytes as possible, at an aligned address, such that they contain the whole bit field. */
	for (v->bytes = v->bits ? 1 : v->bytes; v->bits && v->shift + v->bits > 8 * v->bytes;) {
		int32_t *offset = &v->offsets[v->n_loads - 1];

		v->bytes *= 2;
		v->shift += 8 * (uint32_t)(*offset % (int32_t)v->bytes);
		*offset -= *offset % (int32_t)v->bytes;
	}
	v->variable.bytes = (uint8_t)v->bytes;
	v->variable.is_signed = v->is_signed;
	return 0;
}

/* Set *MASK to the allocation flag NAME. FLAGS_FORMAT lists it as a pair such as {… 0x100u …, "__GFP_ZERO"}. */
static bool flag_by_name(const char *name, uint64_t *mask)
{
	scoped_free char *quoted = alloc_printf("\"%s\"}", name), *text = NULL;
	char *end, *begin;
	const char *at;
	uint64_t bits;
	size_t length;

	*mask = 0;
	if (!file_read(FLAGS_FORMAT, FORMAT_BYTES, &text, &length) &&
	    (end = strstr(text, quoted))) {
		*end = '\0';
		begin = strrchr(text, '{');
		for (at = begin; at && !strchr(begin, '~') && (at = strstr(at, "0x"));)
			if (number_scan_hex(&at, &bits))
				*mask |= bits;
	}
	return *mask;
}

static bool constant_by_name(const struct btf *btf, const char *name, uint64_t *mask)
{
	for (uint32_t id = 1, n = btf__type_cnt(btf); id < n; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		for (uint32_t i = 0; btf_is_enum(t) && i < btf_vlen(t); i++)
			if (!strcmp(btf__name_by_offset(btf, btf_enum(t)[i].name_off), name)) {
				*mask = (uint32_t)btf_enum(t)[i].val;
				return true;
			}
	}
	return false;
}

static bool is_mask(const char *text, uint64_t *mask)
{
	if (strncmp(text, "0x", 2) != 0)
		return number_unsigned(text, 1, UINT64_MAX, mask);
	return number_scan_hex(&text, mask) && !*text && *mask;
}

static int parse_mask(struct record_place *at, const char *text)
{
	uint64_t *mask = &at->value->mask;

	if (!is_mask(text, mask) && !flag_by_name(text, mask) &&
	    !constant_by_name(at->btf, text, mask)) {
		log_error("--capture=%s: '%s' is neither a number nor a constant or allocation "
			  "flag of this kernel",
			  at->expression, text);
		return -EINVAL;
	}
	/* The value masked by named flags is a set of flags. The value masked by a number is a number, such as the low half. */
	at->value->variable.is_flags = *text < '0' || *text > '9';
	return 0;
}

int record_expression_parse(struct record_place *at, const char *text)
{
	int err = find_base(at, &text);

	err = err ?: follow_all(at, &text);
	err = err ?: settle(at);
	if (err)
		return err;
	text += strspn(text, " ");
	if (*text == '&' && at->value->variable.kind != PROFILE_VARIABLE_NAME)
		return parse_mask(at, text + 1 + strspn(text + 1, " "));
	if (!*text)
		return 0;
	log_error("--capture=%s: cannot parse '%s'", at->expression, text);
	return -EINVAL;
}
