#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# architecture.sh - draws docs/architecture.svg from the includes: the layers, and which uses which.
# An arrow is left out where others lead to the same layer, so that the picture can be read.
set -euo pipefail
cd "$(dirname "$0")/.."

edges=$(scripts/check-includes.sh --edges | sort -u)
{
	echo 'digraph layers {'
	echo 'node [shape=box, style="rounded,filled", fillcolor="#eef3fa", color="#51709b", fontname=sans];'
	echo 'edge [color="#51709b"]; rankdir=TB;'
	awk '{ print "\"" $1 "\" -> \"" $2 "\";" }' <<<"$edges"
	echo '}'
} | tred | dot -Tsvg | sed -e '/^<!-- Generated/,/-->$/d' -e '/^<!--.*-->$/d' >docs/architecture.svg
echo "docs/architecture.svg: $(grep -c 'class="node"' docs/architecture.svg) layers"
