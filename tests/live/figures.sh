# shellcheck shell=bash disable=SC2034,SC2154 # names from lib.sh and tap.sh
# Many figures of a few recordings, each looked up in a text that is made once: jq takes 30 ms.

# rows NAME: NAME.rows, lines of time, name, context ("-": a syscall itself), calls, total, mean.
rows() {
	local time
	[ ! "$1.rows" -nt "$1.data" ] || return 0
	for time in oncpu self wall; do
		"$kprotperf" report "$1.data" --format=json --time=$time |
			jq -r "(.syscalls[] | .syscall = \"-\"), .functions[] |
				[\"$time\", .name, .syscall, .calls, .total, .mean] | @tsv"
	done >"$1.rows"
}

# figure COLUMN TIME NAME ROW CONTEXT
figure() {
	rows "$3"
	awk -F '\t' -v column="$1" -v time="$2" -v name="$4" -v context="$5" \
		'$1 == time && $2 == name && $3 == context { print $column; exit }' "$3.rows"
}

# mean TIME NAME FUNCTION [CONTEXT], syscall_mean TIME NAME SYSCALL
mean() {
	figure 6 "$1" "$2" "$3" "${4-*}"
}

syscall_mean() {
	figure 6 "$1" "$2" "$3" -
}

# count NAME FUNCTION [CONTEXT]
count() {
	figure 4 oncpu "$1" "$2" "${3-*}"
}

# Figures known to be off, for reasons known: pairs of a pattern of what close_to says, and why. They
# are reported as TODO, which prove counts and does not fail for.
todo=()

todo_remark() {
	local i
	for ((i = 0; i < ${#todo[@]}; i += 2)); do
		if [[ $1 =~ ${todo[i]} ]]; then
			printf ' # TODO %s' "${todo[i + 1]}"
			return
		fi
	done
}

# close_to WHAT GOT KNOWN PERCENT SLACK: to PERCENT of what is known, or to SLACK, whichever is larger.
close_to() {
	local remark
	tests=$((tests + 1))
	remark=$(todo_remark "$1")
	if awk -v got="$2" -v known="$3" -v percent="$4" -v slack="$5" 'BEGIN {
			off = got > known ? got - known : known - got
			room = known * percent / 100
			exit !(got != "" && known != "" && off <= (room > slack ? room : slack)) }'; then
		printf 'ok %d - %s (%s, known %s)%s\n' "$tests" "$1" "$2" "$3" "$remark"
	else
		printf 'not ok %d - %s%s\n#   got %s, known %s, allowed %s %% or %s\n' "$tests" "$1" "$remark" \
			"${2:-nothing}" "${3:-nothing}" "$4" "$5"
	fi
}
