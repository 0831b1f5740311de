build2/obj/src/profile/resolve.o: src/profile/resolve.c \
 src/profile/resolve.h src/profile/profile.h src/symbol/image.h \
 src/symbol/kallsyms.h src/base/log.h
src/profile/resolve.h:
src/profile/profile.h:
src/symbol/image.h:
src/symbol/kallsyms.h:
src/base/log.h:
