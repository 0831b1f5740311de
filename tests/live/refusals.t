#!/bin/bash
# If record cannot do something, it says why in one line, and leaves nothing behind. It records a failing command like any other.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# refuse NAME ARG...: try to record, and note the files and probes that remain. None may remain.
refuse() {
	local name=$1
	shift
	record "$name" "$@"
	left "$name"
}

# left NAME: note the files, and the traces in the kernel, that remain.
left() {
	compgen -G "$1.data*" >"$1.ls"
	traces >"$1.traces"
}

guest_main() {
	bpftool prog show >/dev/null
	traces >before.txt
	chmod 777 .
	keep nobody setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$kprotperf" record -o nobody.data -- true
	left nobody
	local few=-all,+bpf,+perfmon,+sys_admin,+syslog,+dac_read_search
	keep few setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$few --ambient-caps=$few \
		"$kprotperf" record -o few.data --blocks copy_page_range -- true
	left few

	refuse program -- /no/such/program
	refuse path-program -- no-such-program-in-path
	refuse folder -- /etc
	refuse not-executable -- /etc/passwd
	printf '\x7fELF garbage' >garbage
	chmod +x garbage
	refuse garbage -- ./garbage
	refuse function --func no_such_function -- true
	refuse misspelt --func alocate_slab -- true
	refuse glob --func 'zz*' -- true
	refuse namesake --attach=fentry --func mm_init -- true
	refuse thunk --func __x86_return_thunk -- true
	refuse probed-through --func bpf_ktime_get_ns -- true
	refuse blacklisted --attach=kprobe --func "$(blacklisted)" -- true
	refuse fentry-arguments --attach=fentry --func do_mmap -- true
	refuse no-location --attach=multi --func iov_iter_zero -- true
	refuse unsafe-glob --func 'bpf_ktime_*' -- true
	grep -m1 -oE ' [a-z_]+\.cold$' /proc/kallsyms | tr -d ' ' >cold.txt
	refuse cold --func "$(cat cold.txt)" -- true
	refuse one-of-two --func allocate_slab --func no_such_function -- true

	# With ftrace switched off, the kernel would not hit these probes.
	local kprobes=/sys/kernel/debug/kprobes/enabled how
	sysctl -qw kernel.ftrace_enabled=0
	for how in auto multi kprobe; do
		refuse "ftrace-off-$how" --attach=$how --func allocate_slab -- true
	done
	keep doctor-ftrace "$kprotperf" doctor
	record no-faults --freq=0 -- true
	sysctl -qw kernel.ftrace_enabled=1
	echo 0 >$kprobes
	refuse kprobes-off --attach=kprobe --func allocate_slab -- true
	refuse blocks-off --blocks allocate_slab -- true
	keep doctor-kprobes "$kprotperf" doctor
	# record does not know every switch of the kernel: hide that kprobes are off.
	echo 1 >on
	mount --bind on $kprobes
	refuse silent --attach=kprobe --func allocate_slab -- true
	umount $kprobes
	echo 1 >$kprobes
	record switched-on --func allocate_slab --func new_slab -- true

	mkdir closed full
	keep output "$kprotperf" record -o no/such/folder/output.data -- touch ran
	mount -t tmpfs -o size=4k tmpfs full
	head -c 4096 /dev/zero >full/zeros 2>/dev/null
	keep full env TMPDIR="$PWD/closed" "$kprotperf" record -o full/full.data -- true
	ls -A full >full.ls
	umount full

	# The command must not inherit record's descriptors. Hide that this kernel compiles BPF programs, as all lab kernels do.
	echo 0 >jit
	mount --bind jit /proc/sys/net/core/bpf_jit_enable
	record interpreted -- ls /proc/self/fd
	umount /proc/sys/net/core/bpf_jit_enable
	record exit3 -- sh -c 'exit 3'
	record segv -- "$acts" segv
	record suicide -- "$acts" suicide 10
	# shellcheck disable=SC2016 # for that shell
	record fails-later --repeat 3 -- sh -c 'echo >>runs; [ "$(wc -l <runs)" -ne 2 ]'
	# An existing file stays unchanged if recording fails.
	echo precious >kept.data
	record kept --func no_such_function -- true
	traces >after.txt
	patched
}

# A livepatch (tests/livepatch) has replaced this function, so its code is no longer executed.
patched() {
	insmod "$(cat livepatch.txt)" || return
	await grep -qx 0 /sys/kernel/livepatch/*/transition
	local how
	for how in kprobe multi; do
		refuse "patched-$how" --attach=$how --func __set_task_comm -- true
	done
	refuse patched-blocks --blocks __set_task_comm -- true
	sed -i '/enabled_functions __set_task_comm (1) /d' patched-*.traces # the livepatch's own
	keep patched-range "$kprotperf" record -F 0 -o patched-range.data --range _test_bit@__set_task_comm -- true
	record patched -F 0 --func __set_task_comm -- "$workloads/set-name" -n 100
}

# This guest may have 64 CPUs and has little memory: probing all functions would take too much of it.
guest_large() {
	refuse large --attach=multi --func '*' -- true
	record large-few --attach=multi --func 'vfs_w*' -- true
	# shellcheck disable=SC2016 # for that shell
	# Samples come at timer ticks only. Missing samples are counted, also in processes that are shorter than a period.
	record short-lived -- sh -c 'i=0; while [ $i -lt 200 ]; do i=$((i + 1)); /bin/true; done'
}

# blacklisted: print a function that only the kernel's own blacklist keeps record from probing.
blacklisted() {
	"$kprotperf" list 'sysvec_*' | awk '/kprobe blacklist/ { print $1; exit }'
}

side "$@"
need hardened
"$lab" module --kernel hardened "$repo/tests/livepatch" >livepatch.txt || bail 'tests/livepatch does not build'
boot hardened guest_main
clean_dmesg
boot hardened guest_large --append 'possible_cpus=64 mem=640M'
clean_dmesg

while read -r name expected regex; do
	is "$name: status" "$(cat "$name.status")" "$expected"
	one_line "$name: one line says why" "$name.err" "$regex"
	is "$name: nothing on stdout" "$(cat "$name.out")" ''
	is "$name: no file" "$(cat "$name.ls")" ''
	equal "$name: nothing remains attached" "$(cat "$name.traces")" "$(cat before.txt)"
done <<END
nobody 1 .*(root|CAP_BPF)
few 1 .*copy_page_range.*CAP_SYS_RAWIO
program 127 .*/no/such/program.*no such program
path-program 127 .*no-such-program-in-path.*no such program
folder 126 .*/etc.*not an executable
not-executable 126 .*/etc/passwd.*not an executable
garbage 1 .*garbage.*[Ee]xec format
function 1 no function 'no_such_function' in this kernel
misspelt 1 no function 'alocate_slab'.*did you mean .*allocate_slab
glob 1 no function matches 'zz\*'
namesake 1 'mm_init' cannot be measured: several functions have this name, and fentry cannot distinguish them$
thunk 1 '__x86_return_thunk' cannot be measured: .*thunk
probed-through 1 'bpf_ktime_get_ns' cannot be measured: .*probe
blacklisted 1 '.*' cannot be measured: it is on the kernel's kprobe blacklist
fentry-arguments 1 'do_mmap' cannot be measured: .*arguments
no-location 1 'iov_iter_zero' cannot be measured: .*no ftrace location
unsafe-glob 1 'bpf_ktime_\*' matches [0-9]+ functions, none of which can be measured
cold 1 '.*\.cold' cannot be measured: .*split off
one-of-two 1 no function 'no_such_function'
ftrace-off-auto 1 'allocate_slab' cannot be measured: .*sysctl -w kernel\.ftrace_enabled=1
ftrace-off-multi 1 'allocate_slab' cannot be measured: .*sysctl -w kernel\.ftrace_enabled=1
ftrace-off-kprobe 1 'allocate_slab' cannot be measured: .*sysctl -w kernel\.ftrace_enabled=1
kprobes-off 1 'allocate_slab' cannot be measured: kprobes are switched off .*/sys/kernel/debug/kprobes/enabled
blocks-off 1 cannot count blocks on this kernel: .*kprobes are switched off
silent 1 kprobe probes can be attached, but the kernel does not run them
patched-kprobe 1 '__set_task_comm' cannot be measured: a livepatch .* has replaced it
patched-multi 1 '__set_task_comm' cannot be measured: a livepatch .* has replaced it
patched-blocks 1 cannot count the blocks of '__set_task_comm': a livepatch .* has replaced it
large 1 probes and maps for [0-9]{5} functions and 64 CPUs would take about [0-9]{3} MiB .* free: time fewer functions
END
like 'an inlined body of what a livepatch has replaced: not 0 calls, but not timed' "$(cat patched-range.err)" \
	"note: 1 of 1 inlined body cannot be timed, .*'_test_bit' in '__set_task_comm': a livepatch .* has replaced it"
# The livepatch's function is empty. Kprobes would also time the 224 instructions that lead to it, in each call. Compare the
# median: an interrupt counts in the call that it hits. One of 6,000 instructions made the mean of 100 calls 60.
holds 'what a livepatch has put in place is timed by fentry' "$(function_row patched __set_task_comm p50 prctl) < 10 and
	$(calls patched __set_task_comm prctl) == 100"
is 'doctor names what is switched off: ftrace' "$(grep -c '^  no .*sysctl -w kernel.ftrace_enabled=1' doctor-ftrace.out)" 3
is 'doctor names what is switched off: kprobes' "$(grep '^  no ' doctor-kprobes.out | grep -c kprobes/enabled)" 1
equal 'without ftrace page faults are not counted' "$(json no-faults '[.syscalls[] | select(.name == "[page_fault]")] | length')" 0
like 'which is said' "$("$kprotperf" report no-faults.data 2>&1)" 'page faults are not counted'
is 'what is switched on again is measured' "$(cat switched-on.status)" 0
is 'few functions are no matter there' "$(cat large-few.status)" 0
# Measured: 31 and 39 of 182 samples came in two such guests, 166 of 183 in a guest with a precise timer.
holds 'short processes: samples that did not come are a loss' \
	"$(json short-lived '.losses.samples_not_received') > $(json short-lived .samples.expected) / 2"
equal 'short processes: the others came' "$(json short-lived '.losses.samples_not_received + .samples.received')" \
	"$(json short-lived .samples.expected)"
like 'an inlined function is not refused, but said to be timed in its inlined bodies' "$(cat switched-on.err)" \
	"^kprotperf: note: 'new_slab' is inlined on this kernel: timing its inlined bodies in .*___slab_alloc \(mm/slub\.c:[0-9]+\)"
like 'there was a .cold function to refuse' "$(cat cold.txt)" '\.cold$'
like 'BPF programs that are not compiled are no reason to refuse, but said' "$(cat interpreted.err)" \
	'note: the kernel interprets BPF programs, .*: sysctl -w net\.core\.bpf_jit_enable=1'
is 'those that are, are not' "$(grep -c interprets switched-on.err)" 0
is 'an output that cannot be written: nothing is run' "$(ls ran 2>/dev/null)" ''
is 'an output that cannot be written: status' "$(cat output.status)" 1
one_line 'an output that cannot be written: one line' output.err '.*no/such/folder.*No such'
is 'a full disk: status' "$(cat full.status)" 1
like 'a full disk: says so' "$(cat full.err)" '^kprotperf: .*No space left'
is 'a full disk: nothing left there' "$(cat full.ls)" zeros
cp closed/kprotperf.* aside.data
holds 'a full disk: what was measured is kept elsewhere' "$(syscalls aside execve) >= 1"
like 'a full disk: and says where' "$(cat full.err)" '^kprotperf: note: the recording was saved in .*/closed/kprotperf\.[A-Za-z0-9]+'

while read -r name expected how what; do
	is "$what: status" "$(cat "$name.status")" "$expected"
	is "$what: record says so" "$(grep -c "^kprotperf: warning: the command ${how//_/ }\$" "$name.err")" 1
	is "$what: and report" "$("$kprotperf" report "$name.data" | grep -c "^warning: the command ${how//_/ }\$")" 1
	equal "$what: in the file" "$(json "$name" '.runs[0].status')" "$expected"
	holds "$what: its syscalls too" "$(syscalls "$name" execve) >= 1"
	try "$kprotperf" report --section=syscalls "$name.data"
	is "$what: report works" "$status:$(grep -c '^execve' <<<"$out")" 0:1
done <<'END'
exit3 3 exited_with_status_3 a command that fails
segv 139 was_killed_by_SIGSEGV a command killed by SIGSEGV
suicide 138 was_killed_by_SIGUSR1 a command killed by SIGUSR1
END
is 'a second run that fails: status' "$(cat fails-later.status)" 1
equal 'a second run that fails: the others are made' "$(json fails-later '[.runs[].status] | join(" ")')" '0 1 0'
is 'a file that was there stays where nothing is recorded' "$(cat kept.data)" precious
# ls has the descriptors 0, 1, 2, the one for reports, and one of its own.
is "the command gets no descriptors of ours" "$(wc -l <interpreted.out)" 5
equal 'nothing remains attached' "$(cat after.txt)" "$(cat before.txt)"

# Test this machine, not a guest, if its kernel has neither kprobes nor fentry.
if [ -e /sys/bus/event_source/devices/kprobe/type ]; then
	skip 'no probes on this kernel' 'this kernel has kprobes'
elif [ "$(id -u)" != 0 ]; then
	skip 'no probes on this kernel' 'not root'
else
	try "$kprotperf" record --func allocate_slab -o here.data -- true
	is 'no probes on this kernel: status' "$status" 1
	one_line 'no probes on this kernel: one line' err '.*'
	ok 'no probes on this kernel: no file' test ! -e here.data
	try "$kprotperf" record -o here.data -- true
	if [ "$status" = 0 ]; then
		holds 'syscalls and samples are recorded all the same' "$(syscalls here execve) == 1"
	else
		one_line 'nor BPF: one line' err '.*'
		ok 'nor BPF: no file' test ! -e here.data
	fi
fi

done_testing
