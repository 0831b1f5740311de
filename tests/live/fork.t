#!/bin/bash
# A fork's time less probe cost equals the time that the unprobed workload measures, by each mechanism, if few functions or often
# called functions are timed.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/figures.sh
. "$repo/tests/live/figures.sh"

mechanisms='fentry multi kprobe'

# Each fork of big-fork calls these functions thousands of times.
busy='allocate_slab kmem_cache_alloc kmem_cache_alloc_bulk kmem_cache_free put_cpu_partial get_random_u32
	alloc_pages __alloc_pages get_page_from_freelist up_write down_write vm_area_dup vma_dup_policy
	copy_page_range anon_vma_fork unlink_anon_vmas vma_interval_tree_insert_after
	security_vm_enough_memory_mm cap_vm_enough_memory __vm_enough_memory'

guest_main() {
	local how
	keep unprobed "$workloads/big-fork"
	for how in $mechanisms; do
		# A timer interrupt in allocate_slab takes as long as ten of its calls. In 20 forks, big-fork's default,
		# interrupts move the mean by up to 0.8 %.
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

# subtracted NAME: print the probe cost that is subtracted from the mean clone.
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
	# Soft interrupts call some of these functions too, a hundred times in a row when they free memory. A soft interrupt may
	# hit the fentry program of the function that it then calls. This program is in use, so the kernel skips and counts the
	# call. If the program of a return is skipped, the call's frame stays in use. When all frames are in use, inner calls
	# (put_cpu_partial in kmem_cache_free) are lost too, although the kernel does not skip their programs. The number of calls
	# in a row depends on when the host delivers interrupts.
	holds "$how: of these nothing is lost but the few calls that the kernel skipped" \
		"$(json "busy-$how" '.losses | tojson') as \$lost | (\$lost.probe_recursion // 0) as \$skipped |
		 \$skipped <= 0.001 * $(json "busy-$how" '[.functions[] | select(.syscall == "*") | .calls] | add') and
		 all(\$lost | to_entries[]; .key as \$key | .value == null or .value == 0 or
			(.value <= 2 * \$skipped and any(\"probe_recursion\", \"depth_exceeded\",
				\"entry_without_return\", \"return_without_entry\"; . == \$key)))"
	balanced "$how" "busy-$how"
done

done_testing
