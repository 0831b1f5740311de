# shellcheck shell=bash disable=SC2154 # names from lib.sh and tap.sh
# Probe the allocator by a glob, in the same way on each kernel.

guest_slab() {
	traces >before.txt
	"$kprotperf" list --format=csv '*slab*' >list.csv
	local iterations=$1
	record auto --freq=99 --func '*slab*' -- "$workloads/big-fork" --iterations "$iterations"
	record kprobe --freq=99 --func '*slab*' --attach=kprobe -- \
		"$workloads/big-fork" --iterations "$iterations"
	traces >after.txt
}

# slab_checks ITERATIONS: check the recordings that guest_slab ITERATIONS made.
slab_checks() {
	local iterations=$1 how
	for how in auto kprobe; do
		is "$how: the workload finished" "$(cat $how.status)" 0
		like "$how: and its figures came" "$(cat $how.out)" "^big-fork iterations=$iterations "
		equal "$how: nothing is lost" "$(lost $how)" nothing
		equal "$how: clone was counted" "$(syscalls $how clone)" "$iterations"
		holds "$how: allocate_slab too" "$(calls $how allocate_slab) > 100"
	done
	# record probes each match that list shows, or says that it leaves the match out.
	holds "every match is probed, or left out with a word" \
		"$(grep -c '^function,' list.csv) ==
		 $(json auto '[.costs.mechanisms[].functions | numbers] | add') +
		 ([\"$(grep 'left out' auto.err | tr '\n' ' ')\" | scan(\"([0-9]+) matching\") | .[0] | tonumber] | add)"
	holds 'which are not few' "$(grep -cE '^function,[^,]*,(fentry|kprobe|kprobe\.multi),' list.csv) > 30"
	equal 'nothing remains attached' "$(cat after.txt)" "$(cat before.txt)"
	clean_dmesg
}
