build2/obj/src/symbol/dwarf.o: src/symbol/dwarf.c src/base/alloc.h \
 src/symbol/image_impl.h src/symbol/image.h src/symbol/name.h
src/base/alloc.h:
src/symbol/image_impl.h:
src/symbol/image.h:
src/symbol/name.h:
