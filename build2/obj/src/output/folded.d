build2/obj/src/output/folded.o: src/output/folded.c src/output/folded.h \
 src/output/number.h src/output/section.h src/profile/profile.h
src/output/folded.h:
src/output/number.h:
src/output/section.h:
src/profile/profile.h:
