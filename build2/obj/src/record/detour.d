build2/obj/src/record/detour.o: src/record/detour.c src/record/detour.h \
 src/profile/profile.h
src/record/detour.h:
src/profile/profile.h:
