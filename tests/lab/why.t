#!/bin/bash
# lab why finds each cost that planted.patch adds, without a hint: its function, line, kind and size. It names no other cause.

# shellcheck disable=SC2154,SC2016 # names from lib.sh and tap.sh; perl's variables
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
need baseline
export KPROTPERF=$kprotperf

# Make each system call 200 times. The patch adds another cost to each. No call reads from the host: that time varies.
cat >calls.pl <<'TEXT'
my ($name, $path, $word, $buf) = ("abc", "/dev/null", pack("L", 0), "");
my ($on, $off, $info, $groups) = (pack("Q", 1 << 9), pack("Q", 0), "\0" x 200, pack("L*", 1 .. 32));
my $page = "\0" x 4096;
open(my $null, "<", "/dev/null");
for (1 .. 200) {
	syscall(157, 15, $name);
	syscall(140, 0, 0);
	syscall(116, 32, $groups);
	syscall(202, $word, 129, 1);
	syscall(21, $path, 4);
	sysread($null, $buf, 1);
	syscall(14, 2, $on, 0, 8);
	syscall(14, 2, $off, 0, 8);
	syscall(121, 0);
	syscall(99, $info);
	syscall(79, $page, $_ % 2 ? 4096 : 1000);
}
# These system calls queue work for later. They run last, because their work frees memory, which changes the allocations of later
# calls. Each times() wakes a worker, so its change is in another task.
for (1 .. 200) {
	syscall(95, 18);
	syscall(100, 0) unless $_ % 10;
	syscall(110);
	syscall(186);
	open(my $closed, "<", "/dev/null");
}
select(undef, undef, undef, 0.3);
# The patch adds 500 instructions to each mmap(), which takes 230,000 for its pages.
syscall(11, syscall(9, 0, 1 << 20, 3, 0x8022, -1, 0), 1 << 20) for 1 .. 40;
TEXT
# Make three boots: in 2 of 16 boots setgroups takes 11,000 of 499,000 instructions more. Two boots are too few to estimate such a
# variation.
try "$lab" why --context --boots 3 --patch "$repo/tests/lab/planted.patch" -- perl calls.pl
is 'lab why builds, boots, counts, checks and answers' "$status" 0
[ "$status" = 0 ] || echo "#   ${err//$'\n'/$'\n#   '}"
say() { tr '\n' ' ' <<<"$1" | sed 's/  */ /g'; }
like 'the first sentences have the whole, and its largest part, where and why' "$(say "$out")" \
	'^perl takes [0-9.]+ % more CPU time \(\+(1,[6-9]|2,[0-3])[0-9]{2},[0-9]{3} instructions per run, .* 3 boots per side\)\. 2[0-9] % of it is in groups_from_user \(inlined into __do_sys_setgroups, via __x64_sys_setgroups\), .* in a loop with 64 iterations per call instead of 32, while i != \(count \* 2\), and calls make_kgid .* 12,800 times per run instead of 6,400.*; all of this in setgroups \(\+1[89]\.[0-9]+ %\); planted\.patch changes kernel/groups\.c:61'
like 'and what is queued for later' "$(say "$out")" 'Not included: .*umask \[rcu\] \(RCU callbacks queued by umask, \+4[0-9]{2},[0-9]{3} instructions per run\)'
# __do_sys_setgroups cannot be probed. Probed times include interrupts, so a difference up to 10 % counts as agreement.
like 'probes say the same' "$(say "$out")" 'Probes agree \(record --func=__x64_sys_setgroups\): \+2,[0-9]{3} instructions per call of setgroups'

like 'with the same values' "$(say "$out")" '__x64_sys_setgroups takes \+2,[0-9]{3} instructions per call: \+2,[0-9]{3} at equal captured values and '

# Explain all contexts in one run, because reading two exact recordings takes seconds.
contexts=(prctl getpriority futex access read rt_sigprocmask getcwd sysinfo exit_group getpgid mmap 'umask [rcu]' 'gettid [softirq]'
	'times [workqueue]' 'close [task work]')
"$kprotperf" why --format=json --patch "$repo/tests/lab/planted.patch" "${contexts[@]/#/--context=}" baseline.data hardened.data >why.json
is 'each context is explained' "$(jq -r .of why.json)" "$(printf '%s\n' "${contexts[@]}")"
# answer CONTEXT: print lab why's answer for CONTEXT.
answer() {
	say "$(jq -r --arg of "$1" 'select(.of == $of).answer' why.json)"
}

# per_call CONTEXT FUNCTION: print how much more FUNCTION takes for each call of CONTEXT, as "+1000".
per_call() {
	jq -r --arg of "$1" --arg f "$2" 'select(.of == $of) | ([.contexts[] | select(.name == $of).hardened_calls][0]) as $calls |
		[.causes[] | select(.name == $f).delta_total] | add / $calls | round | if . > 0 then "+\(.)" else . end' why.json
}

# found CONTEXT FUNCTION WHAT PER-CALL [OF]: check that the answer for CONTEXT names FUNCTION, WHAT happens there, and PER-CALL,
# the change per call that the patch adds. If other variation between two boots hides the context's change, the answer begins in
# the second form, and FUNCTION takes PER-CALL.
found() {
	local in="in $2( \\((inlined into|via) [^)]*\\))?[ ,].*$3" per="$4 instructions per call" context=${1//[/\\[}
	like "$1: $2 ${3//\\/}" "$(answer "$1") [$(per_call "$1" "$2")]" "^$context (is [0-9.]+ % (slower|faster) \\(${5-}$per.* ${share-(9[5-9]|10[0-5])} % of it is $in|shows no significant change .* A significant change is $in.* \\[${4//,/}\\]$)"
}
found prctl __set_task_comm 'executes additional code at fs/exec.c:1236' '\+1,000'
found getpriority __do_sys_getpriority 'executes additional code at kernel/sys.c:292, a loop with 64 iterations per call' '\+1[23][0-9]'
found futex futex_wake 'calls [a-z_]+ .*on the hardened side only' '\+44'
# In 4 of 12 boots the lookup of /dev/null takes 14,000 of 101,000 instructions more.
share='(8[4-9]|9[0-9]|10[0-9]|11[0-6])' found access do_faccessat 'calls inode_permission .* 800 times per run instead of 200' '\+[45][0-9][0-9]'
# Perl also reads a few files of the host. With a load of 10 on two CPUs this once took 9,000 instructions more (share: 94 %).
share='(8[89]|9[0-9]|10[0-9]|11[0-2])' found read read_null 'executes additional code at drivers/char/mem.c:450' '\+[67][0-9][0-9]'
found rt_sigprocmask __set_current_blocked 'executes additional code at kernel/signal.c:3077' '\+90[0-9]'
found getcwd __do_sys_getcwd 'calls prepend_path 300 times per run instead of 200, also at fs/d_path.c:432: .* calls prepend_path where size > 2000' '\+[0-9]+'
found sysinfo do_sysinfo 'no longer calls si_swapinfo' '-3[0-9]'
like 'exit_group, which does not return: exit_mm' "$(answer exit_group)" '(is in|a change in) exit_mm \(inlined into do_exit, via __se_sys_exit_group, __do_sys_exit_group and do_group_exit\), .* executes additional code at kernel/exit.c:546: \+60,000 '
like 'what is little of its context, and certain: vm_mmap_pgoff' "$(answer mmap)" '^mmap (shows no significant change .* A significant change|is 0\.[0-4][0-9] % slower .* % of it) is in vm_mmap_pgoff .* executes additional code at mm/util.c:5[0-9]+: \+[0-9,]+ instructions per run; planted.patch changes mm/util.c:5[0-9]+\.'
is 'with its size' "$(jq -r 'select(.of == "mmap").causes[0] | .name == "vm_mmap_pgoff" and .delta_total >= 495 * .hardened_calls and
	.delta_total <= 505 * .hardened_calls' why.json)" true
like 'a function that is not inlined any more is no cause' "$(answer getpgid)" '^No significant change: getpgid '

# Check code that runs 200 times. Queued work is tested below.
is 'nothing else is accused' "$(jq -r '[.contexts[] | select(.significant and (.name | IN("setgroups", "prctl", "getpriority", "futex",
	"access", "read", "rt_sigprocmask", "sysinfo", "getpgid", "exit_group", "getcwd"))) | .cause] | unique | join(" ")' why.json | head -n 1)" \
	'__do_sys_getcwd __do_sys_getpriority __set_current_blocked __set_task_comm do_faccessat do_sysinfo exit_mm futex_wake groups_from_user read_null'

# --- work queued by system calls ---------------------------------------------------

