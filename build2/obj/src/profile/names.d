build2/obj/src/profile/names.o: src/profile/names.c src/profile/profile.h
src/profile/profile.h:
