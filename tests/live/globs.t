#!/bin/bash
# Probing by a glob harms neither kernel of the pair: every safe match is attached,
# the workload finishes, nothing is lost, and the kernel's log stays clean.

# shellcheck disable=SC2154 # names from lib.sh and tap.sh
# shellcheck source=SCRIPTDIR/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=SCRIPTDIR/slab.sh
. "$(dirname "$0")/slab.sh"

guest_main() {
	guest_slab 3
}

side "$@"

for kernel in baseline hardened; do
	need $kernel
	boot $kernel guest_main
	slab_checks 3
done

done_testing
