# SPDX-License-Identifier: GPL-3.0-or-later
#
# 'make help' lists the targets. Define
#
#   V=1               to see the commands
#   CC, CFLAGS, CPPFLAGS, LDFLAGS, PKGCONF
#                     to build another way; CFLAGS and LDFLAGS stand after the project's own flags
#                     and so win over them
#   SANITIZE=LIST     for -fsanitize=LIST in place of the hardening flags
#   BUILD             where everything that is made goes (build)
#   PREFIX, DESTDIR, BINDIR, SBINDIR, MANDIR, BASHDIR, ZSHDIR, FISHDIR, UNITDIR, EXAMPLEDIR
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
#   STRICT            1: faults that 'make test-sim' knows of fail too
#   SOAK_SECONDS      how long 'make test-soak' goes on (3600)
#   STORM_SAVES, STORM_SEED
#                     how many saves 'make test-storm' makes with each build, and from which seed
#                     (30000, 1); STRICT=1: faults that are expected fail it, too
#   FILESYSTEMS       which ones 'make test-filesystems' mounts: tmpfs ext4 ext4-128 xfs ... (all)
#   TESTS             the mount tests that 'make check-tsan' runs (all)
#   ROWS, ROUNDS      what 'make bench' measures (all of it), and how often (5)

VERSION := 0.1.0

BUILD        ?= build
PREFIX       ?= /usr/local
BINDIR       ?= $(PREFIX)/bin
MANDIR       ?= $(PREFIX)/share/man
BASHDIR      ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR       ?= $(PREFIX)/share/zsh/site-functions
FISHDIR      ?= $(PREFIX)/share/fish/vendor_completions.d
UNITDIR      ?= $(PREFIX)/lib/systemd/user
EXAMPLEDIR   ?= $(PREFIX)/share/doc/animfs/examples
# mount looks for its helpers there and nowhere else; who installs for himself cannot write there.
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

ifneq ($(V),1)
QUIET_CC   = @echo '  CC      ' $@;
QUIET_LINK = @echo '  LINK    ' $@;
QUIET_GEN  = @echo '  GEN     ' $@;
endif

# Parallel where the caller did not choose.
MAKE_PARALLEL = $(MAKE) $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

#### Flags

LIBRARIES := fuse3 libxml-2.0 jansson libxxhash libseccomp libcap zlib libzstd
LIB_FLAGS := $(shell $(PKGCONF) --cflags $(LIBRARIES) 2>/dev/null)
LIBS      := $(shell $(PKGCONF) --libs $(LIBRARIES) 2>/dev/null) -lcsv -lm
CHECK_FLAGS := $(shell $(PKGCONF) --cflags check 2>/dev/null)
CHECK_LIBS  := $(shell $(PKGCONF) --libs check 2>/dev/null)

MACHINE  := $(shell $(CC) -dumpmachine 2>/dev/null)
WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes

ifdef SANITIZE
# Locks are checked for their order, too (src/util/lock.h).
GUARDS      := -fsanitize=$(SANITIZE) -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
	-DANIMFS_LOCK_ORDER
LINK_GUARDS := -fsanitize=$(SANITIZE)
else
# Without optimisation FORTIFY_SOURCE does nothing but warn.
FORTIFY     := $(if $(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
# Without effect where the C library's start files do not ask for it, too, as Debian's do not.
CF          := $(if $(filter x86_64-% i386-% i686-%,$(MACHINE)),-fcf-protection)
GUARDS      := $(FORTIFY) -fstack-protector-strong -fPIE $(CF)
LINK_GUARDS := -pie -Wl,-z,relro -Wl,-z,now
endif

ALL_CPPFLAGS = -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-DANIMFS_VERSION='"$(VERSION)"' -Iinclude -Isrc $(LIB_FLAGS) $(CPPFLAGS)
# One rounding an operation, whatever the machine: the numbers in the texts depend on it.
ROUNDING    := -ffp-contract=off $(if $(filter i386-% i686-%,$(MACHINE)),-msse2 -mfpmath=sse)
ALL_CFLAGS   = -std=gnu11 $(ROUNDING) -pthread $(WARNINGS) $(GUARDS) $(CFLAGS)
ALL_LDFLAGS  = -pthread $(LINK_GUARDS) $(CFLAGS) $(LDFLAGS)

#### Files

# The template of a codec is for the tests.
SRC       := $(filter-out src/codec/skel.c,$(wildcard src/*.c src/*/*.c))
OBJ       := $(SRC:%.c=$(BUILD)/%.o)
# Everything but the command line: what the tests are linked with.
CORE_OBJ  := $(filter-out $(BUILD)/src/main.o,$(OBJ))

TEST_SRC  := $(wildcard tests/test_*.c)
UNIT_OBJ  := $(patsubst %.c,$(BUILD)/%.o,$(TEST_SRC) tests/main.c)
FUZZ_SRC  := $(wildcard tests/fuzz/*.c)
FUZZERS   := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/fuzz-%)
# The same targets without libFuzzer, for what is in tests/fuzz/corpus.
REPLAY_OBJ := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/replay-%.o)
# What the mount tests run beside the program.
MOUNT_TOOLS := $(addprefix $(BUILD)/,make_game posix_ops posix_matrix random_ops storm)
STORM_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/storm/*.c))
# The simulation knows no libfuse.
SIM_OBJ   := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/sim/*.c)) \
	$(addprefix $(BUILD)/tests/sim/,make_game.o lock.o) \
	$(filter-out $(BUILD)/src/fuse/% $(BUILD)/src/cmd/% $(BUILD)/src/util/lock.o,$(CORE_OBJ))
MAN       := $(wildcard man/*.[1-8])

.DEFAULT_GOAL := all
.PHONY: all FORCE
FORCE:

all: $(BUILD)/animfs

#### How things are made

# Rewritten, and so rebuilding everything, only when a flag has changed.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@flags='$(subst ','\'',$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LIBS))'; \
	if [ "$$flags" != "$$(cat $@ 2>/dev/null)" ]; then \
		printf '%s\n' "$$flags" > $@; \
	fi

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET_CC) $(CC) $(ALL_CPPFLAGS) $(TARGET_FLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/animfs: $(OBJ)
	@$(PKGCONF) --exists $(LIBRARIES) || { echo 'run scripts/setup.sh build first'; exit 1; }
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

# With the place where the program will be.
$(BUILD)/animfs@.service: contrib/animfs@.service FORCE
	@mkdir -p $(@D)
	@sed 's|@BINDIR@|$(BINDIR)|' $< > $@

# The list of suites: test_base.c has base_suite().
$(BUILD)/suites.h: FORCE
	@mkdir -p $(@D)
	@printf 'SUITE(%s)\n' $(sort $(TEST_SRC:tests/test_%.c=%)) > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/tests/main.o: $(BUILD)/suites.h
$(UNIT_OBJ): TARGET_FLAGS = -I$(BUILD) $(CHECK_FLAGS)

$(BUILD)/unit: $(UNIT_OBJ) $(BUILD)/src/codec/skel.o $(CORE_OBJ)
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS) $(CHECK_LIBS)

$(BUILD)/alloc_fail $(BUILD)/exhaustive_num $(BUILD)/bench_core: $(BUILD)/%: $(BUILD)/tests/%.o $(CORE_OBJ)
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

# They know nothing of the program: one writes animation files without its encoder, three compare a
# mount with a bare filesystem, one saves and reads in all ways at once.
$(filter-out %/storm,$(MOUNT_TOOLS)): $(BUILD)/%: $(BUILD)/tests/%.o
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) -lm

$(BUILD)/storm: $(STORM_OBJ)
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) -lm

# A folder with one file whose writes are kept in order.
$(BUILD)/image_recorder: $(BUILD)/tests/image_recorder.o
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

# Stands in for the C library's calls, which headers that check them must not have replaced before.
$(BUILD)/fault.so $(BUILD)/intruder.so: $(BUILD)/%.so: tests/%.c tests/intruder.h $(BUILD)/flags
	$(QUIET_LINK) $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=0 \
		-fPIC -shared -o $@ $< -ldl

$(FUZZERS): $(BUILD)/fuzz-%: $(BUILD)/tests/fuzz/%.o $(CORE_OBJ)
	$(QUIET_LINK) $(CC) -fsanitize=fuzzer -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

# The list of targets, and each under names of its own.
$(BUILD)/targets.h: FORCE
	@mkdir -p $(@D)
	@printf 'TARGET(%s)\n' $(sort $(FUZZ_SRC:tests/fuzz/%.c=%)) > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/tests/replay.o: $(BUILD)/targets.h
$(BUILD)/tests/replay.o: TARGET_FLAGS = -I$(BUILD)

$(REPLAY_OBJ): $(BUILD)/replay-%.o: tests/fuzz/%.c $(BUILD)/flags
	@mkdir -p $(BUILD)/tests
	$(QUIET_CC) $(CC) $(ALL_CPPFLAGS) '-DREPLAY(part)=replay_$*_##part' $(ALL_CFLAGS) \
		-MMD -MP -MF $(BUILD)/tests/replay-$*.d -c -o $@ $<

$(BUILD)/replay: $(BUILD)/tests/replay.o $(REPLAY_OBJ) $(CORE_OBJ)
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

# The tree of a mount in one process, below a model of the kernel. The calls that are listed go
# through the simulation, and make_game is a part of it.
$(BUILD)/tests/sim/make_game.o: tests/make_game.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET_CC) $(CC) $(ALL_CPPFLAGS) -Dmain=sim_make_game $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The order of locks is always checked in it.
$(BUILD)/tests/sim/lock.o: src/util/lock.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET_CC) $(CC) $(ALL_CPPFLAGS) -DANIMFS_LOCK_ORDER $(ALL_CFLAGS) \
		-MMD -MP -c -o $@ $<

$(BUILD)/sim: $(SIM_OBJ) tests/sim/wraps
	$(QUIET_LINK) $(CC) -o $@ $(SIM_OBJ) -Wl,@tests/sim/wraps $(ALL_LDFLAGS) $(LIBS)

-include $(shell find $(BUILD)/src $(BUILD)/tests -name '*.d' 2>/dev/null)

#### What one can ask for

.PHONY: help install uninstall setup demo demo-check deb test check-san check-tsan fuzz fuzz-long \
	fuzzers bench lint test-exhaustive test-editors test-kanim test-gltf test-blender test-bvh \
	test-x3d test-svg pictures test-probe test-formats test-duckdb test-posix test-export \
	test-slurm test-soak test-storm test-sim test-crash test-faults test-filesystems test-deb \
	test-portable clean

help:
	@echo 'make                  build $(BUILD)/animfs'
	@echo 'make install          install program, manuals, mount helper, completions (DESTDIR, PREFIX=$(PREFIX))'
	@echo 'make uninstall        remove what make install installed'
	@echo 'make setup            install what building and testing need (Debian; root or sudo)'
	@echo 'make demo             set up, build, mount a sample game and edit it'
	@echo 'make demo-check       is what README.md shows what the demo prints?'
	@echo 'make deb              build a Debian package in $(BUILD)/deb, and have lintian read it'
	@echo 'make test             set up, build, run all tests'
	@echo 'make test-exhaustive  prove the number formatting over all 2^32 floats (long)'
	@echo 'make test-kanim       play mounted kanims in view3dscene, and hold the poses against the tables'
	@echo 'make test-x3d         read clip.x3d of every sample with view3dscene, and play some'
	@echo 'make test-svg         draw pictures of curves with rsvg-convert and chromium, and compare'
	@echo 'make pictures         make the pictures of README.md anew (view3dscene, LibreOffice)'
	@echo 'make test-gltf        show clip.gltf of every sample to the Khronos validator (npm)'
	@echo 'make test-blender     take clip.gltf of every sample into Blender and back'
	@echo 'make test-bvh         send clip.bvh of every sample through Blender and back'
	@echo 'make test-posix       hold the mount against a bare ext4 (OPS=1000000 random operations; root)'
	@echo 'make test-export      serve a mount by NFS and Samba'
	@echo 'make test-slurm       export, import and check as array jobs of a Slurm that is started for it'
	@echo 'make test-soak        read, edit and change a mount for SOAK_SECONDS ($(SOAK_SECONDS)), against a model'
	@echo 'make test-storm       all ways to save beside all ways to read and rename: STORM_SAVES ($(STORM_SAVES)) each,'
	@echo '                      plain, under AddressSanitizer and UBSan, and under ThreadSanitizer'
	@echo 'make test-sim         the mount in one process, its threads, disk and kernel led by a seed (SIM_SEED=N)'
	@echo 'make check-tsan       mount tests under ThreadSanitizer (TESTS="parallel.sh ...": these)'
	@echo 'make test-duckdb      ask a DuckDB (npm) about the exported tables of 1,000 clips'
	@echo 'make test-editors     save with every program, also under faults; random edits (long)'
	@echo 'make test-crash       kill the daemon while it saves (CRASHES=$(CRASHES)); cut the power'
	@echo 'make test-faults      fail calls and allocations one by one, and fill filesystems'
	@echo 'make test-filesystems SOURCE on tmpfs, ext4, xfs, btrfs, overlayfs, FAT, exFAT, NTFS, bindfs, sshfs (root)'
	@echo 'make test-probe       count the files of /usr that are taken for animations'
	@echo 'make test-formats     edit many invented files of every format, and read them independently'
	@echo 'make test-deb         install that package in a bare Debian and use it (root)'
	@echo 'make test-portable    gcc and clang, 32 bits, big-endian, the next Debian (root, long)'
	@echo 'make check-san        unit and mount tests under AddressSanitizer and UBSan'
	@echo 'make fuzz             fuzz every decoder and parser (FUZZ_SECONDS=$(FUZZ_SECONDS) each)'
	@echo 'make fuzz-long        the same until $(FUZZ_RUNS) inputs were tried in all (FUZZ_RUNS=N)'
	@echo 'make bench            measure, and write bench/RESULTS.md (ROWS="cold list": print these)'
	@echo 'make lint             clang-tidy, cppcheck, include rules, shellcheck, clang warnings'
	@echo 'make clean            remove $(BUILD)/'
	@echo 'V=1 shows the commands; CC, CFLAGS, CPPFLAGS, LDFLAGS as usual.'

# $(call installed,MODE,FILE,WHERE) for each file that is installed.
define INSTALLED
$(call installed,755,$(BUILD)/animfs,$(BINDIR)/animfs)
$(call installed,755,contrib/mount.animfs,$(SBINDIR)/mount.animfs)
$(call installed,644,contrib/animfs.bash,$(BASHDIR)/animfs)
$(call installed,644,contrib/animfs.zsh,$(ZSHDIR)/_animfs)
$(call installed,644,contrib/animfs.fish,$(FISHDIR)/animfs.fish)
$(call installed,644,$(BUILD)/animfs@.service,$(UNITDIR)/animfs@.service)
$(call installed,644,scripts/animfs-export.sbatch,$(EXAMPLEDIR)/animfs-export.sbatch)
$(foreach page,$(MAN),$(call installed,644,$(page),$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page))))
endef
define NEWLINE


endef

install: installed = install -D -m$(1) '$(2)' '$(DESTDIR)$(3)'$(NEWLINE)
install: all $(BUILD)/animfs@.service
	$(INSTALLED)

uninstall: installed = rm -f '$(DESTDIR)$(3)'$(NEWLINE)
uninstall:
	$(INSTALLED)

setup:
	@scripts/setup.sh build test

# The parts run in a second make, which sees the libraries that setup has just installed.
demo:
	@scripts/setup.sh build
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/make_game
	@BUILD=$(BUILD) scripts/demo.sh

demo-check:
	@scripts/setup.sh build
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/make_game
	@BUILD=$(BUILD) scripts/demo-check.sh

deb:
	@scripts/setup.sh build test deb
	@BUILD=$(BUILD) scripts/deb.sh

test-deb: deb
	@scripts/setup.sh roots
	@BUILD=$(BUILD) scripts/test-deb.sh

test-portable:
	@scripts/setup.sh roots
	@scripts/test-portable.sh

test: setup
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/unit $(BUILD)/alloc_fail \
		$(BUILD)/replay $(BUILD)/sim $(BUILD)/fault.so $(BUILD)/intruder.so $(MOUNT_TOOLS)
	@BUILD=$(BUILD) scripts/test.sh unit alloc replay sim mount

check-san: setup
	@$(MAKE_PARALLEL) --no-print-directory BUILD=$(BUILD)/san SANITIZE=address,undefined \
		$(BUILD)/san/animfs $(BUILD)/san/unit $(BUILD)/san/replay $(BUILD)/san/sim \
		$(MOUNT_TOOLS:$(BUILD)/%=$(BUILD)/san/%)
	@# Not a process for each test, which takes ten times as long; and strstr need not measure the
	@# whole text at every call.
	@BUILD=$(BUILD)/san CK_FORK=no RANDOM_EDITS=500 ASAN_OPTIONS=intercept_strstr=0 \
		scripts/test.sh unit replay sim mount

fuzzers: $(FUZZERS)

fuzz fuzz-long:
	@scripts/setup.sh build fuzz
	@$(MAKE_PARALLEL) --no-print-directory BUILD=$(BUILD)/fuzz CC=clang \
		SANITIZE=fuzzer-no-link,address,undefined fuzzers
	@BUILD=$(BUILD)/fuzz FUZZ_SECONDS=$(FUZZ_SECONDS) \
		FUZZ_RUNS=$(if $(filter fuzz-long,$@),$(FUZZ_RUNS)) scripts/fuzz.sh \
		$(FUZZ_SRC:tests/fuzz/%.c=%)

bench:
	@scripts/setup.sh build bench
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/make_game $(BUILD)/bench_core
	@BUILD=$(BUILD) ROUNDS=$(ROUNDS) scripts/bench.sh $(ROWS)

lint:
	@scripts/setup.sh build test lint
	@$(MAKE_PARALLEL) --no-print-directory BUILD=$(BUILD)/clang CC=clang \
		CFLAGS='-O2 -Werror -Wthread-safety' \
		$(BUILD)/clang/animfs $(BUILD)/clang/unit
	@scripts/lint.sh $(SRC) src/codec/skel.c -- $(ALL_CPPFLAGS)

test-exhaustive: setup
	@$(MAKE_PARALLEL) --no-print-directory $(BUILD)/exhaustive_num
	$(BUILD)/exhaustive_num

test-editors:
	@scripts/setup.sh build test editors
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/fault.so
	@BUILD=$(BUILD) scripts/test-editors.sh

test-crash:
	@scripts/setup.sh build test faults
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/fault.so $(BUILD)/image_recorder
	@BUILD=$(BUILD) CRASHES=$(CRASHES) scripts/test-crash.sh

test-faults:
	@scripts/setup.sh build test faults
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/fault.so
	@BUILD=$(BUILD) scripts/test-faults.sh

test-filesystems:
	@scripts/setup.sh build test filesystems
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/fault.so
	@BUILD=$(BUILD) scripts/test-filesystems.sh $(FILESYSTEMS)

test-kanim:
	@scripts/setup.sh build kanim
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/make_game
	@BUILD=$(BUILD) scripts/test-kanim.sh

test-x3d:
	@scripts/setup.sh build kanim
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/make_game
	@BUILD=$(BUILD) scripts/test-x3d.sh

test-svg:
	@scripts/setup.sh build svg
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/make_game
	@BUILD=$(BUILD) scripts/test-svg.sh

pictures:
	@scripts/setup.sh build pictures
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/make_game
	@BUILD=$(BUILD) scripts/pictures.sh

test-gltf:
	@scripts/setup.sh build gltf
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/make_game
	@BUILD=$(BUILD) scripts/test-gltf.sh

test-posix:
	@scripts/setup.sh build posix
	@$(MAKE_PARALLEL) --no-print-directory all $(MOUNT_TOOLS)
	@BUILD=$(BUILD) scripts/test-posix.sh

test-export:
	@scripts/setup.sh build export
	@$(MAKE_PARALLEL) --no-print-directory all $(MOUNT_TOOLS)
	@BUILD=$(BUILD) scripts/test-export.sh

test-slurm:
	@scripts/setup.sh build slurm
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/make_game
	@BUILD=$(BUILD) scripts/test-slurm.sh

test-soak:
	@scripts/setup.sh build test
	@$(MAKE_PARALLEL) --no-print-directory all $(MOUNT_TOOLS)
	@BUILD=$(BUILD) SOAK_SECONDS=$(SOAK_SECONDS) scripts/test-soak.sh

test-storm:
	@scripts/setup.sh build test
	@$(MAKE_PARALLEL) --no-print-directory all $(MOUNT_TOOLS)
	@$(MAKE_PARALLEL) --no-print-directory BUILD=$(BUILD)/san SANITIZE=address,undefined \
		$(BUILD)/san/animfs $(MOUNT_TOOLS:$(BUILD)/%=$(BUILD)/san/%)
	@$(MAKE_PARALLEL) --no-print-directory BUILD=$(BUILD)/tsan SANITIZE=thread \
		$(BUILD)/tsan/animfs $(MOUNT_TOOLS:$(BUILD)/%=$(BUILD)/tsan/%)
	@BUILD=$(BUILD) STORM_SAVES=$(STORM_SAVES) STORM_SEED=$(STORM_SEED) scripts/test-storm.sh
# With sanitizers: a fault is found where it is made, and what is not freed at the end.
test-sim: setup
	@$(MAKE_PARALLEL) --no-print-directory BUILD=$(BUILD)/san SANITIZE=address,undefined \
		$(BUILD)/san/sim
	@$(BUILD)/san/sim --seed $(SIM_SEED) --total $(SIM_STEPS) \
		--jobs $(shell nproc) $(if $(filter 1,$(STRICT)),--strict)

# Its memory must lie where it expects it: no random addresses.
check-tsan:
	@scripts/setup.sh build test
	@$(MAKE_PARALLEL) --no-print-directory BUILD=$(BUILD)/tsan SANITIZE=thread \
		$(BUILD)/tsan/animfs $(MOUNT_TOOLS:$(BUILD)/%=$(BUILD)/tsan/%)
	@ANIMFS=$(BUILD)/tsan/animfs RANDOM_EDITS=500 TEST_TIMEOUT=900 \
		TSAN_OPTIONS=second_deadlock_stack=1 \
		setarch -R tests/mount/run.sh $(TESTS:%=tests/mount/%)

test-duckdb:
	@scripts/setup.sh build duckdb
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/make_game
	@BUILD=$(BUILD) scripts/test-duckdb.sh

test-blender:
	@scripts/setup.sh build blender
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/make_game
	@BUILD=$(BUILD) scripts/test-blender.sh

test-bvh:
	@scripts/setup.sh build blender
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/make_game
	@BUILD=$(BUILD) scripts/test-bvh.sh

test-probe:
	@scripts/setup.sh build
	@$(MAKE_PARALLEL) --no-print-directory all
	@BUILD=$(BUILD) scripts/test-probe.sh

test-formats:
	@scripts/setup.sh build
	@$(MAKE_PARALLEL) --no-print-directory all
	PYTHONDONTWRITEBYTECODE=1 tests/check_formats.py --seed $(FORMATS_SEED) \
		--count $(FORMATS_COUNT) --keep $(BUILD)/formats $(BUILD)/animfs

clean:
	rm -rf $(BUILD)
