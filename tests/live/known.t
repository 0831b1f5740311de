#!/bin/bash
# Times less probe cost are correct by each mechanism, for functions of tests/module whose instruction counts are known.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/figures.sh
. "$repo/tests/live/figures.sh"

mechanisms='fentry multi kprobe'

control=/sys/kernel/debug/kprotperf_known
shapes='known_empty known_small known_plain known_outer known_inner_a known_inner_b known_recursive
	known_tail known_tail_end known_irqs_off'
loud='known_interrupted known_tick known_sleeping msleep known_yielding'
leaves=$(printf 'known_leaf_%d ' {0..19})

# --- functions that run in the guest -----------------------------------------

# tell FILE WORD...: write WORD... to FILE in the debugfs folder of tests/module.
tell() {
	local file=$1
	shift
	echo "$*" >"$control/$file" || echo "the module refuses: $file $*" >&2
}

# Call each test function ("shape") with interrupts off, because interrupts would add to its time.
act_quiet() {
	local shape
	for shape in empty small plain nested recursive tail leaves; do
		tell quiet $shape 100
	done
	tell quiet irqs-off 1000
}

# Call test functions under interrupts of the sampler and the timer, and beside a task that competes for the CPU. plain is called
# so often that its mean includes an average share of interrupts.
act_sampled() {
	local begun now competitor
	act_quiet
	tell run plain 10000
	tell run interrupted 3
	tell run sleeping 5
	read -r begun <$control/ticks
	tell ticking 50
	# Other tasks (the recorder, which writes every few seconds) may use the CPU. Ticks then call no test function.
	now=$begun
	while [ "$now" -lt $((begun + 50)) ]; do
		read -r now <$control/ticks
	done
	rm -f ready
	"$acts" until-signal &
	competitor=$!
	await test -e ready
	tell run yielding 1
	kill $competitor
}

measure() {
	local shape
	cat $control/known >known.txt
	for shape in empty small plain nested recursive tail leaves tick irqs-off interrupted yielding; do
		tell measure $shape 2
		cat $control/measure
	done >measured.txt
}

# list NAME...: print the --func options for the functions NAME....
list() {
	printf -- '--func=%s ' "$@"
}

guest_main() {
	local how
	insmod "$(cat module.txt)" || return
	measure
	for how in $mechanisms; do
		# shellcheck disable=SC2046,SC2086 # lists of words
		{
			record "shapes-$how" --attach="$how" --freq=0 $(list $shapes known_leaves $leaves) -- \
				bash "$self" --guest act_quiet
			cat $control/ticks >"ticks-$how.txt"
			record "sampled-$how" --attach="$how" $(list $shapes $loud) -- \
				bash "$self" --guest act_sampled
			cat $control/ticks >>"ticks-$how.txt"
		}
	done
	record blocks --freq=0 --blocks known_inner_a --func known_outer --func known_inner_b -- bash -c "echo nested 100 >$control/quiet"
	# Time no function, because a timed function would get the samples that come late.
	record untimed -- bash -c "echo irqs-off 1000 >$control/quiet"
	record pipe --freq=0 -- "$acts" blocked-reads 20
	"$kprotperf" list 'known_namesake_?' >namesake.txt
	rmmod kprotperf_known
}

side "$@"

# --- checks on the host ------------------------------------------------------

need hardened
need_module hardened
boot hardened guest_main
clean_dmesg

# known FUNCTION self|total: print the known instructions of the mean call.
known() {
	awk -v name="$1" -v of="$2" '$1 == name { sum += of == "self" ? $2 : $3; n++ }
		END { if (n) printf "%.3f\n", sum / n }' known.txt
}

# Error in instructions of each call that is timed inside a function: the kernel finds the probe in a hash table
# (docs/accounting.md). In 19 boots up to 12 by kprobe, and 42 by kprobe.multi: 31 to 42 in five of eleven, 11 or less in the
# others.
declare -A off_by_call=([fentry]=0 [kprobe]=15 [multi]=60)
# Calls timed inside each function, on average, rounded up.
declare -A calls_inside=([known_outer]=3 [known_recursive]=4 [known_tail]=1 [known_leaves]=20 [known_interrupted]=3 [known_sleeping]=1)

# true_to HOW FUNCTION WHAT GOT KNOWN: check GOT to 1 % or 5 instructions, plus HOW's error for each call inside FUNCTION.
true_to() {
	close_to "$3" "$4" "$5" 1 $((5 + ${off_by_call[$1]} * ${calls_inside[$2]:-0}))
}

# is_measured SHAPE: print SHAPE's instructions by the time stamp counter, if two measurements agree. This number equals the
# module's own figure exactly, but three more instructions start the recursion, and the cost of yielding is known roughly.
is_measured() {
	awk -v shape="$1" '$1 == shape && $3 == $4 { print $3 }' measured.txt
}
for pair in empty:empty small:small plain:plain nested:outer tail:tail leaves:leaves tick:tick \
	irqs-off:irqs_off interrupted:interrupted; do
	equal "known_${pair#*:} executes what it is made of" "$(is_measured "${pair%:*}")" \
		"$(awk -v name="known_${pair#*:}" '$1 == name { print $3 }' known.txt)"
done
equal 'known_recursive too' "$(is_measured recursive)" \
	"$(awk '$1 == "known_recursive" && $3 > max { max = $3 } END { print max + 3 }' known.txt)"
within 'known_yielding nearly' "$(is_measured yielding)" "$(known known_yielding total)" 0.2

# For one of the two functions, the module's BTF has the prototype of an inlined function of the same name first.
like 'fentry is not for a function whose arguments BTF does not have' "$(cat namesake.txt)" '^known_namesake_[12] +kprobe.multi '

# count_is HOW NAME FUNCTION CALLS: check the number of FUNCTION's calls.
count_is() {
	equal "$1, $2: calls of $3" "$(count "$2-$1" "$3")" "$4"
}

# Names of functions and of inlined functions come from the module's own DWARF. The loop runs with interrupts off, so its 42
# samples are at the instruction where its caller enables interrupts again.
keep folded "$kprotperf" fold untimed.data
like 'a body inlined into a function of the module has its name' "$(cat folded.err && grep quiet_write folded.out)" \
	'quiet_write_\[k\];(_cond_resched|arch_local_irq_restore)_\[i\]'

check_shapes() {
	local how=$1 name=$2 f
	for f in $shapes; do
		true_to "$how" "$f" "$how, $name: $f" "$(mean oncpu "$name-$how" "$f")" "$(known "$f" total)"
		true_to "$how" "$f" "$how, $name: $f itself" "$(mean self "$name-$how" "$f")" "$(known "$f" self)"
	done
	for f in empty small outer tail tail_end; do
		count_is "$how" "$name" known_$f 100
	done
	count_is "$how" "$name" known_recursive 800
	count_is "$how" "$name" known_inner_a 200
	count_is "$how" "$name" known_inner_b 100
	count_is "$how" "$name" known_irqs_off 1000
	equal "$how, $name: nothing is lost" "$(lost "$name-$how")" nothing
}

check_leaves() {
	local how=$1 f
	for f in known_leaves $leaves; do
		true_to "$how" "$f" "$how: $f" "$(mean oncpu "shapes-$how" "$f")" "$(known "$f" total)"
		count_is "$how" shapes "$f" 100
	done
	# known_leaves runs with interrupts off, but the subtracted cost of each of the 20 probes includes the mean share of
	# interrupts: by fentry 16.4 of 22 instructions remain in nearly each recording. Costs are whole instructions: if the few
	# interrupts in the measurement of this share are long, each probe's cost is one higher (-2.2 remained, once on a busy
	# machine), and no more.
	close_to "$how: known_leaves itself, with 20 functions timed in it" \
		"$(mean self "shapes-$how" known_leaves)" "$(known known_leaves self)" 0 \
		$((25 + ${off_by_call[$how]} * 20))
}

check_loud() {
	local how=$1 ticks
	ticks=$(($(tail -n 1 "ticks-$how.txt") - $(head -n 1 "ticks-$how.txt")))
	holds "$how: the timer interrupted, $ticks times" "$ticks >= 50 + 3 * 3"
	equal "$how: which is counted in [irq]" "$(count "sampled-$how" known_tick '[irq]')" "$ticks"
	equal "$how: and nowhere else" "$(count "sampled-$how" known_tick)" "$(count "sampled-$how" known_tick '[irq]')"
	true_to "$how" known_tick "$how: known_tick, in [irq]" "$(mean oncpu "sampled-$how" known_tick '[irq]')" "$(known known_tick total)"
	true_to "$how" known_interrupted "$how: the timed function in the interrupt is not part of the one interrupted itself" \
		"$(mean self "sampled-$how" known_interrupted)" "$(known known_interrupted self)"
	holds "$how: but in all it took" "$(mean oncpu "sampled-$how" known_interrupted) >=
		$(known known_interrupted total) + 3 * $(known known_tick total)"

	# Use the shortest calls, because an interrupt that hits one of the 5 calls is not subtracted: once 2,900 instructions.
	# Measured: 4,011 to 4,033 in six recordings; once 3,951 with the callee's mean.
	true_to "$how" known_sleeping "$how: known_sleeping itself" "$(awk -v all="$(shortest "sampled-$how" known_sleeping)" \
		-v callee="$(shortest "sampled-$how" msleep)" 'BEGIN { print all - callee }')" "$(known known_sleeping self)"
	holds "$how: its sleep is in its wall time" "$(mean wall "sampled-$how" known_sleeping) >= 4000000"
	holds "$how: and not in its time on the CPU" "$(mean oncpu "sampled-$how" known_sleeping) < 10000"
	holds "$how: the same for msleep" "$(mean wall "sampled-$how" msleep) >= 4000000 and
		$(mean oncpu "sampled-$how" msleep) < 6000"

	true_to "$how" known_yielding "$how: known_yielding, which others preempt" "$(mean oncpu "sampled-$how" known_yielding)" \
		"$(is_measured yielding)"
	holds "$how: they do" "$(mean wall "sampled-$how" known_yielding) > 1.3 * $(known known_yielding total)"
}

for how in $mechanisms; do
	check_shapes "$how" shapes
	check_shapes "$how" sampled
	holds "$how: which samples hit" "$(json "sampled-$how" .samples.workload) >= 20"
	check_leaves "$how"
	check_loud "$how"
done

holds 'reads of the pipe are counted' "$(figure 4 oncpu pipe read -) >= 20"
holds 'their sleep is in their wall time' "$(figure 5 wall pipe read -) >= 20 * 18000000"
holds 'the wait is not in their time on the CPU' "$(syscall_mean oncpu pipe read) < 20000"

# Measured: 204.76 of 206 instructions in 20 of 20 boots, as without blocks. It would be 236.8 if each of the two calls added 16.
equal 'blocks of a callee are counted' "$(json blocks '[.blocks[] | select(.syscall == "*") | .executions] | max')" 60000
true_to fentry known_outer 'counting blocks of a callee takes its caller no time' "$(mean self blocks known_outer)" "$(known known_outer self)"

done_testing
