/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine code of a kernel's image: its bytes, as the running kernel has them or as the file
 * has them, and what the image says about single instructions: where code is patched at run time
 * (jump labels, static calls, ftrace locations), where a fault continues, which ud2 is a WARN.
 *
 * Addresses are relative to _stext. The file is not trusted: damage costs answers, nothing else.
 */
#ifndef KPROTPERF_KERNEL_CODE_CODE_H
#define KPROTPERF_KERNEL_CODE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch_tables;
struct kernel_image;
struct kernel_kcore;

struct kernel_code;

/*
 * The code of IMG. KCORE (may be NULL) is the running kernel, of the same build as IMG, with its
 * _stext at STEXT: read it before probes of one's own are there. Both must outlive the result.
 * -ENOTSUP for another architecture's, not reported.
 */
int kernel_code_create(struct kernel_image *img, const struct kernel_kcore *kcore, uint64_t stext,
		       struct kernel_code **out);
void kernel_code_destroy(struct kernel_code *code); /* accepts NULL */

struct kernel_image *kernel_code_image(const struct kernel_code *code);
/* The absolute address of _stext, in the file and in the running kernel (0 without one). */
uint64_t kernel_code_file_base(const struct kernel_code *code);
uint64_t kernel_code_live_base(const struct kernel_code *code);
const struct arch_tables *kernel_code_tables(const struct kernel_code *code);

/*
 * LEN bytes at ADDR as the file has them; false where it has none. What alternatives, paravirt calls,
 * static calls, return thunks and jump labels make of them is not in there.
 */
bool kernel_code_read_file(const struct kernel_code *code, uint64_t addr, void *buf, size_t len);

/* The same of the running kernel; 0, -ENODATA without one, or -errno. */
int kernel_code_read_live(const struct kernel_code *code, uint64_t addr, void *buf, size_t len);

#endif
