build2/obj/src/record/kprobe.o: src/record/kprobe.c src/record/kprobe.h
src/record/kprobe.h:
