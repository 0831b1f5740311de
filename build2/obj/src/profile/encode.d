build2/obj/src/profile/encode.o: src/profile/encode.c \
 src/profile/section.h src/profile/profile.h src/profile/strings.h \
 src/profile/wire.h
src/profile/section.h:
src/profile/profile.h:
src/profile/strings.h:
src/profile/wire.h:
