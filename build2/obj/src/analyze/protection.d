build2/obj/src/analyze/protection.o: src/analyze/protection.c \
 src/analyze/environment.h src/profile/profile.h
src/analyze/environment.h:
src/profile/profile.h:
