#!/bin/bash
# Builds run side by side: builds that share an object tree wait for each other, other builds do not wait, and no guest waits.
# make and QEMU are stand-ins that note when they begin and end.

# shellcheck disable=SC2016,SC2154 # text for scripts; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
export KPROTPERF=$kprotperf
[ -f /usr/src/linux-source-6.1.tar.xz ] || {
	bail '/usr/src/linux-source-6.1.tar.xz is missing: scripts/setup --for=lab'
}

mkdir bin
cat >bin/tar <<'TEXT'
#!/bin/bash
# Stand-in for `tar -xf ARCHIVE -C DIR …`: log the start, and be slow.
echo "tar" >>"$LOG"
sleep 0.3
echo sources >"$4/Makefile"
TEXT
# This stand-in for make uses the fragment alone as configuration.
cat >bin/make <<'TEXT'
#!/bin/bash
obj=$(printf '%s\n' "$@" | sed -n 's/^O=//p')
case " $* " in
*' allnoconfig '*)
	cp "$obj/fragment" "$obj/.config"
	exit
	;;
esac
echo "begin ${obj##*-}" >>"$LOG"
# Wait at most 2 minutes while the test holds this tree, to see which builds wait.
for ((i = 0; i < 2400; i++)); do
	[ -e "$HOLD-${obj##*-}" ] || break
	sleep 0.05
done
cp "$obj/.config" "$obj/vmlinux"
echo "end ${obj##*-}" >>"$LOG"
mkdir -p "$obj/arch/x86/boot"
for file in arch/x86/boot/bzImage System.map Module.symvers; do
	cp "$obj/vmlinux" "$obj/$file"
done
TEXT
printf '#!/bin/sh\necho QEMU begins >>"$LOG"\n' >bin/qemu-system-x86_64
chmod +x bin/*
export PATH=$scratch/bin:$PATH LOG=$scratch/log HOLD=$scratch/hold KPROTPERF_LAB=$scratch/cache
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

# until_true COMMAND…: repeat COMMAND until it succeeds, for a minute at most.
until_true() {
	local i
	for ((i = 0; i < 1200; i++)); do
		! "$@" 2>/dev/null || return 0
		sleep 0.05
	done
	return 1
}

# logged N LINE: succeed if LINE is in the log at least N times.
logged() {
	[ "$(grep -cx "$2" "$LOG")" -ge "$1" ]
}

both_wait() {
	[ "$(cat hardened.err same.err | grep -c waiting)" -eq 2 ]
}

# Build two kernels in different object trees at the same time. The sources are not yet unpacked.
touch "$HOLD-main" "$HOLD-debug"
"$lab" build baseline 2>main.err &
main=$!
cp -r "$(dirname "$lab")" scripts
scripts/lab build debug 2>debug.err &
debug=$!
ok 'two builds of unlike trees are under way together' eval 'until_true logged 1 "begin main" && until_true logged 1 "begin debug"'
is 'their sources were unpacked once' "$(grep -c tar log)" 1

# A third build needs the first build's tree, and a fourth builds the same kernel as the first.
"$lab" build hardened 2>hardened.err &
hardened=$!
"$lab" build baseline 2>same.err &
same=$!
until_true both_wait
like 'what shares a tree waits, and says for what, for whom and since when' "$(cat hardened.err)" \
	'^lab: waiting for another build in .* \(obj-6\.1.*-main, held by kernel baseline since [0-9]{2}:[0-9]{2}:[0-9]{2}\)$'
is 'and has not begun' "$(grep -c 'begin main' log)" 1
try "$lab" clean
like 'clean refuses meanwhile' "$status:$err" '^1:lab: a build is running'
echo 'not a kernel' >junk
try timeout 120 "$lab" run --accel icount --bzimage junk -- true
is 'a guest does not wait for builds' "$status:$(grep -c 'QEMU begins' log)" 120:1
# Overwrite the copied scripts while labs run, as git may do in a clone. The running labs must not read them again.
for file in scripts/lab scripts/kernellab/*/*.py; do
	echo 'raise SystemExit(9)' >"$file"
done
rm "$HOLD-debug"
wait $debug
is 'the one that does not share it is done meanwhile' "$?:$(tail -n 1 log)" '0:end debug'
rm "$HOLD-main"
for pid in $main $hardened $same; do
	wait "$pid" || echo "status $?"
done >statuses 2>&1
is 'the others end well' "$(cat statuses)" ''
is 'each kernel was built once' "$(grep -c 'begin main' log)" 2
is 'builds of one tree never met' "$(grep main log | tr '\n' ' ')" 'begin main end main begin main end main '
ok 'each kernel is there, with its own options' eval \
	'grep -qx CONFIG_SLAB_FREELIST_RANDOM=y "$("$lab" path hardened)/config" &&
	! grep -qx CONFIG_SLAB_FREELIST_RANDOM=y "$("$lab" path baseline)/config" && "$lab" path debug'
is 'no half of one is left' "$(find cache -name '*.part*')" ''

try "$lab" build slab_freelist_random
is 'a kernel with the same options is not built again' "$status:$(grep -c 'begin main' log)" 0:2

# Patched sources replace only the sources of their own object tree.
printf -- '--- a/Makefile\n+++ b/Makefile\n@@ -1 +1 @@\n-sources\n+patched\n' >one.patch
echo CONFIG_KFENCE=y >one.config
touch "$HOLD-debug"
"$lab" build held --on debug --config one.config 2>debug.err &
debug=$!
until_true logged 2 'begin debug'
try timeout 60 "$lab" build patched --patch one.patch
is 'a patched kernel does not wait for one of an unlike tree' "$status:$(grep -c waiting err)" 0:0
rm "$HOLD-debug"
ok 'nor that for it' wait $debug

mkdir other
cp bin/qemu-system-x86_64 other/
for path in "$PATH" "$scratch/other:$PATH" "$PATH"; do
	try env PATH="$path" timeout 120 "$lab" run --bzimage junk -- true
done
is 'whether KVM works is tried once with each QEMU' "$status:$(grep -c checking err)" 120:0

# Interrupt the build by a SIGINT for its process group, as a terminal does.
touch "$HOLD-main"
perl -e 'setpgrp(0, 0); $SIG{INT} = "DEFAULT"; exec @ARGV' "$lab" build notrace 2>said &
pid=$!
ok 'a build is under way' until_true logged 4 'begin main'
kill -INT -- "-$pid"
wait "$pid"
is 'an interrupted build ends' $? 130
is 'and leaves nothing that looks built' "$("$lab" path notrace 2>/dev/null)" ''
is 'nor a make at work' "$(pgrep -af -- "O=$KPROTPERF_LAB" | grep -v pgrep)" ''
rm "$HOLD-main"
try "$lab" build notrace
is 'it can be taken up again' "$status" 0
ok 'to its end' test -s "$("$lab" path notrace)/vmlinux"

try "$lab" clean
is 'clean removes all' "$status:$(test -e cache && echo there)" 0:
done_testing
