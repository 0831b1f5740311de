build2/obj/src/profile/profile.o: src/profile/profile.c \
 src/profile/profile.h src/base/alloc.h src/profile/index.h \
 src/profile/strings.h
src/profile/profile.h:
src/base/alloc.h:
src/profile/index.h:
src/profile/strings.h:
