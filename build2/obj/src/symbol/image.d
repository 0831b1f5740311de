build2/obj/src/symbol/image.o: src/symbol/image.c src/symbol/image.h \
 src/base/alloc.h src/base/log.h src/symbol/file.h \
 src/symbol/image_impl.h
src/symbol/image.h:
src/base/alloc.h:
src/base/log.h:
src/symbol/file.h:
src/symbol/image_impl.h:
