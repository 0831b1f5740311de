build2/obj/src/symbol/btf.o: src/symbol/btf.c src/symbol/btf.h \
 src/base/alloc.h
src/symbol/btf.h:
src/base/alloc.h:
