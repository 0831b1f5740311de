build2/obj/src/profile/check.o: src/profile/check.c \
 include/kprotperf/hist.h src/profile/section.h src/profile/profile.h \
 src/profile/strings.h src/profile/wire.h
include/kprotperf/hist.h:
src/profile/section.h:
src/profile/profile.h:
src/profile/strings.h:
src/profile/wire.h:
