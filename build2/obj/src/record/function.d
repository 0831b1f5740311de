build2/obj/src/record/function.o: src/record/function.c \
 src/record/function.h src/profile/profile.h src/record/multi.h \
 src/base/alloc.h src/base/log.h include/kprotperf/engine.h \
 include/kprotperf/hist.h build2/kprotperf.skel.h src/record/calibrate.h \
 src/record/engine.h src/record/features.h src/record/trip.h \
 src/record/copy.h src/record/kprobe.h src/record/misses.h \
 src/record/workload.h
src/record/function.h:
src/profile/profile.h:
src/record/multi.h:
src/base/alloc.h:
src/base/log.h:
include/kprotperf/engine.h:
include/kprotperf/hist.h:
build2/kprotperf.skel.h:
src/record/calibrate.h:
src/record/engine.h:
src/record/features.h:
src/record/trip.h:
src/record/copy.h:
src/record/kprobe.h:
src/record/misses.h:
src/record/workload.h:
