// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/disasm.h"

#include <capstone/capstone.h>
#include <stdlib.h>

#include "base/alloc.h"

struct symbol_disasm {
	csh handle;
	cs_insn *insn;
};

struct symbol_disasm *symbol_disasm_create(enum symbol_syntax syntax)
{
	struct symbol_disasm *d = alloc_new(struct symbol_disasm);

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle) != CS_ERR_OK) {
		free(d);
		return NULL;
	}
	cs_option(d->handle, CS_OPT_SYNTAX,
		  syntax == SYMBOL_SYNTAX_ATT ? CS_OPT_SYNTAX_ATT : CS_OPT_SYNTAX_INTEL);
	d->insn = cs_malloc(d->handle);
	if (!d->insn) {
		symbol_disasm_destroy(d);
		return NULL;
	}
	return d;
}

void symbol_disasm_destroy(struct symbol_disasm *d)
{
	if (!d)
		return;
	if (d->insn)
		cs_free(d->insn, 1);
	cs_close(&d->handle);
	free(d);
}

char *symbol_disasm_text(struct symbol_disasm *d, const uint8_t *code, size_t len, uint64_t addr,
			 const char *operands)
{
	if (!cs_disasm_iter(d->handle, &code, &len, &addr, d->insn))
		return alloc_strdup("(bad)");
	if (!operands)
		operands = d->insn->op_str;
	return alloc_printf("%s%s%s", d->insn->mnemonic, *operands ? " " : "", operands);
}
