# SPDX-License-Identifier: GPL-2.0-or-later
#
# make help lists the targets. SAN=1 builds with ASan and UBSan into build-san/, COVERAGE=1 for gcov into build-cov/.

SHELL := /bin/bash
# Use all CPUs by default. -j1 on the command line overrides this.
MAKEFLAGS += --no-builtin-rules $(if $(filter 0,$(MAKELEVEL)),-j$(shell nproc))
.DELETE_ON_ERROR:

# docs/ARCHITECTURE.md says what support for another architecture takes.
MACHINE := $(shell uname -m)
$(if $(filter x86_64,$(MACHINE)),,$(error kprotperf supports x86-64 kernels only, not $(MACHINE)))

VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=
# A Debian package has zsh's completion in another folder (scripts/debian/rules).
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions

# V=1 shows the commands.
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-8s%s\n' '$(1)' '$(2)')

ifeq ($(SAN),1)
BUILD     ?= build-san
SAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
else ifeq ($(COVERAGE),1)
BUILD     ?= build-cov
SAN_FLAGS := --coverage
OPTFLAGS  ?= -O1 -g
else ifeq ($(FUZZ),1)
BUILD     ?= build-fuzz
CC        := $(or $(CLANG),clang)
OPTFLAGS  ?= -O1 -g1
# pointer-overflow reports NULL + 0. C leaves this undefined, but C++ and all compilers define it.
SAN_FLAGS := -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-sanitize=pointer-overflow
else
BUILD     ?= build
endif

CC       ?= gcc
CLANG    ?= clang
BPFTOOL  ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
CLANG_FORMAT ?= clang-format

LIBS     := libbpf libelf libdw zlib capstone jansson libseccomp libRmath
OPTFLAGS ?= -O2 -g
# Make the output independent of the folder that it is built in.
ANYWHERE := -fdebug-prefix-map=$(CURDIR)=.
CFLAGS   += -std=gnu11 -D_GNU_SOURCE $(OPTFLAGS) $(ANYWHERE) -Wall -Wextra -Wshadow -Wstrict-prototypes \
            -Wmissing-prototypes -Wno-missing-field-initializers -Werror $(SAN_FLAGS)
CPPFLAGS += -Isrc -Iinclude -I$(BUILD) -DKPROTPERF_VERSION='"$(VERSION)"' -DMATHLIB_STANDALONE \
            $(shell pkg-config --cflags $(LIBS) 2>/dev/null)
# Do not link with capstone: src/arch/x86/capstone.c loads it with dlopen().
LDLIBS   += $(shell pkg-config --libs $(filter-out capstone,$(LIBS)) 2>/dev/null) -lm
LDFLAGS  += $(SAN_FLAGS)

# Programs for scripts/bench, tests/live/cost.t and tests/live/executions.t.
BENCH := $(addprefix $(BUILD)/bench/,floor memory meter symbolize truth.so executions.so)

# Everything but main() is also linked into the unit tests.
SRCS       := $(filter-out src/cmd/main.c,$(sort $(shell find src -name '*.c')))
ifeq ($(FUZZ),1)
# Fuzzers test the reading of files. Of src/record, only reports.c reads files: leave the rest out, for a shorter build.
SRCS       := $(filter-out $(filter-out src/record/reports.c,$(filter src/record/%,$(SRCS))),$(SRCS))
endif
OBJS       := $(SRCS:%.c=$(BUILD)/obj/%.o)
# bpf/try.bpf.c only tests what the kernel allows. It is a separate object.
BPF_TRY    := bpf/try.bpf.c
BPF_SRCS   := $(filter-out $(BPF_TRY),$(wildcard bpf/*.bpf.c))
BPF_OBJS   := $(BPF_SRCS:bpf/%.bpf.c=$(BUILD)/bpf/%.bpf.o)
# The same programs for kernels that refuse BPF programs with kernel variables (__ksym): see bpf/engine.h.
BPF_PLAIN  := $(BPF_SRCS:bpf/%.bpf.c=$(BUILD)/bpf/%.plain.o)
# A workload's source may list the names of several programs ("Names: A B C"). Otherwise its one program has the file's name.
WORKLOAD_SRCS  := $(filter-out workloads/common.c,$(wildcard workloads/*.c))
workload_names  = $(or $(shell sed -n 's/^ \* Names: //p' $(1)),$(basename $(notdir $(1))))
WORKLOADS  := $(foreach src,$(WORKLOAD_SRCS),$(addprefix $(BUILD)/workloads/,$(call workload_names,$(src))))
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*_test.c))

.PHONY: all
all: $(BUILD)/kprotperf $(BUILD)/emulator/exact.so $(BUILD)/emulator/explore.so $(WORKLOADS) ## build everything (the default)

# Replace the program atomically. Running tests use the old one until the new one is complete.
$(BUILD)/kprotperf: $(BUILD)/obj/src/cmd/main.o $(BUILD)/libkprotperf.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@.new $^ $(LDLIBS)
	$(Q)mv $@.new $@

$(BUILD)/libkprotperf.a: $(OBJS) $(BUILD)/page.o
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)ar rcs $@ $^

$(BUILD)/obj/%.o: %.c | $(BUILD)/.pkgs
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The page of --format=html contains two libraries, which npm fetches. Without npm or its registry the page is empty, and
# kprotperf --format=html fails with a message. The next make with npm tries again.
PAGE := $(addprefix src/view/html/,page.js page.css page.html package.json package-lock.json)
PAGE_NPM := $(if $(FUZZ),,$(shell [ -s $(BUILD)/page.html ] || command -v npm))
.PHONY: try-again
$(BUILD)/page.html: $(PAGE) $(PAGE_NPM:%=try-again)
	$(call say,PAGE,$@)
	@mkdir -p $(@D)
	$(Q)$(if $(FUZZ),cp src/view/html/page.html $@,scripts/page $(BUILD)/npm-page $@)

$(BUILD)/page.o: src/view/html/page.S $(BUILD)/page.html
	$(Q)$(CC) -DPAGE='"$(BUILD)/page.html"' -c -o $@ $<

# --version shows the installed versions of libraries and compilers.
$(BUILD)/obj/src/cmd/main.o: $(BUILD)/.pkgs
version_of = $(shell $(1) --version 2>/dev/null | grep -Eom 1 '[0-9]+(\.[0-9]+)+' | head -n 1)
$(BUILD)/obj/src/cmd/main.o $(BUILD)/analyze/src/cmd/main.log: CPPFLAGS += -DKPROTPERF_BUILT='"$(foreach lib,$(LIBS),$(lib) $(shell \
	pkg-config --modversion $(lib) 2>/dev/null),) $(notdir $(lastword $(CC))) $(call version_of,$(CC)), $(notdir \
	$(lastword $(CLANG))) $(call version_of,$(CLANG)) (BPF)$(SAN_FLAGS:%=; %)"'

# src/record includes headers that bpftool generates from the BPF objects.
$(filter-out %/reports.o,$(filter $(BUILD)/obj/src/record/%,$(OBJS))): | \
	$(BUILD)/kprotperf.skel.h $(BUILD)/kprotperf_plain.skel.h $(BUILD)/kprotperf_try.skel.h

BPF_FLAGS := -target bpf -mcpu=v3 -O2 -g $(ANYWHERE) -Wall -Wextra -Wno-unused-parameter -Werror \
             -Iinclude -Ivmlinux -Ibpf

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c | $(BUILD)/.pkgs
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_FLAGS) -D__TARGET_ARCH_x86 -MMD -MP -MT $@ -c -o $@ $<

$(BUILD)/bpf/%.plain.o: bpf/%.bpf.c | $(BUILD)/.pkgs
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_FLAGS) -DWITHOUT_KSYMS -D__TARGET_ARCH_x86 -MMD -MP -MT $@ -c -o $@ $<

$(BUILD)/kprotperf.bpf.o: $(BPF_OBJS)
$(BUILD)/kprotperf_plain.bpf.o: $(BPF_PLAIN)
$(BUILD)/kprotperf_try.bpf.o: $(BPF_TRY:bpf/%.bpf.c=$(BUILD)/bpf/%.bpf.o)
$(BUILD)/kprotperf.bpf.o $(BUILD)/kprotperf_plain.bpf.o $(BUILD)/kprotperf_try.bpf.o:
	$(call say,LINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

# If a package is missing, print one line instead of a page of compiler errors. Check again whenever dpkg changes packages.
$(BUILD)/.pkgs: $(wildcard /var/lib/dpkg/status)
	@mkdir -p $(@D)
	@missing=; \
	for lib in $(LIBS); do pkg-config --exists $$lib 2>/dev/null || missing="$$missing $$lib"; done; \
	for tool in $(CLANG) $(BPFTOOL); do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	if [ -n "$$missing" ]; then \
		echo "make: missing:$$missing; run scripts/setup (--dry-run shows what it installs)" >&2; \
		exit 1; \
	fi
	@touch $@

# Workloads do not link with kprotperf's library, so that they measure only themselves.
$(foreach src,$(WORKLOAD_SRCS),$(foreach name,$(call workload_names,$(src)),\
	$(eval $(BUILD)/workloads/$(name): $(src))))
$(WORKLOADS): workloads/common.c workloads/common.h
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -Iinclude $(OPTFLAGS) $(ANYWHERE) -Wall -Wextra -Werror \
		$(filter-out --coverage,$(SAN_FLAGS)) -DWORKLOAD='"$(@F)"' -o $@ $(filter %.c,$^) -lpthread -lm $(WORKLOAD_LIBS)

$(BUILD)/workloads/calls: workloads/calls/program.c workloads/calls/program.h include/kprotperf/calls.h include/kprotperf/mark.h
$(BUILD)/workloads/calls: WORKLOAD_LIBS = -lseccomp

$(BUILD)/tests/%: tests/unit/%.c $(BUILD)/libkprotperf.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Itests/unit $(CFLAGS) -MMD -MP -MF $@.d $(LDFLAGS) -o $@ $< \
		$(BUILD)/libkprotperf.a $(LDLIBS) -lcmocka

# Programs that generate many profiles, to check the statistics of diff.
$(BUILD)/tests/%: tests/statistics/%.c $(BUILD)/libkprotperf.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Itests/unit $(CFLAGS) -MMD -MP -MF $@.d $(LDFLAGS) -o $@ $< \
		$(BUILD)/libkprotperf.a $(LDLIBS)

$(BUILD)/tests/stall: tests/stall.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $<

TAP_UNIT  := $(UNIT_TESTS)
TAP_SHELL := $(sort $(wildcard tests/cli/*.t tests/workloads/*.t tests/catalogue/*.t tests/statistics/*.t))
# The slowest tests come first, so that no CPU is idle while the last test ends. make check runs six tests at once: a guest
# under icount waits for a third of its time, and with four tests at once, two CPUs were idle for a fifth of the time.
TAP_LAB   := $(patsubst %,tests/%.t,live/debug live/ranges live/blocks lab/stock live/demo lab/patch live/globs lab/kernels \
	live/flow lab/failures live/annotate live/signals live/known lab/ab lab/exact)
TAP_LAB   += $(filter-out $(TAP_LAB),$(sort $(wildcard tests/lab/*.t tests/live/*.t tests/export/*.t)))
# $(call prove,VARIABLES,ARGUMENTS): run tests with prove. tests/run writes each failure at once to descriptor 3, and to the
# file FAILED. After prove's output come the 12 tests that took most CPU time (build/tests/times has all tests), prove's last
# lines again, and FAILED: people read the end of a log. STALL=25 stops each thread of each QEMU for a quarter of the time.
FAILED := $(abspath $(BUILD))/tests/failed
TIMES  := $(abspath $(BUILD))/tests/times
PROVED := $(BUILD)/tests/proved
define prove
@rm -f $(FAILED) $(TIMES); $(1) MAKEFLAGS= MAKELEVEL=0 CMOCKA_MESSAGE_OUTPUT=TAP BUILD=$(BUILD) FAILED=$(FAILED) TIMES=$(TIMES) \
	$(if $(STALL),$(BUILD)/tests/stall $(STALL)) prove --exec tests/run --timer --merge $(2) 3>&2 | tee $(PROVED); \
	status=$${PIPESTATUS[0]}; awk '{ printf "%7.1f s of CPU time: %s\n", $$2 + $$3, $$4 }' $(TIMES) | sort -rn | head -n 12; \
	tail -n 2 $(PROVED); [ "$$status" -eq 0 ] || { cut -c 1-300 $(FAILED) | tail -n 30; false; }
endef

.PHONY: check-fast
check-fast: lint unit ## lint, unit and command line tests (2 minutes, no root, no guest)

# check builds fuzzers without optimization: it runs them for seconds only, and they compile in two thirds of the time.
.PHONY: check
check: setup ## all tests: unit, command line, and live tests in the lab's kernels
	@scripts/setup --for=export
	$(MAKE) all tests
	scripts/lab build baseline hardened notrace debug
	scripts/lab fetch debian-6.1-cloud debian-6.12-cloud
	$(MAKE) FUZZ=1 BUILD=build-fuzz/check OPTFLAGS='-O0 -g1' fuzzers
	$(call prove,COMPLETE=1,-j6 $(TAP_LAB) $(TAP_UNIT) $(TAP_SHELL) tests/fuzz/fuzz.t)

.PHONY: check-long
check-long: setup ## longer tests and all kernels of docs/kernels.md (5 GB of downloads); niced, continues after failures
	@scripts/setup --for=deb --for=lab-on --for=lab-clang
	$(MAKE) all tests
	$(MAKE) -k analyze
	$(MAKE) FUZZ=1 fuzzers
	scripts/lab build baseline hardened debug cfi-on
	renice -n 10 $$$$ >/dev/null; \
	$(call prove,COMPLETE=1 LONG=1,-j2 $(sort $(wildcard tests/long/*.t)) $(shell grep -l '{LONG' tests/live/*.t tests/lab/*.t)); \
	status=$$?; scripts/kernels-tried && exit $$status

.PHONY: unit
unit: all tests ## check-fast without lint (also with SAN=1)
	$(call prove,,-j$(shell nproc) $(TAP_SHELL) $(TAP_UNIT))

.PHONY: coverage
coverage: ## line coverage of src by unit and command line tests
	@scripts/setup --for=coverage
	find build-cov -name '*.gcda' -delete 2>/dev/null || true
	$(MAKE) COVERAGE=1 unit
	@mkdir -p build-cov/coverage
	gcovr --root . --filter src/ --object-directory build-cov --print-summary \
		--html-details build-cov/coverage/index.html build-cov/obj

# Analyze a source again if it or one of its headers changes. Ignore findings in headers that bpftool generates.
ANALYZE := $(patsubst %.c,$(BUILD)/analyze/%.log,src/cmd/main.c $(SRCS))
.PHONY: analyze
analyze: $(ANALYZE) ## clang's static analyzer, which must find nothing (make -k lists all findings)

$(BUILD)/analyze/%.log: %.c $(BUILD)/obj/%.o
	$(call say,ANALYZE,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) --analyze -Xanalyzer -analyzer-output=text $(CPPFLAGS) -std=gnu11 -D_GNU_SOURCE $< -o /dev/null 2>$@ && \
		! grep -qE '^(src|include)/.*: (warning|error): ' $@ || { cat $@; false; }

.PHONY: check-statistics
check-statistics: all $(BUILD)/tests/simulate ## check intervals and verdicts on thousands of generated profiles
	$(BUILD)/tests/simulate 2000

# Each C file of tests/fuzz is a target of libFuzzer. Fuzzers have a separate build (FUZZ=1).
FUZZERS := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
FUZZ_SECONDS ?= 60

$(BUILD)/fuzz/%: tests/fuzz/%.c tests/fuzz/fuzz.h $(BUILD)/libkprotperf.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Itests/fuzz $(CFLAGS) -fsanitize=fuzzer -o $@ $< $(BUILD)/libkprotperf.a $(LDLIBS)

.PHONY: fuzzers
fuzzers: $(FUZZERS:%=$(BUILD)/fuzz/%)

.PHONY: fuzz
fuzz: all tests ## fuzz input files, FUZZ_SECONDS (60) per kind; failures are kept in build-fuzz/found
	$(MAKE) FUZZ=1 fuzzers
	set -e; for target in $(FUZZERS); do BUILD=$(BUILD) tests/fuzz/run $$target $(FUZZ_SECONDS); done

.PHONY: tests
tests: $(UNIT_TESTS) $(addprefix $(BUILD)/tests/,make_fixture flow_sites simulate many stall) $(BENCH)

.PHONY: demo
demo: setup ## fetch one kernel, build two, record, compare, draw flame graphs and pages, into demo/
	@scripts/setup --for=page || true
	$(MAKE) all
	scripts/demo

.PHONY: bench
bench: setup ## measure the cost of measuring, compared with other tools, into docs/benchmarks.md
	@scripts/setup --for=bench
	$(MAKE) all $(BENCH)
	scripts/lab build baseline hardened
	scripts/bench

$(BUILD)/bench/%: tests/bench/%.c | $(BUILD)/.pkgs
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(OPTFLAGS) -Wall -Wextra -Werror -o $@ $< -lbpf

# symbolize measures functions of kprotperf's library, so it links with it.
$(BUILD)/bench/symbolize: tests/bench/symbolize.c $(BUILD)/libkprotperf.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/libkprotperf.a $(LDLIBS)

# QEMU loads these plugins.
PLUGIN_CC = $(CC) -std=gnu11 -D_GNU_SOURCE -Iemulator -Iinclude $(OPTFLAGS) $(ANYWHERE) -Wall -Wextra -Werror -shared -fPIC \
	-fvisibility=hidden

$(BUILD)/bench/%.so: tests/bench/%.c emulator/qemu_plugin.h
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(PLUGIN_CC) -o $@ $<

$(BUILD)/emulator/exact.so: $(wildcard emulator/*.c emulator/*.h) $(wildcard include/kprotperf/*.h)
$(BUILD)/emulator/explore.so: $(wildcard emulator/explore/*.c emulator/explore/*.h) emulator/guest.c \
			      emulator/guest.h emulator/qemu_plugin.h $(wildcard include/kprotperf/*.h)
$(BUILD)/emulator/%.so:
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(PLUGIN_CC) -flto -o $@ $(filter %.c,$^)

.PHONY: setup
setup: ## install missing Debian packages (for make bench: its packages too)
	@scripts/setup --for=build --for=test --for=lab --for=lab-stock

.PHONY: lint
lint: ## static checks: layers, cppcheck, shellcheck, types of the lab, formatting
	scripts/layers
	$(Q)$(CLANG_FORMAT) --dry-run --Werror $(C_FILES)
	cppcheck --quiet --error-exitcode=1 --inline-suppr --suppress=missingIncludeSystem \
		--enable=warning,portability '-DLIBBPF_OPTS(type,name,...)=struct type name' -Isrc -Iinclude src emulator workloads
	$(Q)shellcheck -x $(SHELL_FILES)
	$(Q)mypy --strict --no-error-summary --cache-dir=$(BUILD)/mypy scripts/kernellab tests/tap.py tests/lab/programs.py
	$(Q)flake8 --max-line-length=128 --max-complexity=12 --extend-ignore=E203 $(PYTHON_FILES)
	$(Q)black --quiet --check --skip-magic-trailing-comma --line-length=128 $(PYTHON_FILES)

.PHONY: format
format: ## format C and Python
	$(Q)$(CLANG_FORMAT) -i $(C_FILES)
	$(Q)black --quiet --skip-magic-trailing-comma --line-length=128 $(PYTHON_FILES)

C_FILES     = $(shell git ls-files '*.c' '*.h')
PYTHON_FILES = $(sort $(shell git ls-files '*.py'; git ls-files scripts tests | xargs grep -lE '^\#!/(usr/bin/env |usr/bin/)?python3'))
SHELL_FILES = $(shell git ls-files scripts .ci tests workloads | xargs grep -lE '^\#!/(usr/bin/env |bin/)?(ba)?sh')

# Generate man pages and shell completion from the output of --help.
$(BUILD)/share/made: $(BUILD)/kprotperf scripts/from-help scripts/lab
	$(call say,HELP,$(@D))
	$(Q)rm -rf $(@D)
	$(Q)scripts/from-help $< $(@D)
	@touch $@

.PHONY: install
install: all $(BUILD)/share/made ## install program, lab, workloads, man pages, completion and docs into $(DESTDIR)$(PREFIX)
	scripts/install $(BUILD) "$(DESTDIR)" "$(PREFIX)" "$(ZSHDIR)"

.PHONY: uninstall
uninstall: ## remove what install made
	scripts/install --remove "$(DESTDIR)" "$(PREFIX)"

.PHONY: deb
deb: ## build the Debian package into $(BUILD)/deb
	@scripts/setup --for=build --for=deb
	$(MAKE) $(BUILD)/page.html
	scripts/deb $(VERSION) $(BUILD)/deb $(BUILD)/page.html

.PHONY: clean
clean: ## remove build output (to remove the lab's kernels: scripts/lab clean)
	rm -rf build build-san build-cov build-fuzz

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 18

-include $(OBJS:.o=.d) $(wildcard $(BUILD)/bpf/*.d $(BUILD)/tests/*.d)
