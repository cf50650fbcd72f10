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
#   PREFIX, BINDIR, MANDIR, DESTDIR
#                     where 'make install' puts things (/usr/local)
#   FUZZ_SECONDS      how long 'make fuzz' runs each target (60)
#   FORMATS_COUNT, FORMATS_SEED
#                     how many files 'make test-formats' invents, and from which number (1000, 1)
#   ROWS, ROUNDS      what 'make bench' measures (all of it), and how often (5)

VERSION := 0.1.0

BUILD        ?= build
PREFIX       ?= /usr/local
BINDIR       ?= $(PREFIX)/bin
MANDIR       ?= $(PREFIX)/share/man
DESTDIR      ?=
PKGCONF      ?= pkg-config
FUZZ_SECONDS ?= 60
FORMATS_COUNT ?= 1000
FORMATS_SEED ?= 1
ROUNDS       ?= 5
CFLAGS       ?= -O2 -g

ifneq ($(V),1)
QUIET_CC   = @echo '  CC      ' $@;
QUIET_LINK = @echo '  LINK    ' $@;
QUIET_GEN  = @echo '  GEN     ' $@;
endif

# Parallel where the caller did not choose.
MAKE_PARALLEL = $(MAKE) $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

#### Flags

LIBRARIES := fuse3 libxml-2.0 jansson libxxhash
LIB_FLAGS := $(shell $(PKGCONF) --cflags $(LIBRARIES) 2>/dev/null)
LIBS      := $(shell $(PKGCONF) --libs $(LIBRARIES) 2>/dev/null) -lcsv -lm
CHECK_FLAGS := $(shell $(PKGCONF) --cflags check 2>/dev/null)
CHECK_LIBS  := $(shell $(PKGCONF) --libs check 2>/dev/null)

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes

ifdef SANITIZE
GUARDS      := -fsanitize=$(SANITIZE) -fno-sanitize-recover=undefined -fno-omit-frame-pointer
LINK_GUARDS := -fsanitize=$(SANITIZE)
else
# Without optimisation FORTIFY_SOURCE does nothing but warn.
FORTIFY     := $(if $(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
CF          := $(if $(filter x86_64 i386 i686,$(shell uname -m)),-fcf-protection)
GUARDS      := $(FORTIFY) -fstack-protector-strong -fPIE $(CF)
LINK_GUARDS := -pie -Wl,-z,relro -Wl,-z,now
endif

ALL_CPPFLAGS = -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-DANIMFS_VERSION='"$(VERSION)"' -Iinclude -Isrc $(LIB_FLAGS) $(CPPFLAGS)
# One rounding an operation, whatever the machine: the numbers in the texts depend on it.
ALL_CFLAGS   = -std=gnu11 -ffp-contract=off -pthread $(WARNINGS) $(GUARDS) $(CFLAGS)
ALL_LDFLAGS  = -pthread $(LINK_GUARDS) $(CFLAGS) $(LDFLAGS)

#### Files

SRC       := $(wildcard src/*.c src/*/*.c)
OBJ       := $(SRC:%.c=$(BUILD)/%.o)
# Everything but the command line: what the tests are linked with.
CORE_OBJ  := $(filter-out $(BUILD)/src/main.o,$(OBJ))

TEST_SRC  := $(wildcard tests/test_*.c)
UNIT_OBJ  := $(patsubst %.c,$(BUILD)/%.o,$(TEST_SRC) tests/main.c)
FUZZ_SRC  := $(wildcard tests/fuzz/*.c)
FUZZERS   := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/fuzz-%)
# What the mount tests run beside the program.
MOUNT_TOOLS := $(addprefix $(BUILD)/,make_game posix_ops random_ops)
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

# The list of suites: test_base.c has base_suite().
$(BUILD)/suites.h: FORCE
	@mkdir -p $(@D)
	@printf 'SUITE(%s)\n' $(sort $(TEST_SRC:tests/test_%.c=%)) > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/tests/main.o: $(BUILD)/suites.h
$(UNIT_OBJ): TARGET_FLAGS = -I$(BUILD) $(CHECK_FLAGS)

$(BUILD)/unit: $(UNIT_OBJ) $(CORE_OBJ)
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS) $(CHECK_LIBS)

$(BUILD)/alloc_fail $(BUILD)/exhaustive_num $(BUILD)/bench_core: $(BUILD)/%: $(BUILD)/tests/%.o $(CORE_OBJ)
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

# They know nothing of the program: one writes animation files without its encoder, two compare a
# mount with a bare filesystem.
$(MOUNT_TOOLS): $(BUILD)/%: $(BUILD)/tests/%.o
	$(QUIET_LINK) $(CC) -o $@ $^ $(ALL_LDFLAGS) -lm

# Stands in for the C library's calls, which headers that check them must not have replaced before.
$(BUILD)/fault.so: tests/fault.c $(BUILD)/flags
	$(QUIET_LINK) $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=0 \
		-fPIC -shared -o $@ $< -ldl

$(FUZZERS): $(BUILD)/fuzz-%: $(BUILD)/tests/fuzz/%.o $(CORE_OBJ)
	$(QUIET_LINK) $(CC) -fsanitize=fuzzer -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

-include $(shell find $(BUILD)/src $(BUILD)/tests -name '*.d' 2>/dev/null)

#### What one can ask for

.PHONY: help install uninstall setup demo test check-san fuzz fuzzers bench lint \
	test-exhaustive test-editors test-kanim test-gltf test-blender test-bvh test-x3d test-svg pictures test-probe test-formats clean

help:
	@echo 'make                  build $(BUILD)/animfs'
	@echo 'make install          install program and manual (DESTDIR, PREFIX=$(PREFIX))'
	@echo 'make uninstall        remove what make install installed'
	@echo 'make setup            install what building and testing need (Debian; root or sudo)'
	@echo 'make demo             set up, build, mount a sample game and edit it'
	@echo 'make test             set up, build, run all tests'
	@echo 'make test-exhaustive  prove the number formatting over all 2^32 floats (long)'
	@echo 'make test-kanim       play mounted kanims in view3dscene, and hold the poses against the tables'
	@echo 'make test-x3d         read clip.x3d of every sample with view3dscene, and play some'
	@echo 'make test-svg         draw pictures of curves with rsvg-convert and chromium, and compare'
	@echo 'make pictures         make the pictures of README.md anew (view3dscene, LibreOffice)'
	@echo 'make test-gltf        show clip.gltf of every sample to the Khronos validator (npm)'
	@echo 'make test-blender     take clip.gltf of every sample into Blender and back'
	@echo 'make test-bvh         send clip.bvh of every sample through Blender and back'
	@echo 'make test-editors     save with every program, also under faults; random edits (long)'
	@echo 'make test-probe       count the files of /usr that are taken for animations'
	@echo 'make test-formats     edit many invented files of every format, and read them independently'
	@echo 'make check-san        unit and mount tests under AddressSanitizer and UBSan'
	@echo 'make fuzz             fuzz every decoder and parser (FUZZ_SECONDS=$(FUZZ_SECONDS) each)'
	@echo 'make bench            measure, and write bench/RESULTS.md (ROWS="cold list": print these)'
	@echo 'make lint             clang-tidy, cppcheck, include rules, shellcheck, clang warnings'
	@echo 'make clean            remove $(BUILD)/'
	@echo 'V=1 shows the commands; CC, CFLAGS, CPPFLAGS, LDFLAGS as usual.'

install: all
	install -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(MANDIR)/man1'
	install -m755 $(BUILD)/animfs '$(DESTDIR)$(BINDIR)/animfs'
	install -m644 $(MAN) '$(DESTDIR)$(MANDIR)/man1'

uninstall:
	rm -f '$(DESTDIR)$(BINDIR)/animfs' $(MAN:man/%='$(DESTDIR)$(MANDIR)/man1/%')

setup:
	@scripts/setup.sh build test

# The parts run in a second make, which sees the libraries that setup has just installed.
demo:
	@scripts/setup.sh build
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/make_game
	@BUILD=$(BUILD) scripts/demo.sh

test: setup
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/unit $(BUILD)/alloc_fail $(MOUNT_TOOLS)
	@BUILD=$(BUILD) scripts/test.sh unit alloc mount

check-san: setup
	@$(MAKE_PARALLEL) --no-print-directory BUILD=$(BUILD)/san SANITIZE=address,undefined \
		$(BUILD)/san/animfs $(BUILD)/san/unit $(MOUNT_TOOLS:$(BUILD)/%=$(BUILD)/san/%)
	@# Not a process for each test, which takes ten times as long; and strstr need not measure the
	@# whole text at every call.
	@BUILD=$(BUILD)/san CK_FORK=no RANDOM_EDITS=500 ASAN_OPTIONS=intercept_strstr=0 \
		scripts/test.sh unit mount

fuzzers: $(FUZZERS)

fuzz:
	@scripts/setup.sh build fuzz
	@$(MAKE_PARALLEL) --no-print-directory BUILD=$(BUILD)/fuzz CC=clang \
		SANITIZE=fuzzer-no-link,address,undefined fuzzers
	@BUILD=$(BUILD)/fuzz FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz.sh \
		$(FUZZ_SRC:tests/fuzz/%.c=%)

bench:
	@scripts/setup.sh build bench
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/make_game $(BUILD)/bench_core
	@BUILD=$(BUILD) ROUNDS=$(ROUNDS) scripts/bench.sh $(ROWS)

lint:
	@scripts/setup.sh build test lint
	@$(MAKE_PARALLEL) --no-print-directory BUILD=$(BUILD)/clang CC=clang CFLAGS='-O2 -Werror' \
		$(BUILD)/clang/animfs $(BUILD)/clang/unit
	@scripts/lint.sh $(SRC) -- $(ALL_CPPFLAGS)

test-exhaustive: setup
	@$(MAKE_PARALLEL) --no-print-directory $(BUILD)/exhaustive_num
	$(BUILD)/exhaustive_num

test-editors:
	@scripts/setup.sh build test editors
	@$(MAKE_PARALLEL) --no-print-directory all $(BUILD)/fault.so
	@BUILD=$(BUILD) scripts/test-editors.sh

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
