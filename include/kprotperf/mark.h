/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marks for the emulator's plugins (emulator/): "nopl DISPLACEMENT(%rax)". No other program uses these displacements. */
#pragma once

#define MARK_BYTES 7
#define MARK_BEGIN 0x0f, 0x1f, 0x80, 'K', 'P', 'B', 'x'
#define MARK_END   0x0f, 0x1f, 0x80, 'K', 'P', 'E', 'x'
/* Marks of build/workloads/calls: calls.h. Each is the first instruction after a jump. */
#define MARK_NEXT 0x0f, 0x1f, 0x80, 'K', 'P', 'N', 'x'
#define MARK_STEP 0x0f, 0x1f, 0x80, 'K', 'P', 'S', 'x'

/* A mark as text for an assembler's .byte. */
#define MARK_STRING(...) #__VA_ARGS__
#define MARK_TEXT(...)   MARK_STRING(__VA_ARGS__)
