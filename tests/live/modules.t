#!/bin/bash
# Functions of a loaded module (tests/module) get the same results as the kernel's own functions: lines and instructions, with
# samples, executions and exact counts; inlined functions for --range; conditions of loops. Samples in modules and BPF programs
# that are loaded and unloaded during a recording have names.

# shellcheck disable=SC2154,SC2016 # names from lib.sh and tap.sh; jq's variables
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"

control=/sys/kernel/debug/kprotperf

act_work() {
	echo 'loop 100' >${control}_inlined/run
	echo 'clear-page 20000' >${control}_known/run
}

act_reload() {
	insmod "$(cat module.txt)"
	echo 'plain 50000' >${control}_known/run
	rmmod kprotperf_known
}

act_reloads() {
	act_reload
	act_reload
}

traced='kfunc:vfs_read /comm == "acts"/ { $i = 0; unroll(20) { @[$i, nsecs / 100000000] = count(); $i++; } }'

act_traced() {
	bpftrace -e "BEGIN { printf(\"ready\\n\"); } $traced" >bpftrace.txt 2>&1 &
	await grep -q ready bpftrace.txt
	"$acts" zero-reads 10000
	kill -INT $!
	wait $!
}

act_exact() {
	act_work
	"$acts" filtered 100
}

guest_main() {
	record late --freq=5000 -- bash "$self" --guest act_reloads
	record filtered --freq=5000 -- "$acts" filtered 20000
	record program --freq=5000 --attach=fentry --func ksys_read -- bash "$self" --guest act_traced
	record shared --freq=5000 --attach=fentry --func vfs_read -- bash "$self" --guest act_traced
	insmod "$(cat module.txt)" || return
	cat ${control}_inlined/known >known.txt
	record sampled --freq=20000 --func known_clear_page -- bash "$self" --guest act_work
	record counted --freq=0 --blocks shape_loop -- bash "$self" --guest act_work
	keep list "$kprotperf" list --format=json 'inl_loop@shape_loop'
	keep globs "$kprotperf" list --format=json 'inl_*@shape_*'
	# Functions inlined into kernel functions are not the module's; those inlined into module functions not the kernel's.
	keep kernels "$kprotperf" list --format=json 'shuffle_freelist@allocate_slab'
	keep live "$kprotperf" annotate --format=json --all counted.data shape_loop
	export KPROTPERF_LAB=/nonexistent KPROTPERF_CACHE=$PWD
	keep without "$kprotperf" list 'inl_loop@shape_loop'
	keep missing "$kprotperf" annotate sampled.data known_clear_page
}

side "$@"
need hardened
need_module hardened
boot hardened guest_main
clean_dmesg
if ! "$lab" run --resume --insmod "$(cat module.txt)" --exact -o exact.data -- bash "$self" --guest act_exact >exact.out 2>exact.err; then
	sed 's/^/# /' exact.err
fi

# samples NAME PATTERN: print how many samples have a stack that matches PATTERN.
samples() {
	"$kprotperf" fold "$1.data" 2>/dev/null | sed -E 's/_\[[ki]\]//g' | awk -v pattern="$2" '$0 ~ pattern { n += $NF } END { print n + 0 }'
}
for name in late filtered program shared; do
	equal "$name: recorded" "$(cat $name.status)" 0
done
holds 'late: the function of a module that was loaded meanwhile, and again, is named' \
	"$(samples late ';run_write;(.*;)?known_plain(;| )') > 0.9 * $(samples late ';run_write;')"
holds 'late: in enough samples' "$(samples late ';known_plain(;| )') > 100"
holds 'filtered: the filter is no probe' "$(samples filtered ';__seccomp_filter;(.*;)?\\[bpf\\] ') > 20"
equal 'filtered: nor are its callers' "$(samples filtered ';__seccomp_filter;(.*;)?\\[probe\\] ')" 0
for name in program shared; do
	holds "$name: the program of another tracer, which ended before, is named" "$(samples $name ';bpf_prog_[0-9a-f]+_vfs_read(;| )') > 20"
	equal "$name: and is not taken for kprotperf's" "$(samples $name ';bpf_prog_[0-9a-f]+_vfs_read;(.*;)?\\[probe\\] ')" 0
done

# annotated NAME ARG...: write the JSON of annotate ARG... to NAME.annotated.json.
annotated() {
	local name=$1
	shift
	"$kprotperf" annotate --format=json --source="$repo/tests/module" "$@" >"$name.annotated.json" 2>"$name.annotated.err"
	is "annotate $*" "$?$(cat "$name.annotated.err")" 0
}

# of NAME FILTER: print the result of jq's FILTER on NAME.annotated.json.
of() {
	jq -r "$2" "$1.annotated.json"
}

annotated sampled sampled.data known_clear_page
annotated counted counted.data shape_loop
annotated body counted.data inl_loop
annotated exact exact.data shape_loop
annotated all --all sampled.data shape_twice

is 'record says that it cannot be unloaded meanwhile' "$(grep -c 'module kprotperf_known cannot be unloaded while it is recorded' sampled.err)" 1
equal 'the module is named' "$(of sampled .module)" kprotperf_known
equal 'its file is named' "$(of sampled .vmlinux)" "$(cat module.txt)"
# These counts exclude samples at unknown addresses.
holds 'the call of a function of the kernel, named, has nearly all samples' \
	"$(of sampled '([.instructions[] | select(.text == "callq clear_page_rep") | .callees] | add) / (.samples.self + .samples.callees)') > 0.9"
holds 'they are enough samples' "$(of sampled .samples.callees) > 50"
equal 'the function is timed' "$(of sampled .calls)" 20000
turns=$((7 * 500))
equal 'an instruction in the loop of a body: its executions' \
	"$(of counted '[.instructions[] | select(.body == "inl_loop") | .per_call] | max')" "$turns"
equal 'it has its line and source' "$(of counted '[.lines[] | select(.body == "inl_loop")] | max_by(.per_call) | .source')" 'turn(500);'
equal 'the body by itself' "$(of body '[.places[] | "\(.function) \(.inlined)"] | join(" ")')" 'shape_loop true'
equal 'what has no samples is found too, by name' "$(of all '[.bodies[].body] | unique | join(" ")')" inl_twice
equal 'annotate in the guest' "$(cat live.status)" 0
equal "has the running kernel's code" "$(jq -r '.code, .instructions[-1].text' live.out | tr '\n' ' ')" 'live retq '

equal 'exact: each call' "$(of exact .calls)" 100
within 'exact: a body inlined into a function of the module' "$(of exact '.bodies[] | select(.body == "inl_loop") | .cost')" \
	"$(awk '$1 == "inl_loop" { print $3 }' known.txt)" 1
equal 'exact: its line' "$(of exact '[.lines[] | select(.body == "inl_loop")] | max_by(.cost) | .source')" 'turn(500);'
equal 'exact: executions' "$(of exact '[.instructions[].per_call] | max')" "$turns"
# The filter executes 1,001 instructions, and 12 around them, in each system call, also in the one that ends the process.
equal 'exact: a filter that came after the recording began has no other name' \
	"$(json exact 'first(.functions[] | select(.name == "[unknown]" and .syscall == "*")) | "\(.calls) \(.self_total / .calls)"')" '101 1013'
for name in counted exact; do
	equal "$name: what the loop around stops for" \
		"$(json $name 'first(.loops[] | select(.function == "shape_loop" and .trip_count == 7)) | .condition')" 'n != i'
done

equal 'list: a body of the module, and how record would time it' \
	"$(jq -r '.inlined[] | "\(.name) \(.function) \(.module) \(.how)"' list.out)" 'inl_loop shape_loop kprotperf_known kprobe-range'
holds 'list: globs' "$(jq '[.inlined[] | select(.module == "kprotperf_known" and .how == "kprobe-range")] | length' globs.out) >= 12"
equal 'list: of the kernel as before' "$(jq -r '.inlined[] | "\(.name) \(.module)"' kernels.out)" 'shuffle_freelist null'
like 'list: without the file: what is missing' "$(cat without.err)" \
	'note: inlined functions of module kprotperf_known are unknown: no file for the loaded module kprotperf_known below /lib/modules/'
is 'annotate without the file: status' "$(cat missing.status)" 1
like 'annotate without the file: what is missing, and what to do, in a line' "$(cat missing.err)" \
	'^kprotperf: known_clear_page is in module kprotperf_known, whose file was not found: put its \.ko or debug file with build-id [0-9a-f]{40} below /lib/modules/[^ ]+$'

done_testing
