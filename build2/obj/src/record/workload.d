build2/obj/src/record/workload.o: src/record/workload.c \
 src/record/workload.h src/profile/profile.h src/base/alloc.h \
 src/base/clock.h src/base/log.h
src/record/workload.h:
src/profile/profile.h:
src/base/alloc.h:
src/base/clock.h:
src/base/log.h:
