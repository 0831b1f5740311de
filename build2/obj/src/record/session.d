build2/obj/src/record/session.o: src/record/session.c \
 src/record/session.h src/record/sites.h src/profile/profile.h \
 src/record/features.h src/record/multi.h src/record/symbols.h \
 src/symbol/btf.h src/symbol/image.h src/symbol/kallsyms.h \
 src/symbol/tracing.h src/base/alloc.h src/base/clock.h src/base/log.h \
 src/profile/file.h src/profile/resolve.h src/record/attach.h \
 src/record/calibrate.h src/record/engine.h src/record/function.h \
 src/record/trip.h src/record/drain.h src/record/environment.h \
 src/record/overhead.h src/record/workload.h
src/record/session.h:
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
src/base/clock.h:
src/base/log.h:
src/profile/file.h:
src/profile/resolve.h:
src/record/attach.h:
src/record/calibrate.h:
src/record/engine.h:
src/record/function.h:
src/record/trip.h:
src/record/drain.h:
src/record/environment.h:
src/record/overhead.h:
src/record/workload.h:
