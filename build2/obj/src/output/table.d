build2/obj/src/output/table.o: src/output/table.c src/output/table.h \
 src/output/section.h src/profile/profile.h src/base/alloc.h \
 src/output/number.h src/output/text.h
src/output/table.h:
src/output/section.h:
src/profile/profile.h:
src/base/alloc.h:
src/output/number.h:
src/output/text.h:
