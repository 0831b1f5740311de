#!/bin/bash
# The counts of all blocks of a function follow from those that the plan chooses:
# all are counted, and compared with what is deduced of the few.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

functions='allocate_slab copy_page_range vm_area_dup copy_process'
tracing=/sys/kernel/tracing

# hits: each event's, by the shell itself, so that nothing forks meanwhile.
hits() {
	local line fields
	mapfile -t lines <$tracing/kprobe_profile
	for line in "${lines[@]}"; do
		# shellcheck disable=SC2206 # into words
		fields=($line)
		name=${fields[0]} hit=${fields[1]} missed=${fields[2]}
		if [ "$1" = before ]; then
			before[${name#b}]=$hit
		else
			echo "${name#b} $((hit - before[${name#b}]))"
			misses=$((misses + missed))
		fi
	done
}

count() {
	local block addr before=() misses=0 lines
	coproc "$build/tests/block_counts" "$KPROTPERF_VMLINUX" "$1"
	while read -r block addr <&"${COPROC[0]}" && [ -n "$block" ]; do
		echo "p:blocks/b$block 0x$addr"
	done >"$1.probes"
	cat "$1.probes" >$tracing/kprobe_events
	echo 1 >$tracing/events/blocks/enable
	sleep 1
	hits before
	"$workloads/big-fork" --iterations 3 >"$1.workload"
	hits after >"$1.counts"
	echo "$misses" >"$1.misses"
	cat "$1.counts" >&"${COPROC[1]}"
	# shellcheck disable=SC1083 # closes the pipe
	exec {COPROC[1]}>&-
	cat <&"${COPROC[0]}" >"$1.deduced"
	wait
	echo 0 >$tracing/events/blocks/enable
	echo >$tracing/kprobe_events
}

guest_main() {
	local function
	for function in $functions; do
		count "$function"
	done
}

figure() {
	grep -o "$2=[0-9]*" "$1.deduced" | cut -d= -f2
}

side "$@"
need hardened
boot hardened guest_main
clean_dmesg
for function in $functions; do
	echo "# $function: $(tail -n 1 "$function.deduced")"
	is "$function: no hit was missed" "$(cat "$function.misses")" 0
	is "$function: each block could be counted, or follows" "$(figure "$function" unknown)" 0
	holds "$function: fewer are chosen than there are" \
		"$(figure "$function" chosen) < 0.7 * $(figure "$function" blocks)"
	holds "$function: it was called" "$(figure "$function" calls) >= 3"
	is "$function: all counts agree with one another" "$(figure "$function" contradiction)" 0
	is "$function: and with what follows from those chosen" "$(grep '^#' "$function.deduced")" ''
done
done_testing
