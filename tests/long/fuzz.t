#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run all commands and formats on generated recordings with all sections, for an hour on one core. docs/internals/security.md
# has the figures of such a run.

# shellcheck source=SCRIPTDIR/../tap.sh
. "$(dirname "$0")/../tap.sh"
BUILD=$build "$repo/tests/fuzz/run" valid 3600 >log 2>&1
report_test $? 'valid: nothing found in an hour' "$(tail -n 30 log)"
grep '^stat::' log | sed 's/^/# /'
done_testing
