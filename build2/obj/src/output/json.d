build2/obj/src/output/json.o: src/output/json.c src/output/json.h \
 src/output/section.h src/profile/profile.h src/output/number.h \
 src/output/text.h
src/output/json.h:
src/output/section.h:
src/profile/profile.h:
src/output/number.h:
src/output/text.h:
