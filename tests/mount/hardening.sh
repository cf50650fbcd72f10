#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# hardening.sh - the program is built so that an error in it is harder to use.
. "$(dirname "$0")/lib.sh"
command -v readelf >/dev/null || skip_all "readelf is not installed"

# Whole, since grep -q would leave readelf with a broken pipe.
has() { readelf -W "$1" "$ANIMFS" | grep "$2" >/dev/null; }

if readelf -W --dyn-syms "$ANIMFS" | grep -E '__(asan|ubsan|tsan|msan|llvm_profile)_' >/dev/null; then
	skip_all "built with sanitizers in place of hardening"
fi
is "a position-independent executable" "$(readelf -h "$ANIMFS" | awk '/Type:/ { print $2 }')" DYN
ok "marked as such" has -d 'FLAGS_1.*PIE'
ok "relocations are read-only" has -l GNU_RELRO
ok "all of them, since they are made at the start" has -d 'FLAGS_1.*NOW'
ok "the stack cannot be run" has -l 'GNU_STACK.* RW '
fails "nor anything that can be written" sh -c "readelf -W -l '$ANIMFS' | grep -E 'LOAD.* RWE '"
fails "the code is not written to" has -d TEXTREL
fails "libraries are those of the system" sh -c "readelf -W -d '$ANIMFS' | grep -E 'RPATH|RUNPATH'"
ok "stacks are protected" has --dyn-syms __stack_chk_fail
if [ "$(readelf -W --dyn-syms "$ANIMFS" | grep -c '__[a-z]*_chk')" -gt 1 ]; then
	ok "sizes of copies are checked" has --dyn-syms '__memcpy_chk\|__snprintf_chk'
else
	skip "built without optimisation, which FORTIFY_SOURCE needs"
fi
