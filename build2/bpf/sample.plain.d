build2/bpf/sample.plain.o: bpf/sample.bpf.c bpf/sample.h bpf/engine.h \
  vmlinux/vmlinux.h include/kprotperf/engine.h include/kprotperf/hist.h

bpf/sample.h:

bpf/engine.h:

vmlinux/vmlinux.h:

include/kprotperf/engine.h:

include/kprotperf/hist.h:
