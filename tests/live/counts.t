#!/bin/bash
# Counts are those that strace and bpftrace have of the same work; kprobe and
# fentry agree; two boots agree on times.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# counted NAME FUNCTIONS ARG...: record ARG..., while bpftrace counts the calls of FUNCTIONS too. Its own child is
# record, whose child is the command: from its execve() on, it and its descendants are what record follows.
counted() {
	local name=$1 functions=$2 f
	shift 2
	{
		echo "tracepoint:syscalls:sys_enter_execve /tid != cpid/ { @ours[tid] = 1; }"
		echo "tracepoint:sched:sched_process_fork /@ours[args->parent_pid]/ { @ours[args->child_pid] = 1; }"
		for f in $functions; do
			echo "kprobe:$f /@ours[tid]/ { @calls[\"$f\"] = count(); }"
		done
		echo "END { clear(@ours); }"
	} >"$name.bt"
	keep "$name.bpftrace" bpftrace -f json \
		-c "$kprotperf record --no-resolve --freq=0 -o $name.data --func ${functions// / --func } $*" "$name.bt"
}

forks='vm_area_dup allocate_slab'
# do_mmap has more arguments than fentry can take: by default it is a kprobe between two fentries.
nested='vm_mmap_pgoff do_mmap mmap_region'
recursive='do_dentry_open vfs_getattr_nosec inode_permission notify_change'

guest_first() {
	record fentry --func vm_area_dup --func allocate_slab -- "$workloads/big-fork"
	# Under record it reports its figures once more.
	keep strace env KPROTPERF_REPORT_FD=9 strace -c -f -o strace.txt "$workloads/big-fork" 9>report.txt

	printf '%s\n' "$workloads/big-fork --iterations 5" "$acts files 50" >both.sh
	local how
	for how in auto kprobe; do
		counted $how "$forks $nested $recursive" --attach=$how -- sh both.sh
	done
}

guest_again() {
	record again --func vm_area_dup --func allocate_slab -- "$workloads/big-fork"
}

side "$@"
need hardened
boot hardened guest_first
clean_dmesg

# counts_agree NAME FUNCTION
counts_agree() {
	equal "$1: $2's calls are bpftrace's" "$(calls "$1" "$2")" \
		"$(grep '^{' "$1.bpftrace.out" | jq -r "select(.type == \"map\").data.\"@calls\".\"$2\" // empty")"
	holds "$1: which are some" "$(calls "$1" "$2") > 0"
}

holds 'as many vm_area_dup as the mappings and forks require' "$(calls fentry vm_area_dup) > 20 * 6000"
equal 'clone is called as often as the workload forks' "$(syscalls fentry clone)" 20

# Not exit_group, which strace does not count because it does not return.
json fentry '.syscalls[] | select(.name | startswith("[") or startswith("exit") | not) |
	"\(.name) \(.calls) \(.errors)"' | sort >ours.txt
awk 'NR > 2 && $1 ~ /^[0-9.]+$/ && $NF != "total" {
	print $NF, $4, NF == 6 ? $5 : 0 }' strace.txt | sort >theirs.txt
ok 'every syscall, its calls and its errors are those of strace' diff ours.txt theirs.txt
ok 'which are not few' test "$(wc -l <theirs.txt)" -ge 15
equal 'exit_group is counted up to the death of the tasks' "$(syscalls fentry exit_group)" 21
equal 'nothing is lost' "$(lost fentry)" nothing
equal 'every cell in [irq] or a syscall adds up to the sum over contexts' \
	"$(json fentry '[.functions[] | select(.name == "allocate_slab" and .syscall != "*") | .calls] | add')" \
	"$(calls fentry allocate_slab)"

for how in auto kprobe; do
	for f in $forks $nested $recursive; do
		counts_agree $how "$f"
	done
done
equal 'nothing is said to be known of what kprobes miss' "$(json kprobe '.losses | has("probe_missed"), .probe_missed')" true
equal 'fentry and kprobe.multi are mixed' "$(json auto \
	'.costs.mechanisms | map(select(.functions)) | map("\(.name) \(.functions)") | join(" ")')" \
	'fentry 8 kprobe.multi 1'
for how in auto kprobe; do
	equal "$how: nothing is lost, of nested and recursive calls either" "$(lost $how)" nothing
	outer=vm_mmap_pgoff
	for inner in do_mmap mmap_region; do
		holds "$how: $inner takes less than $outer around it" \
			"$(function_row $how $inner total mmap) < $(function_row $how $outer total mmap)"
		equal "$how: and is called as often" "$(calls $how $inner mmap)" \
			"$(calls $how $outer mmap)"
		outer=$inner
	done
	holds "$how: mmap() takes longer than all in it" \
		"$(syscall_row $how mmap total) > $(function_row $how vm_mmap_pgoff total mmap)"
	# On an overlay each of these calls itself for the file below, once a call.
	for f in notify_change inode_permission; do
		holds "$how: $f is called by itself" \
			"$(calls $how $f chmod) >= 2 * $(syscalls $how chmod)"
	done
	# The inner call's time is in the outer one's, so the longest is at least two of the shortest.
	holds "$how: of a recursive call both are timed, the outer longer than the inner" \
		"$(function_row $how notify_change max chmod) > $(function_row $how notify_change min chmod)"
done

boot hardened guest_again
within "two boots agree on clone's mean" "$(syscall_row again clone mean)" \
	"$(syscall_row fentry clone mean)" 0.3
equal 'and on the number of calls' "$(calls again vm_area_dup)" "$(calls fentry vm_area_dup)"

done_testing
