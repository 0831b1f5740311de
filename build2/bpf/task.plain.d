build2/bpf/task.plain.o: bpf/task.bpf.c bpf/engine.h vmlinux/vmlinux.h \
  include/kprotperf/engine.h include/kprotperf/hist.h

bpf/engine.h:

vmlinux/vmlinux.h:

include/kprotperf/engine.h:

include/kprotperf/hist.h:
