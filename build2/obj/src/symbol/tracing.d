build2/obj/src/symbol/tracing.o: src/symbol/tracing.c \
 src/symbol/tracing.h src/symbol/kallsyms.h src/base/alloc.h \
 src/base/log.h src/symbol/file.h src/symbol/name.h
src/symbol/tracing.h:
src/symbol/kallsyms.h:
src/base/alloc.h:
src/base/log.h:
src/symbol/file.h:
src/symbol/name.h:
