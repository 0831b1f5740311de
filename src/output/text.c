// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/text.h"

#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/number.h"

static char *escape(const char *s, char also)
{
	static const char hex[] = "0123456789abcdef";
	char *text = alloc_array(strlen(s) + 1, 4), *out = text;

	for (; *s; s++) {
		unsigned char c = *s;

		if (c >= 0x20 && c < 0x7f && c != (unsigned char)also) {
			*out++ = c;
			continue;
		}
		*out++ = '\\';
		*out++ = 'x';
		*out++ = hex[c >> 4];
		*out++ = hex[c & 15];
	}
	return text;
}

char *output_text_escape(const char *s)
{
	return escape(s, '\0');
}

char *output_name_escape(const char *s)
{
	return escape(s, '\\');
}

void output_text_wrap(FILE *out, const char *text, unsigned int width, unsigned int column,
		      unsigned int indent)
{
	bool first = true;

	for (;; first = false) {
		size_t n = strcspn(text, " ");

		if (!first && width && column + 1 + n > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			fputc(' ', out);
			column++;
		}
		fwrite(text, 1, n, out);
		column += n;
		if (!text[n])
			break;
		text += n + 1;
	}
	fputc('\n', out);
}

unsigned int output_width(FILE *out, int *is_terminal)
{
	const char *columns = getenv("COLUMNS");
	int tty = isatty(fileno(out));
	struct winsize size;
	uint64_t width;

	if (is_terminal)
		*is_terminal = tty;
	if (columns && number_unsigned(columns, 1, UINT16_MAX, &width))
		return (unsigned int)width;
	if (tty && !ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return OUTPUT_WIDTH_DEFAULT;
}
