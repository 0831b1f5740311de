build2/obj/src/profile/read.o: src/profile/read.c src/base/alloc.h \
 src/base/log.h src/profile/file.h src/profile/profile.h \
 src/profile/section.h src/profile/strings.h src/profile/wire.h
src/base/alloc.h:
src/base/log.h:
src/profile/file.h:
src/profile/profile.h:
src/profile/section.h:
src/profile/strings.h:
src/profile/wire.h:
