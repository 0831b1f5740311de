#!/bin/bash
# What blocks count: the sum of their instructions is the function's self time, on both kernels.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# Of those that big-fork executes most, whose callees can all be timed but for what is rarely called.
functions='allocate_slab:clone copy_page_range:clone anon_vma_fork:clone unlink_anon_vmas:exit_group
	___slab_alloc:clone kmem_cache_alloc:clone'

count() {
	# Interrupts in the probes are told apart by the calls that had none, so that this is enough.
	record "$1" -v -F 0 --blocks "$1" --callees -- "$workloads/big-fork" --iterations 4
}

guest_main() {
	local function
	traces >before
	for function in $functions; do
		count "${function%:*}"
	done
	traces >after
}

# of FUNCTION CONTEXT KEY
of() {
	json "$1" "first(.block_functions[] | select(.function == \"$1\" and .syscall == \"$2\")) | .$3"
}

# blocks_of FUNCTION FILTER: of its blocks, over all contexts
blocks_of() {
	json "$1" "[.blocks[] | select(.function == \"$1\" and .syscall == \"*\")] | $2"
}

# is_self_time WHAT INSNS TIME: to 2 % or 20. What of a function's callees is not timed is in its time: with
# kmem_cache_alloc that is memset, in most of its calls.
is_self_time() {
	case $1 in
	*kmem_cache_alloc)
		holds "$1: its instructions are in its self time, with what memset takes" "$3 > $2 - 2"
		tests=$((tests + 1))
		jq -en "$2 as \$n | $3 as \$t | (\$n - \$t | fabs) <= 20" >/dev/null || printf 'not '
		printf 'ok %d - %s: to 20 # TODO memset has no place for a probe, and takes about 17 of a call\n' \
			"$tests" "$1"
		;;
	*)
		holds "$1: its instructions are its self time, to 2 % or 20 ($2, $3)" \
			"$2 as \$n | $3 as \$t | (\$n - \$t | fabs) <= ([20, 0.02 * \$t] | max)"
		;;
	esac
}

checks() {
	local function context
	clean_dmesg
	is "$1: nothing is left in the kernel" "$(cat after)" "$(cat before)"
	for function in $functions; do
		context=${function#*:} function=${function%:*}
		is "$1: $function was recorded" "$(cat "$function.status")" 0
		is "$1: $function: no execution of a block is lost" "$(loss "$function" block_without_call)" 0
		holds "$1: $function: all blocks but one are counted, or follow" \
			"$(of "$function" '*' 'unknown') <= 1"
		equal "$1: $function: counts agree" "$(of "$function" '*' 'residual')" 0
		holds "$1: $function: half of the probes are enough" "$(sed -n \
			"s/.*: \([0-9]*\) blocks, \([0-9]*\) of them probed.*/\2 < 0.7 * \1/p" "$function.err")"
		equal "$1: $function: its entry is executed once a call" \
			"$(blocks_of "$function" '.[] | select(.offset == 0) | .executions')" \
			"$(calls "$function" "$function" '*')"
		echo "# $function, in $context: $(of "$function" "$context" insns_per_call) by counting," \
			"$(of "$function" "$context" self_per_call) by time"
		is_self_time "$1: $function" "$(of "$function" "$context" insns_per_call)" \
			"$(of "$function" "$context" self_per_call)"
		equal "$1: $function: its paths are all calls" \
			"$(json "$function" '[.paths[] | select(.syscall == "*") | .calls] | add')" \
			"$(calls "$function" "$function" '*')"
		within "$1: $function: and all their time" \
			"$(json "$function" '[.paths[] | select(.syscall == "*") | .total] | add')" \
			"$(function_row "$function" "$function" oncpu_total)" 0.01
		holds "$1: $function: contexts add up" "$(json "$function" "[.block_functions[] |
			select(.function == \"$function\")] | (.[0].calls) == ([.[1:][].calls] | add)")"
	done
}

side "$@"
need hardened
need baseline
boot hardened guest_main
checks hardened
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
# All that is executed more than once a call, whatever is taken for the loop.
per_trip=$(blocks_of allocate_slab "map(select(.per_call > 1.05)) | (map(.insns_per_call) | add) / $trips")
mv allocate_slab.data hardened.data
boot baseline guest_main
rm -f ./*.json
checks baseline
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
