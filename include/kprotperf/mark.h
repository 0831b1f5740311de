/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marks for the emulator's plugin (emulator/exact.c): "nopl DISPLACEMENT(%rax)". No other program uses these displacements. */
#pragma once

#define MARK_BYTES 7
#define MARK_BEGIN 0x0f, 0x1f, 0x80, 'K', 'P', 'B', 'x'
#define MARK_END   0x0f, 0x1f, 0x80, 'K', 'P', 'E', 'x'
