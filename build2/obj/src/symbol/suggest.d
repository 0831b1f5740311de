build2/obj/src/symbol/suggest.o: src/symbol/suggest.c src/base/alloc.h \
 src/symbol/kallsyms.h src/symbol/name.h
src/base/alloc.h:
src/symbol/kallsyms.h:
src/symbol/name.h:
