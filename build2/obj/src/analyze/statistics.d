build2/obj/src/analyze/statistics.o: src/analyze/statistics.c \
 src/analyze/statistics.h src/analyze/rmath.h \
 /usr/share/R/include/Rmath.h src/analyze/sort.h src/base/alloc.h
src/analyze/statistics.h:
src/analyze/rmath.h:
/usr/share/R/include/Rmath.h:
src/analyze/sort.h:
src/base/alloc.h:
