build2/obj/src/output/text.o: src/output/text.c src/output/text.h \
 src/base/alloc.h
src/output/text.h:
src/base/alloc.h:
