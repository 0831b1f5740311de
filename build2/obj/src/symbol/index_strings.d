build2/obj/src/symbol/index_strings.o: src/symbol/index_strings.c \
 src/base/alloc.h src/symbol/index_build.h src/symbol/image_impl.h \
 src/symbol/image.h src/symbol/index_impl.h src/symbol/index.h
src/base/alloc.h:
src/symbol/index_build.h:
src/symbol/image_impl.h:
src/symbol/image.h:
src/symbol/index_impl.h:
src/symbol/index.h:
