#!/bin/bash
# record --context and --capture of inlined bodies: parameters as they are where a body is entered, what they point to, and
# variables; against bodies whose instructions are known (tests/module/inlined.c), and shuffle_freelist.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/figures.sh
. "$repo/tests/live/figures.sh"

control=/sys/kernel/debug/kprotperf_inlined/run
capture='--context --capture crng_init'

# Each 5 times. Of the fourth object there is none.
act_shapes() {
	local x
	for x in $(seq 40); do
		echo "object 5 $x" >$control
		echo "loop 5 $x" >$control
		echo "choice 5 $x" >$control
	done
}

guest_shapes() {
	hurry
	insmod "$(cat module.txt)" || return
	record shapes -F 0 -R 'inl_*@shape_*' --capture 'object->next->turns' --context -- bash "$self" --guest act_shapes
	record shapes-plain -F 0 -R 'inl_*@shape_*' -- bash "$self" --guest act_shapes
	record bad-member -R inl_object@shape_object --capture 'object->nosuch' -- true
	record bad-name -R inl_object@shape_object --capture nosuch -- true
}

guest_slab() {
	hurry
	# shellcheck disable=SC2086 # a list of words
	record seeded -F 0 -R shuffle_freelist@allocate_slab --func allocate_slab $capture -- "$workloads/big-fork" -n 3
	record plain -F 0 -R shuffle_freelist@allocate_slab --func allocate_slab -- "$workloads/big-fork" -n 3
	record nowhere -F 0 -R next_freelist_entry@allocate_slab --capture 'page_limit' --capture 's->size' -- true
	record task -F 0 -R shuffle_freelist@allocate_slab --capture 'current->mm->total_vm' -- "$workloads/big-fork" -n 1
	record all -F 0 -R '*@allocate_slab' --context -- "$workloads/big-fork" -n 1
}

guest_unseeded() {
	hurry
	# shellcheck disable=SC2086 # a list of words
	record unseeded -F 0 -R shuffle_freelist@allocate_slab $capture -- "$workloads/big-fork" -n 3
}

side "$@"
need hardened
need_module hardened
boot hardened guest_shapes
clean_dmesg

# rows NAME BODY WHAT: of the rows of values of BODY.
rows() {
	json "$1" "[.values[] | select(.function == \"$2\")] | $3"
}

# varies NAME BODY: report --why-varies of it, into NAME.varies.
varies() {
	"$kprotperf" report --why-varies "$2" --format=json "$1.data" >"$1.varies" || bail "report --why-varies $2 fails"
}

equal 'nothing is lost' "$(lost shapes)" nothing
equal 'all calls are in a row' "$(rows shapes inl_loop@shape_loop 'map(.calls) | add')" 200
equal 'a parameter: loops of each number of turns' "$(rows shapes inl_loop@shape_loop \
	'map(select(.calls == 5) | .values | capture("^n=(?<n>[0-9]+) ").n) | unique | length')" 40
equal 'where there are several entries too' "$(rows shapes inl_choice@shape_choice \
	'map(.values | test("^x=-( |$)") | not) | length >= 40 and all')" true
equal 'a constant' "$(rows shapes inl_object@shape_object 'map(.values | test(" ten=10( |$)")) | length >= 40 and all')" true
equal 'a member that the code reads, without being asked; and what it points to' "$(rows shapes inl_object@shape_object \
	'map(.values | capture("object->next->turns=(?<next>[^ ]+).* object->turns=(?<own>[^ ]+)") | "\(.own):\(.next)") | unique | join(" ")')" \
	'-:- 16:- 1:4 4:16'
equal 'facts about the task' "$(rows shapes inl_object@shape_object 'map(.values | test("(^| )uid=0( |$)")) | all')" true
varies shapes inl_loop@shape_loop
# A turn is 1,001 instructions, and 3 that the compiler adds: 1,004 in three guests.
within 'a turn takes what it has' "$(query shapes.varies '.variables[0] | select(.name == "n") | .slope')" 1001 1
holds 'which explains all' "$(query shapes.varies '.variables[0].explained') > 0.999"
varies shapes inl_object@shape_object
# 2,040 and 205: a loop's turn has 3 or 4 instructions more than the body's 201.
within 'of two that decide, one' "$(query shapes.varies '.variables[] | select(.name == "n") | .slope')" 2010 3
holds 'and the other' "$(query shapes.varies '[.variables[] | select(.significant) | .name] | sort == ["n", "object->turns"]')"
# mean NAME BODY: of an excursion.
mean() {
	json "$1" "first(.ranges[] | select(.name == \"$2\" and .syscall == \"*\")) | .total / .entries"
}

# Each recording's calibration is of whole instructions: of 12 boots, three at a time on two CPUs, 2 read one less with captures, and one
# of a whole make check read 1.95 less. A capture would be hundreds.
for body in inl_loop inl_choice inl_object; do
	close_to "$body: capturing is no part of its time" "$(mean shapes $body)" "$(mean shapes-plain $body)" 0.2 3
done
within 'nor of what is around it' "$(syscall_row shapes write total)" "$(syscall_row shapes-plain write total)" 1
like 'a member that is not there' "$(cat bad-member.status bad-member.err)" "struct inl_object has no member 'nosuch'"
like 'nor a parameter' "$(cat bad-name.status bad-name.err)" 'no function with known arguments has such an argument'

boot hardened guest_slab
clean_dmesg
equal 'shuffle_freelist: nothing is lost' "$(lost seeded)" nothing
equal 'shuffle_freelist: all excursions are in a row' "$(rows seeded shuffle_freelist@allocate_slab 'map(.calls) | add')" \
	"$(json seeded '[.ranges[] | select(.name == "shuffle_freelist" and .syscall == "*") | .entries] | add')"
equal 'shuffle_freelist: its time is in them' "$(rows seeded shuffle_freelist@allocate_slab 'map(.calls * .mean) | add | round')" \
	"$(json seeded '[.ranges[] | select(.name == "shuffle_freelist" and .syscall == "*") | .total] | add')"
equal 'shuffle_freelist: members of both parameters' "$(rows seeded shuffle_freelist@allocate_slab \
	'map(.values | capture("s->oo.x=(?<oo>[0-9]+) .*slab->objects=(?<n>[0-9]+)") |
		(.oo | tonumber) % 65536 == (.n | tonumber)) | length > 5 and all')" true
equal 'shuffle_freelist: a variable' "$(rows seeded shuffle_freelist@allocate_slab 'map(.values | test("(^| )crng_init=2( |$)")) | all')" true
equal 'shuffle_freelist: nothing that freelists are hidden with' "$(rows seeded shuffle_freelist@allocate_slab \
	'map(.values | test("random") | not) | all')" true
holds 'shuffle_freelist: what the task points to' "$(rows task shuffle_freelist@allocate_slab \
	'map(.values | capture("total_vm=(?<n>[0-9]+)").n) | unique | length') > 100"
# By 0.13 % in the first two recordings, which had 712 and 694 slabs.
within 'shuffle_freelist: capturing is no part of what is around it' "$(syscall_row seeded clone mean)" "$(syscall_row plain clone mean)" 0.3

is 'what is nowhere is left out, which is said' "$(cat nowhere.status):$(grep -c "'page_limit' of 'next_freelist_entry' inlined in 'allocate_slab' is not captured" \
	nowhere.err)" 0:1
like 'more bodies than have room' "$(cat all.err)" 'no values are captured in [0-9]+ inlined bodies: the limit is 32'
# Some of the 32 are bodies of one function.
holds 'the others have values' "$(json all '[.values[].function] | unique | length') >= 15"
equal 'and none is lost' "$(lost all)" nothing

boot hardened guest_unseeded --append 'random.trust_cpu=off random.trust_bootloader=off'
"$kprotperf" merge --force -o both.data seeded.data unseeded.data 2>merge.err
varies both shuffle_freelist@allocate_slab
# A row counts excursions. A call has two, or as many as objects if these have a constructor: so it is the cache too.
equal 'seeded and unseeded: it is crng_init, and the cache' \
	"$(query both.varies '[.variables[] | select(.significant) | .name] | length == 2 and any(. == "crng_init")')" true
holds 'which explain all but 5 % of what can be explained' "$(query both.varies '.variation.explained / (1 - .variation.between_equal)') > 0.95"
"$kprotperf" diff seeded.data unseeded.data --format=json >diff.json
equal 'diff has it too' "$(query diff.json 'first(.variables[] | select(.function == "shuffle_freelist@allocate_slab") |
	.function) != null')" true
done_testing
