/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Return ONE for a count of 1 (or -1), else MANY: "1 call", "2 calls", "0.5 calls". */
static inline const char *plural(double n, const char *one, const char *many)
{
	return n == 1 || n == -1 ? one : many;
}
