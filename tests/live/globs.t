#!/bin/bash
# Probing by a glob harms no kernel (with LONG=1, two kernels are tried): every safe match is attached, the workload finishes,
# nothing is lost, and the kernel's log stays clean. Thousands of functions do no harm either, and are attached and detached in
# reasonable time. list shows functions of the running kernel, and inlined functions from the index that the lab made on the host.
# A guest must not read DWARF, which takes seconds.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/slab.sh
. "$repo/tests/live/slab.sh"

guest_main() {
	guest_slab 1
}

# probes: print the number of BPF links.
probes() {
	bpftool link show | grep -c '^[0-9]*:'
}

many_probes() {
	[ "$(probes)" -gt 30 ]
}

guest_list() {
	local -x KPROTPERF_CACHE=/tmp/cache TIMEFORMAT='%U + %S'
	keep shuffle "$kprotperf" list 'shuffle_*'
	# Measure CPU time, because waits for 9p depend on the host.
	{ time keep current "$kprotperf" list get_current; } 2>spent.txt
	keep within "$kprotperf" list --format=csv 'get_current@vvar_*'
	keep json "$kprotperf" list --format=json allocate_slab
	keep doctor "$kprotperf" doctor
	# If list built an index, the index would be here.
	ls -d /tmp/cache >cache.txt 2>&1
	KPROTPERF_VMLINUX='' keep without "$kprotperf" list shuffle_freelist
}

guest_many() {
	guest_slab 1
	"$kprotperf" list 's*' >many.txt
	cat /proc/kallsyms >kallsyms.txt
	record many -v --freq=0 --func 's*' --func kernel_clone --func 'vfs_rea[d]' --func vfs_read -- \
		sh -c "ulimit -n; exec '$acts' forks 10"
	ulimit -n >limit.txt
	record by-kprobe -v --freq=0 --attach=kprobe --func 'page_*' --func kernel_clone -- "$acts" forks 10
	cat /sys/kernel/rcu_expedited >expedited.txt
	# Stop a recording while it attaches functions one by one.
	record stopped --freq=0 --attach=fentry --func 's*' -- touch ran &
	await many_probes
	date +%s >stopped-at.txt
	kill -INT "$(pgrep -f 'attach=fentry')"
	wait
	date +%s >>stopped-at.txt
	traces >after-many.txt
	"$kprotperf" list 'bpf_prog_a*' >bpf.txt
	"$kprotperf" list iov_iter_zero >no-location.txt
	record no-location --freq=0 --func iov_iter_zero -- true
	guest_list
}

side "$@"

if [ "${LONG-}" ]; then
	need baseline
	boot baseline guest_main
	slab_checks 1
fi

need hardened
boot hardened guest_many
slab_checks 1

is 'many functions: recorded' "$(cat many.status)" 0
attached=$(sed -n 's/^kprotperf: \([0-9]*\) functions, page faults.*/\1/p' many.err)
holds "many functions: $attached attached" "$attached > 900"
# One function may have several names. Several functions may have one name, and perhaps not all of them can be probed.
expected=$(awk '/^[^ ]/ { if ($2 ~ /^(fentry|kprobe|kprobe\.multi)$/ && !/only by name/) yes[$1]++; else no[$1]++ }
		END { for (name in yes) print name, name in no ? yes[name] : 0 }' many.txt |
	awk 'NR == FNR { some[$1] = $2; sum += $2; next }
		$3 in some && !some[$3] && tolower($2) ~ /[tw]/ { a[$1] = 1 } END { print length(a) + sum }' - kallsyms.txt)
is 'many functions: all that list has, and those named' "$attached" "$((expected + 2))"
is 'many functions: by kprobe.multi, those named by fentry' \
	"$(json many '[.costs.mechanisms[] | select(.functions) | "\(.name) \(.functions)"] | join(", ")')" \
	"fentry 2, kprobe.multi $expected"
equal 'many functions: nothing is lost' "$(lost many)" nothing
also_inlined=$(json many '.environment["record.also_inlined"]')
like 'many functions: of some the compiler inlined calls, which is said' "$(json many '.warnings[] | select(test("inlined"))')" \
	"^calls that the compiler inlined are not in the figures of [a-z0-9_]+, [a-z0-9_]+, [a-z0-9_]+ and [0-9]+ others "
like 'many functions: as list has it' "$("$kprotperf" list --vmlinux="$("$lab" path hardened)/vmlinux" "${also_inlined%%,*}" 2>&1)" \
	"^INLINED .*"$'\n'"${also_inlined%%,*} "
equal 'many functions: calls are counted' "$(calls many kernel_clone clone)" 10
is "many functions: the command's limit of open files is not ours" "$(head -n1 many.out)" "$(cat limit.txt)"

# Test single kprobes, without kprobe.multi. Detaching 65 functions takes 1.0 s; with ordinary RCU grace periods 5.2 s.
took=$(sed -n 's/^kprotperf: detaching took \([0-9.]*\) ms/\1/p' by-kprobe.err)
attached=$(sed -n 's/^kprotperf: \([0-9]*\) functions, page faults.*/\1/p' by-kprobe.err)
holds "many kprobes: $attached are detached in $took ms" "$attached > 32 and $took < 40 * $attached"
equal 'many kprobes: nothing is lost' "$(lost by-kprobe)" nothing
equal 'many kprobes: calls are counted' "$(calls by-kprobe kernel_clone clone)" 10
is 'many kprobes: grace periods are as they were' "$(cat expedited.txt)" 0

is 'interrupted while attaching: status' "$(cat stopped.status)" 130
one_line 'interrupted while attaching: one line' stopped.err 'interrupted before the first run'
ok 'interrupted while attaching: the command did not run' test ! -e ran
ok 'interrupted while attaching: no file' test ! -e stopped.data
# This kernel takes 0.1 s to remove an ftrace trampoline, so allow 20 s.
holds 'interrupted while attaching: ends in time' "$(tail -n1 stopped-at.txt) - $(head -n1 stopped-at.txt) <= 20"
equal 'interrupted while attaching: nothing remains' "$(cat after-many.txt)" "$(cat before.txt)"

like 'list tells what globs leave out' "$(cat bpf.txt)" 'only by name: part of BPF'
like 'list tells what the kernel will not probe' "$(cat no-location.txt)" '^iov_iter_zero +- '
one_line 'and so does record' no-location.err "'iov_iter_zero' cannot be measured: it has no ftrace location"

# --- kprotperf list ------------------------------------------------------------

index=$("$repo/scripts/lab" path hardened)/vmlinux.kprotperf-index
ok 'the lab has made the index, on the host' test -s "$index"
like "doctor loads record's programs" "$(cat doctor.out)" "yes +record's BPF programs load"
is 'doctor: the verdict comes first' "$(head -n 1 doctor.out)" 'can measure syscalls, functions and samples'
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
