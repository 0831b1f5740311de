#!/bin/bash
# Run the smoke test of tests/live/flavour.sh on kernels of Debian, with debug symbols. KERNELS="NAME…" selects kernels.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/../live/lib.sh
. "$(dirname "$0")/../live/lib.sh"
# shellcheck source=SCRIPTDIR/../live/flavour.sh
. "$repo/tests/live/flavour.sh"

# guest_refused: run doctor and record on a kernel that is too old for kprotperf's BPF programs.
guest_refused() {
	keep doctor "$kprotperf" doctor
	record refused -- true
}

side "$@"

fetch debian-5.10-cloud
boot debian-5.10-cloud guest_refused --accel icount
is 'debian-5.10-cloud: doctor and record fail' "$(cat doctor.status refused.status | paste -sd,)" 1,1
like 'doctor names what is too old' "$(cat doctor.out)" '5\.15'
is 'record in one line' "$(wc -l <refused.err)" 1
like 'the refusal names the version' "$(cat refused.err)" '5\.15'
clean_dmesg

for kernel in ${KERNELS-debian-6.1-cloud debian-6.1 debian-6.1-rt debian-6.12-cloud debian-6.12 debian-6.12-rt \
	debian-6.12-cloud@trixie-security debian-7.3-cloud debian-7.3 debian-7.3-rt}; do
	fetch --dbg "$kernel"
	rm -f ./*.data ./*.json ./*.status dmesg.txt
	flavour "$kernel"
done

# --- counted by the emulator --------------------------------------------------------

# With call depth tracking, calls go to the padding before a function, which has a symbol __pfx_FUNCTION. If such calls were not
# attributed to the function, this recording would have 1,278 rows with these names.
like 'a kernel of other sources is one' "$("$lab" run --exact -o padding.data --kernel debian-6.12-cloud \
	--cpu vendor=GenuineIntel,family=6,model=94 --append retbleed=stuff -- uname -r)" '^6\.12\.'
"$kprotperf" report --format=json padding.data >padding.json
is 'a call by way of the padding is one of the function' "$(jq '[.functions[].name | select(startswith("__pfx_"))] | length' padding.json)" 0
is 'padding of call depth tracking is found' "$(jq 'any(.functions[]; .name == "call_depth_return_thunk")' padding.json)" true

# --- by a kernel parameter ---------------------------------------------------------

export KPROTPERF=$kprotperf
try "$lab" ab --accel icount --kernel debian-6.1-cloud --protection init_on_alloc --append-hardened hostname=other -F 0 -- \
	"$workloads/cow-fault" -n 200
is 'ab compares two boots of it' "$status" 0
is 'by the protection'\''s parameter, and the caller'\''s' "$(for side in baseline hardened; do
	json $side '.environment["kernel.cmdline"]' | grep -oE 'init_on_alloc=.*'
done | paste -sd,)" 'init_on_alloc=0,init_on_alloc=1 hostname=other'
# Clearing a page with stosq takes 500 instructions, as in tests/lab/pair.t.
holds 'a page cleared for each fault shows in the unprobed run' \
	"$(json hardened 'first(.workload[] | select(.probed == false)) | .min') -
	$(json baseline 'first(.workload[] | select(.probed == false)) | .min') > 500"

done_testing
