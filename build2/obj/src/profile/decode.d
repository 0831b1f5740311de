build2/obj/src/profile/decode.o: src/profile/decode.c src/base/alloc.h \
 include/kprotperf/hist.h src/profile/section.h src/profile/profile.h \
 src/profile/strings.h src/profile/wire.h
src/base/alloc.h:
include/kprotperf/hist.h:
src/profile/section.h:
src/profile/profile.h:
src/profile/strings.h:
src/profile/wire.h:
