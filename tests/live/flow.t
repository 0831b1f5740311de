#!/bin/bash
# kprotperf's analysis of code and the kernel agree on single instructions: where a kprobe can be, and which kprobes become jumps.
# Probes do not change the results.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

few='allocate_slab kmem_cache_alloc kmem_cache_free handle_mm_fault get_random_u32 vm_area_dup __alloc_pages'
# copy_page_range has half of the instructions of all these functions.
all="$few copy_page_range"

# places: ask the kernel for a probe at each address that flow_sites printed, and print the kernel's answers.
places() {
	local tracing=/sys/kernel/tracing n=0 addr place cost name took
	while read -r addr place cost name; do
		if [ "$addr" = '#' ] || [ "$place" = harm ]; then
			continue
		fi
		n=$((n + 1))
		took=no
		if echo "p:flow/k$n 0x$addr" >>$tracing/kprobe_events; then
			took=ok
		fi 2>/dev/null
		echo "$addr $place $took $cost $name"
	done <sites.out
	echo 1 >$tracing/events/flow/enable
	sleep 3
	cat /sys/kernel/debug/kprobes/list
}

ask() {
	local functions=$*
	# shellcheck disable=SC2086 # a list
	keep "sites" "$build/tests/flow_sites" "$KPROTPERF_VMLINUX" 4 $functions
	places >places.out
	# shellcheck disable=SC2086
	keep "again" "$build/tests/flow_sites" "$KPROTPERF_VMLINUX" 4 $functions
	keep fork "$workloads/big-fork" --iterations 2
}

guest_all() {
	# shellcheck disable=SC2086 # a list
	ask $all
}

guest_few() {
	# shellcheck disable=SC2086 # a list
	ask $few
}

# checks WHAT FUNCTIONS ADDRESSES HIDDEN: check that FUNCTIONS functions are understood, that the kernel was asked for more than
# ADDRESSES and has probes at half of them, and that probes hide code of at most HIDDEN functions.
checks() {
	is "$1: each function is understood" "$(grep -c '^# .*: problems 0,' sites.out)" "$2"
	grep -v '  [kr]  ' places.out >asked.out
	grep '  [kr]  ' places.out >list.out
	holds "$1: addresses were asked for" "$(wc -l <asked.out) > $3"
	is "$1: none that the kernel refuses, all that it takes" \
		"$(awk '$2 != $3 { print $2, $3, $5 }' asked.out)" ''
	awk '$3 == "ok" { print $1, $4, $5 }' asked.out | sort >expected.out
	awk '{ print $1, /OPTIMIZED|FTRACE/ ? "cheap" : "trap" }' list.out | sort >cost.out
	join expected.out cost.out >costs.out
	holds "$1: the kernel lists its probes" "$(wc -l <costs.out) > $3 / 2"
	is "$1: none is optimized that was not expected to be" \
		"$(awk '$2 == "trap" && $4 == "cheap"' costs.out)" ''
	# The kernel does not put a jump over a neighbouring probe.
	holds "$1: nearly all are that were" \
		"$(awk '$2 == "cheap" && $4 == "cheap"' costs.out | wc -l) >= 0.95 * $(awk '$2 == "cheap"' costs.out | wc -l)"
	# Leave out functions where a probe hides code that the kernel had patched: flow_sites reports these.
	sed -n 's/^# \(.*\): problems [4-7c-f][0-9a-f],.*/\1/p' again.out >hidden.out
	holds "$1: most code can be read in spite of probes" "$(wc -l <hidden.out) <= $4"
	is "$1: probed code is read as if it were not" \
		"$(diff <(grep -vwFf hidden.out sites.out) <(grep -vwFf hidden.out again.out))" ''
	is "$1: the kernel lives on with all of them" "$(cat fork.status)" 0
	clean_dmesg
}

side "$@"
need hardened
boot hardened guest_all
checks default 8 1000 1
if [ "${LONG-}" ]; then
	# With mitigations=off the kernel patches in other alternatives, which do not call thunks.
	boot hardened guest_few --append mitigations=off
	checks mitigations=off 7 500 3
fi
done_testing
