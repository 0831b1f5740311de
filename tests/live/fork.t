#!/bin/bash
# With functions of a fork timed, few or busy ones, the fork's time less probe cost is what the
# workload measures unprobed, by each mechanism.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/figures.sh
. "$repo/tests/live/figures.sh"

mechanisms='fentry multi kprobe'

# Called thousands of times by each fork of big-fork.
busy='allocate_slab kmem_cache_alloc kmem_cache_alloc_bulk kmem_cache_free put_cpu_partial get_random_u32
	alloc_pages __alloc_pages get_page_from_freelist up_write down_write vm_area_dup vma_dup_policy
	copy_page_range anon_vma_fork unlink_anon_vmas vma_interval_tree_insert_after
	security_vm_enough_memory_mm cap_vm_enough_memory __vm_enough_memory'

guest_main() {
	local how
	keep unprobed "$workloads/big-fork"
	for how in $mechanisms; do
		# A timer interrupt that hits allocate_slab weighs as much as ten of its calls: in 20 forks,
		# which is what big-fork does by itself, they move the mean by up to 0.8 %.
		record "one-$how" --attach="$how" --freq=0 --func allocate_slab -- \
			"$workloads/big-fork" --iterations 60
		# shellcheck disable=SC2046,SC2086 # lists of words
		record "busy-$how" --attach="$how" --freq=0 $(printf -- '--func %s ' $busy) -- \
			"$workloads/big-fork" --iterations 4
	done
}

side "$@"
need hardened
boot hardened guest_main
clean_dmesg

unprobed=$(sed -n 's/^big-fork .*mean_ns=\([0-9.]*\).*/\1/p' unprobed.out)
first=${mechanisms%% *}

# subtracted NAME: from the mean clone.
subtracted() {
	"$kprotperf" report "$1.data" --format=json --raw |
		jq -r "first(.syscalls[] | select(.name == \"clone\")) | .mean - $(syscall_mean oncpu "$1" clone)"
}

for how in $mechanisms; do
	close_to "$how: clone, with allocate_slab timed in it, takes what the workload says unprobed" \
		"$(syscall_mean oncpu "one-$how" clone)" "$unprobed" 0.5 0
	close_to "$how: allocate_slab takes what $first says it does" \
		"$(mean oncpu "one-$how" allocate_slab clone)" "$(mean oncpu "one-$first" allocate_slab clone)" 1 0
	equal "$how: nothing is lost" "$(lost "one-$how")" nothing

	cost=$(subtracted "busy-$how")
	close_to "$how: clone, with 20 busy functions timed in it, less ${cost:-?} of probes" \
		"$(syscall_mean oncpu "busy-$how" clone)" "$unprobed" 2 "$(jq -n "${cost:-0} / 100")"
	for f in $busy; do
		holds "$how: $f is busy" "$(count "busy-$how" "$f") >= 2000"
	done
	# Soft interrupts call some of these too, a hundred times in a row where they free memory. One
	# that hits the very fentry program of the function that it then calls finds it in use: the
	# kernel skips it, and says so. Where it is the return's, frames stay open, up to the limit: from
	# there on a function called within (put_cpu_partial in kmem_cache_free) is lost too, which was not
	# skipped. How many come in a row depends on when the host lets the guest have interrupts.
	holds "$how: of these nothing is lost but the few calls that the kernel skipped" \
		"$(json "busy-$how" '.losses | tojson') as \$lost | (\$lost.probe_recursion // 0) as \$skipped |
		 \$skipped <= 0.001 * $(json "busy-$how" '[.functions[] | select(.syscall == "*") | .calls] | add') and
		 all(\$lost | to_entries[]; .key as \$key | .value == null or .value == 0 or
			(.value <= 2 * \$skipped and any(\"probe_recursion\", \"depth_exceeded\",
				\"entry_without_return\", \"return_without_entry\"; . == \$key)))"
	balanced "$how" "busy-$how"
done

done_testing
