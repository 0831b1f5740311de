#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Merge 100 files of 50 runs, and compare the results. Check how CPU time grows with the number of files, and check peak memory.

# shellcheck source=SCRIPTDIR/../tap.sh
. "$(dirname "$0")/../tap.sh"
many=$build/tests/many
"$many" . 100 50 || bail "$many does not work: make tests"

"$many" spent merge-few "$kprotperf" merge -o few.data {0..9}.data &&
	"$many" spent merge-a "$kprotperf" merge -o a.data {0..49}.data &&
	"$many" spent merge-b "$kprotperf" merge -o b.data {50..99}.data &&
	"$many" spent diff "$kprotperf" diff --format=json a.data b.data >out
report_test $? '100 files of 50 runs are merged and compared'
read -r seconds megabytes < <(awk '{ s += $1; if ($2 > m) m = $2 } END { print s, m }' merge-a merge-b diff)
growth=$(jq -n "$(cut -d' ' -f1 merge-a) / $(cut -d' ' -f1 merge-few)")
echo "# $seconds s of CPU time, at most $megabytes MB; 50 files take $growth times what 10 do"
# The file has 1,000 functions in 200 contexts: 200,200 cells.
"$build/tests/make_fixture" large cells 1000 200 1 0
"$many" spent report "$kprotperf" report cells >page && "$many" spent diff-large "$kprotperf" diff cells cells >page
report_test $? 'files of 200,200 cells are shown and compared'
report=$(cut -d' ' -f2 report) compared=$(cut -d' ' -f2 diff-large)
echo "# $report and $compared MB"
if nm "$kprotperf" 2>/dev/null | grep -q __asan_init; then
	skip 'five times as many files take at most eight times as long' 'built with sanitizers'
	skip 'it takes less than 200 MB' 'built with sanitizers'
	skip 'report takes less than 120 MB, diff less than 450' 'built with sanitizers'
else
	# The growth is 3.2 to 3.5, because the command also takes time to start. It would be 25 if each file were compared with
	# all others.
	is 'five times as many files take at most eight times as long' "$(jq -n "$growth < 8")" true
	is 'it takes less than 200 MB' "$(jq -n "$megabytes < 200")" true
	# The values are 97 and 325 MB, in each run. They would be 140 and 585 MB if each row were made twice.
	is 'report takes less than 120 MB, diff less than 450' "$((report < 120 && compared < 450))" 1
fi

is 'each file is a repetition' "$(query out '.statistics | "\(.unit) \(.baseline)"')" 'boot 50'
is 'each row has all there is to say of 50' "$(query out 'all(rows("syscalls", "functions")[];
	.p != null and .verdict)')" true
# In file I each syscall is I ticks longer. So the later half of the files has syscalls that are 50 ticks longer.
is 'intervals hold the difference that was put in' "$(query out 'all(.syscalls[]; .ci[0] < 50 and .ci[1] > 50)')" true
done_testing
