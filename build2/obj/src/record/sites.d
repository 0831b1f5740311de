build2/obj/src/record/sites.o: src/record/sites.c src/record/sites.h \
 src/profile/profile.h src/record/features.h src/record/multi.h \
 src/record/symbols.h src/symbol/btf.h src/symbol/image.h \
 src/symbol/kallsyms.h src/symbol/tracing.h src/base/alloc.h \
 src/base/log.h src/record/kprobe.h src/symbol/name.h
src/record/sites.h:
src/profile/profile.h:
src/record/features.h:
src/record/multi.h:
src/record/symbols.h:
src/symbol/btf.h:
src/symbol/image.h:
src/symbol/kallsyms.h:
src/symbol/tracing.h:
src/base/alloc.h:
src/base/log.h:
src/record/kprobe.h:
src/symbol/name.h:
