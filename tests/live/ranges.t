#!/bin/bash
# Inlined functions are timed exactly: against the emulator's count, and bodies of known instructions; what
# is entered is left; many at once harm nothing.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/figures.sh
. "$(dirname "$0")/figures.sh"
# shellcheck source=SCRIPTDIR/truth.sh
. "$(dirname "$0")/truth.sh"

unseeded='random.trust_cpu=off random.trust_bootloader=off'
control=/sys/kernel/debug/kprotperf_inlined
runs=50
shapes='plain early loop head nested twice calls tail recursive many choice'

# --- guest -------------------------------------------------------------------

guest_slab() {
	record shuffle --freq=0 -R shuffle_freelist --func allocate_slab -- "$workloads/big-fork"
	record new_slab --freq=0 --func new_slab -- "$workloads/big-fork"
	record sampled --freq=1999 -- sh -c \
		"$workloads/big-fork; $workloads/small-read -n 20000; $workloads/page-fault"
	random seeded
}

# Paths of the random generator, for diff.
random() {
	record "random-$1" -F 997 --blocks get_random_u32 --callees --func extract_entropy -- \
		"$workloads/big-fork" --iterations 3
}

guest_unseeded() {
	record unseeded --freq=0 -R shuffle_freelist -- "$workloads/big-fork"
	random unseeded
}

guest_baseline() {
	record new_slab-baseline --freq=0 --func new_slab -- "$workloads/big-fork"
}

guest_twenty() {
	local arguments
	mapfile -t arguments <chosen.txt
	record twenty --freq=0 "${arguments[@]}" -- sh -c \
		"$workloads/big-fork; $workloads/small-read -n 20000; $workloads/page-fault"
}

act_shapes() {
	local shape
	for shape in $shapes; do
		echo "$shape $runs" >$control/run
	done
}

guest_shapes() {
	cat $control/known >known.txt
	record shapes --freq=0 -vv -R 'inl_*' -- bash "$self" --guest act_shapes
	sysctl -q debug.kprobes-optimization=0
	record shapes-int3 --freq=0 -R 'inl_*' -- bash "$self" --guest act_shapes
	record empty --freq=0 -R inl_empty -- true
}

guest_debug() {
	traces >before.txt
	record hundred --freq=99 -R '*@allocate_slab' -R '*@kmem_cache_alloc' \
		-R '*@anon_vma_fork' -R '*@anon_vma_clone' -- \
		"$workloads/big-fork" --iterations 2
	# 557 blocks on this kernel.
	record large -v --freq=0 --blocks copy_page_range -- "$acts" forks 20
	traces >after.txt
}

side "$@"

# --- host --------------------------------------------------------------------

todo=(
	'shapes-int3: inl_(outer|around|recursive)' 'a breakpoint in what is nested: 50 of 1,600 too high in one kernel build of several; not explained'
	'shapes-int3: inl_(head|choice)' 'a breakpoint is looked for in two lists, of unknown length: some ten instructions a hit, of which these have five and two'
)

# range NAME KEY INLINED [FUNCTION [SYSCALL]]: the sum over the bodies.
range() {
	json "$1" "[.ranges[] | select(.name == \"$3\" and .source == \"exact\" and .syscall == \"${5-*}\"
		and (\"${4-}\" == \"\" or .function == \"${4-}\")) | .$2] | add"
}

# not_timed NAME: bodies that are only estimated, with the reason.
not_timed() {
	json "$1" '[.ranges[] | select(.syscall == "*" and .why != null) | "\(.name)@\(.function): \(.why)"] | unique[]'
}

mean_of() {
	awk -v sum="$1" -v n="$2" 'BEGIN { if (n) printf "%.1f\n", sum / n }'
}

# balanced NAME: what was entered was left, body by body.
balanced() {
	equal "$1: nothing is lost" "$(lost "$1")" nothing
	equal "$1: all that was entered is accounted for" "$(accounting "$1" unaccounted)" 0
}

need hardened
need baseline
boot hardened guest_slab
clean_dmesg

# against_truth NAME KERNEL APPEND: shuffle_freelist, in fork. What a call takes depends on how often the
# random generator is refilled, so that two guests differ a little.
against_truth() {
	local name=$1
	ok "$name: the emulator counts" truth "$name" hardened allocate_slab shuffle_freelist "$3" \
		"$workloads/big-fork"
	close_to "$name: an excursion into shuffle_freelist" \
		"$(mean_of "$(range "$2" total shuffle_freelist allocate_slab clone)" \
			"$(range "$2" entries shuffle_freelist allocate_slab clone)")" \
		"$(mean_of "$(true_sum "$name" excursions_outer)" "$(true_calls "$name" excursions_outer)")" 2 10
	close_to "$name: a call of shuffle_freelist" \
		"$(range "$2" mean shuffle_freelist allocate_slab clone)" \
		"$(mean_of "$(true_sum "$name" excursions_outer)" "$(true_calls "$name" outer)")" 2 10
}

against_truth seeded shuffle ''
holds 'shuffle_freelist is called as often as allocate_slab' \
	"$(range shuffle calls shuffle_freelist) == $(calls shuffle allocate_slab)"
holds 'it is left and entered again' \
	"$(range shuffle entries shuffle_freelist) >= 2 * $(range shuffle calls shuffle_freelist)"
balanced shuffle

boot hardened guest_unseeded --append "$unseeded"
clean_dmesg
against_truth unseeded unseeded "$unseeded"
balanced unseeded
"$kprotperf" diff random-seeded.data random-unseeded.data --format=json | jq -r '.paths[]' >random.txt
sed 's/^/# /' random.txt
like 'diff of seeded and unseeded names the slow path, and how often it is taken' "$(cat random.txt)" \
	'get_random_u32 takes its slow path, extract_entropy by way of _get_random_bytes, in 100 % of its calls, in 0 % '

boot baseline guest_baseline
for name in new_slab new_slab-baseline; do
	like "$name: is inlined, which is said" "$(cat $name.err)" "'new_slab' is inlined on this kernel, into "
	holds "$name: and timed" "$(range $name calls new_slab ___slab_alloc) > 1000"
	balanced $name
done
holds 'new_slab takes longer where freelists are shuffled' \
	"$(range new_slab mean new_slab ___slab_alloc clone) - $(range new_slab-baseline mean new_slab ___slab_alloc clone) | . > 200 and . < 500"

# Bodies that samples hit, of twenty-five inlined functions at least.
json sampled '[.ranges[] | select(.syscall == "*" and .source != "exact" and .estimate != null)]
	| map("\(.name)@\(.function)") | unique | .[0:40][] | "-R", .' >chosen.txt
boot hardened guest_twenty
clean_dmesg
balanced twenty
timed=$(json twenty '[.ranges[] | select(.syscall == "*" and .source == "exact" and .entries > 0) | .name] | unique | length')
holds "$timed inlined functions are timed that the workloads execute" "$timed >= 20"
not_timed twenty | sed 's/^/# not timed: /'
# Not the other way round: a call is an execution of DWARF's entry, which may be on one of several ways
# in (of __rb_erase_augmented in unlink_anon_vmas on one that is not taken).
is 'each body that is called is entered' \
	"$(json twenty '[.ranges[] | select(.source == "exact" and .calls > 0 and .entries == 0) | .name] | unique | join(" ")')" ''

need shapes
boot shapes guest_shapes
clean_dmesg
for name in shapes shapes-int3; do
	while read -r inlined calls insns; do
		equal "$name: calls of $inlined" "$(range $name calls "$inlined")" $((calls * runs))
		close_to "$name: $inlined" \
			"$(mean_of "$(range $name total "$inlined")" "$(range $name calls "$inlined")")" \
			"$(mean_of "$insns" "$calls")" 2 10
	done <known.txt
	balanced $name
done
equal 'control comes into inl_choice by two ways' "$(range shapes entries inl_choice)" $((10 * runs))
like 'nothing is left of an empty body' "$(cat empty.err)" \
	'no instruction is left of it|no inlined function matches'

need debug
boot debug guest_debug --timeout 1500
clean_dmesg
is 'a hundred bodies at once, debug kernel: the workload finished' "$(cat hundred.status)" 0
holds 'so many are timed' "$(json hundred '.costs.mechanisms[] | select(.name == "kprobe-range") | .functions') >= 100"
balanced hundred
is 'a function of 500 blocks, debug kernel: the workload finished' "$(cat large.status)" 0
holds 'so many can be executed' "$(json large 'first(.block_functions[]) | .blocks') >= 500"
equal 'their counts agree' "$(json large 'first(.block_functions[]) | .residual')" 0
holds 'nearly all are known' "$(json large 'first(.block_functions[]) | .unknown') <= 20"
equal 'paths have all calls' "$(json large '[.paths[] | select(.syscall == "*") | .calls] | add')" \
	"$(calls large copy_page_range)"
balanced large
equal 'nothing remains attached' "$(cat after.txt)" "$(cat before.txt)"

done_testing
