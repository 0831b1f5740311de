# shellcheck shell=bash disable=SC2034,SC2154 # names from lib.sh and tap.sh
# Functions that print many figures of a few recordings. They call jq once per recording, because a call takes 30 ms.

# rows NAME: write NAME.rows: lines of time, name, context ("-": a syscall itself), calls, total, mean, min.
rows() {
	local time
	[ ! "$1.rows" -nt "$1.data" ] || return 0
	for time in oncpu self wall; do
		"$kprotperf" report "$1.data" --format=json --time=$time |
			jq -r "(.syscalls[] | .syscall = \"-\"), .functions[] |
				[\"$time\", .name, .syscall, .calls, .total, .mean, .min] | @tsv"
	done >"$1.rows"
}

# figure COLUMN TIME NAME ROW CONTEXT: print one column of a row of NAME.rows.
figure() {
	rows "$3"
	awk -F '\t' -v column="$1" -v time="$2" -v name="$4" -v context="$5" \
		'$1 == time && $2 == name && $3 == context { print $column; exit }' "$3.rows"
}

# mean TIME NAME FUNCTION [CONTEXT], syscall_mean TIME NAME SYSCALL: print the mean time of a call.
mean() {
	figure 6 "$1" "$2" "$3" "${4-*}"
}

syscall_mean() {
	figure 6 "$1" "$2" "$3" -
}

# shortest NAME FUNCTION: print the shortest time of a call on the CPU.
shortest() {
	figure 7 oncpu "$1" "$2" '*'
}

# count NAME FUNCTION [CONTEXT]: print the number of calls.
count() {
	figure 4 oncpu "$1" "$2" "${3-*}"
}

# close_to WHAT GOT KNOWN PERCENT SLACK: check that GOT differs from KNOWN by PERCENT % or SLACK at most, whichever is larger.
close_to() {
	awk -v got="$2" -v known="$3" -v percent="$4" -v slack="$5" 'BEGIN {
		off = got > known ? got - known : known - got
		room = known * percent / 100
		exit !(got != "" && known != "" && off <= (room > slack ? room : slack)) }'
	report_test $? "$1 ($2, known $3)" "got ${2:-nothing}, known ${3:-nothing}, allowed $4 % or $5"
}
