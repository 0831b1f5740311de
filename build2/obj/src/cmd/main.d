build2/obj/src/cmd/main.o: src/cmd/main.c src/base/alloc.h src/base/log.h \
 src/cmd/cmd.h
src/base/alloc.h:
src/base/log.h:
src/cmd/cmd.h:
