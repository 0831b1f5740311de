build2/obj/src/symbol/file.o: src/symbol/file.c src/symbol/file.h \
 src/base/alloc.h
src/symbol/file.h:
src/base/alloc.h:
