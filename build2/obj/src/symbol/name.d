build2/obj/src/symbol/name.o: src/symbol/name.c src/symbol/name.h
src/symbol/name.h:
