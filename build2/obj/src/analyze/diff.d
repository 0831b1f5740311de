build2/obj/src/analyze/diff.o: src/analyze/diff.c src/analyze/diff.h \
 src/analyze/environment.h src/profile/profile.h src/analyze/losses.h \
 src/analyze/table.h src/analyze/workload.h src/analyze/compare.h \
 src/analyze/sort.h src/base/alloc.h src/base/log.h
src/analyze/diff.h:
src/analyze/environment.h:
src/profile/profile.h:
src/analyze/losses.h:
src/analyze/table.h:
src/analyze/workload.h:
src/analyze/compare.h:
src/analyze/sort.h:
src/base/alloc.h:
src/base/log.h:
