build2/obj/src/record/load.o: src/record/load.c src/record/load.h \
 src/profile/profile.h src/record/engine.h src/record/features.h \
 src/record/multi.h src/base/log.h include/kprotperf/engine.h \
 include/kprotperf/hist.h build2/kprotperf.skel.h \
 build2/kprotperf_plain.skel.h
src/record/load.h:
src/profile/profile.h:
src/record/engine.h:
src/record/features.h:
src/record/multi.h:
src/base/log.h:
include/kprotperf/engine.h:
include/kprotperf/hist.h:
build2/kprotperf.skel.h:
build2/kprotperf_plain.skel.h:
