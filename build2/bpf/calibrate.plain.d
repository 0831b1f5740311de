build2/bpf/calibrate.plain.o: bpf/calibrate.bpf.c bpf/engine.h \
  vmlinux/vmlinux.h include/kprotperf/engine.h include/kprotperf/hist.h

bpf/engine.h:

vmlinux/vmlinux.h:

include/kprotperf/engine.h:

include/kprotperf/hist.h:
