build2/obj/src/record/syscalls.o: src/record/syscalls.c \
 src/record/syscalls.h src/base/alloc.h include/kprotperf/engine.h \
 include/kprotperf/hist.h src/profile/profile.h
src/record/syscalls.h:
src/base/alloc.h:
include/kprotperf/engine.h:
include/kprotperf/hist.h:
src/profile/profile.h:
