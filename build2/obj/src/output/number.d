build2/obj/src/output/number.o: src/output/number.c src/output/number.h \
 src/output/section.h src/profile/profile.h
src/output/number.h:
src/output/section.h:
src/profile/profile.h:
