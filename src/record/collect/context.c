// SPDX-License-Identifier: GPL-2.0-or-later
/* The names of contexts: system calls, page faults, interrupts. */
#include <linux/types.h>
#include <seccomp.h>
#include <string.h>

#include "base/alloc.h"
#include "kernel/image/name.h"
#include "kprotperf/engine.h"
#include "record/collect/collect.h"

static char *syscall_name(uint32_t arch, const char *prefix, uint32_t nr)
{
	scoped_free char *known = seccomp_syscall_resolve_num_arch(arch, nr);

	return known ? alloc_printf("%s%s", prefix, known) :
		       alloc_printf("%ssyscall_%u", prefix, nr);
}

char *record_context_name(uint32_t ctx)
{
	switch (ctx) {
	case ENGINE_CTX_NONE:
		return alloc_strdup(profile_context_name(PROFILE_CONTEXT_NONE));
	case ENGINE_CTX_PAGE_FAULT:
		return alloc_strdup(profile_context_name(PROFILE_CONTEXT_PAGE_FAULT));
	case ENGINE_CTX_IRQ:
		return alloc_strdup(profile_context_name(PROFILE_CONTEXT_IRQ));
	case ENGINE_CTX_OTHER:
		return alloc_strdup("[other_syscall]");
	}
	if (ctx >= ENGINE_CTX_COMPAT)
		return syscall_name(SCMP_ARCH_X86, "compat:", ctx - ENGINE_CTX_COMPAT);
	return syscall_name(SCMP_ARCH_X86_64, "", ctx);
}

static char *syscall_at(size_t i)
{
	return i < ENGINE_CTX_NONE ? record_context_name((uint32_t)i) : NULL;
}

bool record_context_keep(bool **left_out, const char *name, char **guess)
{
	for (uint32_t ctx = 0; ctx < ENGINE_CTX_NONE; ctx++) {
		scoped_free char *known = record_context_name(ctx);

		if (strcmp(name, known) != 0)
			continue;
		if (!*left_out) {
			*left_out = alloc_array(ENGINE_CONTEXTS, sizeof(**left_out));
			memset(*left_out, true, ENGINE_CONTEXTS * sizeof(**left_out));
		}
		(*left_out)[ctx] = false;
		return true;
	}
	*guess = kernel_name_guess(name, syscall_at);
	return false;
}

uint32_t record_context_add(struct profile *p, uint32_t ctx)
{
	scoped_free char *name = record_context_name(ctx);

	return profile_context_add(p, name);
}
