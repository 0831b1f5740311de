build2/obj/src/symbol/index_lines.o: src/symbol/index_lines.c \
 src/base/alloc.h src/symbol/index_build.h src/symbol/image_impl.h \
 src/symbol/image.h src/symbol/index_impl.h src/symbol/index.h
src/base/alloc.h:
src/symbol/index_build.h:
src/symbol/image_impl.h:
src/symbol/image.h:
src/symbol/index_impl.h:
src/symbol/index.h:
