// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/terminal.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* The length of the character at S if it is UTF-8 beyond ASCII, and is seen; else 0. */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = *s >= 0xf0 && *s < 0xf5 ? 4 : *s >= 0xe0 ? 3 : 2;

	if (*s < 0xc2 || *s >= 0xf5)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* C1 controls; and what turns the direction of writing, or is not seen. */
	if ((s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xe2 && s[1] == 0x80 && s[2] >= 0x8b) ||
	    (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa0))
		return 0;
	return n;
}

char *terminal_text(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	char *safe = alloc_array(strlen(text) + 1, 4), *out = safe;

	while (*s) {
		size_t n = *s >= 0x20 && *s < 0x7f ? 1 : utf8_length(s);

		if (n) {
			memcpy(out, s, n);
			out += n;
			s += n;
		} else {
			out += sprintf(out, "\\x%02x", *s++);
		}
	}
	return safe;
}
