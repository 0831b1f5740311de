// SPDX-License-Identifier: GPL-2.0-or-later
#include "arch/x86/capstone.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"

#define STRING_OF(x) #x
#define STRING(x)    STRING_OF(x)

struct capstone_library capstone;

/* Load capstone on demand. Linking capstone would triple the start-up time of commands that decode nothing. */
static void load(void)
{
	void *library;

	if (capstone.open)
		return;
	library = dlopen("libcapstone.so." STRING(CS_API_MAJOR), RTLD_NOW);
	if (!library) {
		log_error("cannot decode instructions: %s", dlerror());
		exit(EXIT_FAILURE);
	}
#define LOAD(name) capstone.name = (__typeof__(capstone.name))dlsym(library, "cs_" #name);
	CAPSTONE_FUNCTIONS(LOAD)
}

bool capstone_open(struct capstone *c, bool detail)
{
	*c = (struct capstone){};
	load();
	if (capstone.open(CS_ARCH_X86, CS_MODE_64, &c->handle) != CS_ERR_OK)
		return false;
	if (detail)
		capstone.option(c->handle, CS_OPT_DETAIL, CS_OPT_ON);
	c->insn = capstone.malloc(c->handle);
	if (!c->insn)
		capstone.close(&c->handle);
	return c->insn;
}

void capstone_close(struct capstone *c)
{
	if (!c->insn)
		return;
	capstone.free(c->insn, 1);
	capstone.close(&c->handle);
	c->insn = NULL;
}

struct decoder *decoder_create(void)
{
	struct decoder *d = alloc_new(struct decoder);

	if (capstone_open(&d->lengths, false))
		return d;
	free(d);
	return NULL;
}

void decoder_destroy(struct decoder *d)
{
	if (!d)
		return;
	capstone_close(&d->lengths);
	capstone_close(&d->operands);
	free(d);
}

const cs_insn *decoder_detail(struct decoder *d, const uint8_t *code, size_t avail, uint64_t addr)
{
	if ((!d->operands.insn && !capstone_open(&d->operands, true)) ||
	    !capstone.disasm_iter(d->operands.handle, &code, &avail, &addr, d->operands.insn))
		return NULL;
	return d->operands.insn;
}
