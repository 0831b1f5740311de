build2/obj/src/analyze/conclusion.o: src/analyze/conclusion.c \
 src/analyze/diff.h src/analyze/environment.h src/profile/profile.h \
 src/analyze/losses.h src/analyze/table.h src/analyze/workload.h \
 src/base/alloc.h src/output/number.h src/output/section.h \
 src/output/text.h
src/analyze/diff.h:
src/analyze/environment.h:
src/profile/profile.h:
src/analyze/losses.h:
src/analyze/table.h:
src/analyze/workload.h:
src/base/alloc.h:
src/output/number.h:
src/output/section.h:
src/output/text.h:
