// SPDX-License-Identifier: GPL-2.0-or-later
/* What names say of functions that are this architecture's own. */
#include <string.h>

#include "arch/arch.h"

static const char *const noreturn[] = {
	"__tdx_hypercall_failed", "acpi_processor_ffh_play_dead",
	"ex_handler_msr_mce",     "hlt_play_dead",
	"hv_ghcb_terminate",      "machine_real_restart",
	"sev_es_terminate",       "snp_abort",
	"x86_64_start_kernel",    "x86_64_start_reservations",
	"xen_cpu_bringup_again",  "xen_start_kernel",
};

enum arch_symbol arch_symbol_of_name(const char *name)
{
	static const char thunk[] = "_return_thunk";
	size_t len = strlen(name);

	if (!strncmp(name, "__x86_indirect_", 15))
		return ARCH_SYMBOL_INDIRECT_THUNK;
	if (len >= sizeof(thunk) - 1 && !strcmp(name + len - (sizeof(thunk) - 1), thunk))
		return ARCH_SYMBOL_RETURN_THUNK;
	for (size_t i = 0; i < sizeof(noreturn) / sizeof(*noreturn); i++)
		if (!strcmp(name, noreturn[i]))
			return ARCH_SYMBOL_NORETURN;
	return ARCH_SYMBOL_ORDINARY;
}
