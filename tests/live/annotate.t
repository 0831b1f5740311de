#!/bin/bash
# annotate and diff --annotate are right about real recordings of allocate_slab under big-fork. In the hardened kernel
# shuffle_freelist takes most of its time. Estimates from samples agree with the exact times of record --range.

# shellcheck disable=SC2154,SC2016 # names from lib.sh and tap.sh; jq's variables
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

guest_main() {
	local more=()
	# The baseline kernel has no shuffle_freelist.
	[ "$(cat side.txt)" = baseline ] || more=(--repeat=2 --range shuffle_freelist)
	record "$(cat side.txt)" --freq=20000 --func allocate_slab "${more[@]}" -- "$workloads/big-fork"
	[ "$(cat side.txt)" = baseline ] && return
	record counted --freq=0 --blocks allocate_slab -- "$workloads/big-fork" --iterations 4
	keep live "$kprotperf" annotate --format=json --all hardened.data allocate_slab
}

side "$@"
need hardened
need baseline
for name in baseline hardened; do
	echo $name >side.txt
	boot $name guest_main
	clean_dmesg
	equal "$name was recorded" "$(cat $name.status)" 0
done

# annotated NAME ARG...: write the JSON of `kprotperf ARG...` to NAME.annotated.json.
annotated() {
	local name=$1
	shift
	"$kprotperf" "$@" --format=json >"$name.annotated.json" 2>"$name.annotated.err"
	is "$*" "$?$(grep -v 'warning: \|note: ' "$name.annotated.err")" 0
}

# of NAME FILTER: print the result of jq's FILTER on NAME.annotated.json.
of() {
	jq -r "$2" "$1.annotated.json"
}

annotated all annotate hardened.data allocate_slab
annotated clone annotate --context=clone hardened.data allocate_slab
annotated body annotate hardened.data shuffle_freelist
annotated diff diff --annotate allocate_slab baseline.data hardened.data

# Each sample belongs to an instruction, to a line and to an entry of `places`. None is lost.
of_all=$(of all '.samples.self + .samples.callees')
holds 'there are enough samples' "${of_all:-0} > 300"
for what in instructions lines places; do
	equal "$what have all samples that belong somewhere" \
		"$(of all "[.${what}[] | .self + .callees] | add")" "$of_all"
done
equal 'what belongs nowhere was due with interrupts off' \
	"$(of all '.samples | ((.function - .self - .callees - .unplaced) | fabs) < 0.001')" true
holds 'clone has a part of them' "$(of clone .samples.function) > 100 and
	$(of clone .samples.function) < $(of all .samples.function)"

# On the host, after the guest has ended, annotate finds vmlinux and source without their names.
equal 'the vmlinux' "$(of all .vmlinux)" "$(readlink -f "$("$lab" path hardened)")/vmlinux"
equal 'whose code is not as it ran' "$(of all .code)" file
equal 'the source' "$(of all 'first(.lines[] | select(.body == "alloc_slab_page" and .callees > 0)) |
	.source | test("alloc_pages\\(")')" true
equal 'what is called is named' "$(of all 'first(.instructions[] | select(.body != null and
	(.body | test("get_random_u32_below|alloc_slab_page")) and .callees > 0)) | .text | test("^callq (__)?(get_random|alloc_pages)")')" true

# Compare the estimate with the time that probes at the inlined function's edges measured in the same calls. This time must be in
# the samples' 99.9 % interval, which is 1.7 times as wide as the 95 % interval. Samples due with interrupts off have no address;
# all of them may belong to the inlined function. (353 of 2,622 samples had none, and the estimate was 8.3 % too low.)
exact=$(of all 'first(.bodies[] | select(.body == "shuffle_freelist")) | .exact')
read -r low high < <(of all '(.samples.unplaced / .samples.function) as $nowhere |
	first(.bodies[] | select(.body == "shuffle_freelist")) | (.cost / .share) as $call |
	"\((.share - 1.7 * (.share - .share_low)) * $call) \((.share + 1.7 * (.share_high - .share) + $nowhere) * $call)"')
holds "shuffle_freelist: what samples say, $low to $high, and what record --range has, $exact" \
	"$low <= $exact and $exact <= $high"
equal 'which is said to be measured' "$(of all 'first(.bodies[] | select(.body == "shuffle_freelist")) | .measured')" exact
within 'a call of it, annotated by itself, takes as long' "$(of body .mean)" "${exact:-null}" 2
equal 'in the place where it is inlined' "$(of body '[.places[] | "\(.function) \(.inlined)"] | join(" ")')" \
	'allocate_slab true'
equal 'its samples are those of the body' "$(of body .samples.function)" \
	"$(of all 'first(.bodies[] | select(.body == "shuffle_freelist")) | .self + .callees')"

within 'diff: shuffle_freelist is all new, and costs that' \
	"$(of diff 'first(.bodies[] | select(.body == "shuffle_freelist")) | .delta')" \
	"$(of all 'first(.bodies[] | select(.body == "shuffle_freelist")) | .cost')" 0.1
equal 'diff: its line of the loop' "$(of diff 'first(.lines[] | select(.body == "shuffle_freelist" and
	(.source // "" | test("for \\(idx = 1")))) | .baseline.instructions == 0 and .delta > 0')" true
within 'diff: lines add up to the change of a call, but for what belongs nowhere' \
	"$(of diff '([.lines[].delta] | add) + ([.hardened, .baseline] | map(.unplaced / .samples * .mean) | .[0] - .[1])')" \
	"$(of diff '.hardened.mean - .baseline.mean')" 2
"$kprotperf" diff --annotate allocate_slab baseline.data hardened.data >page.txt 2>/dev/null
equal 'diff: says so' "$(tr '\n' ' ' <page.txt | grep -cE ' shuffle_freelist: ~\+[0-9,]+ instructions per call, between [^;]*; the baseline has no code for it')" 1

# With counted blocks, each instruction has the executions of its block, and the loop of shuffle_freelist runs more often than it
# is entered.
annotated counted annotate counted.data allocate_slab
equal 'instructions a call, summed over instructions, are those over blocks' \
	"$(of counted '[.instructions[].per_call // 0] | add * 1000 | round')" \
	"$("$kprotperf" report --format=json counted.data 2>/dev/null |
		jq 'first(.block_functions[] | select(.syscall == "*")) | .insns_per_call * 1000 | round')"
equal 'and over lines' "$(of counted '[.lines[].per_call // 0] | add * 1000 | round')" \
	"$(of counted '[.instructions[].per_call // 0] | add * 1000 | round')"
equal 'the entry is executed once a call' "$(of counted 'first(.instructions[] | select(.address == "+0x0")) | .per_call')" 1
equal "the line of shuffle_freelist's loop is executed most of its own" \
	"$(of counted '[.lines[] | select(.body == "shuffle_freelist")] | max_by(.per_call // 0) | .source | test("for \\(idx = 1")')" true

# In the guest annotate reads the running kernel's code.
equal 'annotate in the guest' "$(cat live.status)" 0
equal "and its code is the kernel's own" "$(jq -r .code live.out)" live
equal 'of the same samples' "$(jq -r .samples.self live.out)" "$(of all .samples.self)"

done_testing
