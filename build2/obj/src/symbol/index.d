build2/obj/src/symbol/index.o: src/symbol/index.c src/symbol/index.h \
 src/symbol/image.h src/base/alloc.h src/symbol/index_impl.h
src/symbol/index.h:
src/symbol/image.h:
src/base/alloc.h:
src/symbol/index_impl.h:
