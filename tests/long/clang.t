#!/bin/bash
# Run the smoke test of tests/live/flavour.sh on a kernel that Clang builds with KCFI. KCFI checks a function's type before each
# call through a pointer. Building this kernel takes two cores 25 minutes.

# shellcheck source=SCRIPTDIR/../live/lib.sh
. "$(dirname "$0")/../live/lib.sh"
# shellcheck source=SCRIPTDIR/../live/flavour.sh disable=SC2034 # flavour.sh uses them
slab=new_slab fork_area=copy_page_range area=src_vma
. "$repo/tests/live/flavour.sh"

side "$@"
need cfi-on
flavour cfi-on
done_testing
