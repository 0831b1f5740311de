build2/obj/src/cmd/view.o: src/cmd/view.c src/cmd/view.h \
 src/analyze/losses.h src/profile/profile.h src/analyze/table.h \
 src/output/section.h src/base/alloc.h src/base/log.h src/cmd/cmd.h \
 src/output/table.h src/output/text.h src/profile/file.h \
 src/profile/resolve.h src/symbol/image.h src/symbol/kallsyms.h
src/cmd/view.h:
src/analyze/losses.h:
src/profile/profile.h:
src/analyze/table.h:
src/output/section.h:
src/base/alloc.h:
src/base/log.h:
src/cmd/cmd.h:
src/output/table.h:
src/output/text.h:
src/profile/file.h:
src/profile/resolve.h:
src/symbol/image.h:
src/symbol/kallsyms.h:
