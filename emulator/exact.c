// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * -plugin exact.so,symbols=FILE,out=FILE[,trace=FUNC:N][,model=FILE]
 *
 * Counting begins when the guest executes the instruction MARK_BEGIN (include/kprotperf/mark.h) in user space: by then, the
 * recorder has written the file of symbols. At MARK_END, counting ends, and the plugin writes the result.
 */
#include <stdlib.h>
#include <string.h>

#include "exact.h"
#include "kprotperf/mark.h"
#include "model.h"
#include "qemu_plugin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

#define INSNS_MAX 512 /* maximum number of instructions in one translation of QEMU */

static const char *symbols, *out;
static qemu_plugin_id_t plugin;
static bool following;

static void translated_aside(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

static void start(qemu_plugin_id_t id)
{
	follow_begin();
	following = true;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
}

static void on_begin(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (!symbols_read(symbols)) {
		fprintf(stderr, "exact: %s has no symbols\n", symbols);
		exit(1);
	}
	if (model.name) {
		char path[4096];

		snprintf(path, sizeof(path), "%s.objects", symbols);
		if (!objects_read(path))
			fputs("exact: cannot tell which objects miss: not supported by this QEMU "
			      "or this kernel\n",
			      stderr);
	}
	qemu_plugin_reset(plugin, start);
}

static void on_end(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (!write_result(out, follow_end())) {
		fprintf(stderr, "exact: cannot write %s\n", out);
		exit(1);
	}
	following = false;
}

static void on_block(unsigned int cpu, void *data)
{
	(void)cpu;
	if (following)
		follow_block(data);
}

static void on_fetch(unsigned int cpu, void *data)
{
	struct fetch *fetch = data;

	(void)cpu;
	if (!following)
		return;
	model_leave(fetch);
	follow_block(model_block(fetch));
	model_enter(fetch);
}

static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	(void)cpu;
	if (following)
		model_access(info, vaddr, (uint16_t)(uintptr_t)data);
}

static void on_flush(unsigned int cpu, void *data)
{
	(void)cpu;
	model_flush(data);
}

static void on_remapping(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	model_remapped();
}

/* Call DATA, a function of follow.c, with the address that the instruction writes to. */
static void on_slot(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t slot, void *data)
{
	void (*follow)(uint64_t slot) = data;

	(void)cpu;
	(void)info;
	if (following)
		follow(slot);
}

static void on_execution(struct qemu_plugin_insn *insn, void (*cb)(unsigned int, void *))
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

static void on_write(struct qemu_plugin_insn *insn, void (*follow)(uint64_t slot))
{
	qemu_plugin_register_vcpu_mem_cb(insn, on_slot, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W,
					 follow);
}

static bool is_user(const struct qemu_plugin_insn *insn)
{
	return !(qemu_plugin_insn_vaddr(insn) >> 63);
}

/* Call CB when the guest executes the instruction MARK in TB, a block of user code. */
static void watch_mark(struct qemu_plugin_tb *tb, const unsigned char *mark,
		       void (*cb)(unsigned int, void *))
{
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_size(insn) == MARK_BYTES &&
		    !memcmp(qemu_plugin_insn_data(insn), mark, MARK_BYTES))
			on_execution(insn, cb);
	}
}

static void translated_aside(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	static const unsigned char begin[] = { MARK_BEGIN };

	(void)id;
	if (is_user(qemu_plugin_tb_get_insn(tb, 0)))
		watch_mark(tb, begin, on_begin);
}

/* Return how CODE, a block's last instruction of SIZE bytes, ends the block. *BY is the distance to a direct target, or 0. */
static enum ending ending_of(const unsigned char *code, size_t size, int32_t *by)
{
	size_t i = 0;

	*by = 0;
	while (i + 1 < size && (code[i] == 0x2e || code[i] == 0x3e || code[i] == 0x66 ||
				code[i] == 0xf2 || code[i] == 0xf3 || code[i] >> 4 == 4))
		i++;
	if (size - i >= 5 && (code[i] == 0xe8 || code[i] == 0xe9))
		memcpy(by, code + i + 1, 4);
	else if (size - i >= 6 && code[i] == 0x0f && code[i + 1] >> 4 == 8)
		memcpy(by, code + i + 2, 4);
	else if (size - i >= 2 && (code[i] == 0xeb || code[i] >> 4 == 7))
		*by = (int8_t)code[i + 1];
	switch (code[i]) {
	case 0xe8:
		return ENDS_CALL;
	case 0xe9:
	case 0xeb:
		return ENDS_JUMP;
	case 0xc2:
	case 0xc3:
		return ENDS_RETURN;
	case 0xcf:
		return ENDS_ENTRY;
	case 0xff:
		return (code[i + 1] >> 3 & 7) == 2 ? ENDS_CALL :
		       (code[i + 1] >> 3 & 7) == 4 ? ENDS_JUMP :
						     ENDS_OTHERWISE;
	case 0x0f: /* sysret, sysexit */
		if (code[i + 1] == 0x07 || code[i + 1] == 0x35)
			return ENDS_ENTRY;
		break;
	}
	return ENDS_OTHERWISE;
}

