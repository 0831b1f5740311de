/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running kernel's memory, through /proc/kcore. It has the kernel's current code, with alternatives, static calls,
 * return thunks and jump labels patched in.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define KERNEL_KCORE_PATH "/proc/kcore"

struct kernel_kcore;

/*
 * Open PATH and read its program headers. Return -errno without a message, because kprotperf can do without the file:
 * -EPERM under lockdown, -ENOENT if the kernel lacks it, -ENOEXEC if it is not a 64-bit ELF core.
 */
int kernel_kcore_open(const char *path, struct kernel_kcore **out);
void kernel_kcore_destroy(struct kernel_kcore *kc); /* accepts NULL */

/* Read LEN bytes at the absolute address ADDR. Return 0, -EFAULT if there is no such memory, or -errno. */
int kernel_kcore_read(const struct kernel_kcore *kc, uint64_t addr, void *buf, size_t len);

/* Return the address of the variable NAME from vmcoreinfo, or 0 if vmcoreinfo does not have it. */
uint64_t kernel_kcore_symbol(const struct kernel_kcore *kc, const char *name);
