#!/bin/bash
# Failures of a recorder, and other tools at work, leave the kernel and the folder unchanged, and lose no measurements. Each
# entered call is timed, unfinished at the end, or counted as missed. losses.t overloads all CPUs.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

control=/sys/kernel/debug/kprotperf_known

# --- functions that run in the guest -----------------------------------------

act_unload() {
	echo 'plain 1000' >$control/run
	rmmod kprotperf_known
	! grep -q '^kprotperf_known' /proc/modules
	echo $?
}

# The kernel removes the probes when the module is unloaded.
act_reload() {
	echo 'plain 100' >$control/run
	rmmod kprotperf_known
	insmod "$(cat module.txt)"
	echo 'plain 100' >$control/run
}

kprobes=/sys/kernel/debug/kprobes/enabled

act_kprobes() {
	"$acts" zero-reads 10
	echo 0 >$kprobes
	echo 1 >$kprobes
}

act_kprobes_off_in_second() {
	echo >>runs.txt
	[ "$(wc -l <runs.txt)" != 2 ] || echo 0 >$kprobes
	"$acts" zero-reads 10
}

act_ftrace() {
	"$acts" zero-reads 10
	sysctl -qw kernel.ftrace_enabled=0
}

# Call guest_lost last in its guest: remains of fentry keep Linux 6.1 from switching ftrace on again.
guest_lost() {
	local act=(-- bash "$self" --guest)
	insmod "$(cat module.txt)"
	record lost-reload --freq=0 --attach=kprobe --func known_plain "${act[@]}" act_reload
	record lost-kprobes --freq=0 --attach=kprobe --func vfs_read "${act[@]}" act_kprobes
	record lost-blocks --freq=0 --blocks vfs_read "${act[@]}" act_kprobes
	record lost-run --freq=0 --attach=kprobe --repeat=3 --func vfs_read "${act[@]}" act_kprobes_off_in_second
	echo 1 >$kprobes
	record lost-ftrace --freq=0 --func vfs_read "${act[@]}" act_ftrace
}

# Unload a module while it is probed. Under fentry this fails, and the module stays.
guest_unload() {
	local how
	for how in fentry multi kprobe; do
		insmod "$(cat module.txt)"
		record "unload-$how" --freq=0 --attach="$how" --func known_plain -- bash "$self" --guest act_unload
		[ $how != fentry ] || rmmod kprotperf_known
		settle "unload-$how"
	done
}

# limited NAME MIB ARG…: run the recorder and its command in a memory cgroup of MIB.
limited() {
	local name=$1 group=/sys/fs/cgroup/limited
	mkdir $group
	echo "$2M" >$group/memory.max
	shift 2
	(
		echo $BASHPID >$group/cgroup.procs
		record "$name" "$@"
	)
	rmdir $group
	settle "$name"
}

guest_memory() {
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	limited memory-24 24 --freq=0 --func vfs_read -- "$acts" zero-reads 10
	limited memory-80 80 --freq=0 --func vfs_read -- "$acts" zero-reads 1000 faults 30000
}

# kill_resolver: kill the child process that resolves names. The OOM killer would choose it first.
kill_resolver() {
	local child
	child=$(pgrep -P "$(pgrep -o -f '^[^ ]*kprotperf record -o orphan')" kprotperf) &&
		grep -q '^1000$' "/proc/$child/oom_score_adj" && kill -KILL "$child"
}

guest_names() {
	unset KPROTPERF_RESOLVE_LATER
	keep cut "$kprotperf" record -o cut.data --freq=997 --vmlinux cut.txt -R shuffle_freelist -- \
		sh -c "'$acts' forks 10; truncate -s 4096 cut.txt cut.txt.kprotperf-index"
	settle cut
	KPROTPERF_CACHE=$PWD/nowhere keep orphan "$kprotperf" record -o orphan.data --freq=0 --vmlinux orphan.txt \
		--func vfs_read -- "$acts" zero-reads 1000 &
	await kill_resolver
	wait
	settle orphan
}

# Another tool adds and removes a kprobe while the command runs.
act_trace() {
	local events=/sys/kernel/tracing/kprobe_events
	echo 'p:visitor vfs_write' >$events
	echo 1 >/sys/kernel/tracing/events/kprobes/visitor/enable
	"$acts" zero-reads 10
	echo 0 >/sys/kernel/tracing/events/kprobes/visitor/enable
	echo >$events
}

# Two recorders and two other tools probe the same function.
guest_beside() {
	local others
	bpftrace -e 'kprobe:vfs_read { @ = count(); }' >bpftrace.out 2>&1 &
	others=$!
	perf record -q -a -e cpu-clock -F 99 -o perf.data sleep 1000 >perf.out 2>&1 &
	others+=" $!"
	await grep -q Attaching bpftrace.out
	record beside-kprobe --freq=99 --attach=kprobe --func vfs_read -- "$acts" zero-reads 20000 &
	record beside-fentry --freq=99 --func vfs_read -- "$acts" zero-reads 20000
	wait $!
	# shellcheck disable=SC2086 # both
	kill -INT $others
	wait
	settle beside-fentry
	record visited --freq=0 --func vfs_read -- bash "$self" --guest act_trace
}

guest_main() {
	bpftool prog show >/dev/null
	around >before.txt
	record fast --freq=10000 --func vfs_read -- "$acts" zero-reads 20000
	settle fast
	guest_unload
	guest_memory
	guest_names
	guest_beside
	guest_lost
}

