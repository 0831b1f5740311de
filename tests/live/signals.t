#!/bin/bash
# If a signal ends record, the file is written and can be read, the command's status is passed on, and nothing is left behind.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

# signalled NAME SIGNAL whole|alone ARG...: run record in a process group of its own. Send SIGNAL to the whole group or to
# record alone, once the command is ready or, with `attached` set, a second after record -v says what it has attached. Keep
# record's status as a shell gives it.
signalled() {
	local name=$1 signal=$2 whom=$3 pid
	shift 3
	rm -f ready
	# A script's background commands ignore SIGINT. perl restores the default.
	perl -e '$SIG{INT} = "DEFAULT"; setpgrp; exec @ARGV' \
		"$kprotperf" record -o "$name.data" "$@" >"$name.out" 2>"$name.err" &
	pid=$!
	if [ -n "${attached-}" ]; then await grep -q ' page faults by ' "$name.err" && sleep 1; else await test -e ready; fi
	if [ "$whom" = whole ]; then kill "-$signal" -- "-$pid"; else kill "-$signal" "$pid"; fi
	wait "$pid"
	echo $? >"$name.status"
	ls -A >"$name.ls"
}

# thread_of PID: print the number of a thread that is not the first.
thread_of() {
	printf '%s\n' /proc/"$1"/task/* | sed 's|.*/||' | grep -vx "$1"
}

guest_main() {
	bpftool prog show >/dev/null # loads the programs that bpftool itself needs
	traces >before.txt
	signalled int-whole INT whole --func hrtimer_nanosleep -- "$acts" forever
	signalled int-alone INT alone --func hrtimer_nanosleep -- "$acts" forever
	signalled term-whole TERM whole -- "$acts" forever
	signalled term-alone TERM alone --attach=kprobe --func hrtimer_nanosleep -- "$acts" forever
	signalled hup HUP alone -- "$acts" forever
	signalled repeated INT alone --repeat 5 -- "$acts" forever
	# A command that survives the signal ends later, with its own status.
	signalled survivor TERM alone -- "$acts" until-signal
	record limited --duration=1s --func hrtimer_nanosleep -- "$acts" forever
	traces >after.txt

	# The recorded process goes on after record -p has ended.
	rm -f ready
	"$acts" forever &
	local victim=$!
	await test -e ready
	attached=1 signalled pid INT alone -v --func hrtimer_nanosleep -p $victim
	kill -0 $victim && echo alive >victim.txt
	kill -KILL $victim
	# record -p refuses a process that does not exist, one that has exited, and a thread.
	keep no-such-pid "$kprotperf" record -o no-such-pid.data -p 4000000
	perl -e 'exit unless my $child = fork; print "$child\n"; close STDOUT; sleep 60' >zombie.txt &
	victim=$!
	await grep -qs '^State:.Z' "/proc/$(await grep . zombie.txt)/status"
	keep zombie "$kprotperf" record -o zombie.data -p "$(cat zombie.txt)"
	kill -KILL $victim
	"$acts" threads-forever 1 &
	victim=$!
	keep thread "$kprotperf" record -o thread.data -p "$(await thread_of $victim)"
	kill -KILL $victim
	# The process ends by itself, which ends the recording. It sleeps for 5 s, because the recorder takes 1 s to start.
	"$acts" polls 5000 &
	record pid-ends --func hrtimer_nanosleep -p $!
	# In a container the process has another number, and -a also records what runs outside.
	"$acts" forever &
	victim=$!
	# shellcheck disable=SC2016 # for that shell
	keep pid-inside unshare --pid --fork --mount-proc sh -c \
		'"$1" polls 5000 & "$0" record -o pid-inside.data -p $!' "$kprotperf" "$acts"
	keep all-inside unshare --pid --fork --mount-proc \
		"$kprotperf" record -o all-inside.data -a --func hrtimer_nanosleep -- sleep 1
	kill -KILL $victim

	# Run long enough for the recorder to write intermediate results.
	record all-command -a --func hrtimer_nanosleep -- sleep 6
	"$acts" forever &
	victim=$!
	attached=1 signalled all INT alone -v -a --func hrtimer_nanosleep
	kill -KILL $victim

	# SIGKILL ends record, which removes its probes. The command gets no signal and continues.
	rm -f ready
	"$kprotperf" record -o killed.data --attach=kprobe --func hrtimer_nanosleep \
		--func 'vfs_*' -- "$acts" forever >killed.out 2>killed.err &
	victim=$!
	await test -e ready
	sleep 1
	kill -KILL $victim
	wait $victim
	sleep 1
	pkill -KILL -x -f "$acts forever" && echo alive >command.txt
	traces >killed.txt

	# Interrupt record at a system call of its own, in the middle of attaching and while it starts.
	keep early strace -o /dev/null -e trace=perf_event_open -e inject=perf_event_open:signal=SIGINT:when=40 \
		"$kprotperf" record -o early.data --attach=kprobe --func 'vfs_*' --func 'do_*' -- \
		touch early-command-ran
	traces >early-after.txt
	keep start strace -o /dev/null -e trace=bpf -e inject=bpf:signal=SIGINT:when=20 \
		"$kprotperf" record -o early.data -- touch early-command-ran
	ls -A >early.ls
}

