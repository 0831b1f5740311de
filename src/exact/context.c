// SPDX-License-Identifier: GPL-2.0-or-later
#include "exact/context.h"

#include <string.h>

#include "base/alloc.h"

/* Functions of syscalls that are called otherwise. */
static const struct {
	const char *function, *syscall;
} renamed[] = {
	{ "newstat", "stat" },   { "newfstat", "fstat" },      { "newlstat", "lstat" },
	{ "newuname", "uname" }, { "sendfile64", "sendfile" }, { "umount", "umount2" },
};

const char *exact_context_function(const struct kernel_kallsyms *ks, const struct kernel_sym *sym)
{
	static const char ia32[] = "__ia32_sys_";
	const struct kernel_sym *const *found;
	scoped_free char *native = NULL;
	size_t n;

	if (!sym || strncmp(sym->name, ia32, sizeof(ia32) - 1) != 0)
		return sym ? sym->name : NULL;
	native = alloc_printf("__x64_sys_%s", sym->name + sizeof(ia32) - 1);
	found = kernel_kallsyms_named(ks, native, &n);
	return n && found[0]->addr == sym->addr ? found[0]->name : sym->name;
}

/* The syscall that FUNCTION is of, for free(). */
static char *syscall_name(const char *function)
{
	static const struct {
		const char *prefix, *becomes;
	} prefixes[] = {
		{ "__x64_sys_", "" },
		{ "__ia32_compat_sys_", "compat:" },
		{ "__ia32_sys_", "compat:" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t n = strlen(prefixes[i].prefix);
		const char *name = function + n;

		if (strncmp(function, prefixes[i].prefix, n) != 0)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(renamed); k++)
			if (!strcmp(name, renamed[k].function))
				name = renamed[k].syscall;
		return alloc_printf("%s%s", prefixes[i].becomes, name);
	}
	return alloc_strdup(function);
}

static char *name_of(const struct exact_context *c, const char *function, const char *by)
{
	if (by)
		return alloc_printf("%s %s", by, profile_queued_name(c->kind - EXACT_QUEUED));
	if (c->kind == EXACT_KTHREAD && function)
		return alloc_printf("[%s]", function);
	if (c->kind == EXACT_IDLE)
		return alloc_strdup("[idle]");
	if (!c->command)
		return alloc_strdup("[other tasks]");
	switch (c->kind) {
	case EXACT_SYSCALL:
		return syscall_name(function ?: "[syscall]");
	case EXACT_PAGE_FAULT:
		return alloc_strdup(profile_context_name(PROFILE_CONTEXT_PAGE_FAULT));
	case EXACT_IRQ:
		return alloc_strdup(profile_context_name(PROFILE_CONTEXT_IRQ));
	case EXACT_SOFTIRQ:
		return alloc_strdup(profile_queued_name(PROFILE_QUEUED_SOFTIRQ));
	default:
		return alloc_strdup(profile_context_name(PROFILE_CONTEXT_NONE));
	}
}

void exact_context_init(struct exact_context *c, struct profile *p, enum exact_kind kind,
			bool command, const char *function, const struct exact_context *by)
{
	scoped_free char *name;

	*c = (struct exact_context){ .kind = kind, .command = command };
	name = name_of(c, function, by ? p->contexts[by->profile].name : NULL);
	c->profile = profile_context_add(p, name);
}

void exact_context_entered_by(struct exact_context *c, uint32_t function)
{
	if (!exact_context_is_entered_by(c, function))
		vec_push(c, entered_by, function);
}

bool exact_context_is_entered_by(const struct exact_context *c, uint32_t function)
{
	if (c->kind == EXACT_NONE || !c->command)
		return false;
	for (uint32_t i = 0; i < c->n_entered_by; i++)
		if (c->entered_by[i] == function)
			return true;
	return false;
}
