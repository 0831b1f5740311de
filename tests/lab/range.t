#!/bin/bash
# lab why --range finds the commit that causes a cost: it builds, boots and prints the right things. make, QEMU and kprotperf are
# stand-ins: a kernel's cost is in its file `cost`. inside.t tests the search itself, with costs that vary.

# shellcheck disable=SC2016,SC2154 # text for scripts; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

qemu_stands_in
make_stands_in machine <<'TEXT'
cat "$src/cost" >>"$LOG"
! grep broken "$src/cost" || { echo 'cost:1: error: broken'; exit 2; }
cp "$src/cost" "$obj/vmlinux"
TEXT
cat >kprotperf <<'TEXT'
#!/bin/bash
sub=$1
shift
case $sub in
record) cut -d' ' -f1 "$BOOTED/bzImage" >"$3" ;;
merge)
	out=$2
	shift 2
	cat "$@" >"$out"
	;;
why)
	[ "$1" != --plan ] || { : >"$2"; exit; }
	files=("${@: -2}")
	[[ $* = *json* ]] || { echo "why $(sort -u "${files[0]}" | head -n 1) $(sort -u "${files[1]}" | head -n 1)$(sed 's/.*--patch=[^ ]*[/]\([^ ]*\) .*/, \1 changes/' <<<"$*")"; exit; }
	delta=$(($(head -n 1 "${files[1]}") - $(head -n 1 "${files[0]}")))
	printf '{"of": "prctl", "contexts": [{"name": "prctl", "delta_total": %d, "delta_total_low": %d, "delta_total_high": %d, "significant": %s}]}\n' \
		$delta $delta $delta "$([ $delta -ne 0 ] && echo true || echo false)"
	;;
esac
TEXT
chmod +x kprotperf
export KPROTPERF=$scratch/kprotperf

# series COST...: make a repository with a commit for 0 and for each COST. "broken" does not build, "docs" changes documentation.
series() {
	local n=0 cost last=10000
	rm -rf tree cache log
	mkdir -p tree/Documentation
	printf 'VERSION = 6\nPATCHLEVEL = 1\n' >tree/Makefile
	git -C tree init -q
	for cost in 0 "$@"; do
		case $cost in
		docs) echo "$n" >tree/Documentation/text ;;
		broken) echo "$last broken $n" >tree/cost ;;
		*) last=$((10000 + cost)) && echo "$last commit $n" >tree/cost ;;
		esac
		git -C tree add -A
		git -C tree commit -qm "commit $n"
		[ "$n" != 0 ] || git -C tree tag start
		n=$((n + 1))
	done
}
find_cost() {
	: >log
	try "$lab" why --range start..HEAD --tree tree --accel icount -- true
}
builds() {
	wc -l <log
}

series 0 docs broken 0 1000 docs 1000
find_cost
is 'the commit with the cost is found; what is no code is not built' "$status:$(sed -n '1s/^[0-9a-f]* //p' out):$(builds)" '0:commit 5:6'
is 'what does not build is passed over' "$(grep -c 'error: broken' err)" 1
like 'with its share' "$(sed -n 2p out)" '^prctl: \+1000 of the \+1000 instructions per run'
is 'and what why says of it and the one before' "$(tail -n 1 out)" "why 10000 11000, $(sed -n '1s/ .*//p' out) changes"
is 'three boots of each that was built' "$(grep -c 'boot [0-9]* of [0-9]*: commit' err)" 15
is 'nothing is left but the recordings' "$(find . -maxdepth 1 -name '.lab-ab*')" ''
for wrong in '--range HEAD' '--range start..HEAD' '--range nosuch..HEAD --tree tree' '--range HEAD..HEAD --tree tree'; do
	# shellcheck disable=SC2086 # words
	try "$lab" why $wrong -- true
	is "'$wrong': status 120 and one line" "$status:$(wc -l <err)" 120:1
done
done_testing
