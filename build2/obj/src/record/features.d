build2/obj/src/record/features.o: src/record/features.c \
 src/record/features.h src/profile/profile.h src/record/multi.h \
 src/base/log.h src/symbol/btf.h
src/record/features.h:
src/profile/profile.h:
src/record/multi.h:
src/base/log.h:
src/symbol/btf.h:
