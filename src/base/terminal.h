/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What files, the kernel and other programs say, on its way to a terminal. */
#pragma once

/*
 * TEXT as one line that moves no cursor, sets no title and hides nothing: control characters, those of Latin-1 too,
 * and what is not UTF-8 become "\x1b". For free(). All that log.h prints goes through it, and the text of pages.
 */
char *terminal_text(const char *text);
