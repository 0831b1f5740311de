build2/obj/src/analyze/environment.o: src/analyze/environment.c \
 src/analyze/environment.h src/profile/profile.h src/analyze/sort.h \
 src/base/alloc.h
src/analyze/environment.h:
src/profile/profile.h:
src/analyze/sort.h:
src/base/alloc.h:
