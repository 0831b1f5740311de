build2/obj/src/cmd/fold.o: src/cmd/fold.c src/analyze/stacks.h \
 src/output/folded.h src/profile/profile.h src/base/log.h src/cmd/cmd.h \
 src/cmd/view.h src/analyze/losses.h src/analyze/table.h \
 src/output/section.h
src/analyze/stacks.h:
src/output/folded.h:
src/profile/profile.h:
src/base/log.h:
src/cmd/cmd.h:
src/cmd/view.h:
src/analyze/losses.h:
src/analyze/table.h:
src/output/section.h:
