#!/bin/bash
# The smoke test of tests/live/flavour.sh on a kernel of Clang's with KCFI, which checks the type of each function before it is
# called through a pointer. It takes 25 minutes of two cores to build.

# shellcheck source=SCRIPTDIR/../live/lib.sh
. "$(dirname "$0")/../live/lib.sh"
# shellcheck source=SCRIPTDIR/../live/flavour.sh disable=SC2034 # for it
slab=new_slab fork_area=copy_page_range area=src_vma
. "$repo/tests/live/flavour.sh"

side "$@"
need cfi-on
flavour cfi-on
done_testing
