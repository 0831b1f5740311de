build2/obj/src/cmd/resolve.o: src/cmd/resolve.c src/base/alloc.h \
 src/base/log.h src/cmd/cmd.h src/profile/file.h src/profile/profile.h \
 src/profile/resolve.h src/symbol/image.h src/symbol/kallsyms.h
src/base/alloc.h:
src/base/log.h:
src/cmd/cmd.h:
src/profile/file.h:
src/profile/profile.h:
src/profile/resolve.h:
src/symbol/image.h:
src/symbol/kallsyms.h:
