build2/obj/src/cmd/merge.o: src/cmd/merge.c src/base/alloc.h \
 src/base/log.h src/cmd/cmd.h src/profile/file.h src/profile/profile.h \
 src/profile/merge.h
src/base/alloc.h:
src/base/log.h:
src/cmd/cmd.h:
src/profile/file.h:
src/profile/profile.h:
src/profile/merge.h:
