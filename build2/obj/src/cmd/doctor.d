build2/obj/src/cmd/doctor.o: src/cmd/doctor.c src/base/log.h \
 src/cmd/cmd.h src/record/features.h src/profile/profile.h \
 src/record/multi.h src/record/symbols.h src/symbol/btf.h \
 src/symbol/image.h src/symbol/kallsyms.h src/symbol/tracing.h
src/base/log.h:
src/cmd/cmd.h:
src/record/features.h:
src/profile/profile.h:
src/record/multi.h:
src/record/symbols.h:
src/symbol/btf.h:
src/symbol/image.h:
src/symbol/kallsyms.h:
src/symbol/tracing.h:
