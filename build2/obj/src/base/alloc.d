build2/obj/src/base/alloc.o: src/base/alloc.c src/base/alloc.h \
 src/base/log.h
src/base/alloc.h:
src/base/log.h:
