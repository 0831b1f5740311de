#!/bin/bash
# What blocks count: the sum of their instructions is the function's self time, on both kernels, of allocate_slab
# and of functions that workloads execute most.

# shellcheck disable=SC2154,SC2016 # names from lib.sh and tap.sh; jq's variables
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

declare -A commands=([big-fork]='--iterations 1' [page-fault]='--iterations 1000' [small-read]='--iterations 3000')
# Those with most samples of their own (record -F 19999) in each workload that have an ftrace location; with LONG=1, more
# of them.
declare -A functions=(
	[big-fork]="allocate_slab ___slab_alloc get_random_u32 kmem_cache_free ${LONG:+unmap_page_range call_rcu
		kmem_cache_free_bulk kmem_cache_alloc kmem_cache_alloc_bulk kmem_cache_alloc_lru __slab_free}"
	[page-fault]="${LONG:+__handle_mm_fault folio_memcg_lock.part.0}"
	[small-read]="__filemap_get_folio ${LONG:+shmem_file_read_iter apparmor_file_permission}"
)
# Within rcu_read_lock() each program of ours takes 3 instructions less than calibrated, since the inner
# rcu_read_unlock() skips a check: the self time is too low by as much for each probe hit.
in_rcu='__filemap_get_folio'
# 18 to 20 too high of 247 in 6 recordings: 21 probes and a call through a pointer in a call.
high='__handle_mm_fault'

# count NAME FUNCTION WORKLOAD
count() {
	# shellcheck disable=SC2086 # options
	record "$1" -v -F 0 --blocks "$2" --callees -- "$workloads/$3" ${commands[$3]}
}

is_among() {
	[[ " $2 " == *[[:space:]]"$1"[[:space:]]* ]]
}

guest_hardened() {
	local workload function
	traces >before
	for workload in "${!functions[@]}"; do
		for function in ${functions[$workload]}; do
			count "$function" "$function" "$workload"
		done
	done
	traces >after
}

guest_baseline() {
	count allocate_slab allocate_slab big-fork
}

# blocks_of FUNCTION FILTER: of its blocks, over all contexts
blocks_of() {
	json "$1" "[.blocks[] | select(.function == \"$1\" and .syscall == \"*\")] | $2"
}

# figures FUNCTION: what is checked of it, in the context in which it executes most. A part that the compiler has split off has
# rows of its own.
figures() {
	json "$1" '[.block_functions[] | select(.function == "'"$1"'")] as $all |
		[.functions[] | select(.name == "'"$1"'" and .syscall == "*")] as $timed |
		([$all[] | select(.syscall == "*")] | max_by(.calls)) as $sum |
		([$all[] | select(.syscall != "*")] | max_by(.calls * .insns_per_call)) as $most |
		[.paths[] | select(.syscall == "*" and .function == "'"$1"'")] as $paths |
		"most=\($most.syscall) insns=\($most.insns_per_call) self=\($most.self_per_call)",
		"unknown=\($sum.unknown) residual=\([$all[].residual] | max) lost=\(.losses.block_without_call)",
		"calls=\([$timed[].calls] | add) path_calls=\([$paths[].calls] | add)",
		"total=\([$timed[].oncpu_total] | add) path_total=\([$paths[].total] | add)",
		"entry=\([.blocks[] | select(.function == "'"$1"'" and .syscall == "*" and .offset == 0) | .executions] | add)",
		"context_calls=\([$all[] | select(.syscall != "*") | .calls] | add)"'
}

# hits NAME FUNCTION: probes of blocks and of the calls in it that a call of FUNCTION hits
hits() {
	json "$1" '[.costs.mechanisms[] | select(.name | IN("block", "kprobe-range")) | .calls] | add' |
		awk -v calls="$(calls "$1" "$2")" '{ print calls ? $1 / calls : 0 }'
}

# skipped NAME: why figures of NAME's function are not to be trusted, as its rows say; nothing: they are.
skipped() {
	json "$1" 'first(.block_functions[] | select(.function == "'"$1"'")) | .caveat'
}

# checked KERNEL FUNCTION
checked() {
	local what="$1: $2" most insns self unknown residual lost calls path_calls total path_total entry context_calls
	local low=20 high_by=20 caveat
	is "$what was recorded" "$(cat "$2.status")" 0
	eval "$(figures "$2" | tr ' ' '\n')"
	holds "$what: all blocks but one are counted, or follow" "$unknown <= 1"
	holds "$what: not all blocks need a probe" "$(sed -n \
		"s/.*: \([0-9]*\) blocks, \([0-9]*\) of them probed.*/\2 < \1/p" "$2.err" | head -n 1)"
	is "$what: counts agree" "$residual" 0
	is "$what: its entry is executed once a call" "$entry" "$calls"
	is "$what: its paths are all calls" "$path_calls" "$calls"
	within "$what: and all their time" "$path_total" "$total" 0.01
	is "$what: contexts add up" "$context_calls" "$calls"

	caveat=$(skipped "$2")
	is "$what: a row is marked where interrupts call its function and calls were skipped, and only there" "$caveat" \
		"$([ "$(loss "$2" probe_recursion)" = 0 ] || [ "$(calls "$2" "$2" '[irq]')" = 0 ] || echo 'calls skipped')"
	if [ -n "$caveat" ]; then
		marked=$((marked + 1))
		like "$what: and so is the table's" "$("$kprotperf" report --all "$2.data" 2>/dev/null)" "^$2 \[calls skipped\]"
		return
	fi
	is "$what: no execution of a block is lost" "$lost" 0
	! is_among "$2" "$in_rcu" || low=$(jq -n "20 + 3 * $(hits "$2" "$2")")
	! is_among "$2" "$high" || high_by=25
	# What it calls is timed where that can be, and else where the call is.
	holds "$what, in $most: its instructions are its self time, to 2 % or $low below, $high_by above ($insns, $self)" \
		"($self - $insns) as \$off | (0.02 * $self) as \$percent |
		 \$off >= -([$low, \$percent] | max) and \$off <= ([$high_by, \$percent] | max)"
}

side "$@"
need hardened
need baseline
boot hardened guest_hardened
clean_dmesg
is 'nothing is left in the kernel' "$(cat after)" "$(cat before)"
marked=0
for workload in "${!functions[@]}"; do
	for function in ${functions[$workload]}; do
		checked hardened "$function"
	done
done
# Where an interrupt comes while a function's program runs that it calls as well: __slab_free, kmem_cache_free, call_rcu
# were marked in 2, 2 and 1 of 2 recordings.
holds "$marked of them are marked, not many" "$marked <= 5"
grep -h '^kprotperf: .*cannot' ./*.err | sed 's/^/# /'
holds 'half of the probes are enough' "$(sed -n \
	"s/.*: \([0-9]*\) blocks, \([0-9]*\) of them probed.*/\2 < 0.7 * \1/p" allocate_slab.err)"
# path FUNCTION: the share of ___slab_alloc's calls whose path calls FUNCTION, and others do not
path() {
	json ___slab_alloc "[.paths[] | select(.syscall == \"*\" and (.does | contains(\"$1()\"))) | .share] | add // 0"
}
echo "# ___slab_alloc: $(path allocate_slab) of the calls from a new slab, $(path get_partial_node.part.0) from a partial one"
holds 'refilling from a new slab is a path of its own' "$(path allocate_slab) > 0.02"
holds 'and refilling from a partial slab' "$(path get_partial_node.part.0) > 0.02"
trips=$(blocks_of allocate_slab 'map(select(.body // "" | startswith("set_freepointer < shuffle_freelist"))) |
	max_by(.executions) | .per_call')
loop=$(json allocate_slab 'first(.loops[] | select(.syscall == "*" and .body == "shuffle_freelist")) | .trip_count')
echo "# shuffle_freelist's loop: $trips turns a call"
equal 'the loop of shuffle_freelist has as many turns' "$loop" "$trips"
holds 'the loop that shuffles free lists is seen' "$trips > 10"
within 'and by path: what each turns a call is what all do' \
	"$(json allocate_slab '[.paths[] | select(.syscall == "*")] as $p | [.path_trip_counts[] | select(.syscall == "*" and
		.body == "shuffle_freelist") | .trip_count * ($p[.path - 1].calls)] | add / ([$p[].calls] | add)')" "$trips" 0.01
# All that is executed more than once a call, whatever is taken for the loop.
per_trip=$(blocks_of allocate_slab "map(select(.per_call > 1.05)) | (map(.insns_per_call) | add) / $trips")
mv allocate_slab.data hardened.data
boot baseline guest_baseline
clean_dmesg
checked baseline allocate_slab
is 'which the baseline kernel has not' \
	"$(blocks_of allocate_slab 'map(select(.body // "" | contains("shuffle_freelist"))) | length')" 0
"$kprotperf" diff allocate_slab.data hardened.data --format=json >diff.json
jq -r '.paths[] | "# \(.)"' diff.json
holds 'diff says that the loop is new, where, and how many turns of how many instructions' \
	"$(jq '[.paths[] | test("^loop at mm/slub.c:[0-9]+ \\(shuffle_freelist\\) in allocate_slab: [0-9.]+ iterations per call, [0-9.]+ instructions each, while idx < slab->objects \\(hardened side only\\)$")] | any' diff.json)"
told=$(jq -r '.paths[] | capture("\\(shuffle_freelist\\) in allocate_slab: (?<turns>[0-9.]+) iterations per call, (?<insns>[0-9.]+) ")' diff.json)
within 'these turns are right' "$(jq '.turns | tonumber' <<<"$told")" "$trips" 2
within 'and their instructions' "$(jq '.insns | tonumber' <<<"$told")" "$per_trip" 2
holds 'and that the random generator is called' \
	"$(jq '[.paths[] | test("^allocate_slab calls __get_random_u32_below in 100 % of its calls \\(baseline: 0 %")] | any' diff.json)"
done_testing
