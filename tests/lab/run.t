#!/bin/bash
# A command in a guest sees the host's files and the right environment; its output and status come back.

# shellcheck disable=SC2016,SC2154 # text for guests; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
need hardened

# Run two guests at a time. One gets files, variables, and a current directory with an odd name. The other must pass all bytes on
# unchanged.
odd="$scratch/two words, and 'quotes'"
marker=/etc/lab-test-$$
mkdir "$odd"
echo removed >"$odd/removed"
cat >"$odd/see" <<'TEXT'
printf kept >file && mkdir -p sub && echo deep >sub/file
rm removed; mv sub/file sub/renamed; chmod 640 file
printf %s "$PWD" >pwd
echo "$KPROTPERF_TEST:${NOT_PASSED-unset}:$LANG:$HOME:$PATH"; cat; id -u
echo "$KPROTPERF_VMLINUX"
marker=$1
shift
echo x >"$marker" && cat "$marker"; echo x >/tmp/f && echo x >/run/f
head -c 4 <"$KPROTPERF_VMLINUX" | tail -c 3
echo
printf '<%s>' "$@"
cat /proc/cmdline >cmdline
TEXT
head -c 3000000 /dev/urandom >random
printf 'end\r\n\0\n' >>random
"$lab" run -- cat random >random.out 2>random.err &
cd "$odd" || exit 1
try env KPROTPERF_TEST='x  y' NOT_PASSED=1 LANG=C "$lab" run --accel icount --append 'panic=7 lab.test=1' -- \
	sh see "$marker" 'a b' "it's" '' '$HOME' '*' $'line\nend'
cd "$scratch" || exit 1
wait
is 'variables that matter are passed, others not; stdin is empty; the user is root' \
	"$(head -n 3 "$odd/out")" "x  y:unset:C:$HOME:$PATH"$'\n0\n'"$("$lab" path hardened)/vmlinux"
is "the root can be written in the guest, the kernel's vmlinux read" \
	"$(sed -n 4,5p "$odd/out")" $'x\nELF'
ok 'but the host never sees it' test ! -e "$marker"
is 'arguments arrive as they are' "$(tail -n +6 "$odd/out")" \
	"<a b><it's><><\$HOME><*><line"$'\n'"end>"
is 'and nothing else comes' "$status:$err" 0:
is 'a file written in the current directory survives' "$(cat "$odd/file")" kept
is 'so does one in a new folder, renamed' "$(cat "$odd/sub/renamed")" deep
is 'with its mode' "$(stat -c %a "$odd/file")" 640
ok 'a file removed is removed' test ! -e "$odd/removed"
is 'the current directory may have an odd name' "$(cat "$odd/pwd")" "$odd"
like 'the guest is told what its clock counts' "$(cat "$odd/cmdline")" 'kprotperf\.clock=icount'
like 'and maps memory alike each time' "$(cat "$odd/cmdline")" ' norandmaps '
like '--append comes last' "$(cat "$odd/cmdline")" 'panic=7 lab\.test=1 ?$'
ok 'several guests run at a time: binary output of 3 MB is unchanged' cmp random random.out
is 'and nothing is added on stderr' "$(cat random.err)" ''

try "$lab" run --resume -- sh -c 'sleep 100000 &
	for f in /proc/self/fd/1 /dev/stdout /dev/stderr; do echo $f >$f; done
	cat <&- 2>/dev/null; bash -c "cat <(echo substituted)"
	for d in /proc /sys /dev/pts /dev/shm /sys/kernel/tracing /sys/kernel/debug \
		/sys/fs/bpf /sys/fs/cgroup /tmp /run; do mountpoint -q $d || echo no $d; done
	perl -MSocket -e '\''socket(S, PF_INET, SOCK_STREAM, 0);
		bind(S, sockaddr_in(0, INADDR_LOOPBACK)) && listen(S, 1) or die "$!";
		socket(C, PF_INET, SOCK_STREAM, 0);
		connect(C, getsockname(S)) or die "$!"; print "loopback\n"'\''
	ulimit -n; cat /proc/sys/kernel/random/entropy_avail | wc -l; exit 37'
is "the command's status is run's, and a process left behind does not keep the guest" "$status" 37
is 'stdout can be reopened, mounts and loopback are there' "$out" \
	$'/proc/self/fd/1\n/dev/stdout\nsubstituted\nloopback\n1024\n1'
is 'stderr can be reopened' "$err" /dev/stderr

try "$lab" run --resume -- sh -c 'sleep 1000 & kill -0 $! && echo started; kill -TERM 0; echo not reached'
is 'a command may signal its whole process group' "$out" started
is 'and its death by a signal is reported as a shell does' "$status" 143

# The command never ends, so output can only come while it runs.
"$lab" run --resume --timeout 600 -- sh -c 'echo early; while :; do :; done' >stream.txt 2>/dev/null &
for _ in $(seq 5000); do
	[ -s stream.txt ] && break
	sleep 0.1
done
is 'output comes while the command runs' "$(cat stream.txt)" early
kill -TERM $!
wait $!

is 'a reader that goes away ends the guest' \
	"$("$lab" run --resume --timeout 600 -- yes | head -n 1; echo "${PIPESTATUS[0]}")" $'y\n141'

# Use a saved boot of this test's own, because this test damages it while other tests run.
marked='lab.test=resume'
saved() {
	grep -l "$marked" "$cache"/resume/*/console 2>/dev/null
}
rm -rf "$(saved | sed 's,/[^/]*$,,;q')"
for turn in save resume; do
	try "$lab" run --resume --accel icount --append "$marked" -- sh -c 'cat /proc/uptime; dmesg | grep -c "Linux version"; cat mine; echo x >/mine; echo x >mine'
	is "$turn: the command runs, and the kernel's log is whole" "$status:$(sed -n 2p <<<"$out")" 0:1
done
is 'what a guest wrote on this machine is there' "$(sed -n 3p <<<"$out")" x
is 'one boot was saved' "$(saved | wc -l)" 1
memory=$(saved | sed 's,console$,memory,')
before=$(cksum <"$memory")
try "$lab" run --resume --accel icount --append "$marked" -- sh -c '[ ! -e /mine ] && head -c 100000000 /dev/zero >/run/f'
is 'each guest begins as the boot ended' "$status:$(cksum <"$memory")" "0:$before"
head -c 1000 /dev/zero >"${memory%memory}state"
try "$lab" run --resume --accel icount --append "$marked" -- uname
is 'a saved boot that cannot be read: the guest boots' "$status:$out" 0:Linux
is '... and it is removed' "$(saved)" ''

# --- files in memory ---------------------------------------------------------------

mkdir files
cd files || exit 1
echo here >here
cat >reads <<'TEXT'
grep -c ^root: /etc/passwd
cat here
stat -c '%s %Y %a' /etc/passwd /etc/hostname
echo once >>times
grep -c . <times
df --output=fstype /etc/passwd | tail -n 1
readlink /etc/mtab
TEXT
try "$lab" run --in-memory --accel icount -- sh reads
is 'a command whose files are in memory finds them, with their size, time and mode' "$status:$(head -n 4 out)" "0:$(
	grep -c ^root: /etc/passwd
	cat here
	stat -c '%s %Y %a' /etc/passwd /etc/hostname
)"
is 'it has run once, and what it wrote is on the host' "$(cat times)" once
listed=$(tr '\0' '\n' <"$(find "$cache/files" -newer here ! -name '*.lock' -type f -exec grep -lz "$PWD/here" {} + | head -n 1)")
is 'the list has what it opened, of either place' "$(grep -xE "$PWD/here|$(readlink -f /etc/passwd)|$(readlink -f "$(command -v grep)")" <<<"$listed" | sort -u | paste -sd' ')" "$(
	printf '%s\n' "$PWD/here" "$(readlink -f /etc/passwd)" "$(readlink -f "$(command -v grep)")" | sort -u | paste -sd' ')"
# A guest with a copy of /etc/passwd does not ask the host for the file.
cat >opens <<'TEXT'
perl -e 'for (1 .. 200) { open my $f, "<", "/etc/passwd" or die; my $l = <$f>; }'
TEXT
interrupts() {
	"$lab" run "$@" --accel icount -- sh -c 'before=$(grep -h virtio /proc/interrupts | tr -s " " | cut -d" " -f3 | paste -sd+ | bc)
		sh opens; after=$(grep -h virtio /proc/interrupts | tr -s " " | cut -d" " -f3 | paste -sd+ | bc); echo $((after - before))'
}
from_host=$(interrupts --resume)
from_memory=$(interrupts --in-memory)
# Measured in five runs: 939 to 967 interrupts, and 57 to 72 with files in memory.
ok "opening a file 200 times takes $from_host interrupts of the lab, in memory $from_memory" test "$from_host" -gt $((4 * from_memory))
cd ..

done_testing
