#!/bin/bash
# lab run --exact: all instructions are counted, each once, in the function and context where another plugin counts them
# in the same guest; ab --exact names what slows down without being told where to look.

# shellcheck disable=SC2154,SC2016 # names from lib.sh and tap.sh; jq's and perl's variables
# shellcheck source=SCRIPTDIR/../live/lib.sh
. "$(dirname "$0")/../live/lib.sh"
# shellcheck source=SCRIPTDIR/../live/truth.sh
. "$repo/tests/live/truth.sh"
need hardened
make_acts

# truth.so counts what happens between two calls of sethostname.
between='$name = "lab"; syscall(170, $name, 3); system(@ARGV); syscall(170, $name, 3)'
dir=$("$lab" path hardened)
truth_points "$dir/vmlinux" allocate_slab shuffle_freelist >points
awk '$3 == "__x64_sys_sethostname" { print "mark=" $1 }' "$dir/System.map" >>points
mkdir shim
printf '#!/bin/sh\nexec "%s" -plugin "%s,out=%s,points=%s" "$@"\n' "$(command -v qemu-system-x86_64)" \
	"$build/bench/truth.so" "$PWD/both.truth" "$PWD/points" >shim/qemu-system-x86_64
chmod +x shim/qemu-system-x86_64
ok 'a guest is counted by both' env PATH="$PWD/shim:$PATH" "$lab" run --exact --trace __x64_sys_clone:1 --append nokaslr -o both.data -- \
	perl -e "$between" "$workloads/big-fork" --iterations 2

is 'each instruction is in one stack' "$(json both '[.samples.workload, .samples.expected] | unique | length')" 1
equal 'nothing is lost' "$(lost both)" nothing
equal 'forks' "$(syscalls both clone)" 3
equal 'calls of allocate_slab in forks' "$(calls both allocate_slab clone)" "$(true_calls both outer)"
equal 'the shortest of them' "$(function_row both allocate_slab min clone)" "$(sed -n 's/^outer .* min=\([0-9]*\) .*/\1/p' both.truth)"

# truth.so counts interrupts as part of what they interrupt.
aside=$(json both '[.syscalls[] | select(.name | IN("[irq]", "[softirq]")) | .oncpu_total] | add')
holds 'all of them, but for interrupts' "($(true_sum both outer) - $(function_row both allocate_slab oncpu_total clone)) as \$more |
	\$more >= 0 and \$more < $aside"
body=$(json both 'first(.ranges[] | select(.name == "shuffle_freelist" and .function == "allocate_slab" and .syscall == "clone"))
	| "\(.source) \(.oncpu_total)"')
like 'an inlined body is counted, not estimated' "$body" '^counted '
holds 'to the instruction, but for interrupts' "($(true_sum both excursions_outer) - ${body#* }) as \$more |
	\$more >= 0 and \$more < $aside"

# Perl's fork is the first, and the smallest.
is 'a call kept whole has its instructions' "$(json both '.trace[0].oncpu_total')" "$(json both '.syscalls[] | select(.name == "clone").min')"
is 'all in lines' "$(json both '[.trace[] | select(.kind == "lost")] | length')" 0
like 'it is a tree of calls' "$("$kprotperf" report --trace both.data | head -n 70 | tr '\n' ' ')" \
	'__x64_sys_clone\(\) .*  kernel_clone\(\).*    copy_process\(\)'

keep unseeded "$lab" ab --exact --append-hardened 'random.trust_cpu=off random.trust_bootloader=off' \
	--hardened hardened --baseline hardened -- "$workloads/big-fork" --iterations 1
is 'ab --exact' "$(cat unseeded.status)" 0
like 'without any function named diff finds the one' "$(sed '/^big-fork/d' unseeded.out | head -n 3 | tr '\n' ' ')" \
	'^mmap is [0-9.]+ % slower .*, 9[0-9] % of it in crng_make_state'
lacks() {
	! grep -q "$2" "$1"
	report_test $? "$3" "$(grep "$2" "$1")"
}
lacks unseeded.out 'estimated\|cost of\|probe cost\| probed' 'nothing is called an estimate, or said of probes'
is 'what enters the kernel does not have what syscalls do' "$(json both '[.functions[] | select(.syscall == "[none]" and (.name | startswith("entry_SYSCALL")) and .oncpu_mean > 3000) | .name] | join(" ")')" ''
# Whoever does not allocate or wait does the same twice (docs/exact.md).
same() {
	json "$1" '[.functions[] | select(.syscall | IN("arch_prctl", "close", "pread64", "prlimit64", "set_tid_address")) |
		"\(.syscall) \(.name) \(.calls) \(.self_total)"] | sort[]'
}
same baseline >baseline.same
same hardened >hardened.same
report_test "$(diff baseline.same hardened.same >differ; echo $?)" 'two boots execute the same instructions' "$(head -n 3 differ)"
is 'all of it is there' "$([ "$(wc -l <baseline.same)" -gt 50 ] && echo yes)" yes
like 'flame graphs have all' "$("$kprotperf" fold hardened.data | grep shuffle_freelist)" 'new_slab_\[i\];allocate_slab_\[k\];shuffle_freelist_\[i\] [0-9]+'

keep untraced "$kprotperf" report --trace baseline.data
one_line 'a recording without such a call says so' untraced.err 'baseline.data holds no trace of a call'
keep tcg "$lab" run --exact --accel tcg -- true
is 'where several CPUs or a clock of its own would run, it is refused' "$(cat tcg.status) $(cat tcg.err)" \
	'120 lab: --exact needs --accel icount, not tcg (see scripts/lab --help)'
keep here "$kprotperf" record --exact -- true
one_line 'and outside of the lab' here.err '--exact counts in the lab'
keep several "$kprotperf" record --exact -r 2 -- true
is 'it counts one run' "$(cat several.status)" 2

done_testing
