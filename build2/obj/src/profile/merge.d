build2/obj/src/profile/merge.o: src/profile/merge.c src/profile/merge.h \
 src/profile/profile.h src/base/alloc.h src/profile/index.h
src/profile/merge.h:
src/profile/profile.h:
src/base/alloc.h:
src/profile/index.h:
