build2/obj/src/record/trip.o: src/record/trip.c src/record/trip.h \
 src/base/clock.h src/record/kprobe.h src/record/series.h
src/record/trip.h:
src/base/clock.h:
src/record/kprobe.h:
src/record/series.h:
