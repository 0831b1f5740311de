// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/folded.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "output/number.h"

struct text {
	char *chars;
	size_t n_chars, cap_chars;
};

/* Append NAME. Replace ";", blanks and bytes that are not printable ASCII by "_". */
static void append_name(struct text *t, const char *name)
{
	size_t i, n = strnlen(name, ANALYZE_FRAME_NAME_MAX);

	for (i = 0; i < n; i++) {
		unsigned char c = name[i];

		vec_push(t, chars, c <= ' ' || c >= 0x7f || c == ';' ? '_' : (char)c);
	}
}

char *output_folded_frames(const struct analyze_frame *frames, size_t n)
{
	static const char *const suffixes[] = {
		[ANALYZE_FRAME_OTHER] = "",
		[ANALYZE_FRAME_KERNEL] = "_[k]",
		[ANALYZE_FRAME_INLINED] = "_[i]",
	};
	struct text t = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (i)
			vec_push(&t, chars, ';');
		append_name(&t, frames[i].name);
		append_name(&t, suffixes[frames[i].kind]);
	}
	vec_push(&t, chars, '\0');
	return t.chars;
}

struct line {
	char *text;
	double count[2];
};

define_compare(line_compare, struct line, strcmp(a->text, b->text));

/* Add up the counts of stacks whose names differ only in replaced characters. */
static void line_merge(void *to, void *from)
{
	struct line *a = to, *b = from;

	a->count[0] += b->count[0];
	a->count[1] += b->count[1];
	free(b->text);
}

static void write_count(FILE *out, double count)
{
	fprintf(out, output_number_is_whole(count) ? " %.0f" : " %.3f", count);
}

void output_folded_write(FILE *out, const struct analyze_stacks *stacks, unsigned int n_counts)
{
	scoped_free struct line *lines = alloc_array(stacks->n_rows, sizeof(*lines));
	size_t n = stacks->n_rows;

	for (size_t i = 0; i < n; i++) {
		const struct analyze_stack *s = &stacks->rows[i];

		lines[i] = (struct line){ output_folded_frames(s->frames, s->n_frames),
					  { s->count[0], s->count[1] } };
	}
	n = unite_array(lines, n, sizeof(*lines), line_compare, line_merge);
	for (size_t i = 0; i < n; i++) {
		fputs(lines[i].text, out);
		for (unsigned int c = 0; c < n_counts; c++)
			write_count(out, lines[i].count[c]);
		fputc('\n', out);
		free(lines[i].text);
	}
}
