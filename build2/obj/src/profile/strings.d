build2/obj/src/profile/strings.o: src/profile/strings.c \
 src/profile/strings.h src/base/alloc.h src/profile/index.h
src/profile/strings.h:
src/base/alloc.h:
src/profile/index.h:
