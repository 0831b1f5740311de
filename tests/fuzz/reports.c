// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzz the reader of a command's reports, which any program can write. A data file can store all parsed reports. */
#include "fuzz.h"

#include <math.h>

#include "profile/file/file.h"
#include "record/reports.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int reports = -1;
	struct profile *p = profile_create(), *again;
	uint32_t run = profile_run_add(p, PROFILE_RUN_CONTROL), i;
	const char *path = fuzz_file(0, "", 0);

	if (reports < 0)
		reports = record_reports_open();
	if (ftruncate(reports, 0) || pwrite(reports, data, size, 0) != (ssize_t)size)
		abort();
	record_reports_read(p, run, reports);
	for (i = 0; i < p->runs[run].n_reports; i++)
		if (!isfinite(p->runs[run].reports[i].mean))
			abort();
	if (profile_file_write(p, path) || profile_file_read(path, &again) ||
	    again->runs[run].n_reports != p->runs[run].n_reports)
		abort();
	profile_destroy(again);
	profile_destroy(p);
	return 0;
}
