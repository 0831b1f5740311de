#!/bin/bash
# kprotperf list of the running kernel: functions, and inlined bodies from the index that the lab made on
# the host; a guest is to read no DWARF, which would take it seconds of its time.

# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

guest_main() {
	export KPROTPERF_CACHE=/tmp/cache
	keep shuffle "$kprotperf" list 'shuffle_*'
	# CPU time: what it waits for 9p is the host's matter.
	TIMEFORMAT='%U + %S'
	{ time keep current "$kprotperf" list get_current; } 2>spent.txt
	keep within "$kprotperf" list --format=csv 'get_current@vvar_*'
	keep json "$kprotperf" list --format=json allocate_slab
	keep doctor "$kprotperf" doctor
	# Where an index would lie that had to be made here.
	ls -d /tmp/cache >cache.txt 2>&1
	KPROTPERF_VMLINUX='' keep without "$kprotperf" list shuffle_freelist
}

side "$@"
need hardened
boot hardened guest_main
clean_dmesg

index=$("$repo/scripts/lab" path hardened)/vmlinux.kprotperf-index
ok 'the lab has made the index, on the host' test -s "$index"
like "doctor loads record's programs" "$(cat doctor.out)" "yes +record's BPF programs load"
is 'doctor: status' "$(cat doctor.status)" 0
like 'doctor names it' "$(cat doctor.out)" "yes +index of inlined bodies and lines +$index"
is 'list: status' "$(cat shuffle.status)" 0
like 'list: an inlined body, into what and where from' "$(cat shuffle.out)" \
	'^shuffle_freelist +allocate_slab .*mm/slub\.c:[0-9]+ .*\+0x[0-9a-f]+-0x[0-9a-f]+'
like 'list: how record would time a body' "$(cat shuffle.out)" '^shuffle_freelist .* kprobe-range '
like 'list: or that it would not' "$(cat shuffle.out)" '^shuffle_free_memory .* samples '
like 'list: one that is in many places: how is not looked into, which is said' "$(cat current.err)" \
	'^kprotperf: note: [0-9]+ places: .* INLINED@FUNC'
is 'list: INLINED@FUNC' "$(cut -d, -f1-4,6 within.out | sort -u)" \
	"inlined,get_current,kprobe-range,2 probes,vvar_fault
kind,name,how,note,function"
like 'list: functions with the mechanism' "$(cat shuffle.out)" '^shuffle_pick_tail +fentry'
holds 'list: a function that is inlined everywhere' "$(grep -c '^get_current ' current.out) > 3000"
holds "list: which takes $(cat spent.txt) s" "$(cat spent.txt) < 0.5"
is 'list: JSON has the mechanism' "$(jq -r '.functions[0].how' json.out)" fentry
is 'no index is made in the guest' "$(cat cache.txt)" "ls: cannot access '/tmp/cache': No such file or directory"
is 'without a vmlinux: status' "$(cat without.status)" 1
like 'without a vmlinux: why not' "$(cat without.err)" 'inlined functions are unknown: no vmlinux'

done_testing
