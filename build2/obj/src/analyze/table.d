build2/obj/src/analyze/table.o: src/analyze/table.c src/analyze/table.h \
 src/profile/profile.h src/analyze/sort.h src/base/alloc.h
src/analyze/table.h:
src/profile/profile.h:
src/analyze/sort.h:
src/base/alloc.h:
