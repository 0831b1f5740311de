#!/bin/bash
# --max-overhead: probe storms end with the busiest functions detached, and nothing unaccounted for.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

busy='vfs_read ksys_read rw_verify_area __fdget_pos'
# Reads, of which libc adds one. Where probes are to go, as many as it takes: how long it takes to detach them
# is the kernel's and the host's affair, 0.1 s to seconds.
storm=100000
functions='--func vfs_read --func ksys_read --func rw_verify_area --func __fdget_pos --func do_nanosleep'

guest_main() {
	local how
	for how in fentry kprobe multi; do
		# shellcheck disable=SC2086 # a list
		record "storm-$how" --attach=$how -F 0 $functions -- "$acts" zero-reads $storm
		# shellcheck disable=SC2086
		record "$how" --attach=$how -F 0 --max-overhead=5 $functions -- "$acts" reads-until-detached 4
	done
	# As many functions as there are, by one link.
	record glob -F 0 --max-overhead=5 --func 'vfs_*' --func '*fd*' --func 'rw_*' --func ksys_read \
		-- "$acts" reads-until-detached 4
	record asleep --attach=fentry -F 0 --max-overhead=5 --func do_nanosleep --func vfs_read \
		-- "$acts" sleepy-reads-until-detached 1
	record runs --attach=fentry -F 0 --repeat 2 --max-overhead=5 --func vfs_read -- "$acts" reads-until-detached 1
	record calm --attach=fentry -F 0 --max-overhead=50 --func kernel_clone -- "$acts" forks 50
	traces >after.txt
}

side "$@"
need hardened
boot hardened guest_main
clean_dmesg

# detached NAME FUNCTION
detached() {
	function_row "$1" "$2" detached
}

# reads NAME: of the last run.
reads() {
	sed -n 's/ reads$//p' "$1.out" | tail -n 1
}

for how in fentry kprobe multi; do
	is "$how: recorded, the command ended well" "$(cat $how.status)" 0
	for f in $busy; do
		equal "$how: $f is marked" "$(detached $how "$f")" true
		is "$how: and named, once" "$(grep -c "^kprotperf: note: detached '$f': its probes took [0-9.]* % of" $how.err)" 1
		holds "$how: some of its calls were counted" \
			"$(calls $how "$f") > 1000 and $(calls $how "$f") < $(reads $how)"
		is "$how: and the kernel has no probe on it" "$(grep -c "^$f " $how.out)" 0
	done
	is "$how: the one that is never called has one" "$(grep -c '^do_nanosleep ' $how.out)" 1
	is "$how: the one that is never called is not" "$(grep -c do_nanosleep $how.err)" 0
	equal "$how: all reads were" "$(syscalls $how read)" $(($(reads $how) + 1))
	equal "$how, no limit: all reads were" "$(syscalls "storm-$how" read)" $((storm + 1))
	balanced "$how" $how
	balanced "$how, no limit" "storm-$how"
	# One a function that was open just then; entries that outlive their return's probe would be thousands.
	holds "$how: few calls were open" "$(json $how '.losses.probe_detached') <= 4"
	within "$how: the mean of a function stands" "$(function_row $how vfs_read mean)" \
		"$(function_row "storm-$how" vfs_read mean)" 2
	# The mean of its caller has the cost of probes while they are detached, which the report warns of: 0.7 to 0.9 % by
	# fentry, 8.9 to 10.0 % by kprobe, 0.6 % by kprobe.multi in five guests. The median, to 2 % (a bucket), has none. By
	# kprobe.multi the storm's read, of some 450 instructions, is itself up to 50 off for each of the functions timed in it, by
	# their places in the hashes of ftrace (docs/accounting.md).
	case $how in
	fentry) limits='p50 4 mean 4' ;;
	kprobe) limits='p50 4 mean 15' ;;
	multi) limits='p50 25 mean 25' ;;
	esac
	while read -r key limit; do
		within "$how: and that of what calls it ($key)" "$(syscall_row $how read "$key")" \
			"$(syscall_row "storm-$how" read mean)" "$limit"
	done < <(xargs -n 2 <<<"$limits")
	holds "$how: the report warns" "$(json $how '.warnings | map(select(contains("--max-overhead detached 4 functions"))) | length') == 1"
done
is 'kprobe.multi: the others are said to have been away' \
	"$(grep -c "^kprotperf: note: the kprobe.multi probes of 1 other function were detached too, for up to [0-9]* ms" multi.err)" 1
"$kprotperf" report --all fentry.data >fentry.txt 2>/dev/null
holds 'the table has the mark' "$(grep -c '^vfs_read \[detached\]' fentry.txt) >= 1"

is 'a glob: recorded, the command ended well' "$(cat glob.status)" 0
equal 'a glob: the busiest are detached' "$(detached glob vfs_read)" true
equal 'a glob: all reads were counted' "$(syscalls glob read)" $(($(reads glob) + 1))
balanced 'a glob' glob

# One call of do_nanosleep is open when the other function is taken away, and ends as it should.
is 'asleep meanwhile: recorded' "$(cat asleep.status)" 0
equal 'asleep meanwhile: the busy one is detached' "$(detached asleep vfs_read)" true
equal 'asleep meanwhile: the other is not' "$(json asleep 'first(.functions[] | select(.name == "do_nanosleep")) | .detached | tostring')" false
equal 'asleep meanwhile: its calls are all there' "$(calls asleep do_nanosleep)" 3
balanced 'asleep meanwhile' asleep

is 'two runs: said once' "$(grep -c 'detached .vfs_read.*and not in later runs' runs.err)" 1
equal 'two runs: all reads of both' "$(syscalls runs read)" $(($(awk '/ reads$/ { n += $1 + 1 } END { print n }' runs.out)))
holds 'two runs: the function in the first alone' \
	"$(calls runs vfs_read) < $(syscalls runs read) - $(reads runs)"
balanced 'two runs' runs

equal 'little to do: nothing is detached' "$(calls calm kernel_clone)" 50
is 'little to do: nothing is said' "$(grep -c detached calm.err)" 0
equal 'nothing stays attached' "$(head -n 1 after.txt)" 0

done_testing
