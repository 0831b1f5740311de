/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Constants of x86-64 for arch/arch.h. */
#pragma once

#include <elf.h>

#define ARCH_MACHINE     "x86_64" /* machine name in uname() */
#define ARCH_ELF_MACHINE EM_X86_64

#define ARCH_MAX_INSN 15 /* maximum length of an instruction in bytes */
#define ARCH_TRAP_LEN 1 /* bytes of a kprobe's trap */
#define ARCH_JUMP_LEN 5 /* bytes of an optimized kprobe's jump */
#define ARCH_RET_LEN  1 /* bytes of the return that replaces a jump to the return thunk */

/* Numbers of registers, as in access.c. */
#define ARCH_REGS     16
#define ARCH_MAX_ARGS 6
#define ARCH_RESULT   6 /* rax */
#define ARCH_SAVED    9 /* from this number on: rbx, rbp, r12 to r15, rsp */
#define ARCH_STACK    15 /* rsp */

/* Members of struct pt_regs that hold a syscall's arguments, in order. */
#define ARCH_SYSCALL_REGS                           \
	{                                           \
		"di", "si", "dx", "r10", "r8", "r9" \
	}
#define ARCH_FTRACE_LEN 5 /* bytes of the call or nop at an ftrace location */

/* Maximum offset in bytes of an ftrace location in its function: the location may come after endbr64. */
#define ARCH_MAX_FTRACE_OFFSET 16
#define ARCH_MAX_ENTRY_MARK    4 /* maximum of arch_entry_mark_len(), in bytes */

/* Instructions of a BPF trampoline per argument: one saves the argument, the other restores it for the call. */
#define ARCH_TRAMPOLINE_ARG_INSNS 2

/* DWARF's register numbers of the frame pointer and the stack pointer. */
#define ARCH_DWARF_FP 6
#define ARCH_DWARF_SP 7
