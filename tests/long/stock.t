#!/bin/bash
# The smoke test of tests/live/flavour.sh on kernels of Debian, with debug symbols. KERNELS="NAME…" tries these alone.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/../live/lib.sh
. "$(dirname "$0")/../live/lib.sh"
# shellcheck source=SCRIPTDIR/../live/flavour.sh
. "$repo/tests/live/flavour.sh"
side "$@"

for kernel in ${KERNELS-debian-6.1-cloud debian-6.1 debian-6.1-rt debian-6.12-cloud debian-6.12 debian-6.12-rt \
	debian-6.12-cloud@trixie-security debian-7.3-cloud debian-7.3 debian-7.3-rt}; do
	fetch --dbg "$kernel"
	rm -f ./*.data ./*.json ./*.status dmesg.txt
	flavour "$kernel"
done

done_testing
