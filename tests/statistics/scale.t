#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# With four times as much data, commands that read files take four times as long, not sixteen times. The test compares CPU
# times of one run, so a slow or busy host makes no difference. The limits allow for sorting and for the start of a process.

# shellcheck source=SCRIPTDIR/../tap.sh
. "$(dirname "$0")/../tap.sh"
fixture=$build/tests/make_fixture
many=$build/tests/many

# cost ARG...: print the CPU time of kprotperf ARG... in hundredths of a second, or a huge number if it does not end.
cost() {
	echo 10000 >spent
	timeout 600 "$many" spent spent "$kprotperf" "$@" >out 2>&1
	awk '{ printf "%d", $1 * 100 }' spent
}

# grows COMMAND ARG...: run kprotperf COMMAND ARG... with the word "few" and with the word "more" in place of SIZE. Append to
# $slow if the time grows too fast. If "more" takes next to no time, do not run it with "few".
grows() {
	local few more
	more=$(cost "${@//SIZE/more}")
	((more > 20)) || return 0
	few=$(cost "${@//SIZE/few}")
	((more <= 8 * few + 20)) || slow+=" $1: $few, $more"
}

# sizes KIND N [OTHER]: run report, diff, merge and others on files with N and with 4 N items of KIND. OTHER is a kind that has
# other names: also run diff on a file of KIND and a file of OTHER.
sizes() {
	"$fixture" many few "$1" "$2" && "$fixture" many more "$1" $((4 * $2)) && slow= || slow='no file'
	grows report SIZE
	grows diff SIZE SIZE
	grows diff --control=SIZE SIZE SIZE
	grows export --to=speedscope SIZE
	[ "$1" != exact ] || grows why SIZE SIZE
	case $1 in captures | flags) grows report --why-varies=captured SIZE ;; esac
	cp few other-few
	cp more other-more
	grows merge -o /dev/null SIZE other-SIZE
	if [ $# -gt 2 ]; then
		"$fixture" many few-elsewhere "$3" "$2" && "$fixture" many more-elsewhere "$3" $((4 * $2))
		grows diff SIZE SIZE-elsewhere
	fi
	is "$1: four times as many take no more than eight times as long" "$slow" ''
}

# The numbers are so large that a loop over all items for each item takes seconds.
sizes runs 10000
sizes boots 10000
sizes reports 10000
sizes functions 10000
sizes cells 10000
sizes ranges 5000 bodies
# Each function has another name in the other file.
sizes page_ 10000 folio_
sizes samples 10000
sizes captures 10000
sizes flags 2000
sizes args 50000
sizes parameters 10000
sizes blocks 1000
sizes contexts 200
sizes exact 10000
sizes pieces 4000
sizes modules 1000

"$fixture" words one 'calls f read 1 100'
mapfile -t files < <(seq -f copy-%g 4000)
tee "${files[@]}" <one >/dev/null
few=$(cost merge --force -o /dev/null "${files[@]:0:1000}")
more=$(cost merge --force -o /dev/null "${files[@]}")
is "merge: four times as many files take no more than eight times as long: $few, $more" "$((more <= 8 * few + 20))" 1

# megabytes ARG...: print the peak memory of kprotperf ARG... in MB
megabytes() {
	# ASan (SAN=1) keeps freed memory for a while. Limit this to 1 MB.
	ASAN_OPTIONS=quarantine_size_mb=1 timeout 600 "$many" spent spent "$kprotperf" "$@" >out 2>&1
	awk '{ print $2 }' spent
}

# With 100,100 rows, report takes 53 MB for text and 53 MB for JSON, because it writes JSON row by row. A tree of all rows would
# take 315 MB.
"$fixture" large cells.data 200 500 1 0
is 'JSON takes no memory that grows with its rows' \
	"$(($(megabytes report --format=json cells.data) < 2 * $(megabytes report cells.data)))" 1

# Messages go to a terminal. The output goes to a pipe that is read late, so that report runs for more than a second.
late="'$kprotperf' report --format=json cells.data | { sleep 2; cat >/dev/null; }"
script -qec "$late" terminal </dev/null >/dev/null
grep -q 'writing: row [0-9]* of [0-9]*' terminal
report_test $? 'on a terminal it says how far it is'
is 'and nowhere else' "$(sh -c "$late" 2>&1)" ''

"$fixture" many args args 250000 && "$kprotperf" report args >out 2>err
report_test $? 'more arguments than any real command is read'

done_testing
