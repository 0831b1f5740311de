build2/obj/src/symbol/inlined.o: src/symbol/inlined.c src/base/alloc.h \
 src/symbol/image_impl.h src/symbol/image.h
src/base/alloc.h:
src/symbol/image_impl.h:
src/symbol/image.h:
