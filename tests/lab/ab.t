#!/bin/bash
# lab ab boots both kernels with the right options, and merges and compares the right files. kprotperf is a stand-in that writes
# its arguments. QEMU is a stand-in that runs the guest's command here. pair.t, patch.t and tests/live/demo.t compare real guests.

# shellcheck disable=SC2016,SC2154 # text for guests; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
need baseline hardened

qemu_stands_in

cat >kprotperf <<'TEXT'
#!/bin/sh
# This stand-in for record writes its arguments to its -o file.
sub=$1
shift
case $sub in
record)
	asked="$*"
	while [ "$1" != -o ]; do
		[ "$1" != --write-plan ] || echo --func=chosen >"$2"
		shift
	done
	[ ! -e fail-on-$(grep -c FREELIST_RANDOM=y "$BOOTED/config") ] || exit 9
	{
		grep -o 'FREELIST_RANDOM=y' "$BOOTED/config"
		echo "$asked" | sed 's/\.lab-ab[^ ]*/PART/'
	} >"$2"
	;;
merge)
	out=$2
	shift 2
	cat "$@" >"$out"
	;;
changes)
	echo '{"functions":[{"change":"differs","function":"f1","init":false},{"change":"new","function":"f2","init":false},
		{"change":"differs","function":"f3","init":true},{"change":"differs","function":"f4.isra.0","init":false},{"change":"differs","function":"f4","init":false}]}'
	;;
diff) echo "diff $*" ;;
esac
TEXT
chmod +x kprotperf
export KPROTPERF=$scratch/kprotperf

try "$lab" ab --control-run --func f --accel icount -- workload
is 'unprobed runs are the first of a boot, as probed ones are, and recorded alike' "$status:$(<baseline.data)" '0:--func f -o PART -- workload
--func f --control-run --repeat=0 -o PART -- workload'

try "$lab" ab --boots 2 --control --func allocate_slab -r 3 --accel icount -- workload --iterations 5
is 'ab ends with diff, to which --control gives a third file' "$status:$out" \
	'0:diff --control control.data baseline.data hardened.data'
is 'baseline is recorded on baseline, two boots are merged' "$(cat baseline.data)" \
	'--func allocate_slab -r 3 -o PART -- workload --iterations 5
--func allocate_slab -r 3 -o PART -- workload --iterations 5'
is 'hardened on hardened' "$(cat hardened.data)" \
	'FREELIST_RANDOM=y
--func allocate_slab -r 3 -o PART -- workload --iterations 5
FREELIST_RANDOM=y
--func allocate_slab -r 3 -o PART -- workload --iterations 5'
is 'boots alternate' "$(grep -o 'boot . of 2: [a-z]*' err | tr '\n' ,)" \
	'boot 1 of 2: baseline,boot 1 of 2: hardened,boot 1 of 2: control,boot 2 of 2: baseline,boot 2 of 2: hardened,boot 2 of 2: control,'
is 'the third is of the baseline' "$(cat control.data)" "$(cat baseline.data)"
is 'which is not the hardened kernel' "$(grep -c FREELIST_RANDOM=y control.data hardened.data)" \
	'control.data:0
hardened.data:2'

rm baseline.data hardened.data control.data
try "$lab" ab --boots 2 --auto --budget 6 --accel icount -- workload
is '--auto chooses once, on the hardened kernel, and both sides time the same' "$status:$(cat baseline.data hardened.data |
	sed -E 's/PART|\.lab-ab[^ ]*/FILE/g' | sort -u)" '0:--plan FILE -o FILE -- workload
FREELIST_RANDOM=y'
like 'in a boot of its own' "$(tr '\n' ' ' <err)" \
	'^lab: choosing the functions to time \(kernel hardened\) lab: boot 1 of 2: baseline, '
is 'and leaves nothing but the answer' "$(find . -name '.lab-ab*')" ''
try "$lab" ab --auto --write-plan "$scratch/../kept.$$" --accel icount -- workload
is 'the plan can be kept, where no guest can write too' "$status:$(cat ../kept.$$)" 0:--func=chosen
rm -f ../kept.$$
try "$lab" ab --auto --write-plan "$scratch/../kept.$$" --patch "$repo/tests/lab/planted.patch" --accel icount -- workload
is 'with a patch what it changes is timed as well, by its name in the source' "$status:$(paste -sd' ' ../kept.$$)" '0:--func=chosen --func=@(f1|f4)'
like 'and the comparison knows the patch' "$out" "diff .*--patch=[^ ]*planted.patch baseline.data hardened.data"
rm -f "../kept.$$"
rm baseline.data hardened.data
touch fail-on-0
try "$lab" ab --accel icount --bzimage-baseline "$("$lab" path hardened)/bzImage" --hardened=baseline -- workload
is 'sides as asked, one of them a file; a record that fails stops it, with its status' "$status" 9
like 'and a line that says where' "$err" '^lab: recording hardened \(kernel baseline, boot 1\) ended with status 9'
is 'no part of a file is left' "$(find . -name '*data*')" ''

try "$lab" ab -o x.data -- workload
is '-o is refused' "$status" 120
for wrong in '--bzimage-hardened nosuch' '--patch a.patch --hardened notrace' '--patch a.patch --protection kfence' \
	'--patch a.patch --bzimage-baseline /dev/null' '--patch nosuch.patch' '--bzimage x' '--patch' '--budget 5' '--write-plan x' '--auto --exact'; do
	# shellcheck disable=SC2086 # words
	try "$lab" ab $wrong -- workload
	is "'$wrong': status 120 and one line" "$status:$(wc -l <err)" 120:1
done
try "$lab" ab --boots none -- workload
is '--boots wants a number' "$status" 120
try "$lab" ab --boots 2
is 'a command is wanted' "$status" 120
try env KPROTPERF=/no/such "$lab" ab -- workload
like 'without kprotperf it says how to get it' "$err" '^lab: no program /no/such; build it with make'

done_testing
