#!/bin/bash
# The lab builds each kernel once, with the intended differences. A guest is in a known state before its command runs.

# shellcheck disable=SC2016,SC2154 # text for guests; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
need baseline hardened

for kernel in baseline hardened; do
	dir=$("$lab" path "$kernel")
	ok "path $kernel has bzImage, vmlinux, config, System.map" \
		test -s "$dir/bzImage" -a -s "$dir/vmlinux" -a -s "$dir/config" -a -s "$dir/System.map"
done
is 'baseline and hardened differ in one option' \
	"$(diff "$("$lab" path baseline)/config" "$("$lab" path hardened)/config" | grep '^[<>]')" \
	'< # CONFIG_SLAB_FREELIST_RANDOM is not set
> CONFIG_SLAB_FREELIST_RANDOM=y'
is 'neither has SLAB_FREELIST_HARDENED' "$(grep -h SLAB_FREELIST_HARDENED \
	"$("$lab" path baseline)/config" "$("$lab" path hardened)/config" | sort -u)" \
	'# CONFIG_SLAB_FREELIST_HARDENED is not set'

files=("$("$lab" path baseline)"/* "$("$lab" path hardened)"/*)
stat -c '%n %i %y' "${files[@]}" >files.before
try "$lab" build
is 'building again says nothing' "$status:$out$err" '0:'
stat -c '%n %i %y' "${files[@]}" >files.after
ok 'and writes nothing' cmp files.before files.after

try "$lab" list
like 'list shows the kernels' "$out" '^hardened +built +.*SLAB freelist'
is 'and base is no kernel' "$(grep -c '^base ' out)" 0
try "$lab" path nosuch
is 'path of an unknown kernel is wrong usage' "$status:$out" 2:

is 'NAME-SERIES of the usual series is NAME' "$("$lab" path baseline-6.1)" "$("$lab" path baseline)"
try "$lab" path baseline-5.4
like 'a series that the lab does not have is wrong usage' "$status:$err" "^2:.*unknown kernel 'baseline-5.4': the lab has Linux 6.1 6.12"
try "$lab" list
like 'list shows the kernels of other sources' "$out" '^hardened-6.12 +(built|not built|no source) +.*SLAB freelist'
is 'and what base-6.12 adds is no kernel' "$(grep -c '^base' <<<"$out")" 2
# Compare with Debian's kernel of series 6.12, because building one takes minutes.
fetch debian-6.12-cloud
is 'the options of base-6.12 are those of 6.12, with its values' "$(grep '^CONFIG_' \
	"$(dirname "$lab")/kernels/base-6.12.config" | grep -vxFf "$("$lab" path debian-6.12-cloud)/config")" ''

# Copy the scripts, and add kernels to the copy. The copy uses the same cache.
cp -r "$(dirname "$lab")" scripts
printf '%s\n' '# about: asks for what there is not' '# on: baseline' \
	'CONFIG_NO_SUCH_OPTION=y' 'CONFIG_KASAN_SW_TAGS=y' '# CONFIG_TRACING is not set' \
	>scripts/kernels/impossible.config
try scripts/lab build impossible
is 'a kernel whose options do not hold is refused' "$status" 1
like 'with those options' "$err" 'CONFIG_NO_SUCH_OPTION=y'
like 'all of them' "$err" 'CONFIG_KASAN_SW_TAGS=y'
like 'the ones not to be set too' "$err" 'CONFIG_TRACING is not set'
is 'and nothing that looks built' "$(scripts/lab path impossible 2>/dev/null)" ''

rm -f "$cache/logs/build-impossible.log"

# lab clean removes only the lab's own files from a folder that has others, too.
mkdir -p mine/{src,obj,kernels,runs,logs}/x
touch mine/other
try env KPROTPERF_LAB="$scratch/mine" "$lab" clean
is 'clean removes the cache, and only that' "$status:$(ls mine)" 0:other

# --- a guest's state ---------------------------------------------------------

# Do not use perl or python: they read /dev/urandom, which seeds the random generator.
cat >seeded.c <<'TEXT'
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
int main(void)
{
	char byte;

	if (getrandom(&byte, 1, GRND_NONBLOCK) == 1)
		puts("seeded");
	else
		puts(errno == EAGAIN ? "not seeded" : "error");
	return 0;
}
TEXT
cc -o seeded seeded.c
try "$lab" run --accel icount --append 'random.trust_cpu=off random.trust_bootloader=off' -- \
	sh -c './seeded; sleep 3; ./seeded; dmesg | grep -c "crng init done"; head -c 1 /dev/urandom >/dev/null'
is 'it is not where that was asked for' "$out" $'not seeded\nnot seeded\n0'
like 'and the lab tells when that did not last' "$err" '^lab: the random generator did not stay unseeded'

cat >state.sh <<'TEXT'
cat /sys/devices/system/clocksource/clocksource0/current_clocksource
dmesg | grep -o 'tsc: Detected 1000.000 MHz TSC'
dmesg | grep -c 'Refined TSC'
cat /proc/sys/kernel/kptr_restrict /proc/sys/vm/overcommit_memory
cat /proc/sys/kernel/bpf_stats_enabled /proc/sys/kernel/tainted
nproc
TEXT
# Execute 100 million instructions between two readings of each clock.
cat >spin.c <<'TEXT'
#include <stdio.h>
#include <time.h>
static long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}
static long spin(clockid_t clock)
{
	long turns = 50000000, start = now(clock);

	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(turns));
	return now(clock) - start;
}
int main(void)
{
	spin(CLOCK_MONOTONIC); /* what exec left to the kernel ends meanwhile */
	printf("%ld\n", spin(CLOCK_MONOTONIC));
	printf("%ld\n", spin(CLOCK_MONOTONIC_RAW));
	return 0;
}
TEXT
cc -O2 -o spin spin.c

try "$lab" run --accel icount --seed 1 -- sh -c './seeded; sh state.sh; ./spin >spins'
is 'the random generator is seeded' "$(head -n 1 out)" seeded
is 'clock and settings are the known ones' "$(tail -n +2 out)" \
	$'tsc\ntsc: Detected 1000.000 MHz TSC\n0\n0\n0\n0\n0\n1'
"$lab" run --accel icount --seed 2 -- ./spin >>spins
is 'two boots told their clocks' "$(wc -l <spins)" 4
ok 'one instruction is one nanosecond, by both clocks, to 0.2 % (timer ticks)' \
	awk '$1 < 100000000 || $1 > 100200000 { print; bad = 1 } END { exit bad }' spins
ok 'and boots agree to 0.1 %' \
	awk 'NR == 1 || $1 < low { low = $1 } $1 > high { high = $1 }
	     END { print low, high; exit high - low > low / 1000 }' spins

done_testing
