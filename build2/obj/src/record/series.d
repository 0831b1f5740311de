build2/obj/src/record/series.o: src/record/series.c src/record/series.h
src/record/series.h:
