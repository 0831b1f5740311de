build2/obj/src/analyze/power.o: src/analyze/power.c src/analyze/power.h \
 src/analyze/statistics.h src/analyze/rmath.h \
 /usr/share/R/include/Rmath.h
src/analyze/power.h:
src/analyze/statistics.h:
src/analyze/rmath.h:
/usr/share/R/include/Rmath.h:
