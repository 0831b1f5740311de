build2/obj/src/profile/wire.o: src/profile/wire.c src/profile/wire.h \
 src/base/alloc.h
src/profile/wire.h:
src/base/alloc.h:
