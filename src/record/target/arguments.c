// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/arguments.h"

#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "kernel/code/arguments.h"
#include "kernel/code/flow.h"

static size_t read_code(uint64_t addr, void *buf, size_t len, void *arg)
{
	const struct record_symbols *s = arg;

	return kernel_kcore_read(s->live, addr, buf, len) ? 0 : len;
}

/* A static call's trampoline leads elsewhere tomorrow. */
static bool is_pointer(const char *name)
{
	return kernel_callee_of_name(name) == KERNEL_CALLEE_INDIRECT_THUNK ||
	       !strncmp(name, "__SCT__", 7);
}

static int takes(uint64_t addr, void *arg)
{
	struct record_symbols *s = arg;
	const struct kernel_btf *btf;
	const struct kernel_sym *sym;
	uint64_t offset;
	int32_t id;
	int fd, n;

	sym = kernel_kallsyms_covering(s->ks, addr, &offset);
	if (!sym || is_pointer(sym->name))
		return -EINVAL;
	if (kernel_callee_of_name(sym->name) == KERNEL_CALLEE_RETURN_THUNK)
		return 0;
	btf = record_symbols_btf(s, sym, &fd);
	id = btf && offset <= ARCH_MAX_FTRACE_OFFSET ? kernel_btf_function(btf, sym->name) :
						       -ENOENT;
	if (id < 0)
		return -ENOENT;
	n = kernel_btf_function_registers(btf, id);
	return n < 0 ? -EINVAL : n < ARCH_MAX_ARGS ? n : ARCH_MAX_ARGS;
}

enum kernel_answer record_arguments_beyond(struct record_symbols *symbols,
					   const struct kernel_sym *sym, unsigned int n)
{
	const struct kernel_arguments_input input = { read_code, takes, symbols };

	if (!record_symbols_live(symbols))
		return KERNEL_UNKNOWN;
	symbols->decoder = symbols->decoder ?: decoder_create();
	return symbols->decoder ? kernel_arguments_beyond(symbols->decoder, &input, sym->addr, n) :
				  KERNEL_UNKNOWN;
}
