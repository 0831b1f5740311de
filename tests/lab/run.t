#!/bin/bash
# What a command sees in a guest, and what comes back from it.

# shellcheck disable=SC2016,SC2154 # text for guests; names from tap.sh
# shellcheck source=SCRIPTDIR/tap.sh
. "$(dirname "$0")/tap.sh"
need hardened

try "$lab" run -- sh -c 'echo to stdout; echo to stderr >&2; exit 37'
is 'stdout comes through' "$out" 'to stdout'
is 'stderr comes through, apart' "$err" 'to stderr'
is "the command's status is run's" "$status" 37

head -c 3000000 /dev/urandom >random
printf 'end\r\n\0\n' >>random
try "$lab" run -- cat random
ok 'binary output of 3 MB is unchanged' cmp random out.txt
is 'and nothing is added on stderr' "$err" ''

try "$lab" run -- sh -c 'printf kept >file && mkdir -p sub && echo deep >sub/file
	rm random; mv sub/file sub/renamed; chmod 640 file'
is 'a file written in the current directory survives' "$(cat file)" kept
is 'so does one in a new folder, renamed' "$(cat sub/renamed)" deep
is 'with its mode' "$(stat -c %a file)" 640
ok 'a file removed is removed' test ! -e random

mkdir "two words, and 'quotes'"
(cd "two words, and 'quotes'" && "$lab" run -- sh -c 'printf %s "$PWD" >pwd')
is 'the current directory may have an odd name' \
	"$(cat "two words, and 'quotes'/pwd")" "$scratch/two words, and 'quotes'"

try "$lab" run -- printf '<%s>' 'a b' "it's" '' '$HOME' '*' $'line\nend'
is 'arguments arrive as they are' "$out" "<a b><it's><><\$HOME><*><line"$'\n'"end>"

try env KPROTPERF_TEST='x  y' NOT_PASSED=1 LANG=C "$lab" run -- \
	sh -c 'echo "$KPROTPERF_TEST:${NOT_PASSED-unset}:$LANG:$HOME:$PATH"; cat; id -u
	       echo "$KPROTPERF_VMLINUX"'
is 'variables that matter are passed, others not; stdin is empty; the user is root' "$out" \
	"x  y:unset:C:$HOME:$PATH"$'\n0\n'"$("$lab" path hardened)/vmlinux"

# The host's / is visible, and what is written there goes nowhere.
marker=/etc/lab-test-$$
try "$lab" run -- sh -c "echo x >$marker && cat $marker; echo x >/tmp/f && echo x >/run/f
	cat \"\$KPROTPERF_VMLINUX\" | head -c 4 | tail -c 3"
is "the root can be written in the guest, the kernel's vmlinux read" "$out" $'x\nELF'
ok 'but the host never sees it' test ! -e "$marker"

try "$lab" run -- sh -c 'for f in /proc/self/fd/1 /dev/stdout /dev/stderr; do echo $f >$f; done
	cat <&- 2>/dev/null; bash -c "cat <(echo substituted)"
	for d in /proc /sys /dev/pts /dev/shm /sys/kernel/tracing /sys/kernel/debug \
		/sys/fs/bpf /sys/fs/cgroup /tmp /run; do mountpoint -q $d || echo no $d; done
	perl -MSocket -e '\''socket(S, PF_INET, SOCK_STREAM, 0);
		bind(S, sockaddr_in(0, INADDR_LOOPBACK)) && listen(S, 1) or die "$!";
		socket(C, PF_INET, SOCK_STREAM, 0);
		connect(C, getsockname(S)) or die "$!"; print "loopback\n"'\''
	ulimit -n; cat /proc/sys/kernel/random/entropy_avail | wc -l'
is 'stdout can be reopened, mounts and loopback are there' "$out" \
	$'/proc/self/fd/1\n/dev/stdout\nsubstituted\nloopback\n1024\n1'
is 'stderr can be reopened' "$err" /dev/stderr

try "$lab" run -- sh -c 'sleep 1000 & kill -0 $! && echo started; kill -TERM 0; echo not reached'
is 'a command may signal its whole process group' "$out" started
is 'and its death by a signal is reported as a shell does' "$status" 143
try "$lab" run -- sh -c 'sleep 100000 & echo gone on'
is 'a process left behind does not keep the guest' "$status:$out" '0:gone on'

# Left running, so that what has come by then came as it was written.
"$lab" run --timeout 30 -- sh -c 'echo early; while :; do :; done' >stream.txt 2>/dev/null &
for _ in $(seq 250); do
	[ -s stream.txt ] && break
	sleep 0.1
done
is 'output comes while the command runs' "$(cat stream.txt)" early
kill -TERM $!
wait $!

is 'a reader that goes away ends the guest' \
	"$("$lab" run --timeout 60 -- yes | head -n 1; echo "${PIPESTATUS[0]}")" $'y\n141'

"$lab" run -- sh -c 'echo one >one' &
(mkdir -p other && cd other && exec "$lab" run -- sh -c 'echo two >two') &
wait
is 'several guests run at a time' "$(cat one other/two)" $'one\ntwo'

try "$lab" run --accel icount -- cat /proc/cmdline
like 'the guest is told what its clock counts' "$out" 'kprotperf\.clock=icount'
try "$lab" run --append 'panic=7 lab.test=1' -- cat /proc/cmdline
like '--append comes last' "$out" 'panic=7 lab\.test=1 ?$'

done_testing
