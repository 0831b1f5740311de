build2/obj/src/record/misses.o: src/record/misses.c src/record/misses.h \
 src/profile/profile.h
src/record/misses.h:
src/profile/profile.h:
