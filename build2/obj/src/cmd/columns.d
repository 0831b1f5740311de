build2/obj/src/cmd/columns.o: src/cmd/columns.c src/cmd/columns.h \
 src/analyze/cost.h src/profile/profile.h src/analyze/diff.h \
 src/analyze/environment.h src/analyze/losses.h src/analyze/table.h \
 src/analyze/workload.h src/analyze/stacks.h src/output/folded.h \
 src/output/section.h
src/cmd/columns.h:
src/analyze/cost.h:
src/profile/profile.h:
src/analyze/diff.h:
src/analyze/environment.h:
src/analyze/losses.h:
src/analyze/table.h:
src/analyze/workload.h:
src/analyze/stacks.h:
src/output/folded.h:
src/output/section.h:
