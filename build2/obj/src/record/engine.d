build2/obj/src/record/engine.o: src/record/engine.c src/record/engine.h \
 src/profile/profile.h src/record/features.h src/record/multi.h \
 src/base/alloc.h src/base/clock.h src/base/log.h \
 include/kprotperf/engine.h include/kprotperf/hist.h \
 build2/kprotperf.skel.h src/record/calibrate.h src/record/function.h \
 src/record/trip.h src/record/load.h src/record/sampler.h
src/record/engine.h:
src/profile/profile.h:
src/record/features.h:
src/record/multi.h:
src/base/alloc.h:
src/base/clock.h:
src/base/log.h:
include/kprotperf/engine.h:
include/kprotperf/hist.h:
build2/kprotperf.skel.h:
src/record/calibrate.h:
src/record/function.h:
src/record/trip.h:
src/record/load.h:
src/record/sampler.h:
