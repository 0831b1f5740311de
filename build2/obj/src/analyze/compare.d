build2/obj/src/analyze/compare.o: src/analyze/compare.c \
 src/analyze/compare.h src/analyze/losses.h src/profile/profile.h \
 src/analyze/cost.h src/analyze/sort.h src/base/alloc.h
src/analyze/compare.h:
src/analyze/losses.h:
src/profile/profile.h:
src/analyze/cost.h:
src/analyze/sort.h:
src/base/alloc.h:
