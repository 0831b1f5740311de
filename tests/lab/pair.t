#!/bin/bash
# lab ab --protection finds the two kernels and their parameters in the catalogue, and compares them.

# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
export KPROTPERF=$kprotperf
need baseline hardened

path() {
	"$lab" path "$1" 2>/dev/null
}

is 'freelist randomization on is hardened: nothing to build' "$(path slab_freelist_random-on)" "$(path hardened)"
is 'and off is baseline' "$(path slab_freelist_random-off)" "$(path baseline)"
is 'what a parameter switches needs one kernel, which baseline is' "$(path init_on_alloc-on)" "$(path baseline)"
try "$lab" build slab_freelist_random init_on_alloc
is 'building both pairs builds nothing' "$status:$out$err" 0:
if [ ! "$(path switches)" ]; then
	try "$lab" ab --protection kfence -- true
	like 'what baseline does not have built in, switches has' "$err" 'kfence on: kernel switches kfence.sample_interval=100'
fi
is 'a row says which CPU it is for' "$("$KPROTPERF" list --protections srso --format=json | jq -r '.protections[0].lab_cpu')" \
	vendor=AuthenticAMD,family=25,model=1
try "$lab" build shadow_call_stack
like 'what the lab cannot switch, it says so' "$status:$err" '^1:lab: the lab cannot switch shadow_call_stack: arm64'
# Hide Clang and its linker.
mkdir gcc-only
find /usr/bin /usr/sbin /bin /sbin -maxdepth 1 ! -type d ! -name 'clang-[0-9]*' ! -name 'ld.lld*' -exec ln -sft gcc-only {} + 2>/dev/null
try env PATH="$scratch/gcc-only" "$lab" build cfi
like 'nor what needs a compiler that is not there' "$status:$err" '^1:lab: cannot build kernels without clang-16 ld\.lld-16.*--for=lab-clang$'
try "$lab" build seccomp_filter
like 'nor what programs switch' "$status:$err" '^1:lab: seccomp_filter is switched by programs'
try "$lab" build random_kmalloc_caches
like 'nor what this Linux does not have' "$status:$err" '^1:lab: this Linux has no random_kmalloc_caches, which is new in 6\.6'
try "$lab" path nosuch-on
like 'a protection that there is not' "$status:$err" "^2:lab: unknown kernel 'nosuch-on'"
try "$lab" ab --protection nosuch -- true
like 'nor does ab know it' "$status:$err" "^120:lab: unknown protection 'nosuch'"
try "$lab" ab --protection kfenc -- true
like 'unless it is misspelt' "$status:$err" "^120:lab: unknown protection 'kfenc'; .*; did you mean 'kfence'\? "
try "$lab" ab --protection kfence --baseline baseline -- true
like 'ab with a protection chooses the kernels' "$status:$err" '^120:lab: --protection chooses the kernels'
if [ "$(path debug_list-off)" ]; then
	# Compare options that are set: an option of a compiler plugin is unset if the plugin's headers were missing.
	is 'a pair differs in its options alone' "$(diff <(grep ^CONFIG_ "$(path debug_list-off)/config") \
		<(grep ^CONFIG_ "$(path debug_list-on)/config") | grep '^[<>]' | sort | paste -sd' ')" \
		'> CONFIG_BUG_ON_DATA_CORRUPTION=y > CONFIG_DEBUG_LIST=y'
fi

try "$lab" ab --accel icount --cpu vendor=AuthenticAMD,family=21,model=2 --append hardened_usercopy=off --protection init_on_alloc -F 0 -- \
	"$build/workloads/cow-fault" -n 500
is 'ab runs' "$status" 0
like 'and says with what' "$err" '^lab: hardened: init_on_alloc on: kernel baseline init_on_alloc=1$'
"$KPROTPERF" diff --format=json baseline.data hardened.data >diff.json 2>/dev/null
is 'the two sides differ in it alone' "$(jq -c '.environment.protections' diff.json)" \
	'[{"name":"init_on_alloc","baseline":"off","hardened":"on"}]'
is 'the caller'\''s own parameters are on both' "$(for side in baseline hardened; do
	"$KPROTPERF" report --format=json $side.data | jq -r '.environment["kernel.cmdline"]'
done | grep -c 'hardened_usercopy=off init_on_alloc=[01]')" 2
is 'the CPU is what --cpu says, and the kernel acts on it' "$(for side in baseline hardened; do
	"$KPROTPERF" report --format=json $side.data | jq -r '.environment["mitigation.retbleed"]'
done | grep -c '^Mitigation: untrained return thunk')" 2
# Measured: 557 instructions in ten of ten boots. Compare the fastest iterations: a few others include deferred work of exec.
more=$(query diff.json '.workload[] | select(.name == "cow-fault" and .probed == false) | .hardened.min - .baseline.min')
ok "a page cleared for each fault shows in the unprobed run, $more" test "$more" -gt 540 -a "$more" -lt 575
done_testing
