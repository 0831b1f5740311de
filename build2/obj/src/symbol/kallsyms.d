build2/obj/src/symbol/kallsyms.o: src/symbol/kallsyms.c \
 src/symbol/kallsyms.h src/base/alloc.h src/base/log.h src/symbol/file.h \
 src/symbol/name.h
src/symbol/kallsyms.h:
src/base/alloc.h:
src/base/log.h:
src/symbol/file.h:
src/symbol/name.h:
