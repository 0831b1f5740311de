build2/obj/src/record/multi.o: src/record/multi.c src/record/multi.h \
 src/record/features.h src/profile/profile.h
src/record/multi.h:
src/record/features.h:
src/profile/profile.h:
