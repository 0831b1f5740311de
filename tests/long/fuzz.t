#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Valid recordings of all sections, through all commands and formats, for an hour on one core: docs/internals/security.md has its figures.

# shellcheck source=SCRIPTDIR/../tap.sh
. "$(dirname "$0")/../tap.sh"
BUILD=$build "$repo/tests/fuzz/run" valid 3600 >log 2>&1
report_test $? 'valid: nothing found in an hour' "$(tail -n 30 log)"
grep '^stat::' log | sed 's/^/# /'
done_testing
