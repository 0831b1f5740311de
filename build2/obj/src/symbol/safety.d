build2/obj/src/symbol/safety.o: src/symbol/safety.c src/symbol/name.h
src/symbol/name.h:
