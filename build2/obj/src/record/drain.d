build2/obj/src/record/drain.o: src/record/drain.c src/record/drain.h \
 src/profile/profile.h src/record/engine.h src/record/features.h \
 src/record/multi.h src/record/sites.h src/record/symbols.h \
 src/symbol/btf.h src/symbol/image.h src/symbol/kallsyms.h \
 src/symbol/tracing.h src/base/alloc.h src/base/log.h \
 include/kprotperf/engine.h include/kprotperf/hist.h \
 src/record/syscalls.h
src/record/drain.h:
src/profile/profile.h:
src/record/engine.h:
src/record/features.h:
src/record/multi.h:
src/record/sites.h:
src/record/symbols.h:
src/symbol/btf.h:
src/symbol/image.h:
src/symbol/kallsyms.h:
src/symbol/tracing.h:
src/base/alloc.h:
src/base/log.h:
include/kprotperf/engine.h:
include/kprotperf/hist.h:
src/record/syscalls.h:
