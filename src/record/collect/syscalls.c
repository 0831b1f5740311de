// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collect/collect.h"

#include <linux/types.h>
#include <seccomp.h>

#include "base/alloc.h"
#include "kprotperf/engine.h"
#include "profile/profile.h"

static char *syscall_name(uint32_t arch, const char *prefix, uint32_t nr)
{
	char *known = seccomp_syscall_resolve_num_arch(arch, nr), *name;

	name = known ? alloc_printf("%s%s", prefix, known) :
		       alloc_printf("%ssyscall_%u", prefix, nr);
	free(known);
	return name;
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

uint32_t record_context_add(struct profile *p, uint32_t ctx)
{
	scoped_free char *name = record_context_name(ctx);
	uint32_t context = profile_context_add(p, name);

	return context;
}
