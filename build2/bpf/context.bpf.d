build2/bpf/context.bpf.o: bpf/context.bpf.c bpf/engine.h \
  vmlinux/vmlinux.h include/kprotperf/engine.h include/kprotperf/hist.h

bpf/engine.h:

vmlinux/vmlinux.h:

include/kprotperf/engine.h:

include/kprotperf/hist.h:
