#!/bin/bash
# What blocks count: the sum of their instructions is the function's self time, on both kernels, of allocate_slab
# and of ten functions chosen here among those that workloads execute most.

# shellcheck disable=SC2154,SC2016 # names from lib.sh and tap.sh; jq's variables
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

declare -A commands=([big-fork]='--iterations 1' [page-fault]='--iterations 1000' [small-read]='--iterations 3000')
chosen='big-fork:7 page-fault:1 small-read:2' # how many functions of each
# What is known to be off comes on top of the ten. Within rcu_read_lock() each program of ours takes 3 instructions less,
# since the inner rcu_read_unlock() skips a check; where so many calls are timed where they are made, each by some 3 too
# much, that is more than 20. Where a soft interrupt calls the function itself while its program runs, the kernel skips
# calls, which is counted; a return may then be taken for that of a call left open, and one of 16 million instructions is
# 400 in the mean of 24,112.
in_rcu='within rcu_read_lock() probes cost less'
declare -A off=([page_remove_rmap]=$in_rcu [filemap_map_pages]=$in_rcu [next_uptodate_page]=$in_rcu
	[do_set_pte]=$in_rcu [__filemap_get_folio]=$in_rcu
	[__handle_mm_fault]='18 to 20 too high of 247, not explained: 21 probes and a call through a pointer in a call')
max_calls_made=4

# count NAME FUNCTION WORKLOAD
count() {
	# shellcheck disable=SC2086 # options
	record "$1" -v -F 0 --blocks "$2" --callees -- "$workloads/$3" ${commands[$3]}
}

# executed WORKLOAD: functions by the samples in their own code, most first, with an ftrace location: without, the
# kernel takes no probe in them. A system call begins or ends within those left out. So many samples that boots hardly
# differ in who is first.
executed() {
	# shellcheck disable=SC2086
	record "sampled-$1" -F 19999 -- "$workloads/$1" ${commands[$1]}
	json "sampled-$1" '.samples.leaves[] | .name | rtrimstr("_[k]")' | grep -v '^syscall_' |
		awk 'NR == FNR { sub(/\..*/, "", $1); has[$1] = 1; next } has[$1]' \
			/sys/kernel/tracing/available_filter_functions -
}

# todo FUNCTION: why its self time is off; nothing: it is not.
todo() {
	if [ -n "${off[$1]-}" ]; then
		echo "${off[$1]}"
	elif [ "$(loss "$1" probe_recursion)" != 0 ]; then
		echo 'the kernel skipped calls of it in interrupts, and said so'
	elif json "$1" "[.ranges[] | select(.syscall == \"*\") | .calls] | add // 0" |
		awk -v max=$max_calls_made -v calls="$(calls "$1" "$1")" '{ exit !($1 > max * calls) }'; then
		echo 'it makes many calls that are timed where they are made, each by some 3 too much'
	fi
}

# context FUNCTION: in which most of its instructions are executed
context() {
	json "$1" '[.block_functions[] | select(.function == "'"$1"'" and .syscall != "*")] |
		max_by(.calls * .insns_per_call) | .syscall'
}

# choose WORKLOAD N: records the first N of these whose blocks can be counted. What cannot be has its error kept.
# Interrupts are no work of the workload's; which of them its samples hit is chance.
choose() {
	local function n=0
	for function in $(executed "$1"); do
		[ ! -e "$function.data" ] || continue
		count "$function" "$function" "$1"
		[ -e "$function.data" ] || continue
		[ "$(context "$function")" != '[irq]' ] || continue
		echo "$function" >>chosen
		[ -n "$(todo "$function")" ] || n=$((n + 1))
		[ "$n" -lt "$2" ] || break
	done
}

guest_hardened() {
	local what
	traces >before
	count allocate_slab allocate_slab big-fork
	count ___slab_alloc ___slab_alloc big-fork
	for what in $chosen; do
		choose "${what%:*}" "${what#*:}"
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

# figures FUNCTION: what is checked of it, in the context in which it executes most. Several functions may have its
# name but for the compiler's suffixes.
figures() {
	json "$1" '[.block_functions[] | select(.function == "'"$1"'")] as $all |
		[.functions[] | select(.name == "'"$1"'" and .syscall == "*")] as $timed |
		([$all[] | select(.syscall == "*")] | max_by(.calls)) as $sum |
		([$all[] | select(.syscall != "*")] | max_by(.calls * .insns_per_call)) as $most |
		[.paths[] | select(.syscall == "*")] as $paths |
		"most=\($most.syscall) insns=\($most.insns_per_call) self=\($most.self_per_call)",
		"unknown=\($sum.unknown) residual=\([$all[].residual] | max) lost=\(.losses.block_without_call)",
		"calls=\([$timed[].calls] | add) path_calls=\([$paths[].calls] | add)",
		"total=\([$timed[].oncpu_total] | add) path_total=\([$paths[].total] | add)",
		"entry=\([.blocks[] | select(.syscall == "*" and .offset == 0) | .executions] | add)",
		"context_calls=\([$all[] | select(.syscall != "*") | .calls] | add)"'
}

# checked KERNEL FUNCTION
checked() {
	local what="$1: $2" most insns self unknown residual lost calls path_calls total path_total entry context_calls remark
	is "$what was recorded" "$(cat "$2.status")" 0
	eval "$(figures "$2" | tr ' ' '\n')"
	remark=$(todo "$2")
	is "$what: no execution of a block is lost${remark:+ # TODO $remark}" "$lost" 0
	holds "$what: all blocks but one are counted, or follow" "$unknown <= 1"
	is "$what: counts agree" "$residual" 0
	holds "$what: not all blocks need a probe" "$(sed -n \
		"s/.*: \([0-9]*\) blocks, \([0-9]*\) of them probed.*/\2 < \1/p" "$2.err" | head -n 1)"
	is "$what: its entry is executed once a call" "$entry" "$calls"
	is "$what: its paths are all calls" "$path_calls" "$calls"
	within "$what: and all their time" "$path_total" "$total" 0.01
	is "$what: contexts add up" "$context_calls" "$calls"
	# What it calls is timed where that can be, and else where the call is.
	what+=", in $most: its instructions are its self time, to 2 % or 20 ($insns, $self)"
	holds "$what${remark:+ # TODO $remark}" "$insns as \$n | $self as \$t | (\$n - \$t | fabs) <= ([20, 0.02 * \$t] | max)"
}

side "$@"
need hardened
need baseline
boot hardened guest_hardened
clean_dmesg
is 'nothing is left in the kernel' "$(cat after)" "$(cat before)"
holds 'ten functions were chosen' "$(while read -r function; do
	[ -n "$(todo "$function")" ] || echo "$function"
done <chosen | wc -l) == 10"
for function in allocate_slab ___slab_alloc $(cat chosen); do
	checked hardened "$function"
done
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
loop=$(json allocate_slab 'first(.loops[] | select(.syscall == "*" and .body == "shuffle_freelist")) | .turns')
echo "# shuffle_freelist's loop: $trips turns a call"
equal 'the loop of shuffle_freelist has as many turns' "$loop" "$trips"
holds 'the loop that shuffles free lists is seen' "$trips > 10"
within 'and by path: what each turns a call is what all do' \
	"$(json allocate_slab '[.paths[] | select(.syscall == "*")] as $p | [.path_turns[] | select(.syscall == "*" and
		.body == "shuffle_freelist") | .turns * ($p[.path - 1].calls)] | add / ([$p[].calls] | add)')" "$trips" 0.01
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
	"$(jq '[.paths[] | test("^loop at mm/slub.c:[0-9]+ \\(shuffle_freelist\\) in allocate_slab: [0-9.]+ turns a call at [0-9.]+ instructions, only in hardened$")] | any' diff.json)"
told=$(jq -r '.paths[] | capture("\\(shuffle_freelist\\) in allocate_slab: (?<turns>[0-9.]+) turns a call at (?<insns>[0-9.]+) ")' diff.json)
within 'these turns are right' "$(jq '.turns | tonumber' <<<"$told")" "$trips" 2
within 'and their instructions' "$(jq '.insns | tonumber' <<<"$told")" "$per_trip" 2
holds 'and that the random generator is called' \
	"$(jq '[.paths[] | test("^allocate_slab calls __get_random_u32_below in 100 % of its calls, in 0 %")] | any' diff.json)"
done_testing
