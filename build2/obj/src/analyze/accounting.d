build2/obj/src/analyze/accounting.o: src/analyze/accounting.c \
 src/analyze/accounting.h src/profile/profile.h src/base/alloc.h \
 src/output/number.h src/output/section.h
src/analyze/accounting.h:
src/profile/profile.h:
src/base/alloc.h:
src/output/number.h:
src/output/section.h:
