build2/obj/src/output/csv.o: src/output/csv.c src/output/csv.h \
 src/output/section.h src/profile/profile.h src/output/number.h \
 src/output/text.h
src/output/csv.h:
src/output/section.h:
src/profile/profile.h:
src/output/number.h:
src/output/text.h:
