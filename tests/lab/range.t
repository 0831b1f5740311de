#!/bin/bash
# lab why --range: which commits it builds and boots, and which it finds. make, QEMU and kprotperf are stand-ins: a kernel costs what
# its file `cost` says, and a boot's seed more.

# shellcheck disable=SC2016,SC2154 # text for scripts; names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

qemu_stands_in
make_stands_in machine <<'TEXT'
cat "$src/cost" >>"$LOG"
! grep broken "$src/cost" || { echo 'cost:1: error: broken'; exit 2; }
cp "$src/cost" "$obj/vmlinux"
TEXT
# Noise is NOISE in one boot of three; an interval is what that adds to the mean.
cat >kprotperf <<'TEXT'
#!/bin/bash
sub=$1
shift
case $sub in
record) echo "$(($(cut -d' ' -f1 "$BOOTED/bzImage") + (SEED % 3 == 1 ? ${NOISE:-0} : 0)))" >"$3" ;;
merge)
	out=$2
	shift 2
	cat "$@" >"$out"
	;;
why)
	[ "$1" != --plan ] || { : >"$2"; exit; }
	files=("${@: -2}")
	[[ $* = *json* ]] || { echo "why $(sort -u "${files[0]}" | head -n 1) $(sort -u "${files[1]}" | head -n 1)$(sed 's/.*--patch=[^ ]*[/]\([^ ]*\) .*/, \1 changes/' <<<"$*")"; exit; }
	awk -v noise="${NOISE:-0}" 'FNR == 1 { file++ } { sum[file] += $1; n[file]++ } END {
		d = sum[2] / n[2] - sum[1] / n[1]; by = noise * 3 / n[2]
		printf("{\"of\": \"prctl\", \"contexts\": [{\"name\": \"prctl\", \"delta_total\": %f, \"delta_total_low\": %f, \"delta_total_high\": %f, \"significant\": %s}]}\n",
			d, d - by, d + by, (d > by || -d > by) ? "true" : "false") }' "${files[@]}"
	;;
esac
TEXT
chmod +x kprotperf
export KPROTPERF=$scratch/kprotperf

# series COST...: a repository with a commit for each, 0 first, on top of it; "broken" does not build, "docs" changes documentation.
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

# 16 commits, the cost in the eleventh.
series 0 0 0 0 0 0 0 0 0 0 1000 1000 1000 1000 1000 1000
find_cost
is 'of 16 commits the one with the cost is found, in 6 builds' "$status:$(sed -n '1s/^[0-9a-f]* //p' out):$(builds)" '0:commit 11:6'
like 'with its share' "$(sed -n 2p out)" '^prctl: \+1000 of the \+1000 instructions per run'
is 'and what why says of it and the one before' "$(tail -n 1 out)" "why 10000 11000, $(sed -n '1s/ .*//p' out) changes"
is 'three boots of each side are enough' "$(grep -c 'boot [0-9]* of [0-9]*: commit' err)" $((6 * 3))
is 'nothing is left but the recordings' "$(find . -maxdepth 1 -name '.lab-ab*')" ''

NOISE=600 find_cost
is 'found again, nothing is built again' "$status:$(sed -n '1s/^[0-9a-f]* //p' out):$(builds)" '0:commit 11:0'
ok 'where boots differ that takes more of them' test "$(grep -c 'boot [0-9]* of [0-9]*: commit' err)" -gt $((6 * 3))
NOISE=9000 find_cost
like 'a range that has no cost beyond chance' "$status:$(tail -n 1 err)" '^120:lab: no significant change between start and HEAD, measured over 12 boots per side'

series 0 docs docs 0 docs broken 0 0 docs -700 docs docs -700
find_cost
is 'a gain is found too; what is no code is not built' "$status:$(sed -n '1s/^[0-9a-f]* //p' out)" '0:commit 10'
is 'and what does not build is passed over' "$(grep -c broken log)" 1
series broken broken broken 500
find_cost
like 'where only the last one builds, it may be any' "$status:$(tail -n 1 err)" '^120:lab: the change is in one of the 4 commits .*, of which only the last can be built'
for wrong in '--range HEAD' '--range start..HEAD' '--range nosuch..HEAD --tree tree' '--range HEAD..HEAD --tree tree'; do
	# shellcheck disable=SC2086 # words
	try "$lab" why $wrong -- true
	is "'$wrong': status 120 and one line" "$status:$(wc -l <err)" 120:1
done
done_testing
