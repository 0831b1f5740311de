build2/obj/src/analyze/losses.o: src/analyze/losses.c \
 src/analyze/losses.h src/profile/profile.h src/analyze/accounting.h \
 src/analyze/cost.h src/analyze/table.h src/base/alloc.h \
 src/output/number.h src/output/section.h src/output/text.h
src/analyze/losses.h:
src/profile/profile.h:
src/analyze/accounting.h:
src/analyze/cost.h:
src/analyze/table.h:
src/base/alloc.h:
src/output/number.h:
src/output/section.h:
src/output/text.h:
