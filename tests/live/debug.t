#!/bin/bash
# Probing by globs on the kernel that finds fault with everything: preemptible, two
# CPUs, KASAN, lockdep. Slow: some four minutes, in which another test can run.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/slab.sh
. "$(dirname "$0")/slab.sh"

# Both CPUs at once, and what BPF, the scheduler and the allocator are made of besides.
guest_hammer() {
	local how
	for how in auto kprobe; do
		record "hammer-$how" --freq=99 --attach=$how --func 'vfs_[fosrw]*' --func 'pipe_*' \
			--func '*kmalloc*' --func 'dup_*' -- "$acts" hammer 20
	done
	record idle --freq=99 --system-wide --func 'hrtimer_*' --func try_to_wake_up -- \
		"$acts" blocked-reads 5
	traces >after.txt
}

guest_main() {
	guest_slab 1
	guest_hammer
}

side "$@"
need debug
boot debug guest_main --timeout 900
slab_checks 1
for how in auto kprobe; do
	is "hammer, $how: the workload finished" "$(cat hammer-$how.status)" 0
	# A preemptible kernel skips a program that another task was preempted in, and counts that: it
	# must explain every loss.
	skipped=$(json hammer-$how '.losses.probe_recursion')
	like "hammer, $how: nothing is lost but what the kernel skipped" "$(lost hammer-$how)" \
		'^(nothing|((entry_without_return|return_without_entry|probe_recursion)=[0-9]+ ?)+)$'
	holds "hammer, $how: which explains all of it, $skipped" "$skipped >= $(json hammer-$how \
		'.losses | .entry_without_return + .return_without_entry')"
	holds "hammer, $how: and is little" "$skipped <
		$(json hammer-$how '[(.functions[] | select(.syscall == "*")), .syscalls[] | .calls] | add') / 20"
	# 4 children, and 3 of each of these; 12 threads.
	equal "hammer, $how: all children were seen" "$(syscalls hammer-$how clone)" 16
	holds "hammer, $how: many functions were called" \
		"$(json hammer-$how '[.functions[].name] | unique | length') > 20"
done
is 'idle tasks can be probed too' "$(cat idle.status)" 0
equal 'with nothing lost' "$(lost idle)" nothing

done_testing
