#!/bin/bash
cd /work/wt/stats/x
export KPROTPERF=/work/wt/stats/x/bin/kprotperf
mkdir -p seeded unseeded
(cd seeded && nice -n 5 ../../scripts/lab ab --boots 3 --control --control-run --func allocate_slab -- ../bin/big-fork > out 2> err; echo rc $? >> err)
(cd unseeded && nice -n 5 ../../scripts/lab ab --boots 3 --append 'random.trust_cpu=off random.trust_bootloader=off' --control-run --func '*slab*' --range shuffle_freelist -- ../bin/big-fork > out 2> err; echo rc $? >> err)
