build2/obj/src/cmd/report.o: src/cmd/report.c src/analyze/accounting.h \
 src/profile/profile.h src/analyze/cost.h src/analyze/diff.h \
 src/analyze/environment.h src/analyze/losses.h src/analyze/table.h \
 src/analyze/workload.h src/analyze/stacks.h src/output/folded.h \
 src/base/alloc.h src/base/log.h src/cmd/cmd.h src/cmd/columns.h \
 src/output/section.h src/cmd/view.h src/output/csv.h src/output/json.h \
 src/output/number.h src/output/text.h
src/analyze/accounting.h:
src/profile/profile.h:
src/analyze/cost.h:
src/analyze/diff.h:
src/analyze/environment.h:
src/analyze/losses.h:
src/analyze/table.h:
src/analyze/workload.h:
src/analyze/stacks.h:
src/output/folded.h:
src/base/alloc.h:
src/base/log.h:
src/cmd/cmd.h:
src/cmd/columns.h:
src/output/section.h:
src/cmd/view.h:
src/output/csv.h:
src/output/json.h:
src/output/number.h:
src/output/text.h:
