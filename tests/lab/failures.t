#!/bin/bash
# The lab distinguishes a guest that panics, a guest that hangs, and a command that fails.

# shellcheck disable=SC2016,SC2154 # text for guests; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
need hardened

try "$lab" run --resume -- false
is 'a command that fails: its status' "$status" 1
is 'and no word from the lab' "$err" ''
try "$lab" run --resume -- /no/such/program
is 'a command that does not exist: 127, as a shell has it' "$status" 127

try "$lab" run --resume -- sh -c 'echo before; echo c >/proc/sysrq-trigger'
is 'a kernel panic: status 121' "$status" 121
like 'and a line that says so' "$err" '^lab: the guest.s kernel panicked: .*(sysrq|NULL pointer|panic).*console: /'
is 'what was printed before it is not lost' "$out" before
log=$(sed -n 's/^lab: .*(console: \(.*\))$/\1/p' err)
ok "the console's log is kept" grep -q 'Kernel panic' "$log"

try "$lab" run --append init=/no/such/init -- true
is 'a kernel that cannot start its init: a panic as well' "$status" 121

try "$lab" run --resume --timeout 30 -- sh -c 'echo before; sleep 1000'
is 'a hang: status 122' "$status" 122
like 'and a line that says so' "$err" '^lab: the guest did not finish within 30 s'
is 'what was printed before it is not lost' "$out" before

# This kernel waits for its root device, and prints nothing more.
try env KPROTPERF_LAB_SILENCE=5 "$lab" run --append 'root=/dev/nosuch rootwait' -- true
is 'a kernel that stops in its boot: status 123' "$status" 123
like 'and a line that says so, and where' "$err" \
	'^lab: the guest did not reach its known state: its kernel stopped during boot, after "\[.*\] .+" \(console: /'

mkdir -p here && echo x >elsewhere
try env -C here "$lab" run --resume -- sh -c "cat <'$scratch/elsewhere'"
like "a command that wants a file which the guest's /tmp hides" "$status:$(tail -n 1 err)" \
	"^2:lab: $scratch/elsewhere is not in the guest, which has its own /tmp,"

try "$lab" run --kernel nosuch -- true
is 'an unknown kernel: status 120' "$status" 120
like 'and a line with those that exist' "$err" "^lab: unknown kernel 'nosuch'; known: baseline .*hardened"
try "$lab" run --kernel hardnened -- true
like 'or was meant' "$err" "; did you mean 'hardened'\? "
try "$lab" run --kernle=hardened -- true
like 'an option as well' "$status:$err" "^120:lab: run has no option '--kernle=hardened'; did you mean '--kernel'\? "
try "$lab" run --kernel ../hardened -- true
is 'a path is no kernel' "$status" 120
try env KPROTPERF_LAB="$scratch/empty" "$lab" run -- true
is 'a kernel that is not built: status 120' "$status" 120
like 'and how to build it' "$err" '^lab: kernel .hardened. is not built; build it with: scripts/lab build hardened'
try "$lab" run --bzimage /no/such/bzImage -- true
is 'a missing bzImage' "$status:$err" '120:lab: cannot read the kernel /no/such/bzImage'
echo 'not a kernel' >junk
try "$lab" run --accel icount --bzimage junk -- true
is 'a file that is no kernel: status 120' "$status" 120
like "and QEMU's own words" "$err" '^lab: QEMU exited before the guest: .*kernel'
try "$lab" run --accel icount --cpus 2 -- true
is 'icount with two CPUs: status 120' "$status" 120
like 'and what to use' "$err" '^lab: --accel icount has one CPU .*--accel tcg'
for wrong in '--nosuch' '--accel xen -- true' '--timeout soon -- true' '--cpus 0 -- true' '--kernel' ''; do
	# shellcheck disable=SC2086 # words
	try "$lab" run $wrong
	is "wrong usage '$wrong': status 120 and one line" "$status:$(wc -l <err)" 120:1
done

mkdir bin
for tool in bash perl cat dirname readlink sed awk grep sha256sum head stat dpkg-query mktemp gcc cut tr; do
	ln -s "$(PATH=/usr/bin:/bin command -v "$tool")" bin/ # no ccache: it looks for the compiler in PATH
done
try env PATH="$scratch/bin" "$lab" run -- true
is 'without QEMU: status 120' "$status" 120
like 'and how to get it' "$err" '^lab: qemu-system-x86_64 is not installed; .*scripts/setup'

"$lab" run --resume -- echo x >/dev/full 2>err
is 'output that cannot be written: status 120, and a line' "$?:$(<err)" "120:lab: cannot write what the command prints: No space left on device"
if mkdir full && mount -t tmpfs -o size=100k none full 2>/dev/null; then
	mkdir full/kernels
	ln -s "$("$lab" path hardened)" full/kernels
	head -c 200k /dev/zero >full/rest 2>/dev/null
	try env KPROTPERF_LAB="$scratch/full" "$lab" run --accel icount -- true
	like 'a full disk: one line that says where' "$status:$(wc -l <err):$err" "^120:1:lab: .*No space left"
	umount full
else
	skip 'a full disk' 'nothing can be mounted here'
fi

for dir in / /proc /sys/kernel /dev; do
	is "the current directory $dir cannot be shared" \
		"$(cd $dir && "$lab" run -- true 2>/dev/null; echo $?)" 120
done

done_testing
