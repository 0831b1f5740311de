build2/obj/src/output/section.o: src/output/section.c \
 src/output/section.h src/profile/profile.h
src/output/section.h:
src/profile/profile.h:
