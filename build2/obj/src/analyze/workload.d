build2/obj/src/analyze/workload.o: src/analyze/workload.c \
 src/analyze/workload.h src/profile/profile.h src/analyze/sort.h \
 src/base/alloc.h
src/analyze/workload.h:
src/profile/profile.h:
src/analyze/sort.h:
src/base/alloc.h:
