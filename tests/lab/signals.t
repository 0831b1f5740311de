#!/bin/bash
# However the lab ends, no process, mount or temporary file remains.

# shellcheck disable=SC2016,SC2154 # text for guests; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
need hardened

# Look only at this test's files and processes of the lab: another lab may be at work on this machine. So use a cache of our
# own, with the kernel linked into it.
export KPROTPERF_LAB=$scratch/cache
mkdir -p cache/kernels work
ln -s "$(KPROTPERF_LAB=$cache "$lab" path hardened)" cache/kernels/
cp "$cache/accel" cache/ 2>/dev/null
cd work || exit 1

leftovers() {
	ls -A "$KPROTPERF_LAB/runs" 2>/dev/null
	pgrep -af -- "$KPROTPERF_LAB" | grep -v pgrep
	ls -A "$scratch/work"
}
mounts=$(cat /proc/self/mountinfo)

# start: start the lab in a process group of its own, with INT and HUP enabled as in a terminal's foreground job (bash makes
# background jobs ignore INT, nohup makes all ignore HUP).
start() {
	perl -e 'setpgrp(0, 0); $SIG{INT} = $SIG{HUP} = "DEFAULT"; exec @ARGV' \
		"$lab" run --timeout 1800 -- sh -c 'echo up; while :; do :; done' \
		>"$scratch/started" 2>"$scratch/said" &
	pid=$!
	for _ in $(seq 6000); do
		[ -s "$scratch/started" ] && return
		sleep 0.1
	done
}

for signal in INT HUP; do
	start
	ok "the guest is up before SIG$signal" test -s "$scratch/started"
	kill "-$signal" -- "-$pid"
	wait "$pid"
	is "after SIG$signal the status says so" "$? $(cat "$scratch/said")" "$((128 + $(kill -l "$signal"))) "
	is "and nothing is left" "$(leftovers)" ''
done

start
kill -TERM "$pid"
wait "$pid"
is 'after SIGTERM to the lab alone the status says so' "$? $(cat "$scratch/said")" '143 '
is 'and nothing is left' "$(leftovers)" ''

start
kill -KILL "$pid"
{ wait "$pid"; } 2>/dev/null
for _ in $(seq 3000); do
	[ -z "$(pgrep -f -- "$KPROTPERF_LAB/runs" | head -n 1)" ] && break
	sleep 0.1
done
is 'after SIGKILL no process is left' "$(pgrep -af -- "$KPROTPERF_LAB/runs" | grep -v pgrep)" ''
for i in $(seq 30); do
	: >"$KPROTPERF_LAB/logs/console-2000-$i.log"
done
mkdir "$KPROTPERF_LAB/runs/running"
: >"$KPROTPERF_LAB/logs/console-1999-01.running.log"
"$lab" run -- true
ok 'the log of a guest that runs is kept, however old' test -e "$KPROTPERF_LAB/logs/console-1999-01.running.log"
rm -r "$KPROTPERF_LAB"/{runs/running,logs/console-1999-01.running.log}
is 'and the next run removes the rest' "$(leftovers)" ''
ok 'console logs do not pile up' test "$(find "$KPROTPERF_LAB/logs" -name 'console-*' | wc -l)" -le 20

"$lab" run -- sh -c 'echo c >/proc/sysrq-trigger' 2>/dev/null
"$lab" run --timeout 2 -- true 2>/dev/null
is 'nothing is left after a panic and a hang' "$(leftovers)" ''
is 'mounts are as before' "$(cat /proc/self/mountinfo)" "$mounts"

done_testing
