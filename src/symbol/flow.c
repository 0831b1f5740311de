// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A function's control flow: what is called, look-ups, life. flow_code.c makes the instructions,
 * flow_graph.c what connects them.
 */
#include "symbol/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/flow_impl.h"
#include "symbol/name.h"

static const char *const noreturn[] = {
	"__fortify_panic",
	"__invalid_creds",
	"__kunit_abort",
	"__module_put_and_kthread_exit",
	"__reiserfs_panic",
	"__stack_chk_fail",
	"__tdx_hypercall_failed",
	"__ubsan_handle_builtin_unreachable",
	"acpi_processor_ffh_play_dead",
	"arch_cpu_idle_dead",
	"arch_call_rest_init",
	"btrfs_assertfail",
	"cpu_bringup_and_idle",
	"cpu_startup_entry",
	"do_exit",
	"do_group_exit",
	"do_task_dead",
	"ex_handler_msr_mce",
	"fortify_panic",
	"hlt_play_dead",
	"hv_ghcb_terminate",
	"kthread_complete_and_exit",
	"kthread_exit",
	"kunit_try_catch_throw",
	"lbug_with_loc",
	"machine_real_restart",
	"make_task_dead",
	"mpt_halt_firmware",
	"nmi_panic_self_stop",
	"panic",
	"panic_smp_self_stop",
	"rest_init",
	"rewind_stack_and_make_dead",
	"sev_es_terminate",
	"snp_abort",
	"start_kernel",
	"stop_this_cpu",
	"usercopy_abort",
	"x86_64_start_kernel",
	"x86_64_start_reservations",
	"xen_cpu_bringup_again",
	"xen_start_kernel",
};

enum symbol_callee symbol_callee_of_name(const char *name)
{
	static const char thunk[] = "_return_thunk";
	size_t len = strlen(name);

	if (!strncmp(name, "__x86_indirect_", 15))
		return SYMBOL_CALLEE_INDIRECT_THUNK;
	if (len >= sizeof(thunk) - 1 && !strcmp(name + len - (sizeof(thunk) - 1), thunk))
		return SYMBOL_CALLEE_RETURN_THUNK;
	for (size_t i = 0; i < sizeof(noreturn) / sizeof(*noreturn); i++)
		if (!strcmp(name, noreturn[i]))
			return SYMBOL_CALLEE_NORETURN;
	return SYMBOL_CALLEE_ORDINARY;
}

bool flow_inside(const struct symbol_flow *flow, uint64_t addr)
{
	for (uint32_t i = 0; i < flow->n_parts; i++)
		if (addr >= flow->parts[i].start && addr < flow->parts[i].end)
			return true;
	return false;
}

/* The index of the last instruction that begins at or before ADDR, or FLOW_NONE. */
static uint32_t find_covering(const struct symbol_flow *flow, uint64_t addr)
{
	uint32_t lo = 0, hi = flow->n_insns;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (flow->insns[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr - flow->insns[lo - 1].addr >= flow->insns[lo - 1].len)
		return FLOW_NONE;
	return lo - 1;
}

uint32_t flow_find(const struct symbol_flow *flow, uint64_t addr)
{
	uint32_t i = find_covering(flow, addr);

	return i != FLOW_NONE && flow->insns[i].addr == addr ? i : FLOW_NONE;
}

uint32_t flow_next(const struct symbol_flow *flow, uint32_t insn)
{
	const struct symbol_insn *i = &flow->insns[insn];

	if (insn + 1 >= flow->n_insns || flow->insns[insn + 1].addr != i->addr + i->len)
		return FLOW_NONE;
	return insn + 1;
}

bool flow_insn_falls(const struct symbol_insn *insn)
{
	switch (insn->kind) {
	case SYMBOL_INSN_PLAIN:
	case SYMBOL_INSN_NOP:
	case SYMBOL_INSN_COND:
	case SYMBOL_INSN_CALL:
	case SYMBOL_INSN_WARN:
	case SYMBOL_INSN_LABEL:
		return true;
	default:
		return false;
	}
}

size_t flow_bytes(const struct symbol_flow_input *input, const struct symbol_insn *insn,
		  const uint8_t **bytes)
{
	for (size_t i = 0; i < input->n_parts; i++) {
		const struct symbol_flow_part *p = &input->parts[i];

		if (insn->addr >= p->start && insn->addr < p->end) {
			bool file = insn->flags & SYMBOL_INSN_FROM_FILE;

			*bytes = (file ? p->file : p->bytes) + (insn->addr - p->start);
			return (size_t)(p->end - insn->addr);
		}
	}
	return 0;
}

struct symbol_flow *symbol_flow_create(const struct symbol_flow_input *input)
{
	struct flow_builder b = { .in = input, .decoder = decoder_create() };

	if (!b.decoder)
		return NULL;
	b.flow = alloc_new(struct symbol_flow);
	b.flow->entry = input->entry;
	flow_decode(&b);
	flow_connect(&b);
	flow_find_hidden(&b);
	decoder_destroy(b.decoder);
	return b.flow;
}

void symbol_flow_destroy(struct symbol_flow *flow)
{
	if (!flow)
		return;
	free(flow->parts);
	free(flow->insns);
	free(flow->blocks);
	free(flow->edges);
	free(flow);
}

uint64_t symbol_flow_entry(const struct symbol_flow *flow)
{
	return flow->entry;
}

unsigned int symbol_flow_problems(const struct symbol_flow *flow)
{
	return flow->problems;
}

const struct symbol_insn *symbol_flow_insns(const struct symbol_flow *flow, uint32_t *n)
{
	*n = flow->n_insns;
	return flow->insns;
}

const struct symbol_block *symbol_flow_blocks(const struct symbol_flow *flow, uint32_t *n)
{
	*n = flow->n_blocks;
	return flow->blocks;
}

const struct symbol_edge *symbol_flow_edges(const struct symbol_flow *flow, uint32_t *n)
{
	*n = flow->n_edges;
	return flow->edges;
}

const struct symbol_range *symbol_flow_parts(const struct symbol_flow *flow, uint32_t *n)
{
	*n = flow->n_parts;
	return flow->parts;
}

const struct symbol_insn *symbol_flow_insn_at(const struct symbol_flow *flow, uint64_t addr)
{
	uint32_t i = flow_find(flow, addr);

	return i == FLOW_NONE ? NULL : &flow->insns[i];
}

uint32_t symbol_flow_block_at(const struct symbol_flow *flow, uint64_t addr)
{
	uint32_t i = find_covering(flow, addr);

	return i == FLOW_NONE ? SYMBOL_FLOW_OUT : flow->insns[i].block;
}
