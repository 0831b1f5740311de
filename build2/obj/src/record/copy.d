build2/obj/src/record/copy.o: src/record/copy.c src/record/copy.h \
 src/base/alloc.h include/kprotperf/engine.h include/kprotperf/hist.h \
 src/record/calibrate.h src/profile/profile.h src/record/engine.h \
 src/record/features.h src/record/multi.h src/record/function.h \
 src/record/trip.h
src/record/copy.h:
src/base/alloc.h:
include/kprotperf/engine.h:
include/kprotperf/hist.h:
src/record/calibrate.h:
src/profile/profile.h:
src/record/engine.h:
src/record/features.h:
src/record/multi.h:
src/record/function.h:
src/record/trip.h:
