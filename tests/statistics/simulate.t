#!/bin/sh
# Run a short form of make check-statistics.
exec "${BUILD:-build}/tests/simulate" 20
