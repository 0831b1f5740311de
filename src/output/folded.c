// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/folded.h"

#include "output/number.h"

void output_folded_write(FILE *out, const struct output_folded_line *lines, size_t n_lines,
			 unsigned int n_counts)
{
	unsigned int c;
	size_t i;

	for (i = 0; i < n_lines; i++) {
		fputs(lines[i].stack, out);
		for (c = 0; c < n_counts; c++) {
			/* flamegraph.pl reads decimals, but no exponents. */
			if (output_number_is_whole(lines[i].count[c]))
				fprintf(out, " %.0f", lines[i].count[c]);
			else
				fprintf(out, " %.3f", lines[i].count[c]);
		}
		fputc('\n', out);
	}
}
