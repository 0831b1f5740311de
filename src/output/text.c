// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/text.h"

#include <stdbool.h>
#include <stdlib.h>
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

/* ---- terminal ---- */

#define ESCAPE "\033["

static const char *const begins[OUTPUT_N_STYLES] = {
	[OUTPUT_STYLE_HOT] = ESCAPE "1;31m", /* bold red */
	[OUTPUT_STYLE_WARM] = ESCAPE "33m", /* yellow */
	[OUTPUT_STYLE_SOURCE] = ESCAPE "36m", /* cyan */
	[OUTPUT_STYLE_BODY] = ESCAPE "1m", /* bold */
	[OUTPUT_STYLE_DIM] = ESCAPE "2m",
};

bool output_color_wanted(enum output_color color)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (color != OUTPUT_COLOR_AUTO)
		return color == OUTPUT_COLOR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(no && *no) && term && *term && strcmp(term, "dumb");
}

const char *output_style_begin(bool color, enum output_style style)
{
	return color ? begins[style] : "";
}

const char *output_style_end(bool color)
{
	return color ? ESCAPE "m" : "";
}