side "$@"
need hardened
boot hardened guest_main
clean_dmesg

equal 'nothing remains attached' "$(cat after.txt)" "$(cat before.txt)"
while read -r name expected what; do
	is "$what: status" "$(cat "$name.status")" "$expected"
	ok "$what: the file was written, readable" test "$(json "$name" .schema)" = kprotperf-report/1
	equal "$what: the command's status is in it" "$(json "$name" '.runs[-1].status | tostring')" "$expected"
	like "$what: one summary line" "$(grep 'kprotperf: 1 run' "$name.err")" 'nothing lost|lost'
	is "$what: no other file" "$(grep "^$name\.data" "$name.ls")" "$name.data"
	equal "$what: nothing is lost" "$(lost "$name")" nothing
done <<'END'
int-whole 130 Ctrl-C at a terminal
int-alone 130 SIGINT to record alone
term-whole 143 SIGTERM to all
term-alone 143 SIGTERM to record alone
hup 129 SIGHUP to record alone
survivor 55 SIGTERM to a command that goes on
END
holds 'what was measured until then is there' "$(calls int-whole hrtimer_nanosleep) > 3 and
	$(calls int-alone hrtimer_nanosleep) > 3"
is '--duration ends the command as was asked for: status' "$(cat limited.status)" 0
holds '--duration: after that time' "$(json limited '.runs[0] | if .status == 0 then .wall / 1e9 else 0 end') >= 1"
holds '--duration: what was measured until then is there' "$(calls limited hrtimer_nanosleep) > 3"
equal '--duration: nothing is lost' "$(lost limited)" nothing
is 'the command of no interrupted --repeat is run again' "$(json repeated '.runs | length')" 1
is 'whose status is passed on' "$(cat repeated.status)" 130

is '-p ended by SIGINT: status' "$(cat pid.status)" 0
is '-p ended by SIGINT: its process lives' "$(cat victim.txt)" alive
holds '-p ended by SIGINT: its calls were counted' "$(calls pid hrtimer_nanosleep) > 3"
equal '-p ended by SIGINT: under its syscall' "$(calls pid hrtimer_nanosleep clock_nanosleep)" \
	"$(calls pid hrtimer_nanosleep)"
equal '-p ended by SIGINT: nothing is lost' "$(lost pid)" nothing
like '-p: the page says whose calls, and of how long' "$("$kprotperf" report pid.data)" \
	'^process acts, for [0-9.]+ s: 1 run, kernel '
like '-p: and how many in a second' "$("$kprotperf" report pid.data)" '^FUNCTION +CONTEXT +CALLS +CALLS/S '
holds '-p: which is the elapsed time' "$(json pid '.runs[0].wall') >= 500000000"
is '-p of a process that ends: status' "$(cat pid-ends.status)" 0
holds '-p of a process that ends: its calls were counted' "$(syscalls pid-ends poll) > 100"
is '-p in a pid namespace: status' "$(cat pid-inside.status)" 0
holds '-p in a pid namespace: its calls were counted' "$(syscalls pid-inside poll) > 100"
equal '-p in a pid namespace: no other process is' "$(syscalls pid-inside clock_nanosleep)" 0
is '-a in a pid namespace: status' "$(cat all-inside.status)" 0
holds '-a in a pid namespace: what runs outside was counted' "$(calls all-inside hrtimer_nanosleep) > 3"
one_line '-p of no process' no-such-pid.err 'no process 4000000'
is '-p of no process: status' "$(cat no-such-pid.status)" 1
one_line '-p of one that has exited' zombie.err "process $(cat zombie.txt) has exited: "
is '-p of one that has exited: status' "$(cat zombie.status)" 1
one_line '-p of a thread' thread.err '[0-9]+ is a thread of another process: '
is '-p of a thread: status' "$(cat thread.status)" 1

is '-a with a command: status' "$(cat all-command.status)" 0
holds '-a with a command: its sleep was counted' "$(calls all-command hrtimer_nanosleep) >= 1"
equal '-a with a command: nothing is lost' "$(lost all-command)" nothing
is '-a with a command: what the recorder itself does is not measured' "$(syscalls all-command bpf) $(syscalls all-command exit_group)" '0 1'
# The command sleeps: 199 of 199 samples in the lab are of idle tasks.
holds '-a with a command: idle tasks are measured' \
	"$(json all-command '.samples.workload') > $(json all-command '.runs[0].wall / .samples.period / 2')"
is '-a ended by SIGINT: status' "$(cat all.status)" 0
holds '-a ended by SIGINT: what sleeps was counted' "$(calls all hrtimer_nanosleep) > 3"
equal '-a ended by SIGINT: nothing is lost' "$(lost all)" nothing

is 'killed: its command goes on' "$(cat command.txt)" alive
equal 'killed: its probes are gone' "$(cat killed.txt)" "$(cat before.txt)"

is 'SIGINT while attaching: status' "$(cat early.status)" 130
is 'SIGINT while starting: status' "$(cat start.status)" 130
ok 'SIGINT while attaching: the command does not run' test ! -e early-command-ran
is 'SIGINT while attaching: no file' "$(grep '^early\.data' early.ls)" ''
equal 'SIGINT while attaching: nothing remains attached' "$(cat early-after.txt)" "$(cat before.txt)"

done_testing
