build2/obj/src/analyze/cost.o: src/analyze/cost.c src/analyze/cost.h \
 src/profile/profile.h src/analyze/diff.h src/analyze/environment.h \
 src/analyze/losses.h src/analyze/table.h src/analyze/workload.h \
 src/analyze/sort.h src/base/alloc.h
src/analyze/cost.h:
src/profile/profile.h:
src/analyze/diff.h:
src/analyze/environment.h:
src/analyze/losses.h:
src/analyze/table.h:
src/analyze/workload.h:
src/analyze/sort.h:
src/base/alloc.h:
