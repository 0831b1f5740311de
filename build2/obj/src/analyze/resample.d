build2/obj/src/analyze/resample.o: src/analyze/resample.c \
 src/analyze/resample.h src/analyze/statistics.h src/analyze/rmath.h \
 /usr/share/R/include/Rmath.h src/base/alloc.h
src/analyze/resample.h:
src/analyze/statistics.h:
src/analyze/rmath.h:
/usr/share/R/include/Rmath.h:
src/base/alloc.h:
