#!/bin/bash
# Counts of basic blocks agree with each other and with the calls of their function, and diff names lines that changed.
# tests/live/executions.t compares the counts with the emulator's.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

guest_hardened() {
	traces >before
	record hardened -v -F 0 --blocks allocate_slab --blocks ___slab_alloc -- "$workloads/big-fork" --iterations 1
	traces >after
}

guest_baseline() {
	record baseline -v -F 0 --blocks allocate_slab -- "$workloads/big-fork" --iterations 1
}

# shuffled NAME FILTER: apply FILTER to the blocks of shuffle_freelist in allocate_slab, over all contexts.
shuffled() {
	json "$1" "[.blocks[] | select(.function == \"allocate_slab\" and .syscall == \"*\" and
		(.body // \"\" | contains(\"shuffle_freelist\")))] | $2"
}

# counts NAME FUNCTION: check the execution counts of FUNCTION's blocks in the recording NAME.
counts() {
	local of="select(.function == \"$2\")" what="$1: $2"
	is "$what was recorded" "$(cat "$1.status")" 0
	holds "$what: at most one block stays unknown" "$(json "$1" "[.block_functions[] | $of | .unknown] | max | tostring") <= 1"
	holds "$what: half of the probes are enough" "$(sed -n \
		"s/.*'$2[^']*': \([0-9]*\) blocks, \([0-9]*\) of them probed.*/\2 < 0.7 * \1/p" "$1.err" | head -n 1)"
	equal "$what: counts agree" "$(json "$1" "[.block_functions[] | $of | .residual] | max | tostring")" 0
	equal "$what: its entry is executed once per call" \
		"$(json "$1" "[.blocks[] | $of | select(.syscall == \"*\" and .offset == 0) | .executions] | add")" "$(calls "$1" "$2")"
	equal "$what: contexts add up" \
		"$(json "$1" "[.block_functions[] | $of | select(.syscall != \"*\") | .calls] | add")" "$(calls "$1" "$2")"
	is "$what: no execution is lost" "$(loss "$1" block_without_call)" 0
	like "$what: it has no time, which its probes distort" "$("$kprotperf" report --section=functions "$1.data" | tr -s ' ')" \
		"^$2 \[blocks counted\] \* [0-9,]+ - -"
}

side "$@"
need hardened
need baseline
boot hardened guest_hardened
clean_dmesg
is 'nothing is left in the kernel' "$(cat after)" "$(cat before)"
counts hardened allocate_slab
counts hardened ___slab_alloc
trips=$(shuffled hardened 'max_by(.executions) | .per_call')
echo "# shuffle_freelist: $trips iterations per call"
holds 'the loop that shuffles free lists is seen' "$trips > 10"
equal 'its trip count is how often its head is executed per call' \
	"$(json hardened 'first(.loops[] | select(.syscall == "*" and .body == "shuffle_freelist")) | .trip_count')" "$trips"

boot baseline guest_baseline
clean_dmesg
counts baseline allocate_slab
equal 'the baseline kernel does not have the loop' "$(shuffled baseline 'length | tostring')" 0
"$kprotperf" diff baseline.data hardened.data --format=json >diff.json
# lines FILTER: apply FILTER to the loop's lines that diff lists.
lines() {
	jq -r "[.lines[] | select(.name | IN(\"shuffle_freelist\", \"next_freelist_entry\"))] | $1" diff.json
}
holds 'diff says that the loop is new' "$(lines 'map(.baseline_executions) | max') == 0 and
	($(lines 'map(.hardened_executions) | max') / $(calls hardened allocate_slab) - $trips | fabs) < 0.02 * $trips"
like 'its condition is known' "$(json hardened 'first(.loops[] | select(.syscall == "*" and .body == "shuffle_freelist")) | .condition')" \
	'^idx < slab->objects$'
insns=$(json hardened '[.blocks[] | select(.function == "allocate_slab" and .syscall == "*") | .executions * .insns] | add')
within 'the instructions counted are its time in the tree' "$(jq '[.attribution[] | select(.level == 2 and .name == "allocate_slab") |
	.delta_total] | add' diff.json)" "$insns - $(json baseline '[.blocks[] | select(.function == "allocate_slab" and .syscall == "*") |
	.executions * .insns] | add')" 0.1
done_testing
