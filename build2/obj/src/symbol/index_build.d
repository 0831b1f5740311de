build2/obj/src/symbol/index_build.o: src/symbol/index_build.c \
 src/symbol/index_build.h src/symbol/image_impl.h src/symbol/image.h \
 src/symbol/index_impl.h src/symbol/index.h src/base/alloc.h \
 src/symbol/name.h
src/symbol/index_build.h:
src/symbol/image_impl.h:
src/symbol/image.h:
src/symbol/index_impl.h:
src/symbol/index.h:
src/base/alloc.h:
src/symbol/name.h:
