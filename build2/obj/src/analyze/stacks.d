build2/obj/src/analyze/stacks.o: src/analyze/stacks.c \
 src/analyze/stacks.h src/output/folded.h src/profile/profile.h \
 src/analyze/sort.h src/base/alloc.h src/base/log.h
src/analyze/stacks.h:
src/output/folded.h:
src/profile/profile.h:
src/analyze/sort.h:
src/base/alloc.h:
src/base/log.h:
