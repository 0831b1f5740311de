build2/bpf/function.bpf.o: bpf/function.bpf.c bpf/sample.h bpf/engine.h \
  vmlinux/vmlinux.h include/kprotperf/engine.h include/kprotperf/hist.h

bpf/sample.h:

bpf/engine.h:

vmlinux/vmlinux.h:

include/kprotperf/engine.h:

include/kprotperf/hist.h:
