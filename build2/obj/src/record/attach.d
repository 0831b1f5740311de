build2/obj/src/record/attach.o: src/record/attach.c src/record/attach.h \
 src/profile/profile.h src/record/sites.h src/record/features.h \
 src/record/multi.h src/record/symbols.h src/symbol/btf.h \
 src/symbol/image.h src/symbol/kallsyms.h src/symbol/tracing.h \
 src/base/alloc.h src/base/clock.h src/base/log.h src/record/calibrate.h \
 src/record/engine.h src/record/function.h src/record/trip.h \
 src/record/detour.h src/record/kprobe.h src/record/workload.h
src/record/attach.h:
src/profile/profile.h:
src/record/sites.h:
src/record/features.h:
src/record/multi.h:
src/record/symbols.h:
src/symbol/btf.h:
src/symbol/image.h:
src/symbol/kallsyms.h:
src/symbol/tracing.h:
src/base/alloc.h:
src/base/clock.h:
src/base/log.h:
src/record/calibrate.h:
src/record/engine.h:
src/record/function.h:
src/record/trip.h:
src/record/detour.h:
src/record/kprobe.h:
src/record/workload.h:
