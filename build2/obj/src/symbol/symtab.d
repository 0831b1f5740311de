build2/obj/src/symbol/symtab.o: src/symbol/symtab.c src/base/alloc.h \
 src/symbol/image_impl.h src/symbol/image.h src/symbol/name.h
src/base/alloc.h:
src/symbol/image_impl.h:
src/symbol/image.h:
src/symbol/name.h:
