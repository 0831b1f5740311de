#!/bin/bash
# Test record without --func: the command's user, the file's owner, options, and the recording that remains after failures.

# shellcheck disable=SC2016,SC2154 # text for shells; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

if ! "$kprotperf" record -F 0 -o first.data -- true 2>err; then
  skip 'recording here' "$(head -n 1 err)"
  done_testing
  exit
fi

# Kill the recorder by SIGKILL during the run.
"$kprotperf" record -F 0 -o killed.data -- sh -c 'echo $$ >pid; exec sleep 60' 2>err &
pid=$!
for _ in $(seq 300); do
  [ -e killed.data ] && break
  sleep 0.1
done
kill -KILL $pid
wait $pid 2>/dev/null
kill "$(<pid)"
json 'a recorder that is killed leaves what it had counted' \
  '[.syscalls[] | select(.name == "execve")] | length > 0' report --format=json killed.data
json 'and that says so' '[.warnings[] | select(test("the recorder was killed"))] | length == 1' \
  report --format=json killed.data
is 'no other file is left' "$(ls killed.data*)" killed.data

"$kprotperf" record -F 0 -o /dev/stdout -- true 2>err | "$kprotperf" report --section=syscalls /dev/stdin >out
like 'standard output takes it too' "$(<out)" '^execve'

"$kprotperf" record -F 0 -o closed.data -- sh -c 'test ! -e /proc/$$/fd/0 && test ! -e /proc/$$/fd/2' >&- 2>&- <&-
is 'closed descriptors: the command has them closed' $? 0
json 'closed descriptors: nothing went into the file' '.schema == "kprotperf-report/1"' report --format=json closed.data

# limited LIMIT FILE: record into FILE with a limit on the size of files, and without CAP_SYS_RESOURCE. record may then raise the
# limit up to the hard limit only. Remove a warning that only a busy machine causes: probes cost more after the run than before.
mkdir aside
limited() {
  (ulimit "$1" -f 2 && TMPDIR=$PWD/aside KPROTPERF_RESOLVE_LATER=/dev/null exec setpriv --bounding-set=-sys_resource "$kprotperf" record -F 0 -o "$2" -- true) 2>said
  status=$?
  grep -v -e ': note: page faults' -e 'after them: the machine changed' said >err
  rm said
}
for to in limited.data /dev/stdout; do
  limited -S "$to" >redirected
  like "a limit for files, -o $to: one line says so, another where the recording is" "$status:$(<err)" \
    "^1:kprotperf: cannot write $to: File too large .see ulimit -f."$'\n'"kprotperf: note: the recording was saved in .*/aside/kprotperf[^ ]*$"
  json 'all of it' '[.syscalls[] | select(.name == "execve")] | length > 0' report --format=json aside/kprotperf.*
  rm aside/*
  limited -SH "$to" >redirected
  like "one that cannot be lifted, -o $to: one line" "$status:$(wc -l <err):$(<err)" "^1:1:kprotperf: cannot write $to: File too large .see ulimit -f.$"
done
is 'nothing of it is left' "$(echo limited.data* aside/*)" 'limited.data* aside/*'
# If record has too few descriptors, it must not report that the kernel lacks a feature.
(ulimit -n 50 && exec setpriv --bounding-set=-sys_resource "$kprotperf" record -F 0 -o few.data -- true) >out 2>&1
is 'too few descriptors: one line says so' "$?:$(<out)" '1:kprotperf: cannot load BPF tracing programs: Too many open files (see ulimit -n)'
(ulimit -n 50 && exec setpriv --bounding-set=-sys_resource "$kprotperf" doctor) >out 2>&1
like 'doctor says so too' "$(<out)" 'no   BPF tracing programs  +Too many open files \(see ulimit -n\)'
# The limit on file sizes also applies to messages that go to a file.
(ulimit -f 0 && KPROTPERF_RESOLVE_LATER=/dev/null exec setpriv --bounding-set=-sys_resource "$kprotperf" record -F 0 -o limited.data -- true) >said 2>&1
is 'no file can be written: a failure, and no signal' "$?:$(<said)" 1:
(ulimit -f 0 && exec "$kprotperf" record --help) 2>&1 >redirected | cat >err
is 'output that cannot be: one line' "$(<err)" 'kprotperf: cannot write the output: File too large (see ulimit -f)'
rm said
for how in - ''; do
  # shellcheck disable=SC2064 # $how is expanded at once
  (trap "$how" XFSZ && exec "$kprotperf" record -F 0 -o signal.data -- sh -c 'kill -XFSZ $$') 2>err
  echo $?
done >statuses
is 'to a command SIGXFSZ does what it did before' "$(paste -sd, statuses)" 153,0

mkfifo said
{ head -c 1 said; touch gone; } >one &
"$kprotperf" record -v -F 0 -o unread.data -- bash -c \
  'until [ -e gone ]; do sleep 0.1; done; echo none >&"$KPROTPERF_REPORT_FD"' 2>said
wait $!
json 'nobody reads what is said: it is recorded all the same' '[.syscalls[] | select(.name == "execve")] | length > 0' \
  report --format=json unread.data
"$kprotperf" record -F 0 -o pipe.data -- sh -c '{ yes; echo $? >yes; } | true' 2>err
is 'a command has SIGPIPE as it is by default' "$(<yes)" 141

# sleep_calls FILE: print 1 if the recording has calls of clock_nanosleep, otherwise 0.
sleep_calls() {
  "$kprotperf" report --section=syscalls --format=csv "$1" | grep -c '^clock_nanosleep,'
}
napping='while :; do sleep 0.05; done'
run record -F 0 --duration=1 --repeat 2 -o limited.data -- bash -c "$napping"
is '--duration ends each run of a command, as was asked for' "$status" 0
json '--duration: what was measured is kept, and no run failed' \
  '[.runs[] | select(.status == 0 and .wall >= 1e9)] | length == 2' report --format=json limited.data
is '--duration: with calls' "$(sleep_calls limited.data)" 1
bash -c "$napping" &
run record -F 0 --duration=500ms -o limited.data -p $!
is '--duration ends -p' "$status:$(sleep_calls limited.data)" 0:1
run record -v -F 0 --duration=500ms -o limited.data -a
is '--duration ends -a' "$status:$(sleep_calls limited.data)" 0:1
# In nine recordings the cost after the run was 0.91 to 1.29 times the cost before, and 0.38 to 0.51 times if the second
# measurement followed no task.
ok '-a: probes cost as much after the run as before' awk '/syscall probes cost/ { found = $9 > 0.7 * $5 } END { exit !found }' err
is '--duration leaves the process of -p alone' "$(kill $! && echo alive)" alive
usage '--exact counts all syscalls, and times none' record --exact --syscall=read -- true
usage "--duration: '0' is not a time" record --duration=0 -- true
usage "--duration: '5 apples' is not a time" record --duration='5 apples' -- true

run record -F 0 --syscall=read,openat -o some.data -- sh -c 'read x </proc/version'
is '--syscall: no other is measured' \
  "$status:$("$kprotperf" report --section=syscalls --format=csv some.data | sed '1d; s/,.*//' | sort | tr '\n' ' ')" '0:openat read '
json '--syscall: which is said' '[.warnings[] | select(. == "only these syscalls were measured: read,openat")] | length == 1' \
  report --format=json some.data
run record -F 0 --syscall=read -o other.data -- sh -c 'read x </proc/version'
run diff some.data other.data
like '--syscall: others on the other side are no comparison' "$(<out)$(<err)" \
  'different syscalls were measured: read,openat and read$'
usage "no syscall 'opneat'; did you mean 'openat'?" record --syscall=read,opneat -- true
usage "no syscall '[page_fault]'" record --syscall='[page_fault]' -- true
usage "no syscall ''" record --syscall= -- true
usage '--exact counts all syscalls' record --exact --syscall=read -- true

run record --event=page-faults,cs -o events.data -- sh -c 'true & wait; true'
json '--event: each syscall has what it counted, of each event' \
  '[.events[] | select(.name == "wait4") | .event] == ["page-faults", "cs"] and (.syscalls | length) * 2 == (.events | length)' \
  report --format=json events.data
json '--event: without samples' '.samples.received == 0 and .losses.counters_stopped == 0' report --format=json events.data
usage "no event 'page-fault'" record --event=page-faults,page-fault -- true
usage "no event ''" record --event= -- true
usage '--event counts up to 4 events at once' record --event=cs,cs,cs,cs,cs -- true
usage "--event would count the sampler's interrupts" record --event=cs --freq=99 -- true
usage '--event counts with the probes of syscalls and fentry' record --event=cs --attach=kprobe -- true