# queued CONTEXT FUNCTION INSNS: check that FUNCTION's calls, one per syscall, are all in CONTEXT and take INSNS instructions.
"$kprotperf" report --format=json --section=functions,syscalls,samples hardened.data >hardened.json
queued() {
	is "$1: all calls of $2" "$(jq -r --arg f "$2" '[.functions[] | select(.name == $f and .syscall != "*") | "\(.syscall) \(.calls)"] | join(", ")' hardened.json)" \
		"$1 $(jq --arg s "${1%% *}" '.syscalls[] | select(.name == $s).calls' hardened.json)"
	# Measured in three comparisons: 2 instructions more per call.
	is "$1: with $3 instructions" "$(jq --arg c "$1" --arg f "$2" --argjson n "$3" '.functions[] | select(.name == $f and .syscall == $c) |
		.self_total / .calls | . >= $n and . <= $n * 1.05' hardened.json)" true
}
queued 'umask [rcu]' planted_rcu 2000
queued 'times [workqueue]' planted_work 1500
queued 'gettid [softirq]' planted_tasklet 1800
# Leave out the kernel's [worker_thread]: if the disk stalls, it may begin a batch of kfree_rcu too (once in two runs).
is 'kfree_rcu: what frees is work of who began the batch' "$(jq -r '[.functions[] | select(.name == "kfree_rcu_work") | .syscall | select(. != "[worker_thread]")] | unique | join(" ")' hardened.json)" \
	'* getppid [workqueue]'
is 'each instruction is in one context' "$(jq '.samples.workload == .samples.expected' hardened.json)" true
says() {
	like "$1, in words" "$(answer "$1")" "^${1//[/\\[} $2"
}
says 'umask [rcu]' 'occurs on the hardened side only, [0-9.]+ times per run \(RCU callbacks queued by umask, .* calls planted_rcu '
says 'gettid [softirq]' 'occurs on the hardened side only, [0-9.]+ times per run \(soft interrupts raised by gettid, .* nearly all of that in planted_tasklet via tasklet_action'
says 'times [workqueue]' 'occurs on the hardened side only, [0-9.]+ times per run \(work queued by times, .* calls planted_work'
found 'close [task work]' ____fput 'executes additional code at fs/file_table.c:348' '\+[45][0-9][0-9]' 'task work queued by close, '

# --- a kernel compared with itself ------------------------------------------------

planted=(--patch "$repo/tests/lab/planted.patch" baseline.data hardened.data)
is 'diff begins as why does' "$("$kprotperf" diff "${planted[@]}" | sed '/^$/q')" \
	"$("$kprotperf" why "${planted[@]}" | sed '/^$/q')"

"$kprotperf" why --format=json baseline.data baseline.data >same.json
is 'a recording and itself: nothing' "$(jq -r '[.contexts[] | select(.significant)] | length' same.json)" 0
like 'and it says so' "$(jq -r .answer same.json)" ' takes the same CPU time'

# --- recordings by probes, and what cannot be explained ---------------------------

try "$kprotperf" why baseline-probed.data hardened-probed.data
is 'recordings by probes are explained by what was timed' "$status" 0
like 'the whole first' "$(say "$out")" '^perl takes [0-9.]+ % more CPU time \(.*; 3 boots per side\)\. .* % of it is in __x64_sys_setgroups '
try "$kprotperf" why --context=setgroups baseline-probed.data hardened-probed.data
like 'or one context' "$status:$(say "$out")" '^0:setgroups is [0-9.]+ % slower .* % of it is in __x64_sys_setgroups '
try "$kprotperf" why --plan=plan baseline-probed.data hardened-probed.data
like 'a plan takes exact recordings' "$status:$err" '^1:kprotperf: baseline-probed\.data is not an exact recording .*--plan'
try "$kprotperf" why baseline.data hardened-probed.data
like 'recordings of two kinds are refused' "$status:$err" '^1:kprotperf: .* are not recordings of one kind'
"$build/tests/make_fixture" many small exact 10
try "$kprotperf" why --context nosuch small small
is 'a context that is not there' "$status:$err" "1:kprotperf: --context: neither side has 'nosuch'"
try "$kprotperf" why --context a --context b --plan=plan small small
like 'a plan is for one' "$status:$err" '^2:kprotperf why: --plan and --format=csv are for one --context'
try "$kprotperf" why --plan=plan baseline.data hardened.data
is 'a plan names functions to time' "$(head -n 1 plan)" '--func=@(__do_sys_setgroups|__x64_sys_setgroups)'
echo --fuc=x >plan
try "$kprotperf" record --plan=plan -- true
like 'a plan that is none' "$err" 'invalid line in plan: --fuc=x'

done_testing
