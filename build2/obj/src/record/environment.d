build2/obj/src/record/environment.o: src/record/environment.c \
 src/record/environment.h src/profile/profile.h src/symbol/image.h \
 src/base/alloc.h
src/record/environment.h:
src/profile/profile.h:
src/symbol/image.h:
src/base/alloc.h:
