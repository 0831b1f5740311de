build2/obj/src/record/symbols.o: src/record/symbols.c \
 src/record/symbols.h src/symbol/btf.h src/symbol/image.h \
 src/symbol/kallsyms.h src/symbol/tracing.h src/base/alloc.h \
 src/base/log.h
src/record/symbols.h:
src/symbol/btf.h:
src/symbol/image.h:
src/symbol/kallsyms.h:
src/symbol/tracing.h:
src/base/alloc.h:
src/base/log.h:
