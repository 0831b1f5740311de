#!/bin/bash
# The demo shows the cost of init_on_alloc for tar on a Debian kernel, and the cost and the location of SLAB freelist
# randomization in big-fork, in an ordinary guest and in a guest whose random generator is not seeded.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
side "$@"
need baseline hardened
fetch debian-6.1-cloud

# The demo works in its clone, with the programs that `make` built there.
into=${scratch#"$repo"/}/demo
"$repo/scripts/demo" "$into" >said 2>err
is 'the demo ends well' $? 0
[ -s demo/unseeded/diff.txt ] || sed 's/^/#   /' err

for file in init_on_alloc/{{baseline,hardened}.data,diff.{txt,html}} {,unseeded/}{{baseline,hardened}.data,diff.{txt,html},{baseline,hardened,diff}.svg}; do
	ok "it leaves $file" test -s "demo/$file"
done

# row DIR FILTER: apply FILTER to the JSON of the comparison in DIR.
row() {
	"$kprotperf" diff "demo/$1/baseline.data" "demo/$1/hardened.data" --format=json >"diff.json"
	jq -r "$2 // empty" diff.json
}

# The parameter and the static key of init_on_alloc differ as well.
is 'what differs is said once' "$(grep '^differs:' demo/init_on_alloc/diff.txt)" 'differs: init_on_alloc (off, on)'
# The kernel copies a path name into a slab object of 4,096 bytes. To clear it takes 512 instructions and a few around them. Use
# medians: the first lookups find nothing in memory, and their cost differs by boot (means: 664, 676, 707). Medians of tar: 571
# and 571.
lookup='.syscalls[] | select(.name == "newfstatat")'
holds 'looking up a file is 400 to 750 instructions slower with init_on_alloc' \
	"$(row init_on_alloc "$lookup | .hardened.p50 - .baseline.p50") | . > 400 and . < 750"

clone='.syscalls[] | select(.name == "clone")'
allocate_slab='.functions[] | select(.name == "allocate_slab" and .syscall == "clone")'

holds 'seeded, clone is 0.4 to 0.9 % slower' "$(row . "$clone | .delta_pct") |
	. > 0.4 and . < 0.9"
holds 'allocate_slab carries it' "$(row . "$allocate_slab | .share") | . > 0.7 and . < 1.3"
holds 'not seeded, clone is 17 to 24 % slower' "$(row unseeded "$clone | .delta_pct") |
	. > 17 and . < 24"
holds 'allocate_slab carries it' "$(row unseeded "$allocate_slab | .share") |
	. > 0.9 and . < 1.1"

# In the tree, the lines below each line add up to it. Functions that were not timed explain little of clone.
for dir in . unseeded; do
	row $dir . >/dev/null
	is "$dir: where the change comes from adds up" "$(jq '.attribution as $a |
		[range($a | length) as $i | $a[$i] as $whole |
			[foreach $a[$i + 1:][] as $part (true; . and $part.level > $whole.level;
				if . and $part.level == $whole.level + 1 then $part.delta_total else empty end)] |
			select(length > 0 and ((add - $whole.delta_total) | fabs) >
				1e-9 * ($whole.delta_total | fabs) + 1e-3)] | length' diff.json)" 0
done
holds 'not seeded, less than 5 % of clone is unexplained' "$(jq '.attribution as $a |
	($a | map(.level == 1 and .name == "clone") | index(true)) as $i |
	first($a[$i + 1:][] | select(.level == 2 and .kind == "untimed")) | .share' diff.json) |
	fabs < 0.05"

# Compare corrected figures with the unprobed runs. They may differ by 0.15 percent of clone plus a fiftieth of the effect.
for dir in . unseeded; do
	truth=$(row $dir '.workload[] | select(.name == "big-fork" and .probed == false) | .delta_pct')
	holds "$dir: the unprobed workload agrees, $truth %" \
		"($(row $dir "$clone | .delta_pct") - $truth) | fabs < 0.15 + $truth / 50"
done

# allocate_slab has most of the whole change, or more than all of it if new slabs cost less in other functions on the hardened side.
cause='big-fork takes [0-9.]+ % more CPU time .* (in|of it is in) allocate_slab'
like 'the answer is in the output' "$(paste -sd' ' said)" "$cause.* in clone \(\+[0-9.]+ %\)"
like 'one boot per side tells it in the ordinary guest, too' "$(sed '/^$/q' demo/diff.txt | paste -sd' ')" \
	"$cause.* in clone \(\+0\.[0-9]+ %\)"
like 'the option that differs is named' "$(cat demo/diff.txt)" 'slab_freelist_random \(off, on\)'
"$kprotperf" fold demo/unseeded/hardened.data >folded
like 'the slow path is under the protection' "$(cat folded)" \
	'shuffle_freelist_\[i\];.*;extract_entropy_\[k\]'
ok 'and in the flame graphs' grep -q 'data-n="extract_entropy".*fill="#f08c32"' demo/unseeded/diff.svg
"$kprotperf" diff --fold demo/unseeded/{baseline,hardened}.data >folded
ok 'it is in diff --fold' grep -q extract_entropy folded
is 'of which each line has two counts' "$(grep -vE '^[^ ].* [0-9.]+ [0-9.]+$' folded)" ''

done_testing
