build2/obj/src/symbol/index_file.o: src/symbol/index_file.c \
 src/base/alloc.h src/base/log.h src/symbol/index_impl.h \
 src/symbol/index.h src/symbol/image.h
src/base/alloc.h:
src/base/log.h:
src/symbol/index_impl.h:
src/symbol/index.h:
src/symbol/image.h:
