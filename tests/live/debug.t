#!/bin/bash
# Probing by globs is safe on the kernel with all checks: preemptible, two CPUs, KASAN, lockdep. A recording takes ten seconds and
# more there, so one recording does many things. LONG=1 adds recordings by kprobes, of idle tasks, of inlined functions, and of a
# function with many blocks.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

hammers="auto ${LONG:+kprobe}"

# Use both CPUs, and probe functions of the scheduler, of both allocators and of the checks of usercopy, and functions that BPF
# uses. The time that this takes depends on the host: at 9 Hz the table of stacks suffices for minutes. (At 99 Hz on a host with a
# load of 12 it was full: 25 samples without a stack.)
guest_hammer() {
	local how
	for how in $hammers; do
		record "hammer-$how" --freq=9 --attach="$how" --func '*slab*' --func 'vfs_[fosrw]*' \
			--func 'pipe_*' --func '*kmalloc*' --func 'dup_*' --func '*usercopy*' --func '*check_object*' \
			--func '*alloc_pages*' --func 'free_unref_*' --func '*queue_task*' --func 'pick_next_*' \
			-- "$acts" hammer 20
	done
	[ -z "${LONG-}" ] || record idle --freq=99 --system-wide --func 'hrtimer_*' --func try_to_wake_up -- \
		"$acts" blocked-reads 5
}

# Time a hundred inlined functions at once, and count the 557 blocks of a function that forks call.
guest_bodies() {
	record bodies --freq=99 -R '*@allocate_slab' -R '*@kmem_cache_alloc' -R '*@anon_vma_fork' -R '*@anon_vma_clone' -- \
		"$acts" forks 10
	record large -v --freq=0 --blocks copy_page_range -- "$acts" forks 20
}

guest_main() {
	hurry
	traces >before.txt
	guest_hammer
	[ -z "${LONG-}" ] || guest_bodies
	traces >after.txt
}

side "$@"
need debug
boot debug guest_main --timeout 1800
clean_dmesg
equal 'the kernel is as before' "$(cat after.txt)" "$(cat before.txt)"
# only_skipped WHAT NAME: check that skipped BPF programs explain every loss, and are few. A preemptible kernel skips a program
# while another task is preempted in it, and counts the skip.
only_skipped() {
	local skipped
	skipped=$(loss "$2" probe_recursion)
	like "$1: nothing is lost but what the kernel skipped" "$(lost "$2")" \
		'^(nothing|((entry_without_return|return_without_entry|probe_recursion)=[0-9]+ ?)+)$'
	holds "$1: which explains all of it, $skipped" "$skipped >= $(json "$2" \
		'.losses | .entry_without_return + .return_without_entry')"
	holds "$1: and is little" "$skipped <
		$(json "$2" '[(.functions[] | select(.syscall == "*")), .syscalls[] | .calls] | add') / 20"
}

for how in $hammers; do
	is "hammer, $how: the workload finished" "$(cat "hammer-$how.status")" 0
	only_skipped "hammer, $how" "hammer-$how"
	# There are 4 children with 3 children each. clone3 makes the 12 threads.
	equal "hammer, $how: all children were seen" "$(syscalls "hammer-$how" clone)" 16
	holds "hammer, $how: many functions were called" \
		"$(json "hammer-$how" '[.functions[].name] | unique | length') > 30"
	holds "hammer, $how: the allocator's too" "$(calls "hammer-$how" allocate_slab) > 20"
done
if [ "${LONG-}" ]; then
	is 'idle tasks can be probed too' "$(cat idle.status)" 0
	only_skipped 'idle tasks' idle

	is 'many bodies at once: the workload finished' "$(cat bodies.status)" 0
	holds 'so many are timed' "$(json bodies '.costs.mechanisms[] | select(.name == "kprobe-range") | .functions') >= 100"
	only_skipped 'many bodies' bodies
	equal 'all that was entered is accounted for' "$(accounting bodies unaccounted)" 0
	entered=$(json bodies '[.ranges[] | select(.source == "exact" and .syscall == "*" and .entries > 0)] | length')
	holds "and $entered were entered" "$entered > 40"

	is 'a function of 500 blocks: the workload finished' "$(cat large.status)" 0
	holds 'so many can be executed' "$(json large 'first(.block_functions[]) | .blocks') >= 500"
	equal 'their counts agree' "$(json large 'first(.block_functions[]) | .residual')" 0
	holds 'nearly all are known' "$(json large 'first(.block_functions[]) | .unknown') <= 20"
	only_skipped 'a function of 500 blocks' large
	equal 'all calls in it are accounted for' "$(accounting large unaccounted)" 0
fi

done_testing
