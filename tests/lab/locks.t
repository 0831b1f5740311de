#!/bin/bash
# Builds side by side: what shares an object tree waits, what does not does not, and no guest waits at
# all. make and QEMU are stand-ins here, that note when they begin and end.

# shellcheck disable=SC2016,SC2154 # text for scripts; names from tap.sh
# shellcheck source=SCRIPTDIR/tap.sh
. "$(dirname "$0")/tap.sh"
repo=$(dirname "$(dirname "$lab")")
build=${BUILD:-build}
case $build in
/*) ;;
*) build=$repo/$build ;;
esac
export KPROTPERF=$build/kprotperf KPROTPERF_LAB=$scratch/cache
[ -f /usr/src/linux-source-6.1.tar.xz ] || {
	echo 'Bail out! /usr/src/linux-source-6.1.tar.xz is missing: scripts/setup --for=lab'
	exit 1
}

mkdir bin
cat >bin/tar <<'TEXT'
#!/bin/bash
# tar -xf ARCHIVE -C DIR …: slow, and seen to begin.
echo "tar" >>"$LOG"
sleep 0.3
echo sources >"$4/Makefile"
TEXT
cat >bin/make <<'TEXT'
#!/bin/bash
obj=$(printf '%s\n' "$@" | sed -n 's/^O=//p')
case " $* " in
*' allnoconfig '*) cp "$obj/fragment" "$obj/.config" ;;
*)
	echo "begin ${obj##*-}" >>"$LOG"
	# Until the test says so, where it wants to see who waits; at most 10 s.
	for ((i = 0; i < 200; i++)); do
		[ -e "$HOLD-${obj##*-}" ] || break
		sleep 0.05
	done
	mkdir -p "$obj/arch/x86/boot"
	for file in arch/x86/boot/bzImage vmlinux System.map Module.symvers; do
		cp "$obj/.config" "$obj/$file"
	done
	echo "end ${obj##*-}" >>"$LOG"
	;;
esac
TEXT
printf '#!/bin/sh\necho QEMU begins >>"$LOG"\n' >bin/qemu-system-x86_64
chmod +x bin/*
export LOG=$scratch/log HOLD=$scratch/hold
PATH=$scratch/bin:$PATH

# until_log LINE: at most 5 s.
until_log() {
	local i
	for ((i = 0; i < 100; i++)); do
		! grep -qx "$1" "$LOG" 2>/dev/null || return 0
		sleep 0.05
	done
	return 1
}

# Two kernels of unlike trees, at the same time, sources not yet unpacked.
touch "$HOLD-main" "$HOLD-debug"
"$lab" build baseline 2>main.err &
main=$!
"$lab" build debug 2>debug.err &
debug=$!
ok 'two builds of unlike trees are under way together' eval 'until_log "begin main" && until_log "begin debug"'
is 'their sources were unpacked once' "$(grep -c tar log)" 1

# A third that wants the first's tree, a fourth that wants the very kernel.
"$lab" build hardened 2>hardened.err &
hardened=$!
"$lab" build baseline 2>same.err &
same=$!
for ((i = 0; i < 100; i++)); do
	[ "$(cat hardened.err same.err | grep -c waiting)" -lt 2 ] || break
	sleep 0.05
done
like 'what shares a tree waits, and says for what' "$(cat hardened.err)" '^lab: waiting for another build in .* \(obj-6\.1.*-main\)$'
is 'and has not begun' "$(grep -c 'begin main' log)" 1
try "$lab" clean
like 'clean refuses meanwhile' "$status:$err" '^1:lab: a build is going on'
echo 'not a kernel' >junk
try timeout 20 "$lab" run --accel icount --bzimage junk -- true
is 'a guest does not wait for builds' "$status:$(grep -c 'QEMU begins' log)" 120:1
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

# What differs in code alone is another kernel.
try "$lab" build shapes
is 'a kernel with code of ours is not taken for one with its options' \
	"$status:$(test -L "$("$lab" path shapes)" && echo link)" 0:
try "$lab" build slab_freelist_random
is 'one with the same options is' "$status:$(grep -c 'begin main' log)" 0:3

try "$lab" clean
is 'clean removes all' "$status:$(test -e cache && echo there)" 0:
done_testing