for path in no/such/cgroup /proc ''; do
  fails 1 "kprotperf: no cgroup '$path': " record --cgroup="$path" -o none.data -- touch ran
done
usage '-p cannot be combined with -a or --cgroup' record --cgroup=a -p 1
is '--cgroup: of none, nothing is run or written' "$(echo ran* none.data*)" 'ran* none.data*'


cpu=$(nproc --all)
run_pinned() {
  taskset -c "$1" "$kprotperf" record -F 0 -o pinned.data -- sh -c 'test "$(nproc)" = 1' >out 2>err
}
run_pinned $((cpu - 1))
is 'on one CPU, as by taskset: the command runs there' "$?" 0
if [ "$cpu" -gt 1 ]; then
  taskset -c 0 "$kprotperf" record -a -F 0 -o everybody.data -- true >out 2>err
  json 'but not of -a, which measures all tasks' '.environment | has("machine.pinned") | not' report --format=json everybody.data
  json 'which is in the file' '.environment."machine.pinned" == "'$((cpu - 1))'"' report --format=json pinned.data
else
  json 'which is not in the file where there is no other' '.environment | has("machine.pinned") | not' report --format=json pinned.data
fi

mkdir -m 777 theirs
user='test "$(id -u) $(id -g)" = "65534 65533"'
SUDO_UID=65534 SUDO_GID=65533 run record -F 0 -o theirs/a.data -- sh -c "$user"
is 'sudo: the command runs as who invoked it' "$status" 0
like 'sudo: which is said' "$(<err)" 'note: the command runs as user 65534, .*--user=root'
is 'sudo: and has the file' "$(stat -c %u:%g:%a theirs/a.data)" 65534:65533:600
SUDO_UID=65534 SUDO_GID=65533 run record -F 0 --user=root -o theirs/b.data -- sh -c "$user"
is 'sudo: --user=root keeps root' "$status" 1
usage 'invoker or root' record --user=nobody -- true

# as_nobody CAPS COMMAND…: run COMMAND as the user "nobody", with the capabilities CAPS only.
as_nobody() {
  local caps=$1
  shift
  setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="-all$caps" --ambient-caps="-all$caps" "$@" >out 2>err
  status=$?
}

# The user "nobody" needs access to kprotperf and to the scratch folder, but may have none to the build folder.
cp "$kprotperf" kprotperf
chmod 777 .
as_nobody ,+bpf,+perfmon,+sys_admin,+syslog ./kprotperf record -F 0 -o nobody.data -- true
is 'capabilities suffice' "$status" 0
as_nobody ,+sys_admin,+syslog ./kprotperf record -F 0 -o nobody.data -- true
is 'older ones do too' "$status" 0
while read -r caps regex; do
  as_nobody "$caps" ./kprotperf record -F 0 -o missing.data -- true
  is "without enough of them: one line ($caps)" "$status:$(wc -l <err)" 1:1
  like 'that says what is missing' "$(<err)" "$regex"
done <<'END'
,+kill CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN: run it with sudo
,+bpf,+perfmon,+syslog CAP_SYS_ADMIN, to list
END
as_nobody ,+kill grep -q '^0*[1-9a-f]' /proc/kallsyms
if [ "$status" = 1 ]; then
  as_nobody ,+bpf,+perfmon,+sys_admin ./kprotperf record -F 0 -o missing.data -- true
  like 'without addresses it is refused' "$status:$(wc -l <err):$(<err)" '^1:1:.*CAP_SYSLOG'
fi
if unshare -r true 2>/dev/null; then
  as_nobody ,+kill unshare -r ./kprotperf record -F 0 -o missing.data -- true
  like 'root of a user namespace alone' "$status:$(wc -l <err):$(<err)" '^1:1:.*outside of this container'
fi

# After record has attached everything, it gives up CAP_SYS_ADMIN (21), CAP_SYS_MODULE (16), CAP_SYS_RAWIO (17) and
# CAP_NET_ADMIN (12).
run record -F 0 -o caps.data -- sh -c 'grep ^CapPrm /proc/$PPID/status >caps'
is 'capabilities that are not needed any more are given up' "$((0x$(awk '{ print $2 }' caps) & (1 << 21 | 1 << 16 | 1 << 17 | 1 << 12)))" 0

done_testing
