build2/obj/src/profile/index.o: src/profile/index.c src/profile/index.h \
 src/base/alloc.h
src/profile/index.h:
src/base/alloc.h:
