build2/obj/src/record/sampler.o: src/record/sampler.c \
 src/record/sampler.h src/base/alloc.h src/base/log.h
src/record/sampler.h:
src/base/alloc.h:
src/base/log.h:
