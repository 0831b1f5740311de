build2/obj/src/record/calibrate.o: src/record/calibrate.c \
 src/record/calibrate.h src/profile/profile.h src/record/engine.h \
 src/record/features.h src/record/multi.h src/record/function.h \
 src/record/trip.h src/base/alloc.h src/base/clock.h src/base/log.h \
 include/kprotperf/engine.h include/kprotperf/hist.h src/record/detour.h \
 src/record/series.h
src/record/calibrate.h:
src/profile/profile.h:
src/record/engine.h:
src/record/features.h:
src/record/multi.h:
src/record/function.h:
src/record/trip.h:
src/base/alloc.h:
src/base/clock.h:
src/base/log.h:
include/kprotperf/engine.h:
include/kprotperf/hist.h:
src/record/detour.h:
src/record/series.h:
