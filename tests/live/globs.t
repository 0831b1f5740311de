#!/bin/bash
# Probing by globs harms no kernel: everything safe that matches is attached, the
# workload finishes, nothing is lost, and the kernel's log stays clean.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

guest_slab() {
	traces >before.txt
	"$kprotperf" list '*slab*' >list.txt
	record auto --freq=99 --func '*slab*' -- "$workloads/big-fork" --iterations 3
	record kprobe --freq=99 --func '*slab*' --attach=kprobe -- "$workloads/big-fork" --iterations 3
	traces >after.txt
}

# Both CPUs at once, and what BPF, the scheduler and the allocator are made of besides.
guest_hammer() {
	local how
	for how in auto kprobe; do
		record "hammer-$how" --freq=99 --attach=$how --func 'vfs_*' --func '*kmalloc*' --func '*slab*' \
			--func 'do_*' --func 'dup_*' --func 'futex_*' --func 'wake_up*' --func 'pipe_*' -- \
			"$acts" hammer 20
	done
	record idle --freq=99 --system-wide --func 'hrtimer_*' --func 'tick_*' --func 'try_to_wake_up' -- \
		"$acts" blocked-reads 5
	traces >after.txt
}

guest_debug() {
	guest_slab
	guest_hammer
}

side "$@"

slab_checks() {
	local how
	for how in auto kprobe; do
		is "$how: the workload finished" "$(cat $how.status)" 0
		like "$how: and its figures came" "$(cat $how.out)" '^big-fork iterations=3 '
		equal "$how: nothing is lost" "$(lost $how)" nothing
		equal "$how: clone was counted" "$(syscalls $how clone)" 3
		holds "$how: allocate_slab too" "$(calls $how allocate_slab) > 100"
	done
	# list says how each can be measured, or "-"; a glob takes all of the former.
	equal 'every safe match is probed' "$(sed -n 's/^Probes on functions: //p' report.txt)" \
		"$(awk '$2 == "fentry" { f++ } $2 == "kprobe" { k++ }
			END { printf "fentry %d%s.\n", f, k ? ", kprobe " k : "" }' list.txt)"
	holds 'which are not few' "$(grep -cE ' (fentry|kprobe) *$' list.txt) > 30"
	equal 'nothing remains attached' "$(cat after.txt)" "$(cat before.txt)"
	clean_dmesg
}

for kernel in baseline hardened; do
	need $kernel
	boot $kernel guest_slab
	"$kprotperf" report auto.data >report.txt
	slab_checks
done

need debug
boot debug guest_debug --timeout 900
"$kprotperf" report auto.data >report.txt
slab_checks
for how in auto kprobe; do
	is "hammer, $how: the workload finished" "$(cat hammer-$how.status)" 0
	equal "hammer, $how: nothing is lost" "$(lost hammer-$how)" nothing
	# 4 children, and 3 of each of these; 12 threads.
	equal "hammer, $how: all children were seen" "$(syscalls hammer-$how clone)" 16
	holds "hammer, $how: many functions were called" \
		"$(json hammer-$how '[.functions[].name] | unique | length') > 100"
done
is 'idle tasks can be probed too' "$(cat idle.status)" 0
equal 'with nothing lost' "$(lost idle)" nothing

done_testing