# Probe all functions that can be probed, while acts does many kinds of work.
guest_long() {
	bpftool prog show >/dev/null
	around >before.txt
	record thousands --freq=997 --func '[a-z]*' -- "$acts" hammer 20 forks 100 threads 100 sleepers 100 \
		blocked-reads 20 vforks 20 spawns 20 faults 1000 files 50 killed-asleep 20 all-syscalls 10
	settle thousands
}

side "$@"
need hardened
need_module hardened
vmlinux=$("$lab" path hardened)/vmlinux
cp "$vmlinux" cut.txt
cp "$vmlinux.kprotperf-index" cut.txt.kprotperf-index
ln -s "$vmlinux" orphan.txt # without an index beside it
boot hardened guest_main
is 'the OOM killer came once' "$(grep -c 'invoked oom-killer' dmesg.txt)" 1
sed -i '/invoked oom-killer/,/Killed process/d' dmesg.txt
clean_dmesg

# harmless NAME…: check that each recording left kernel and folder as before.
harmless() {
	local name
	for name in "$@"; do
		equal "$name: kernel and folder are as before" "$(cat "$name.around")" "$(cat before.txt)"
	done
}

harmless fast unload-{fentry,multi,kprobe} memory-{24,80} cut orphan beside-fentry
for name in fast unload-{fentry,multi,kprobe} cut orphan beside-{fentry,kprobe}; do
	is "$name: recorded, the command ended well" "$(cat "$name.status")" 0
done
for name in fast unload-{fentry,multi,kprobe} memory-80 cut orphan beside-{fentry,kprobe}; do
	balanced "$name" "$name"
	equal "$name: nothing is lost" "$(lost "$name")" nothing
done
for name in fast beside-{fentry,kprobe}; do
	holds "$name: all calls were counted" "$(calls "$name" vfs_read read) >= 20000"
	equal "$name: as often as the system call" "$(calls "$name" vfs_read read)" "$(syscalls "$name" read)"
done
holds '10 kHz: samples are taken' "$(json fast '.samples.received') >
	$(json fast '.costs.oncpu / .samples.period')"
for name in beside-{fentry,kprobe}; do
	like "$name: others trace it, which is said" "$(cat "$name.err")" "other tools trace this kernel.*vfs_read"
	like "$name: and in the file" "$(json "$name" '.environment["machine.tracers"]')" '^[0-9]+ functions? \(vfs_read'
done
equal 'traced by others for a moment: in the file too' "$(json visited '.environment["machine.tracers"]')" '1 function (vfs_write)'
equal 'traced by others for a moment: nothing is lost' "$(lost visited)" nothing
equal 'what is traced by nobody else says so' "$(json fast '.environment["machine.tracers"] // "nobody"')" nobody
holds "others' tools beside: they count too" \
	"$(sed -n 's/^@: //p' bpftrace.out) >= $(calls beside-kprobe vfs_read) + $(calls beside-fentry vfs_read)"

for how in fentry multi kprobe; do
	equal "unloaded under $how: calls until then are counted" "$(calls "unload-$how" known_plain)" 1000
done
is 'unloaded under fentry: it stays, under the others it goes' "$(cat unload-{fentry,multi,kprobe}.out | xargs)" '1 0 0'

for name in lost-{reload,kprobes,ftrace}; do
	is "$name: recorded" "$(cat "$name.status")" 0
	like "$name: a warning" "$(cat "$name.err")" "warning: .* removed or switched off while the command ran.*not counted"
	equal "$name: calls are not known, and not 0" "$(json "$name" '[.functions[].calls] == [null]')" true
	holds "$name: probes were lost" "$(loss "$name" probes_lost) >= 1"
	balanced "$name" "$name"
done
like 'ftrace switched off: the switch is named' "$(cat lost-ftrace.err)" 'kernel\.ftrace_enabled'
equal 'ftrace switched off: page faults are not counted' "$(json lost-ftrace '[.syscalls[] | select(.name == "[page_fault]")] | length')" 0
holds 'kprobes switched off for a moment: counts of blocks are not known' "$(loss lost-blocks probes_lost) >= 1 and
	$(json lost-blocks '[.blocks[] | select(.executions == null)] | length') > 0"
equal 'probes lost in a later run: those before it are kept' "$(json lost-run '.runs | length')" 1
equal 'probes lost in a later run: complete' "$(lost lost-run)" nothing
holds 'probes lost in a later run: with its calls' "$(calls lost-run vfs_read read) >= 10"

is 'no memory for programs: status' "$(cat memory-24.status)" 1
one_line 'no memory for programs: one line says what limits it' memory-24.err '.*Cannot allocate memory.*memory\.max'
is 'no memory for the command: its status' "$(cat memory-80.status)" 137
holds 'no memory for the command: what was measured until then is kept' "$(calls memory-80 vfs_read read) >= 1000"
like 'debug symbols that are cut off: a warning' "$(cat cut.err)" '^kprotperf: warning: cut\.txt.* was truncated while being read'
holds 'debug symbols that are cut off: the calls are there' "$(syscalls cut clone) >= 10"
like 'names that cannot be looked up: a warning' "$(cat orphan.err)" \
	'^kprotperf: warning: .* could not be looked up: the helper process was killed by signal 9 .*; run kprotperf resolve to try again'
holds 'names that cannot be looked up: the calls are there' "$(calls orphan vfs_read read) >= 1000"

if [ "${LONG-}" ]; then
	boot hardened guest_long --timeout 1800
	clean_dmesg
	harmless thousands
	balanced thousands thousands
	is 'thousands of functions: the command ended well' "$(cat thousands.status)" 0
	holds 'thousands of functions: so many are called' "$(json thousands '[.functions[].name] | unique | length') > 1000"
fi

done_testing
