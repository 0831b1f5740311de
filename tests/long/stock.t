#!/bin/bash
# The smoke test of tests/live/flavour.sh on kernels of Debian, with debug symbols. KERNELS="NAME…" tries these alone.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/../live/lib.sh
. "$(dirname "$0")/../live/lib.sh"
# shellcheck source=SCRIPTDIR/../live/flavour.sh
. "$repo/tests/live/flavour.sh"

# What does not load there is not recorded with.
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
like 'which does, too' "$(cat refused.err)" '5\.15'
clean_dmesg

for kernel in ${KERNELS-debian-6.1-cloud debian-6.1 debian-6.1-rt debian-6.12-cloud debian-6.12 debian-6.12-rt \
	debian-6.12-cloud@trixie-security debian-7.3-cloud debian-7.3 debian-7.3-rt}; do
	fetch --dbg "$kernel"
	rm -f ./*.data ./*.json ./*.status dmesg.txt
	flavour "$kernel"
done

done_testing
