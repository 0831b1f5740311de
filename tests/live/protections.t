#!/bin/bash
# record --protection expands a protection's name to functions and reports its state. diff reports protections that differ.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

guest_on() {
	record usercopy -F 0 --protection hardened_usercopy -- "$workloads/user-copies" -n 100
	record freelist -F 0 --protection slab_freelist_random -- "$workloads/fork" -n 20
	record pti -F 0 --protection page_table_isolation --protection kfence -- "$workloads/getpid" -n 100
	keep unknown "$kprotperf" record --protection nosuch -- true
	keep list "$kprotperf" list --protections --format=csv
	keep faults "$kprotperf" record -F 0 -o faults.data -- "$workloads/cow-fault" -n 300
}

guest_off() {
	record usercopy-off -F 0 --func __check_object_size -- "$workloads/user-copies" -n 20
	keep list-off "$kprotperf" list --protections --format=csv
}

side "$@"
need hardened
boot hardened guest_on --append 'pti=on init_on_alloc=1'
boot hardened guest_off --append 'hardened_usercopy=off page_alloc.shuffle=1'
clean_dmesg

state() {
	awk -F, -v name="$2" '$1 == name { print $2 }' "$1.out"
}

equal 'hardened usercopy: recorded' "$(cat usercopy.status)" 0
# Linux 6.1 checks 14 of 17 copies from user memory (the largest messages go into pages, unchecked), and all copies out of pages.
equal 'its function is timed, at each copy it is for' "$(calls usercopy __check_object_size sendto)" 1400
holds 'in both directions' "$(calls usercopy __check_object_size recvfrom) >= 1700"
holds 'and what it calls' "$(calls usercopy __check_heap_object) > 0 and $(calls usercopy check_stack_object) > 0"
holds 'and what is inlined' "$(json usercopy '[.ranges[]? | select(.name == "check_heap_object")] | length') >= 1"
is 'what is inlined everywhere is left out, and said to be' "$(grep -c \
	"'check_object_size' is inlined in more than 32 places" usercopy.err)" 1
is 'its state is in the file' "$(json usercopy '.environment["record.protection.hardened_usercopy"]')" \
	'on: CONFIG_HARDENED_USERCOPY=y'
holds 'freelist randomization: a host, and inlined' "$(calls freelist allocate_slab) > 0 and \
	$(json freelist '[.ranges[]? | select(.name == "shuffle_freelist")] | length') >= 1"
is 'nothing to time is no error' "$(cat pti.status)" 0
is 'and is said' "$(grep -c "page_table_isolation: none of its functions can be timed on this kernel; its cost shows in the workload's own" pti.err)" 1
is 'as that one is off' "$(grep -c 'kfence is off on this kernel: CONFIG_KFENCE is not set' pti.err)" 1
is 'an unknown name is wrong usage' "$(cat unknown.status):$(grep -c "unknown protection 'nosuch'" unknown.err)" 2:1

for row in 'hardened_usercopy on off' 'page_table_isolation on off' 'init_on_alloc on off' \
	'page_alloc_shuffle off on' 'slab_freelist_random on on' 'slab_freelist_hardened off off' \
	'random_kmalloc_caches off off' 'randomize_kstack_offset on on' 'seccomp_filter built\ in built\ in'; do
	eval "set -- $row"
	is "$1 is known to be $2 here, $3 there" "$(state list "$1"):$(state list-off "$1")" "$2:$3"
done
holds 'where usercopy is off, the checks end at once' \
	"$(function_row usercopy-off __check_object_size mean sendto) < $(function_row usercopy __check_object_size mean sendto)"
"$kprotperf" diff usercopy-off.data usercopy.data --format=json >diff.json 2>diff.err
is 'diff names what differs' "$(jq -r '.environment.protections[] | "\(.name) \(.baseline) \(.hardened)"' diff.json |
	sort | paste -sd,)" \
	'hardened_usercopy off on,init_on_alloc off on,page_alloc_shuffle on off,page_table_isolation off on'

# The program's start causes page faults too.
holds 'cow-fault: a page fault an iteration' "$(syscalls faults '[page_fault]') >= 300"

done_testing