static void watch_end(struct qemu_plugin_insn *insn, struct block *block)
{
	int32_t by;

	block->ending = ending_of(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn), &by);
	block->direct = by != 0;
	block->target = block->end + (uint64_t)(int64_t)by;
	block->within = block->direct && block->target != block->function->start &&
			symbols_at(block->target) == block->function;
}

static bool is_push(const unsigned char *code)
{
	return code[code[0] == 0x41] >> 3 == 0x50 >> 3;
}

/*
 * Watch only writes, and only of simple instructions. QEMU 7.2 does not report reads of pushes and pops. At an instruction that
 * calls a function of QEMU (a helper), it also reports accesses of later helpers.
 */
static void watch_stack(struct qemu_plugin_insn *insn, enum role role)
{
	const unsigned char *code = qemu_plugin_insn_data(insn);

	if (role == ROLE_SWITCH && is_push(code))
		on_write(insn, follow_enter_stack);
	else if ((role == ROLE_SWITCH_FROM && is_push(code)) ||
		 (role == ROLE_ENTRY_SYSCALL && *code == 0xe8))
		on_write(insn, follow_leave_stack);
	else if (role == ROLE_FORK)
		on_write(insn, follow_new_stack);
}

static struct block *block_of(struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	uint8_t sizes[INSNS_MAX];

	for (size_t i = 0; i < n; i++)
		sizes[i] = (uint8_t)qemu_plugin_insn_size(qemu_plugin_tb_get_insn(tb, i));
	return tree_block(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)), (uint16_t)n,
			  sizes);
}

static void watch_mappings(struct qemu_plugin_insn *insn, struct block *block)
{
	const unsigned char *code = qemu_plugin_insn_data(insn);

	code += code[0] == 0x66; /* invpcid */
	if (code[0] == 0x0f && code[1] == 0x22 && (code[2] >> 3 & 7) == 3)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_flush, QEMU_PLUGIN_CB_NO_REGS,
						       block);
	else if ((code[0] == 0x0f && code[1] == 0x22) ||
		 (code[0] == 0x0f && code[1] == 0x01 && (code[2] >> 3 & 7) == 7) ||
		 (code[0] == 0x0f && code[1] == 0x38 && code[2] == 0x82))
		on_execution(insn, on_remapping);
}

static void watch_model(struct qemu_plugin_tb *tb, struct block *block)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n - 1);
	int32_t by;
	enum ending ending =
		ending_of(qemu_plugin_insn_data(last), qemu_plugin_insn_size(last), &by);

	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_fetch, QEMU_PLUGIN_CB_NO_REGS,
					     model_fetch_of(tb, block, ending, by));
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)i);
		if (block->function != &user_code)
			watch_mappings(insn, block);
	}
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	static const unsigned char end[] = { MARK_END };
	struct block *block = block_of(tb);
	size_t n = qemu_plugin_tb_n_insns(tb);
	bool user = is_user(qemu_plugin_tb_get_insn(tb, 0));

	(void)id;
	if (user)
		watch_mark(tb, end, on_end);
	if (model.name)
		watch_model(tb, block);
	else
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, block);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		/* Callbacks run before inline operations, so a callback's EXECUTED does not include its instruction. */
		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							   &executed, 1);
		if (!user)
			watch_stack(insn, block->function->role);
	}
	if (!user)
		watch_end(qemu_plugin_tb_get_insn(tb, n - 1), block);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
					   int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "symbols=", 8)) {
			symbols = strdup(argv[i] + 8);
		} else if (!strncmp(argv[i], "out=", 4)) {
			out = strdup(argv[i] + 4);
		} else if (!strncmp(argv[i], "model=", 6)) {
			/* If this function returned an error, QEMU's message about it would be the last one. */
			if (!model_read(argv[i] + 6))
				exit(1);
		} else if (strncmp(argv[i], "trace=", 6) != 0 || !trace_ask(argv[i] + 6)) {
			fprintf(stderr, "exact: invalid argument '%s'\n", argv[i]);
			return -1;
		}
	}
	if (!symbols || !out)
		return -1;
	plugin = id;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated_aside);
	return 0;
}
