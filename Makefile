# SPDX-License-Identifier: GPL-3.0-or-later
#
# 'make help' lists the targets. Define
#
#   V=1               to see the commands
#   CC, CFLAGS, CPPFLAGS, LDFLAGS, PKGCONF
#                     to build another way; CFLAGS and LDFLAGS stand after the project's own flags
#                     and so override them
#   STATIC=1          for a program without shared libraries; it reads no ZIP archives
#   SANITIZE=LIST     for -fsanitize=LIST in place of the hardening flags
#   BUILD             the folder for everything that is built (build)
#   PREFIX, DESTDIR, BINDIR, SBINDIR, MANDIR, BASHDIR, ZSHDIR, FISHDIR, UNITDIR, MIMEDIR, APPDIR,
#   DOCDIR, EXAMPLEDIR
#                     where 'make install' puts things (/usr/local; what mount(8) runs: /sbin)
#   ROOTS             where 'make test-deb' and 'make test-portable' keep their Debian systems
#                     (/var/tmp/animfs-roots)
#   FUZZ_SECONDS      how long 'make fuzz' runs each target (60)
#   FUZZ_RUNS         how many inputs 'make fuzz-long' tries in all (100000000)
#   FORMATS_COUNT, FORMATS_SEED
#                     how many files 'make test-formats' invents, and from which number (1000, 1)
#   CRASHES           how often 'make test-crash' kills, at least (1000)
#   OPS, SEED         how many operations 'make test-posix' does at random, and from which seed
#   SIM_STEPS, SIM_SEED
#                     how many steps 'make test-sim' does, and from which seed (1000000, 1)
#   SOAK_SECONDS      how long 'make test-soak' goes on (3600)
#   STORM_SAVES, STORM_SEED
#                     how many saves 'make test-storm' makes with each build, and from which seed
#                     (30000, 1)
#   BATCH_SEEDS, BATCH_FIRST
#                     how many orders 'make test-batches' tries, and from which number (10, 1)
#   FILESYSTEMS       which ones 'make test-filesystems' mounts: tmpfs ext4 ext4-128 xfs ... (all)
#   TESTS             which mount tests 'make test', 'check-san' and 'check-tsan' run (all)
#   SEARCH_SECONDS, SEED, SEARCHES
#                     how long each search of 'make search' takes (60), from which seed (the clock's,
#                     printed), and which ones (all)
#   RUNS              how often 'make test-steady' runs the gate (10)
#   ROWS, ROUNDS      what 'make bench' measures (all of it), and how often (5)
#   BASE              the commit that 'make bench' compares with

VERSION := 0.1.0

BUILD        ?= build
PREFIX       ?= /usr/local
BINDIR       ?= $(PREFIX)/bin
MANDIR       ?= $(PREFIX)/share/man
BASHDIR      ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR       ?= $(PREFIX)/share/zsh/site-functions
FISHDIR      ?= $(PREFIX)/share/fish/vendor_completions.d
UNITDIR      ?= $(PREFIX)/lib/systemd/user
MIMEDIR      ?= $(PREFIX)/share/mime/packages
APPDIR       ?= $(PREFIX)/share/applications
DOCDIR       ?= $(PREFIX)/share/doc/animfs
EXAMPLEDIR   ?= $(DOCDIR)/examples
# mount(8) looks for its helpers only there; a user who installs below HOME cannot write there.
SBINDIR      ?= $(if $(filter /usr /usr/local,$(PREFIX)),/sbin,$(PREFIX)/sbin)
DESTDIR      ?=
PKGCONF      ?= pkg-config
FUZZ_SECONDS ?= 60
FUZZ_RUNS    ?= 100000000
FORMATS_COUNT ?= 1000
FORMATS_SEED ?= 1
CRASHES      ?= 1000
ROUNDS       ?= 5
SOAK_SECONDS ?= 3600
STORM_SAVES  ?= 30000
STORM_SEED   ?= 1
SIM_STEPS    ?= 1000000
SIM_SEED     ?= 1
CFLAGS       ?= -O2 -g
export BUILD FUZZ_SECONDS CRASHES ROUNDS BASE SOAK_SECONDS STORM_SAVES STORM_SEED

ifneq ($(V),1)
QUIET_CC   = @echo '  CC      ' $@;
QUIET_LINK = @echo '  LINK    ' $@;
QUIET_GEN  = @echo '  GEN     ' $@;
endif

# Parallel where the caller did not choose.
MAKE_PARALLEL = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

#### Flags

LIBRARIES := fuse3 libxml-2.0 libxxhash libseccomp libcap zlib libzstd $(if $(STATIC),,libzip)
LIB_FLAGS := $(shell $(PKGCONF) --cflags $(LIBRARIES) 2>/dev/null)
LIBS      := $(shell $(PKGCONF) $(if $(STATIC),--static) --libs $(LIBRARIES) 2>/dev/null) -lm
CHECK_FLAGS := $(shell $(PKGCONF) --cflags check jansson 2>/dev/null)
CHECK_LIBS  := $(shell $(PKGCONF) --libs check jansson 2>/dev/null)

MACHINE  := $(shell $(CC) -dumpmachine 2>/dev/null)
WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes

ifdef SANITIZE
# Also checks the order of locks (src/util/lock.h).
GUARDS      := -fsanitize=$(SANITIZE) -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
	-DANIMFS_LOCK_ORDER
LINK_GUARDS := -fsanitize=$(SANITIZE)
else
# Without optimisation FORTIFY_SOURCE only warns.
FORTIFY     := $(if $(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
# Has no effect unless the C library's start files ask for it, too, which Debian's do not.
CF          := $(if $(filter x86_64-% i386-% i686-%,$(MACHINE)),-fcf-protection)
GUARDS      := $(FORTIFY) -fstack-protector-strong -fPIE $(CF)
LINK_GUARDS := $(if $(STATIC),-static-pie,-pie) -Wl,-z,relro -Wl,-z,now
endif
# Debian has no libzip.a; its libxml2.a uses ICU, which is C++.
ifdef STATIC
WITHOUT_ZIP := -DANIMFS_WITHOUT_ZIP
LIBS        += -lstdc++
endif

ALL_CPPFLAGS = -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-DANIMFS_VERSION='"$(VERSION)"' -Iinclude -Isrc $(LIB_FLAGS) $(WITHOUT_ZIP) $(CPPFLAGS)
# One rounding per operation on every machine: the numbers in the texts depend on it.
ROUNDING    := -ffp-contract=off $(if $(filter i386-% i686-%,$(MACHINE)),-msse2 -mfpmath=sse)
ALL_CFLAGS   = -std=gnu11 $(ROUNDING) -pthread $(WARNINGS) $(GUARDS) $(CFLAGS)
ALL_LDFLAGS  = -pthread $(LINK_GUARDS) $(CFLAGS) $(LDFLAGS)

#### Files

# The templates are only for the tests.
TEMPLATES := src/codec/skel.c src/container/skel.c
SRC       := $(filter-out $(TEMPLATES) $(if $(STATIC),src/container/zip.c),$(wildcard src/*/*.c))
OBJ       := $(SRC:%.c=$(BUILD)/%.o)
# Everything but main(), for linking with the tests.
CORE_OBJ  := $(filter-out $(BUILD)/src/cmd/main.o,$(OBJ))

TEST_SRC  := $(wildcard tests/unit/*/test_*.c)
UNIT_OBJ  := $(patsubst %.c,$(BUILD)/%.o,$(TEST_SRC) tests/unit/main.c)
FUZZ_SRC  := $(wildcard tests/search/fuzz/*.c)
FUZZERS   := $(FUZZ_SRC:tests/search/fuzz/%.c=$(BUILD)/fuzz-%)
# The same targets without libFuzzer, to run tests/search/fuzz/corpus.
REPLAY_OBJ := $(FUZZ_SRC:tests/search/fuzz/%.c=$(BUILD)/replay-%.o)
# Tools that the mount tests run.
MOUNT_TOOLS := $(addprefix $(BUILD)/,make_game posix_ops posix_matrix random_ops storm)
STORM_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/search/storm/*.c))
# The simulation does not use libfuse.
SIM_OBJ   := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/search/sim/*.c)) \
	$(addprefix $(BUILD)/tests/search/sim/,make_game.o lock.o) \
	$(filter-out $(BUILD)/src/fuse/% $(BUILD)/src/cmd/% $(BUILD)/src/util/lock.o,$(CORE_OBJ))
MAN       := $(wildcard man/*.[1-8])

.DEFAULT_GOAL := all
.PHONY: all FORCE
FORCE:

all: $(BUILD)/animfs

#### How things are made

# Rewritten, and so rebuilding everything, only when a flag has changed.
$(BUILD)/flags: FORCE
	@$(PKGCONF) --exists $(LIBRARIES) || { \
		echo "animfs needs libraries that are not here: 'scripts/setup.sh build' installs them" >&2; \
		exit 1; }
	@mkdir -p $(@D)
	@flags='$(subst ','\'',$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LIBS))'; \
	if [ "$$flags" != "$$(cat $@ 2>/dev/null)" ]; then \
		printf '%s\n' "$$flags" > $@; \
	fi

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET_CC) $(CC) $(ALL_CPPFLAGS) $(TARGET_FLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/animfs: $(filter-out $(BUILD)/src/web/%,$(OBJ))
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

# Which commit this is, for reports of faults; where there is no repository, nothing is known.
COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null)
$(BUILD)/commit: FORCE
	@mkdir -p $(@D)
	@[ '$(COMMIT)' = "$$(cat $@ 2>/dev/null)" ] || echo '$(COMMIT)' > $@
$(BUILD)/src/cmd/report.o: $(BUILD)/commit
$(BUILD)/src/cmd/report.o: TARGET_FLAGS = $(if $(COMMIT),-DANIMFS_COMMIT='"$(COMMIT)"')

# The player in the pages, as string literals of C.
$(BUILD)/src/view/page.o: $(BUILD)/player.h
$(BUILD)/src/view/page.o: TARGET_FLAGS = -I$(BUILD)
$(BUILD)/player.h: $(wildcard src/view/player/*) scripts/embed.sh scripts/minify.awk
	@mkdir -p $(@D)
	$(QUIET_GEN) scripts/embed.sh src/view/player > $@.new && mv $@.new $@

# Contains the path of the installed program.
$(BUILD)/animfs@.service: contrib/animfs@.service FORCE
	@mkdir -p $(@D)
	@sed 's|@BINDIR@|$(BINDIR)|' $< > $@

# The list of suites: test_base.c has base_suite().
$(BUILD)/suites.h: FORCE
	@mkdir -p $(@D)
	@printf 'SUITE(%s)\n' $(sort $(patsubst test_%.c,%,$(notdir $(TEST_SRC)))) > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/tests/unit/main.o: $(BUILD)/suites.h
$(UNIT_OBJ): TARGET_FLAGS = -Itests/unit -I$(BUILD) $(CHECK_FLAGS)

$(BUILD)/unit: $(UNIT_OBJ) $(TEMPLATES:%.c=$(BUILD)/%.o) $(CORE_OBJ)
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS) $(CHECK_LIBS)

$(BUILD)/alloc_fail $(BUILD)/exhaustive_num $(BUILD)/bench_core: $(BUILD)/%: $(BUILD)/tests/tools/%.o $(CORE_OBJ)
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

# Independent of the program: one writes animation files without its encoder, three compare a mount
# with a plain filesystem, one saves and reads in all ways at once.
$(filter-out %/storm,$(MOUNT_TOOLS)): $(BUILD)/%: $(BUILD)/tests/tools/%.o
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) -lm

$(BUILD)/storm: $(STORM_OBJ)
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) -lm

# A FUSE folder with one file, which records all writes in order.
$(BUILD)/image_recorder: $(BUILD)/tests/tools/image_recorder.o
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

# Replaces calls of the C library, which _FORTIFY_SOURCE must not have redirected before.
$(BUILD)/fault.so $(BUILD)/intruder.so: $(BUILD)/%.so: tests/tools/%.c tests/tools/intruder.h $(BUILD)/flags
	$(QUIET_LINK) $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=0 \
		-fPIC -shared -o $@ $< -ldl

$(FUZZERS): $(BUILD)/fuzz-%: $(BUILD)/tests/search/fuzz/%.o $(CORE_OBJ)
	$(QUIET_LINK) $(CC) -fsanitize=fuzzer -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

# The list of targets; each gets distinct names.
$(BUILD)/targets.h: FORCE
	@mkdir -p $(@D)
	@printf 'TARGET(%s)\n' $(sort $(FUZZ_SRC:tests/search/fuzz/%.c=%)) > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/tests/tools/replay.o: $(BUILD)/targets.h
$(BUILD)/tests/tools/replay.o: TARGET_FLAGS = -Itests/unit -I$(BUILD)

$(REPLAY_OBJ): $(BUILD)/replay-%.o: tests/search/fuzz/%.c $(BUILD)/flags
	@mkdir -p $(BUILD)/tests
	$(QUIET_CC) $(CC) $(ALL_CPPFLAGS) '-DREPLAY(part)=replay_$*_##part' $(ALL_CFLAGS) \
		-MMD -MP -MF $(BUILD)/tests/replay-$*.d -c -o $@ $<

$(BUILD)/replay: $(BUILD)/tests/tools/replay.o $(REPLAY_OBJ) $(CORE_OBJ)
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

# The tree of a mount in one process, below a model of the kernel. The calls in tests/search/sim/wraps go
# through the simulation; make_game is part of it.
$(BUILD)/tests/search/sim/make_game.o: tests/tools/make_game.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET_CC) $(CC) $(ALL_CPPFLAGS) -Dmain=sim_make_game $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# It always checks the order of locks.
$(BUILD)/tests/search/sim/lock.o: src/util/lock.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET_CC) $(CC) $(ALL_CPPFLAGS) -DANIMFS_LOCK_ORDER $(ALL_CFLAGS) \
		-MMD -MP -c -o $@ $<

$(BUILD)/sim: $(SIM_OBJ) tests/search/sim/wraps
	$(QUIET_LINK) $(CC) -o $@ $(SIM_OBJ) -Wl,@tests/search/sim/wraps $(ALL_LDFLAGS) $(LIBS)

# The page's WebAssembly: the layers that know no files, and what stands in for the C library's rest.
WEB_CC    ?= clang-14
WEB_STORE := ages cache encoded labels tree typed version
WEB_SRC   := $(filter-out $(TEMPLATES) src/text/pack.c src/text/xml.c src/util/clock.c src/util/jobs.c, \
	$(wildcard $(patsubst %,src/%/*.c,util text model skeleton codec view web web/libc))) \
	$(WEB_STORE:%=src/store/%.c)
WEB_OBJ   := $(WEB_SRC:%.c=$(BUILD)/web/%.o)
WEB_CALLS := $(sort $(shell grep -owE 'web_[a-z_]+' src/web/exports.h))
WEB_FLAGS := --target=wasm32-wasi -D_Thread_local= -mbulk-memory -mnontrapping-fptoint -msign-ext

# libxxhash is its header; the other headers of this machine are not WebAssembly's.
$(BUILD)/web/include/xxhash.h:
	@mkdir -p $(@D)
	@cp "$$($(PKGCONF) --variable=includedir libxxhash)/xxhash.h" $@

$(BUILD)/web/%.o: %.c $(BUILD)/web/include/xxhash.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET_CC) $(WEB_CC) $(WEB_FLAGS) -std=gnu11 -Os -ffp-contract=off -ffunction-sections -fdata-sections \
		-D_GNU_SOURCE -Iinclude -Isrc -isystem src/web/libc -isystem $(BUILD)/web/include \
		$(TARGET_FLAGS) $(WARNINGS) -MMD -MP -c -o $@ $<

$(BUILD)/web/src/view/page.o: $(BUILD)/player.h
$(BUILD)/web/src/view/page.o: TARGET_FLAGS = -I$(BUILD)

# An overflow of the stack is found, as it comes first in memory.
$(BUILD)/web/animfs.wasm: $(WEB_OBJ)
	$(QUIET_LINK) $(WEB_CC) $(WEB_FLAGS) -mexec-model=reactor -o $@.new $^ \
		-Wl,--gc-sections,--strip-all,--stack-first,-z,stack-size=1048576,--max-memory=1073741824 \
		$(WEB_CALLS:%=-Wl,--export=%)
	@wasm-opt -Os --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext -o $@ $@.new
	@rm $@.new
	@printf '%s: %s bytes\n' $@ "$$(stat -c %s $@)"

$(BUILD)/web/animfs.html: $(BUILD)/web/animfs.wasm scripts/page.sh $(wildcard src/web/page/* src/view/player/*)
	$(QUIET_GEN) scripts/page.sh $< > $@.new && mv $@.new $@
	@printf '%s: %s bytes\n' $@ "$$(stat -c %s $@)"

-include $(shell find $(BUILD)/src $(BUILD)/tests $(BUILD)/web -name '*.d' 2>/dev/null)

#### What one can ask for
#
# 'make help' prints the lines that begin with "##", grouped by their first word. Targets that need
# packages build with a second make, which sees the libraries that setup.sh has just installed.

# $(call suite,TARGET,GROUPS,FILES): installs the groups of packages (scripts/setup.sh), builds the
# program and FILES, and runs scripts/TARGET.sh.
define SUITE
.PHONY: $(1)
$(1):
	@scripts/setup.sh $(2)
	@$$(MAKE_PARALLEL) all $(3)
	@scripts/$(1).sh $(4)
endef
suite = $(eval $(call SUITE,$(1),$(2),$(3),$(4)))
GAME := $(BUILD)/make_game

.PHONY: help
help:
	@awk -f scripts/help.awk Makefile
	@echo
	@echo 'The top of the Makefile lists the variables, such as V=1 to see the commands.'

# $(call installed,MODE,FILE,WHERE) for each file that is installed.
define INSTALLED
$(call installed,755,$(BUILD)/animfs,$(BINDIR)/animfs)
$(call installed,755,contrib/mount.animfs,$(SBINDIR)/mount.animfs)
$(call installed,644,contrib/animfs.bash,$(BASHDIR)/animfs)
$(call installed,644,contrib/animfs.zsh,$(ZSHDIR)/_animfs)
$(call installed,644,contrib/animfs.fish,$(FISHDIR)/animfs.fish)
$(call installed,644,$(BUILD)/animfs@.service,$(UNITDIR)/animfs@.service)
$(call installed,644,contrib/animfs.xml,$(MIMEDIR)/animfs.xml)
$(call installed,644,contrib/animfs.desktop,$(APPDIR)/animfs.desktop)
$(call installed,644,docs/GUIDE.md,$(DOCDIR)/GUIDE.md)
$(call installed,644,scripts/animfs-export.sbatch,$(EXAMPLEDIR)/animfs-export.sbatch)
$(foreach page,$(MAN),$(call installed,644,$(page),$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page))))
endef
define NEWLINE


endef

.PHONY: install uninstall setup demo debug
## use build/animfs, the program; 'make' alone does it
all:

## use install program, manuals, mount helper and completions (DESTDIR, PREFIX)
install: installed = install -D -m$(1) '$(2)' '$(DESTDIR)$(3)'$(NEWLINE)
install: all $(BUILD)/animfs@.service
	$(INSTALLED)

## use remove what 'make install' installed
uninstall: installed = rm -f '$(DESTDIR)$(3)'$(NEWLINE)
uninstall:
	$(INSTALLED)

## use install the packages for building and testing (Debian; root or sudo)
setup:
	@scripts/setup.sh build test

## use set up, build, mount a sample game and edit it
demo:
	@scripts/setup.sh build
	@$(MAKE_PARALLEL) all $(GAME)
	@scripts/demo.sh

## use build build/web/animfs.html, a page that edits animation files in a browser
.PHONY: web
web:
	@scripts/setup.sh build web
	@$(MAKE_PARALLEL) $(BUILD)/web/animfs.html

## use mount in the foreground, in gdb where there is one (SOURCE=DIR, MOUNTPOINT=DIR)
debug:
	@scripts/setup.sh build
	@$(MAKE_PARALLEL) BUILD=$(BUILD)/debug CFLAGS='-Og -g3' CPPFLAGS=-DANIMFS_LOCK_ORDER \
		all $(GAME:$(BUILD)/%=$(BUILD)/debug/%)
	@BUILD=$(BUILD)/debug scripts/debug.sh $(SOURCE) $(MOUNTPOINT)

## use remove build/
clean:
	rm -rf $(BUILD)

.PHONY: test test-san test-steady check check-san check-tsan lint lint-deep format coverage clean
# What gates is make test, make lint and make test-san (.ci/run): nothing in them depends on chance.
## test set up, build and run all tests (TESTS="parallel.sh ...": of the mount tests, these)
test:
	@echo 'make test: some six minutes on two cores; first it installs what is missing'
	@scripts/setup.sh build test
	@$(MAKE_PARALLEL) all $(BUILD)/unit $(BUILD)/alloc_fail $(BUILD)/replay $(BUILD)/sim \
		$(BUILD)/fault.so $(BUILD)/intruder.so $(MOUNT_TOOLS)
	@TESTS='$(TESTS)' scripts/test.sh unit alloc replay sim mount

# Without a process for each test, which takes ten times as long; and strstr need not be checked to
# the end of the text at every call.
SAN_ENVIRONMENT := BUILD=$(BUILD)/san CK_FORK=no RANDOM_EDITS=500 ASAN_OPTIONS=intercept_strstr=0

## test unit tests, replay and simulation under AddressSanitizer and UBSan
test-san: setup
	@$(MAKE_PARALLEL) BUILD=$(BUILD)/san SANITIZE=address,undefined \
		$(BUILD)/san/unit $(BUILD)/san/replay $(BUILD)/san/sim
	@$(SAN_ENVIRONMENT) scripts/test.sh unit replay sim

## test run the gate RUNS times (10), half of them beside load, and list every check that ever failed
test-steady:
	@scripts/test-steady.sh $(RUNS)

## prove what is too slow for the gate: lint-deep, and mount tests under the sanitizers (hours)
check: lint lint-deep check-san check-tsan

## prove the mount tests under AddressSanitizer and UBSan (TESTS="parallel.sh ...": these)
check-san: test-san
	@$(MAKE_PARALLEL) BUILD=$(BUILD)/san SANITIZE=address,undefined \
		$(BUILD)/san/animfs $(MOUNT_TOOLS:$(BUILD)/%=$(BUILD)/san/%)
	@$(SAN_ENVIRONMENT) TESTS='$(TESTS)' scripts/test.sh mount

# ThreadSanitizer needs a fixed memory layout: no address randomization.
## prove the mount tests under ThreadSanitizer (TESTS="parallel.sh ...": these)
check-tsan: setup
	@$(MAKE_PARALLEL) BUILD=$(BUILD)/tsan SANITIZE=thread \
		$(BUILD)/tsan/animfs $(MOUNT_TOOLS:$(BUILD)/%=$(BUILD)/tsan/%)
	@ANIMFS=$(BUILD)/tsan/animfs RANDOM_EDITS=500 TEST_TIMEOUT=900 \
		TSAN_OPTIONS=second_deadlock_stack=1 \
		setarch -R tests/mount/run.sh $(TESTS:%=tests/mount/%)

## test includes, tours, formatting, clang's warnings and lock checks, shellcheck (two minutes)
lint:
	@scripts/setup.sh build test lint
	@$(MAKE_PARALLEL) $(BUILD)/player.h $(BUILD)/suites.h
	@scripts/lint.sh quick $(SRC) $(TEMPLATES) $(TEST_SRC) -- $(ALL_CPPFLAGS) -Itests/unit -I$(BUILD) \
		$(CHECK_FLAGS)

## prove clang-tidy and cppcheck over all sources; eslint and prettier over the player (npm)
lint-deep:
	@scripts/setup.sh build test lint lint-deep
	@$(MAKE_PARALLEL) $(BUILD)/player.h
	@scripts/lint.sh deep $(SRC) $(TEMPLATES) -- $(ALL_CPPFLAGS) -I$(BUILD)

## test measure the English of the pages, and list words that the project does not use
.PHONY: words
words:
	@scripts/words.sh

# All C sources of the project.
FORMATTED := $(wildcard src/*/*.[ch] src/*/*/*.[ch] src/*/*/*/*.[ch] include/*/*.h tests/*/*.[ch] tests/*/*/*.[ch])

## test format all C sources with clang-format
format:
	@scripts/setup.sh lint
	@clang-format -i $(FORMATTED)

## test print the share of lines that the tests run, by layer
coverage:
	@scripts/setup.sh build test coverage
	@$(MAKE_PARALLEL) BUILD=$(BUILD)/coverage CFLAGS='-O0 -g --coverage' \
		$(BUILD)/coverage/animfs $(BUILD)/coverage/unit $(BUILD)/coverage/replay \
		$(BUILD)/coverage/sim $(MOUNT_TOOLS:$(BUILD)/%=$(BUILD)/coverage/%)
	@BUILD=$(BUILD)/coverage scripts/coverage.sh

## test write compile_commands.json, for clangd
.PHONY: compile_commands.json tags
compile_commands.json:
	@scripts/compile-commands.sh $(SRC) $(TEMPLATES) $(TEST_SRC) \
		$(wildcard tests/unit/main.c tests/tools/*.c tests/search/*/*.c) -- $(CC) $(ALL_CPPFLAGS) \
		-Itests/unit -I$(BUILD) $(CHECK_FLAGS) $(ALL_CFLAGS) > $@

## test write tags, for editors
tags:
	@scripts/setup.sh tags
	@ctags -R --languages=C include src tests

## prove show that numbers are formatted right, for all 2^32 floats (long)
.PHONY: test-exhaustive
test-exhaustive: setup
	@$(MAKE_PARALLEL) $(BUILD)/exhaustive_num
	$(BUILD)/exhaustive_num

## prove edit many invented files of every format, and read them independently
.PHONY: test-formats
test-formats:
	@scripts/setup.sh build
	@$(MAKE_PARALLEL) all
	PYTHONDONTWRITEBYTECODE=1 tests/tools/check_formats.py --seed $(FORMATS_SEED) \
		--count $(FORMATS_COUNT) --keep $(BUILD)/formats $(BUILD)/animfs

## prove compare the mount with a plain ext4 (OPS=N random operations; root)
$(call suite,test-posix,build posix,$(MOUNT_TOOLS))
## prove save with every program, also under faults; random edits (long)
$(call suite,test-editors,build test editors,$(BUILD)/fault.so)
## prove write many views at once, with every program and in many orders (BATCH_SEEDS=N)
$(call suite,test-batches,build test batches,$(MOUNT_TOOLS))
## search kill the daemon while it saves (CRASHES=N times); cut the power
$(call suite,test-crash,build test faults,$(BUILD)/fault.so $(BUILD)/image_recorder)
## prove fail calls and allocations one by one, and fill filesystems
$(call suite,test-faults,build test faults,$(BUILD)/fault.so)
## prove test SOURCE on tmpfs, ext4, xfs, btrfs, overlayfs, FAT, exFAT, NTFS, bindfs, sshfs (root)
$(call suite,test-filesystems,build test filesystems,$(BUILD)/fault.so,$(FILESYSTEMS))
## search read, edit and change a mount for SOAK_SECONDS, against a model
$(call suite,test-soak,build test,$(MOUNT_TOOLS))

## search run all searches in turn, SEARCH_SECONDS each, from SEED; list what they found
.PHONY: search
search:
	@scripts/setup.sh build test fuzz
	@$(MAKE_PARALLEL) all $(BUILD)/sim $(BUILD)/fault.so $(MOUNT_TOOLS)
	@scripts/search.sh

## search save, read and rename in all ways at once, also under the sanitizers
.PHONY: test-storm
test-storm: setup
	@$(MAKE_PARALLEL) all $(MOUNT_TOOLS)
	@$(MAKE_PARALLEL) BUILD=$(BUILD)/san SANITIZE=address,undefined \
		$(BUILD)/san/animfs $(MOUNT_TOOLS:$(BUILD)/%=$(BUILD)/san/%)
	@$(MAKE_PARALLEL) BUILD=$(BUILD)/tsan SANITIZE=thread \
		$(BUILD)/tsan/animfs $(MOUNT_TOOLS:$(BUILD)/%=$(BUILD)/tsan/%)
	@scripts/test-storm.sh

# With sanitizers, which report faults where they happen, and leaks at the end.
## search simulate a mount in one process: a seed decides threads, disk, kernel (SIM_SEED=N)
.PHONY: test-sim
test-sim: setup
	@$(MAKE_PARALLEL) BUILD=$(BUILD)/san SANITIZE=address,undefined $(BUILD)/san/sim
	@$(BUILD)/san/sim --seed $(SIM_SEED) --total $(SIM_STEPS) \
		--jobs $(shell nproc)

## search put fixed bugs back into a copy of the program: the simulation must find them
$(call suite,test-sim-planted,build test,$(BUILD)/sim)

fuzzers: $(FUZZERS)

## search fuzz every decoder and parser (FUZZ_SECONDS=N each; fuzz-long: FUZZ_RUNS=N inputs in all)
.PHONY: fuzz fuzz-long fuzzers
fuzz fuzz-long:
	@scripts/setup.sh build fuzz
	@$(MAKE_PARALLEL) BUILD=$(BUILD)/fuzz CC=clang \
		SANITIZE=fuzzer-no-link,address,undefined fuzzers
	@BUILD=$(BUILD)/fuzz FUZZ_RUNS=$(if $(filter fuzz-long,$@),$(FUZZ_RUNS)) scripts/fuzz.sh \
		$(FUZZ_SRC:tests/search/fuzz/%.c=%)

## prove play mounted kanims in view3dscene, and compare the poses with the tables
$(call suite,test-kanim,build kanim,$(GAME))
## prove read clip.x3d of every sample with view3dscene, and play some
$(call suite,test-x3d,build kanim,$(GAME))
## prove draw pictures of curves with rsvg-convert and chromium, and compare
$(call suite,test-svg,build svg,$(GAME))
## prove play the pages of every sample in chromium and firefox, and use them
$(call suite,test-player,build player,$(GAME))
## prove compare the page with the program: texts, edits, damaged files; use it in two browsers
$(call suite,test-web,build web player,$(BUILD)/web/animfs.html $(GAME))
## prove check clip.gltf of every sample with the Khronos validator (npm)
$(call suite,test-gltf,build gltf,$(GAME))
## prove read clip.gltf and clip.bvh of every sample with three.js, clip.x3d with x3dom (npm)
$(call suite,test-places,build places,$(GAME))
## prove follow the steps of CONTRIBUTING.md for a new format, container, view and command, in a copy
$(call suite,test-guide,build test,)
## prove take clip.gltf of every sample into Blender and back
$(call suite,test-blender,build blender,$(GAME))
## prove send clip.bvh of every sample through Blender and back
$(call suite,test-bvh,build blender,$(GAME))
## prove serve a mount by Samba
$(call suite,test-export,build export,$(MOUNT_TOOLS))
## prove export, import and check as array jobs of a Slurm that is started for it
$(call suite,test-slurm,build slurm,$(GAME))
## prove query the exported tables of 1,000 clips with DuckDB (npm)
$(call suite,test-duckdb,build duckdb,$(GAME))

.PHONY: bench
## measure write bench/RESULTS.md (ROWS="cold list": print these; BASE=COMMIT: compare)
bench:
	@scripts/setup.sh build bench
	@$(MAKE_PARALLEL) all $(GAME) $(BUILD)/bench_core
	@scripts/bench.sh $(ROWS)

## measure count the files of /usr that are mistaken for animations
$(call suite,test-probe,build)

## release draw docs/architecture.svg, the layers, from the includes (graphviz)
.PHONY: architecture
architecture:
	@scripts/setup.sh architecture
	@scripts/architecture.sh

## release compare the demo's output with docs/demo.md
$(call suite,demo-check,build,$(GAME))
## release remake the pictures of README.md and docs/demo.md (chromium, view3dscene, LibreOffice)
$(call suite,pictures,build pictures,$(GAME))

.PHONY: release
## release check, archive, packages, checksums and tag of a release, in build/release (RELEASE.md)
release:
	@scripts/setup.sh build test deb
	@scripts/release.sh

.PHONY: static test-static
## release build the commands without shared libraries (no ZIP archives), build/static/animfs
static:
	@scripts/setup.sh build
	@$(MAKE_PARALLEL) BUILD=$(BUILD)/static STATIC=1 all

## release run that program in an empty root
test-static: static
	@BUILD=$(BUILD)/static scripts/test-static.sh

.PHONY: deb test-deb test-container test-first-hour test-portable
## release build a Debian package in build/deb, and check it with lintian
deb:
	@scripts/setup.sh build test deb
	@scripts/deb.sh

## release install that package in a bare Debian and use it (root)
test-deb: deb
	@scripts/setup.sh roots
	@scripts/test-deb.sh

## release build the image of Dockerfile and run the commands of docs/desktops.md in it (root)
test-container:
	@scripts/setup.sh roots
	@scripts/test-container.sh

## release follow README.md in bare Debian 12 and 13, and time it (root)
test-first-hour:
	@scripts/setup.sh roots
	@scripts/test-first-hour.sh

## release test gcc and clang, 32 bits, big-endian, the next Debian (root, long)
test-portable:
	@scripts/setup.sh roots
	@scripts/test-portable.sh
