build2/obj/src/symbol/path.o: src/symbol/path.c src/base/alloc.h \
 src/symbol/image_impl.h src/symbol/image.h
src/base/alloc.h:
src/symbol/image_impl.h:
src/symbol/image.h:
