build2/obj/src/profile/stats.o: src/profile/stats.c src/base/alloc.h \
 include/kprotperf/hist.h src/profile/profile.h
src/base/alloc.h:
include/kprotperf/hist.h:
src/profile/profile.h:
